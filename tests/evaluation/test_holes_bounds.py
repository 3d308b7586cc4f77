"""Hole bounds against the enumeration of every grading."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.evaluation import ESCI_LINEAR, ESCI_OFFICIAL, EXPONENTIAL, Measure, evaluate
from toolkit.evaluation.holes import delta_bounds, metric_bounds
from toolkit.evaluation.pool import meet, read_judgments

EXACT = ["ndcg@3", "ndcg_full_ideal@3", "dcg@3", "recall@3", "precision@3", "mrr@3", "success@2", "err@3"]


def lists(seed, products=6):
    """One query: two orders of the same products (each may miss some) and a few judgments, p0 judged 2."""
    rng = np.random.default_rng(seed)
    judged = {"p0": 2.0, **{f"p{i}": float(rng.integers(0, 4)) for i in range(1, products) if rng.random() < 0.45}}
    arms = []
    for _ in range(2):
        chosen = [f"p{i}" for i in rng.permutation(products)[: rng.integers(2, products + 1)]]
        chosen = chosen if "p0" in chosen else [*chosen, "p0"]
        arms.append(pd.DataFrame({"query_id": "q", "product_id": chosen, "rank": np.arange(1, len(chosen) + 1)}))
    return arms, judged


def as_table(judged):
    return pd.DataFrame({"query_id": "q", "product_id": list(judged), "grade": list(judged.values())})


def enumerate_gradings(arms, judged, measure, gains, value):
    """Least and greatest value(arms under one grading), each grading of the unjudged as a query of its own."""
    holes = sorted({p for arm in arms for p in arm["product_id"]} - set(judged))
    gradings = list(itertools.product(gains.levels, repeat=len(holes)))
    tables = pd.concat([as_table(judged | dict(zip(holes, grades, strict=True))).assign(query_id=f"g{i}") for i, grades in enumerate(gradings)])
    runs = [pd.concat([arm.assign(query_id=f"g{i}") for i in range(len(gradings))]) for arm in arms]
    values = value([evaluate(run, tables, [measure], gains=gains).to_frame()["value"].to_numpy() for run in runs])
    return values.min(), values.max()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(EXACT), st.sampled_from([ESCI_LINEAR, ESCI_OFFICIAL, EXPONENTIAL]))
def test_metric_bounds_are_exact(seed, measure, gains):
    (arm, _), judged = lists(seed, 5)
    pool = meet(arm, read_judgments(as_table(judged), None))
    low, high = metric_bounds(pool, Measure.parse(measure), gains, 2.0)
    expected = enumerate_gradings([arm], judged, measure, gains, lambda v: v[0])
    assert (low[0], high[0]) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(EXACT[:7]), st.sampled_from([ESCI_LINEAR, ESCI_OFFICIAL, EXPONENTIAL]))
def test_delta_bounds_are_exact_where_said_so(seed, measure, gains):
    arms, judged = lists(seed, 5)
    pools = [meet(arm, read_judgments(as_table(judged), None)) for arm in arms]
    low, high = delta_bounds(*pools, Measure.parse(measure), gains, 2.0)
    expected = enumerate_gradings(arms, judged, measure, gains, lambda v: v[1] - v[0])
    assert (low[0], high[0]) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["ap@3", "ap", "err@3"]))
def test_other_delta_bounds_are_valid(seed, measure):
    arms, judged = lists(seed, 5)
    pools = [meet(arm, read_judgments(as_table(judged), None)) for arm in arms]
    low, high = delta_bounds(*pools, Measure.parse(measure), ESCI_LINEAR, 2.0)
    least, most = enumerate_gradings(arms, judged, measure, ESCI_LINEAR, lambda v: v[1] - v[0])
    assert low[0] <= least + 1e-12 and most <= high[0] + 1e-12


@pytest.mark.filterwarnings("ignore:no judgment reaches")
def test_all_unjudged_at_the_best_grade_is_not_the_upper_end():
    """The ideal grows as well: a perfect list would fall below 1."""
    run = pd.DataFrame({"query_id": "q", "product_id": ["a", *"uvwxyz"], "rank": range(1, 8)})
    judged = pd.DataFrame({"query_id": ["q"], "product_id": ["a"], "grade": [1.0]})
    result = evaluate(run, judged, ["ndcg@10"], unjudged="bounds")
    row = result.means.iloc[0]
    everything = pd.DataFrame({"query_id": "q", "product_id": ["a", *"uvwxyz"], "grade": [1.0] + [3.0] * 6})
    assert row["low"] <= evaluate(run, everything, ["ndcg@10"]).mean("ndcg@10") < row["mean"] == row["high"] == 1.0
    assert {"low", "high"} <= set(result.to_frame().columns) and "unjudged products allow" in result.summary()


def test_unseen_products_only_raise_the_ideal():
    run = pd.DataFrame({"query_id": "q", "product_id": ["a", "b"], "rank": [1, 2]})
    judged = pd.DataFrame({"query_id": "q", "product_id": ["a", "b"], "grade": [3.0, 2.0]})
    closed = evaluate(run, judged, ["ndcg@10"], unjudged="bounds").means.iloc[0]
    opened = evaluate(run, judged, ["ndcg@10"], unjudged="bounds", unseen=10).means.iloc[0]
    assert closed["low"] == closed["high"] == 1.0 == opened["high"]
    assert opened["low"] == pytest.approx((3 + 2 / np.log2(3)) / (3 / np.log2(np.arange(2, 12))).sum())


def test_fully_judged_lists_have_no_width():
    run = pd.DataFrame({"query_id": "q", "product_id": ["b", "a"], "rank": [1, 2]})
    judged = pd.DataFrame({"query_id": "q", "product_id": ["a", "b"], "grade": [3.0, 1.0]})
    means = evaluate(run, judged, ["ndcg@10", "recall@10", "ap@10", "err@10", "mrr@10"], unjudged="bounds").means
    assert means["low"].tolist() == means["mean"].tolist() == means["high"].tolist()
