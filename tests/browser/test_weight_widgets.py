"""Weight sliders and pair map as a user meets them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

CODE = """
import toolkit as tk
from toolkit.search.field_lists import FieldLists
from toolkit.views.widgets import {widget}

products, queries, judgments = tk.load_sample()
engine = tk.EmbeddedEngine.build(products, progress=False)
config = tk.MultiMatch({{"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2}})
lists = FieldLists.from_engine(engine, queries, config, depth=11, progress=False)
{call}
"""


def test_weight_sliders_follow_the_keyboard(voila_page):
    code = CODE.format(widget="weight_sliders", call="weight_sliders(lists, judgments, queries, products, config)")
    box = voila_page(code, ".weight-sliders").locator(".weight-sliders")
    status, picture = box.get_by_role("status"), box.get_by_role("img", name=re.compile("Mean metric against the weight of"))
    expect(status).to_contain_text("0 queries rank differently")
    expect(picture).to_have_attribute("aria-label", re.compile("weight of title, 240 queries: now 4 "))
    expect(box.locator("table.toolkit-table tbody tr").first).to_contain_text("=")
    box.get_by_role("combobox", name="ranks of").select_option("(gray water bottle")
    expect(box.locator("table.toolkit-table caption")).to_contain_text("gray water bottle")

    title = box.get_by_role("spinbutton", name="title")
    title.fill("0.5")
    title.press("Enter")
    expect(picture).to_have_attribute("aria-label", re.compile("now 0.5 "))
    expect(status).not_to_contain_text(" 0 queries rank differently")
    box.get_by_role("combobox", name="curve of").select_option("category")
    expect(picture).to_have_attribute("aria-label", re.compile("weight of category.* 0 breakpoints"))

    for name in ("title", "brand", "bullet_point", "description", "category"):
        field = box.get_by_role("spinbutton", name=name)
        field.fill("0")
        field.press("Enter")
    expect(box.get_by_role("alert")).to_contain_text("all weights are 0")
    title.fill("4")
    title.press("Enter")
    expect(box.get_by_role("alert")).to_have_count(0)


def test_pair_map_changes_fields_and_tells_each_cell(voila_page):
    code = CODE.format(widget="pair_map_explorer", call="pair_map_explorer(lists, judgments, config, steps=9)")
    box = voila_page(code, ".pair-map").locator(".pair-map")
    picture = box.get_by_role("img", name=re.compile("Map of the mean metric"))
    expect(picture).to_have_attribute("aria-label", re.compile("title and brand"))
    cells = picture.locator("rect")
    expect(cells).to_have_count(81)
    expect(cells.first.locator("title")).to_have_text(re.compile(r"title 0\.25, brand 0\.125: 0\.\d{4} \([+-]0\.\d{4}\)"))
    box.get_by_role("combobox", name="up").select_option("description")
    expect(picture).to_have_attribute("aria-label", re.compile("title and description"))
    expect(box.get_by_role("status")).to_contain_text("Exact along each of the 9 columns")
