"""The rerank viewer and the rewrite table as a user meets them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

EXPERIMENT = """
import toolkit as tk
from toolkit.interventions import Rerank, Rewrite, RewriteGuard, combine, run_intervention
from toolkit.interventions.models import LexicalModel, LocalModel
from toolkit.views.widgets import rerank_explorer, rewrite_explorer

products, queries, judgments = tk.load_sample()
queries = queries.head(120)
engine = tk.EmbeddedEngine.build(products, progress=False)
config = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1})
run, guard = engine.run(queries, config, 200), RewriteGuard.for_products(engine.analyze, products)
rewrite = Rewrite(LexicalModel(engine, bridges={"rubbish": "trash can", "without": ""}), guard)
both = combine(*(run_intervention(engine, queries, arm, judgments, products, config, depths=(20, 50), baseline=run, progress=False)
                 for arm in (Rerank(LocalModel()), rewrite)))
"""


def test_rerank_viewer_shows_before_and_after(voila_page):
    box = voila_page(EXPERIMENT + "rerank_explorer(both, query_ids=both.extremes('rerank 20', 4)['query_id'])", ".rerank-viewer").locator(".rerank-viewer")
    status = box.locator(".part-summary").get_by_role("status")
    expect(status).to_contain_text(re.compile(r"rerank 20: APPLIED; ndcg@10 .* → "))
    picture = box.get_by_role("img", name=re.compile("Rank movements"))
    before = picture.get_attribute("src")
    expect(box.locator(".part-rankings tbody tr")).to_have_count(10)
    box.get_by_role("combobox", name="arm").select_option("rerank 50")
    expect(status).to_contain_text("rerank 50: ")
    expect(picture).not_to_have_attribute("src", before)
    first = status.inner_text()
    box.get_by_role("combobox", name="query").select_option(index=3)
    expect(status).not_to_have_text(first)
    ranks = box.get_by_role("spinbutton", name="ranks shown")
    ranks.fill("5")
    ranks.press("Enter")
    expect(box.locator(".part-rankings tbody tr")).to_have_count(5)


def test_rewrite_table_filters_and_answers_for_the_guard(voila_page):
    code = EXPERIMENT + "arm = both.arms['rewrite']\nrewrite_explorer(arm.outcome, guard, arm.comparison)"
    box = voila_page(code, ".rewrite-table").locator(".rewrite-table")
    status = box.locator(".part-summary").get_by_role("status")
    expect(status).to_contain_text(re.compile(r"120 queries asked about: \d+ accepted"))
    own = box.locator(".part-own").get_by_role("status")
    expect(own).to_contain_text("refused: loses the negation 'without rims'")
    proposed = box.get_by_role("textbox", name="your rewrite")
    proposed.fill("tires no rims")
    proposed.press("Enter")
    expect(own).to_contain_text("accepted")
    box.get_by_role("combobox", name="show").select_option("accepted")
    expect(box.locator(".part-rewrites tbody tr").first).to_contain_text("accepted")
    expect(box.locator(".part-rewrites tbody")).not_to_contain_text("unchanged")
    words = box.get_by_role("textbox", name="with the words")
    words.fill("rubbish")
    words.press("Enter")
    expect(box.locator(".part-rewrites tbody tr").first).to_contain_text("trash can")
