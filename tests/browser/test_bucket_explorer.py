"""The bucket explorer as a user meets it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

CODE = """
import toolkit as tk
from toolkit.views.widgets import bucket_explorer

products, queries, judgments = tk.load_sample()
engine = tk.EmbeddedEngine.build(products, progress=False)
config = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2})
run = engine.run(queries, config, depth=1000)
bucket_explorer(run, judgments, queries, products, vocabulary=engine.vocabulary)
"""


def test_bucket_explorer_follows_depths_and_traits(voila_page):
    box = voila_page(CODE, ".bucket-explorer").locator(".bucket-explorer")
    status, picture = box.get_by_role("status"), box.get_by_role("img", name=re.compile("Share of failing queries"))
    expect(status).to_contain_text("of 240 queries fail")
    before = picture.get_attribute("src")

    reads = box.get_by_role("spinbutton", name="a reranker reads")
    reads.fill("100")
    reads.press("Enter")
    expect(status).to_contain_text("Reranking the top 100")
    expect(picture).not_to_have_attribute("src", before)

    box.get_by_role("combobox", name="queries").select_option("negation")
    expect(status).to_contain_text("queries with the trait negation")
    expect(picture).to_have_attribute("alt", re.compile("negation"))
    box.get_by_role("combobox", name="list bucket").select_option("beyond")
    expect(box.locator("table.toolkit-table tbody tr")).to_have_count(0)
    box.get_by_role("combobox", name="list bucket").select_option("to the first depth")
    expect(box.locator("table.toolkit-table tbody tr").first).to_be_visible()

    reads.fill("900")
    reads.press("Enter")
    expect(box.get_by_role("alert")).to_contain_text("the second must be larger")
    reads.fill("50")
    reads.press("Enter")
    expect(box.get_by_role("alert")).to_have_count(0)
    box.get_by_role("combobox", name="queries").select_option("all queries")
    expect(status).to_contain_text("of 240 queries fail")
