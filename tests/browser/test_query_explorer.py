"""The query explorer as a user meets it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

CODE = """
import toolkit as tk
from toolkit.views.widgets import query_explorer

products, queries, judgments = tk.load_sample()
engine = tk.EmbeddedEngine.build(products, progress=False)
config = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2})
query_explorer(engine, products, queries, judgments, config=config, text="white bluetooth headphones")
"""


def test_query_explorer_follows_what_is_typed(voila_page):
    box = voila_page(CODE, ".query-explorer").locator(".query-explorer")
    status = box.locator(".part-summary").get_by_role("status")
    picture = box.get_by_role("img", name=re.compile("Score of rank"))
    expect(status).to_contain_text("white · bluetooth · headphones")
    expect(box.locator(".part-ranking tbody tr")).to_have_count(10)
    before = picture.get_attribute("src")

    rank = box.get_by_role("spinbutton", name="explain rank")
    rank.fill("2")
    rank.press("Enter")
    expect(picture).not_to_have_attribute("src", before)
    expect(picture).to_have_attribute("alt", re.compile("Score of rank 2"))

    query = box.get_by_label("query")
    query.fill("toothpaste without fluoride")
    query.press("Enter")
    expect(status).to_contain_text("toothpaste · without · fluoride")
    expect(status).to_contain_text("ndcg@10")

    query.fill('<b>"nothing" & zzzzzzzzz')
    query.press("Enter")
    expect(status).to_contain_text("Nobody has judged this text")
    box.get_by_role("combobox", name="match").select_option("all words")
    expect(status).to_contain_text("no product matches")
    expect(box.locator(".part-ranking tbody tr")).to_have_count(0)

    query.fill("white bluetooth headphones")
    query.press("Enter")
    shown = box.get_by_role("spinbutton", name="products shown")
    shown.fill("5")
    shown.press("Enter")
    box.get_by_role("combobox", name="match").select_option("any word")
    expect(box.locator(".part-ranking tbody tr")).to_have_count(5)
