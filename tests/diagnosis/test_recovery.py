"""The diagnosis recovers what was planted."""

import pandas as pd
import pytest

import toolkit as tk
from toolkit.datasets import generate_catalogue
from toolkit.diagnosis import diagnose_failures, explain_missing, recovery


def causes(**pairs):
    return pd.DataFrame(list(pairs.items()), columns=["query_id", "cause"])


def test_by_hand():
    found = recovery(causes(a="x", b="x", c="y", d="x"), causes(a="x", b="y", c="y", d="none", e="x"))
    table = found.table.set_index("cause")
    assert table.loc["x", ["planted", "failing", "found", "right"]].tolist() == [2, 1, 3, 1]
    assert table.loc["x", "precision"] == pytest.approx(1 / 3) and table.loc["x", "recall"] == 1
    assert table.loc["y", "precision"] == 1 and table.loc["y", "recall"] == 0.5
    assert found.confusion.loc["none", "x"] == 1
    assert "precision 0.33 (n = 3)" in found.summary() and "<script" not in found._repr_html_()


def test_nothing_found_has_no_precision():
    table = recovery(causes(a="x"), causes(a="y")).table.set_index("cause")
    assert pd.isna(table.loc["y", "precision"]) and table.loc["y", "recall"] == 0 and pd.isna(table.loc["x", "recall"])


def test_refuses_queries_of_another_catalogue():
    with pytest.raises(ValueError, match="first: 'z'"):
        recovery(causes(z="x"), causes(a="x"))


def test_planted_causes_of_the_sample_are_recovered(diagnosed):
    found = explain_missing(diagnosed.engine, diagnosed.queries, diagnosed.judgments, diagnosed.diagnosis, diagnosed.config)
    _check(recovery(found.queries, diagnosed.causes))


def test_planted_causes_of_another_draw_are_recovered():
    """A seed that was not looked at while the rules were written."""
    made = generate_catalogue(products=2_000, queries=300, seed=4711, hard_share=0.5)
    engine, config = tk.EmbeddedEngine.build(made.products, progress=False), tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1})
    diagnosis = diagnose_failures(engine.run(made.queries, config, 2_000), made.judgments, queries=made.queries, products=made.products)
    _check(recovery(explain_missing(engine, made.queries, made.judgments, diagnosis, config).queries, made.causes))


def _check(found):
    table = found.table.set_index("cause")
    assert set(table.index) == {"outranked", "vocabulary_gap", "misspelling", "negation", "no_relevant_indexed"}
    assert (table["failing"] >= 0.8 * table["planted"]).all() and (table["failing"] >= 8).all()
    assert (table["precision"] >= 0.8).all(), found.summary()
    assert (table["recall"] >= 0.8).all(), found.summary()
    assert table.loc["no_relevant_indexed", ["precision", "recall"]].tolist() == [1, 1]
