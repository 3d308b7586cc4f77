"""The query explorer's pure part, without a kernel."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest
from ipywidgets.widgets.widget import _instances as models

import toolkit as tk
from toolkit.datasets import EXAMPLE_QUERIES
from toolkit.views.plots import plot_explanation
from toolkit.views.widgets.queries import query_explorer, ranked_products, render_query

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def easy(sample) -> str:
    return sample.queries.set_index("query_id").loc[EXAMPLE_QUERIES["easy"], "query"]


def render(sample, text, **options):
    return render_query(sample.engine, sample.products, sample.queries, sample.judgments, config=sample.config, text=text, **options)


def test_parts_say_what_the_engine_says(sample, easy):
    parts = render(sample, easy, depth=5, explained_rank=2)
    assert list(parts) == ["summary", "ranking", "picture", "explanation"]
    second = sample.engine.search(sample.queries[sample.queries["query"] == easy], sample.config, 5).iloc[1]
    explanation = sample.engine.explain(easy, second["product_id"], sample.config)
    assert parts["ranking"].count("<tr>") == 6 and second["product_id"] in parts["ranking"]
    assert f'alt="Score of rank 2. product {second["product_id"]}' in parts["picture"]
    assert parts["explanation"].count("<tr>") == 1 + len(explanation.table)


def test_metrics_do_not_depend_on_how_many_products_are_shown(sample, easy):
    asked = sample.queries[sample.queries["query"] == easy]
    value = tk.evaluate(sample.engine.run(asked, sample.config, 10), sample.judgments, ["ndcg@10"], queries=asked).mean("ndcg@10")
    for depth in (1, 10, 30):
        assert f"ndcg@10 {value:.3f}" in render(sample, easy, depth=depth)["summary"]


def test_a_rank_beyond_the_hits_explains_the_last(sample, easy):
    assert "Rank 3," in render(sample, easy, depth=3, explained_rank=40)["picture"]


def test_typed_text_is_searched_as_typed_and_escaped(sample):
    parts = render(sample, HOSTILE + " headphones")
    assert "Nobody has judged this text" in parts["summary"]
    assert "<script" not in "".join(parts.values())


@pytest.mark.parametrize("text", ["", "   ", "!!!", "qqqqqqqqqqqqqqqq"])
def test_text_without_hits_gives_only_a_summary(sample, text):
    parts = render(sample, text)
    assert list(parts) == ["summary"] and "no product matches" in parts["summary"]


def test_ranking_joins_judgments_of_this_query_only(sample, easy):
    run = sample.engine.run(sample.queries[sample.queries["query"] == easy], sample.config, 20)
    found = ranked_products(run, sample.products, sample.judgments)
    judged = sample.judgments[sample.judgments["query_id"] == EXAMPLE_QUERIES["easy"]].set_index("product_id")["grade"]
    expected = found["product_id"].map(judged)
    pd.testing.assert_series_equal(found["grade"], expected, check_names=False)
    assert found["grade"].notna().any() and list(found["rank"]) == list(range(1, len(found) + 1))


def test_judgments_without_labels_show_their_grade(sample, easy):
    bare = sample.judgments.drop(columns="label")
    parts = render_query(sample.engine, sample.products, sample.queries, bare, config=sample.config, text=easy)
    assert ">3</td>" in parts["ranking"]


def test_plot_names_the_deciding_field_and_every_word(sample, easy):
    top = sample.engine.search(sample.queries[sample.queries["query"] == easy], sample.config, 1).iloc[0]
    explanation = sample.engine.explain(easy, top["product_id"], sample.config)
    axes = plot_explanation(explanation)
    assert axes.get_title(loc="left").startswith(f"{explanation.fields[0].field} decides")
    words = {clause.name for field in explanation.fields for clause in field.clauses}
    assert {text.get_text() for text in axes.get_legend().get_texts()} == words
    longest = max(patch.get_x() + patch.get_width() for patch in axes.patches)
    assert longest == pytest.approx(explanation.score)
    tied = sample.engine.explain(easy, top["product_id"], replace(sample.config, tie_breaker=0.3))
    assert "0.3 times the rest" in plot_explanation(tied, ax=axes).get_title(loc="left")


def test_explorer_follows_its_controls_and_closes(sample, easy):
    before = set(models)
    box = query_explorer(sample.engine, sample.products, sample.queries, sample.judgments, config=sample.config, text=easy)
    assert box.error == "" and "white" in box.parts["summary"].value
    assert re.search(r"\d+ products match", box.parts["summary"].value)
    box.controls["operator"].value = "and"  # no field of any product has all three words
    assert "no product matches" in box.parts["summary"].value and box.parts["ranking"].value == ""
    box.controls["operator"].value = "or"
    assert box.parts["ranking"].value
    assert 'class="toolkit-snapshot query-explorer"' in box.snapshot()
    box.close()
    assert set(models) == before
