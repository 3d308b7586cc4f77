"""The lineage widgets as a user meets them, and their notebook in JupyterLab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def test_lineage_explorer_turns_points_into_intervals(voila_page):
    code = "from toolkit.lineage import birthday_log\nfrom toolkit.views.widgets import lineage_explorer\nlineage_explorer(birthday_log())"
    box = voila_page(code, ".lineage-explorer").locator(".lineage-explorer")
    status = box.get_by_role("status")
    metrics, timeline = box.get_by_role("img", name=re.compile("metrics are points")), box.get_by_role("img", name=re.compile("User mia"))
    expect(status).to_contain_text("8 of 8 metrics are points")
    expect(timeline).to_have_attribute("alt", re.compile("3 of 8 uses"))
    before = metrics.get_attribute("src")
    source = box.get_by_label("source retrieval of an action")
    source.focus()
    source.press("Space")
    expect(status).to_contain_text("Not logged: source retrieval of an action. 3 of 8 metrics are points")
    expect(status).to_contain_text("0 of 5 by lineage")
    expect(metrics).not_to_have_attribute("src", before)
    expect(timeline).to_have_attribute("alt", re.compile("0 of 0 uses"))
    lists = box.get_by_label("full returned list")
    lists.focus()
    lists.press("Space")
    expect(status).to_contain_text("Not logged: full returned list, source retrieval of an action")
    expect(box.locator(".part-events tbody tr")).to_have_count(19)
    box.get_by_text("Numbers and definitions").click()
    expect(box.locator(".part-numbers tbody tr")).to_have_count(8)


def test_active_use_slider_moves_the_mark(voila_page):
    code = ("from toolkit.lineage import World, simulate\nfrom toolkit.views.widgets import active_use_explorer\n"
            "active_use_explorer(simulate(World(users=15), seed=3).full)")
    box = voila_page(code, ".active-use-explorer").locator(".active-use-explorer")
    status, picture = box.get_by_role("status"), box.get_by_role("img", name=re.compile("The definition alone moves GPR"))
    expect(status).to_contain_text("a user's export, share, download on a returned asset")
    before = picture.get_attribute("src")
    kinds = box.get_by_role("spinbutton", name="kinds of action that count")
    kinds.fill("5")
    kinds.press("Enter")
    expect(status).to_contain_text("a user's export, share, download, place, edit on a returned asset")
    expect(picture).not_to_have_attribute("src", before)
    expect(box.locator("tbody tr").nth(4)).to_contain_text("►")
    box.get_by_role("combobox", name="display").select_option("required: logged as displayed")
    expect(status).to_contain_text("logged as displayed")
    box.get_by_role("combobox", name="role").select_option("find")
    expect(picture).to_have_attribute("alt", re.compile("the first 5 kinds"))


def test_masking_slider_leaves_sessions_flat(voila_page):
    code = "from toolkit.views.widgets import masking_explorer\nmasking_explorer(seed=3)"
    box = voila_page(code, ".masking-explorer").locator(".masking-explorer")
    status, picture = box.get_by_role("status"), box.get_by_role("img", name=re.compile("Layer 1 moves by"))
    expect(status).to_contain_text("sessions with a goal by +0.0")
    before = picture.get_attribute("src")
    quality = box.get_by_role("spinbutton", name="truly good retrievals (%)")
    quality.fill("20")
    quality.press("Enter")
    expect(status).to_contain_text("from 100 % to 20 %")
    expect(status).to_contain_text("sessions with a goal by +0.0")
    expect(picture).not_to_have_attribute("src", before)
    covered = box.get_by_role("spinbutton", name="the model covers for (%)")
    covered.fill("0")
    covered.press("Enter")
    expect(status).to_contain_text("sessions with a goal by -")
    expect(status).to_contain_text("masked failures are 0.0 %")
    expect(box.locator("tbody tr")).to_have_count(4)


def test_attribution_gap_in_jupyterlab(lab_page):
    page = lab_page(NOTEBOOKS / "06_attribution_gap.ipynb", ".lineage-explorer")
    box = page.locator(".lineage-explorer")
    expect(box.get_by_role("status")).to_contain_text("8 of 8 metrics are points")
    asset = box.get_by_label("consumed asset")
    asset.focus()
    asset.press("Space")
    expect(box.get_by_role("status")).to_contain_text("Not logged: consumed asset")
    expect(page.get_by_text("Traceback")).to_have_count(0)
