"""What compare() and verdict() do with what is missing, unreadable or in another order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toolkit.evaluation import EvaluationError, compare, evaluate, verdict
from toolkit.search import MultiMatch, SearchRun
from toolkit.tables import TableError


def table(values, metric="ndcg@10"):
    return pd.DataFrame({"query_id": [f"q{i}" for i in range(len(values))], "metric": metric, "value": np.asarray(values, dtype=float)})


def better(n=60, missing=0):
    """Two complete metric tables in which the candidate clearly wins; recall@10 lost on ``missing`` queries."""
    rng = np.random.default_rng(0)
    before = rng.random(n) / 2
    arms = []
    for shift in (0.0, 0.2):
        recall = before + shift
        if shift:
            recall = np.where(np.arange(n) < missing, np.nan, recall)
        arms.append(pd.concat([table(before + shift * rng.random(n)), table(recall, "recall@10"), table(np.ones(n), "judged@10"),
                               table(np.zeros(n), "zero_result_rate")], ignore_index=True))
    return arms


def test_a_metric_with_fewer_queries_in_one_arm_is_an_error_too():
    full, short = better()
    short = short[(short["metric"] != "recall@10") | ~short["query_id"].isin(["q1", "q30"])]
    with pytest.raises(EvaluationError, match=r"different queries of recall@10: 60 in baseline, 58 in candidate; only in baseline: 2 \['q1', 'q30'\]"):
        compare(full, short)
    assert compare(full, short, on_missing="intersect").to_frame()["n"].unique().tolist() == [58]
    zeroed = compare(full, short, on_missing="zero")
    assert zeroed.row("recall@10")["n"] == 60 and (zeroed.deltas("recall@10")["candidate"] == 0).sum() == 2


def test_a_guardrail_without_its_values_never_promotes():
    assert verdict(compare(*better())).decision == "promote"
    made = verdict(compare(*better(missing=30)))
    assert made.decision == "insufficient_evidence" and "lacks one arm's value on 30 of 60 queries" in made.summary()


@pytest.mark.parametrize("form", ["runs", "evaluations", "tables"])
def test_calls_that_failed_in_both_arms_are_failed_calls(form):
    ids = [f"q{i}" for i in range(40)]
    judgments = pd.DataFrame({"query_id": np.repeat(ids, 2), "product_id": ["a", "b"] * 40, "grade": [3.0, 0.0] * 40})
    status = pd.DataFrame({"query_id": ids, "status": ["failed"] * 20 + ["ok"] * 20, "reason": ["timeout"] * 20 + [None] * 20})
    lists = [pd.DataFrame({"query_id": np.repeat(ids[20:], 2), "product_id": order * 20, "score": [2.0, 1.0] * 20}) for order in (["b", "a"], ["a", "b"])]
    runs = [SearchRun(rankings, status, MultiMatch({"title": 1}), 10, "made") for rankings in lists]
    metrics = ["ndcg@10", "judged@10", "zero_result_rate"]
    arms = runs if form == "runs" else [evaluate(run, judgments, metrics) for run in runs]
    arms = [arm.to_frame() for arm in arms] if form == "tables" else arms
    made = compare(*arms, judgments if form == "runs" else None)
    assert made.coverage["failed_share"].tolist() == [0.5, 0.5]
    assert verdict(made).decision == "insufficient_evidence"
    assert "left out: 20 undefined in both" in made.sentence()


def test_the_order_of_rows_decides_nothing():
    arms = better()
    first = compare(*arms)
    assert first.primary == "ndcg@10"
    for seed in range(5):
        other = compare(*(arm.sample(frac=1, random_state=seed) for arm in arms))
        assert (other.primary, verdict(other).reasons) == (first.primary, verdict(first).reasons)
    odd = pd.concat([table([0.1, 0.2], "recall@5"), table([1, 1], "judged@10"), table([0.2, 0.1], "mrr@5")])
    assert compare(odd, odd).primary == compare(odd[::-1], odd).primary == "mrr@5"
    assert compare(odd, odd, metrics=["recall@5", "mrr@5"]).primary == "recall@5"


def test_unreadable_values_are_named():
    good = table([0.1, 0.2])
    with pytest.raises(EvaluationError, match="candidate: value must hold numbers, got text '0.1'"):
        compare(good, good.assign(value=["0.1", "0.2"]))
    with pytest.raises(EvaluationError, match="baseline: the metric table holds no row"):
        compare(good[:0], good)
    with pytest.raises(EvaluationError, match="candidate: metric values hold an infinity"):
        compare(good, good.assign(value=np.inf))
    with pytest.raises(EvaluationError, match="degraded: none of 1 ids is a compared query"):
        compare(good, good, degraded=[1])
    assert compare(good.astype({"value": object}), good).row()["delta"] == 0


def test_equal_differences_have_an_interval_of_one_point():
    row = compare(table(np.full(560, 0.2)), table(np.full(560, 0.3))).row()
    assert row["ci_low"] == row["delta"] == row["ci_high"]


def test_exports_escape_the_metric_names_they_are_given():
    made = compare(table([0.1, 0.2], "my|ndcg~x^2"), table([0.2, 0.2], "my|ndcg~x^2"))
    head, line, row = made.to_markdown().splitlines()[:3]
    assert r"my\|ndcg~x^2" in row and row.replace(r"\|", "").count("|") == head.count("|")
    assert r"my|ndcg\textasciitilde{}x\textasciicircum{}2 &" in made.to_latex()


def test_an_arm_of_unjudged_products_only_is_compared():
    judgments = pd.DataFrame({"query_id": ["q", "r"], "product_id": ["x", "x"], "grade": [3.0, 3.0]})
    known, unknown = (pd.DataFrame({"query_id": ["q", "r"], "product_id": [product] * 2, "score": [1.0, 1.0]}) for product in ("x", "u"))
    made = compare(known, unknown, judgments, metrics=["ndcg@3"])
    assert made.row()["delta"] == -1 and made.row()["hole_high"] > -1 and made.coverage["judged"].tolist() == [1.0, 0.0]
    with pytest.raises(EvaluationError, match="no product_id in common"):
        compare(unknown, unknown, judgments)


def test_the_hole_check_names_the_queries_it_leaves_out():
    judgments = pd.DataFrame({"query_id": ["q", "r", "s"], "product_id": ["x"] * 3, "grade": [3.0, 2.0, 0.0]})
    arm = pd.DataFrame({"query_id": ["q", "r", "s"] * 2, "product_id": ["x"] * 3 + ["u"] * 3, "score": [2.0] * 3 + [1.0] * 3})
    found = verdict(compare(arm, arm, judgments, metrics=["ndcg@3"])).to_frame().set_index("check")["sentence"]
    assert "(on 2 queries; 1 undefined ones stay left out, though a grading could define them)" in found["holes"]


def test_queries_may_be_a_table_as_in_evaluate():
    judgments = pd.DataFrame({"query_id": ["q", "r"], "product_id": ["x", "x"], "grade": [3.0, 3.0]})
    arm = pd.DataFrame({"query_id": ["q"], "product_id": ["x"], "score": [1.0]})
    for queries in (["q", "r"], pd.DataFrame({"query_id": ["q", "r"], "query": ["a", "b"]})):
        assert compare(arm, arm, judgments, queries=queries).row()["baseline"] == 0.5
    with pytest.raises(EvaluationError, match="queries is the text 'q'"):
        compare(arm, arm, judgments, queries="q")


def test_integer_ids_are_refused_in_every_table():
    judgments = pd.DataFrame({"query_id": ["1", "2"], "product_id": ["7", "8"], "grade": [3.0, 2.0]})
    arm = pd.DataFrame({"query_id": ["1", "2"], "product_id": ["7", "8"], "score": [1.0, 1.0]})
    for arms in ((arm.assign(query_id=[1, 2]), arm, judgments), (arm, arm.assign(product_id=[7, 8]), judgments), (arm, arm, judgments.assign(query_id=[1, 2]))):
        with pytest.raises(TableError, match="must hold strings, got int64"):
            compare(*arms)
