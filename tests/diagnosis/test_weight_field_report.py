"""Dead fields are found, recall-only fields are found, and no live field is ever called dead."""

import numpy as np
import pandas as pd
import pytest

from toolkit.datasets import generate_catalogue
from toolkit.diagnosis.configs import LAB_BASE, reweight
from toolkit.diagnosis.field_reports import MEANINGS, field_report
from toolkit.diagnosis.sweeping import sweep
from toolkit.search import EmbeddedEngine, MultiMatch


@pytest.fixture(scope="module")
def report():
    """A generated catalogue whose keywords only add recall, with two more planted fields: an empty one, a constant."""
    c = generate_catalogue(products=1_500, queries=150, seed=11, recall_only_field=True)
    products = c.products.assign(empty=pd.Series([None] * len(c.products), dtype="str"), fixed="Warehouse Stock")
    engine = EmbeddedEngine.build(products, [*LAB_BASE.fields, "keywords", "empty", "fixed"], progress=False)
    return field_report(engine, c.queries, c.judgments, reweight(LAB_BASE, {"keywords": 1.0, "empty": 1.0, "fixed": 1.0}))


def test_the_planted_fields_are_found(report):
    assert report.verdict("category") == "dead_in_information"
    assert report.verdict("fixed") == report.verdict("empty") == "dead_in_information"
    assert report.verdict("keywords") == "recall_only"
    assert report.verdict("title") == report.verdict("description") == "live"
    assert set(report.table["verdict"]) <= set(MEANINGS)


def test_evidence_and_cause_name_what_was_seen(report):
    row = report.table.set_index("field").loc["category"]
    assert (row["distinct_values"], row["top_value"], row["top_value_share"], row["coverage"]) == (1, "other", 1.0, 1.0)
    assert row["curve_low"] == row["curve_high"] and row["queries_moved"] == 0 and row["removal_changes"] == 0
    assert "pattern or lookup there probably never matches" in row["likely_cause"]
    assert "1 distinct values over 100% of products" in row["evidence"]
    assert report.table.set_index("field").loc["empty", "likely_cause"].startswith("the field was never filled")
    title = report.table.set_index("field").loc["title"]
    assert title["argmax_share"] > 0.5 and title["idf_max"] > 5 and title["likely_cause"] == ""
    with pytest.raises(ValueError, match="'colour' is not in the report"):
        report.verdict("colour")


def test_the_report_prints_as_a_card(report):
    assert "category: dead in information" in report.summary()
    assert "<script" not in report._repr_html_() and "dead_in_information" in report._repr_html_()


WORDS = ("red", "shoe", "nike", "table", "lamp", "oak", "usb", "cup")


def tiny_shop(seed: int):
    """Eight products in two live fields and one constant field, three queries, random grades."""
    rng = np.random.default_rng(seed)
    pick = lambda low, high: " ".join(rng.choice(WORDS, rng.integers(low, high)))  # noqa: E731
    products = pd.DataFrame({"product_id": [f"p{i}" for i in range(8)], "title": [pick(1, 4) for _ in range(8)],
                             "brand": [pick(0, 2) for _ in range(8)], "fixed": "other"}).astype("str")
    queries = pd.DataFrame({"query_id": ["a", "b", "c"], "query": [pick(1, 4) for _ in range(3)]}).astype("str")
    judgments = pd.DataFrame([(q, p, float(rng.integers(0, 4))) for q in "abc" for p in products["product_id"]],
                             columns=["query_id", "product_id", "grade"])
    return products, queries, judgments


def test_no_live_field_is_called_dead_in_200_catalogues():
    weights = [None, 0.0, *10.0 ** np.linspace(-2, 2, 15)]
    with_fixed = MultiMatch({"title": 2, "brand": 1, "fixed": 1}, fuzziness=0)
    called, live = 0, 0
    for seed in range(200):
        products, queries, judgments = tiny_shop(seed)
        base = with_fixed if seed % 10 == 0 else reweight(with_fixed, {"fixed": None})
        engine = EmbeddedEngine.build(products, progress=False)
        report = field_report(engine, queries, judgments, base, "ndcg@3")
        assert "fixed" not in base.fields or report.verdict("fixed") == "dead_in_information"
        dead = [name for name in ("title", "brand") if report.verdict(name).startswith("dead")]
        called += len(dead)
        # Brute force on the engine itself: does any of these weights change any query's metric?
        configs = [base, *(reweight(base, {name: w}) for name in ("title", "brand") for w in weights)]
        values = np.nan_to_num(sweep(engine, queries, judgments, configs, ["ndcg@3"], progress=False).values[:, :, 0])
        changed = (values != values[:, :1]).any(axis=0)[1:].reshape(2, len(weights)).any(axis=1)
        for name, moved in zip(("title", "brand"), changed):
            live += moved
            assert not (moved and name in dead), f"seed {seed}: {name} moves a metric and was called dead"
    assert called > 0 and live > 200  # both kinds occur, so the check can fail
