"""The widgets of "compare and decide" as a user meets them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.conftest import ROOT

pytestmark = pytest.mark.browser

ARMS = """
import toolkit as tk
from toolkit.views.widgets import difference_explorer, gate_explorer, holes_explorer

products, queries, judgments = tk.load_sample()
engine = tk.EmbeddedEngine.build(products, progress=False)
even = engine.run(queries, tk.MultiMatch({"title": 1, "brand": 1, "bullet_point": 1, "description": 1}), depth=50)
tuned = engine.run(queries, tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1}), depth=50)
comparison = tk.compare(even, tuned, judgments)
"""


def test_gate_explorer_changes_its_mind_with_the_policy(voila_page):
    box = voila_page(ARMS + "gate_explorer({'tuned weights': comparison, 'itself': tk.compare(even, even, judgments)})", ".gate-explorer").locator(".gate-explorer")
    status = box.locator(".part-decision").get_by_role("status")
    expect(status).to_contain_text("tuned weights: Insufficient evidence")
    expect(box.locator(".part-checks tbody tr").first).to_be_visible()
    expect(box.get_by_role("img", name=re.compile("intervals leave out 0"))).to_be_visible()
    expect(status).to_contain_text("flips inside these holes bounds")
    box.get_by_role("combobox", name="unjudged products").select_option("report only")
    expect(status).not_to_contain_text("flips inside these holes bounds")
    changed = box.get_by_role("spinbutton", name="changed queries needed")
    changed.fill("100")
    changed.press("Enter")
    box.get_by_role("combobox", name="candidate").select_option("itself")
    expect(status).to_contain_text("No difference in ndcg@10 on any of")


def test_difference_explorer_drills_down_to_both_rankings(voila_page):
    box = voila_page(ARMS + "difference_explorer(comparison, even, tuned, judgments, queries, products)", ".difference-explorer").locator(".difference-explorer")
    status = box.locator(".part-summary").get_by_role("status")
    expect(status).to_contain_text(re.compile(r"ndcg@10 .* → .*, -"))
    movements = box.get_by_role("img", name=re.compile("Rank movements of"))
    before = movements.get_attribute("src")
    expect(box.locator(".part-rankings tbody tr")).to_have_count(10)
    box.get_by_role("combobox", name="count from").select_option("largest gain")
    expect(status).to_contain_text(re.compile(r"ndcg@10 .* → .*, \\+".replace("\\\\", "\\")))
    expect(movements).not_to_have_attribute("src", before)
    place = box.get_by_role("spinbutton", name="query number")
    first = status.inner_text()
    place.fill("2")
    place.press("Enter")
    expect(status).not_to_have_text(first)
    ranks = box.get_by_role("spinbutton", name="ranks shown")
    ranks.fill("5")
    ranks.press("Enter")
    expect(box.locator(".part-rankings tbody tr")).to_have_count(5)


def test_holes_explorer_turns_a_true_gain_negative(voila_page):
    code = "from toolkit.evaluation import closed_world\nfrom toolkit.views.widgets import holes_explorer\nholes_explorer(closed_world())"
    box = voila_page(code, ".holes-explorer").locator(".holes-explorer")
    status = box.locator(".part-summary").get_by_role("status")
    expect(status).to_contain_text("changes by +0.050 (the truth is +0.050)")
    picture = box.get_by_role("img", name=re.compile("True difference"))
    before = picture.get_attribute("src")
    share = box.get_by_role("spinbutton", name="judgments known (%)")
    share.fill("40")
    share.press("Enter")
    expect(status).to_contain_text("changes by -")
    expect(status).to_contain_text("insufficient evidence")
    expect(picture).not_to_have_attribute("src", before)
    box.get_by_role("combobox", name="which").select_option("a random share")
    expect(status).to_contain_text("With a random 40 %")


def test_compare_and_decide_in_jupyterlab(lab_page):
    box = lab_page(ROOT / "notebooks" / "04_compare_and_decide.ipynb", ".gate-explorer").locator(".gate-explorer").first
    status = box.locator(".part-decision").get_by_role("status")
    expect(status).to_contain_text("candidate: Insufficient evidence")
    box.get_by_role("combobox", name="candidate").select_option("itself")
    expect(status).to_contain_text("itself: Insufficient evidence")
