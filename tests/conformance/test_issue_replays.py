"""Public bug reports replayed: our value is the right one, or the difference has a name."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from toolkit.evaluation import EvaluationError, evaluate

# Replays without data of their own, and the test that holds their rule.
ELSEWHERE = {
    "opensearch-project/search-relevance#191": "tests/evaluation/test_metric_properties.py: values stay in [0, 1]",
    "o19s/quepid#836": "test_ideal_is_over_all_judged here",
    "RapidFireAI/rapidfireai#259": "tests/evaluation/test_metric_properties.py: order matters, row order does not",
    "AmenRa/ranx#79": "every test here uses pandas 3 string columns",
    "scipy/scipy#16459": "tests/evaluation/test_resampling.py: p is never 0",
    "statsmodels/statsmodels#2899": "tests/evaluation/test_resampling.py: undefined p leaves the family",
    "bnnr-team/bnnr#390": "tests/evaluation/test_effects_power.py: null contrast is 0",
    "raphaelvallat/pingouin#276 and ACCLAB/dabestr#193": "tests/evaluation/test_resampling.py: a constant per query moves nothing",
}
HERE = {
    "usnistgov/trec_eval#22", "cvangysel/pytrec_eval#51", "beir-cellar/beir#184", "usnistgov/trec_eval#34", "usnistgov/trec_eval#11",
    "terrierteam/ir_measures#50", "joaopalotti/trectools#24", "joaopalotti/trectools#52", "mlflow/mlflow#25965", "mlflow/mlflow#12361",
    "OpenAgentHQ/openagent-eval#223", "karlhigley/ranking-metrics-torch#1", "recommenders-team/recommenders#1749", "elixir-nx/scholar#360",
}


@pytest.fixture
def replay(conformance):
    """Score a replay: ``replay(issue, metrics, run=...) -> Evaluation``."""
    def scored(issue, metrics, run=None, **options):
        case = conformance.replays[issue]
        given = case["run"] if run is None else run
        return evaluate(conformance.small_run(given), conformance.small_qrels(case["qrels"]), metrics, relevant_grade=1.0, **options)
    return scored


def test_every_replay_is_accounted_for(conformance):
    assert set(conformance.replays) == HERE | set(ELSEWHERE)


def test_ties_have_a_stated_value_and_are_counted(conformance, replay):
    runs = conformance.replays["usnistgov/trec_eval#22"]["run"]
    first, second = (replay("usnistgov/trec_eval#22", ["ndcg"], run=run) for run in runs)
    assert (round(first.mean("ndcg"), 4), second.mean("ndcg")) == (0.6309, 1.0)  # ascending ids: the mirror of trec_eval's
    assert first.means["tie_dependent"].tolist() == second.means["tie_dependent"].tolist() == [1]
    bounds = replay("cvangysel/pytrec_eval#51", ["ndcg@10"]).means.iloc[0]
    for value in conformance.replays["cvangysel/pytrec_eval#51"]["values"].values():
        assert bounds["tie_worst"] - 1e-4 <= value <= bounds["tie_best"] + 1e-4


def test_renaming_products_cannot_leave_the_tie_bounds(conformance, replay):
    case = conformance.replays["cvangysel/pytrec_eval#51"]
    stated = replay("cvangysel/pytrec_eval#51", ["ndcg@10"]).means.iloc[0]
    docs = list(case["run"]["q1"])
    seen = set()
    for shift in range(len(docs)):
        name = {doc: f"p{(i + shift) % len(docs):02d}" for i, doc in enumerate(docs)}
        renamed = evaluate(conformance.small_run({"q1": {name[d]: s for d, s in case["run"]["q1"].items()}}),
                           conformance.small_qrels({"q1": {name[d]: g for d, g in case["qrels"]["q1"].items()}}), ["ndcg@10"], relevant_grade=1.0)
        row = renamed.means.iloc[0]
        assert (row["tie_worst"], row["tie_best"]) == (stated["tie_worst"], stated["tie_best"])
        seen.add(round(row["mean"], 6))
    assert len(seen) > 1  # the value itself does depend on the names, which is why the bounds are printed


def test_recall_at_ties(conformance, replay):
    metrics = ["recall@1", "recall@2", "recall@3"]
    result = replay("beir-cellar/beir#184", metrics)
    assert [result.mean(m) for m in metrics] == [0.0, 0.5, 1.0]
    assert result.means["ties_across_cut"].tolist() == [1, 1, 0]


def test_scores_stay_float64(replay):
    assert replay("usnistgov/trec_eval#34", ["ndcg@10"]).mean("ndcg@10") == 1.0


def test_cut_off_is_part_of_the_name(conformance, replay):
    expected = conformance.replays["usnistgov/trec_eval#11"]["values"]
    result = replay("usnistgov/trec_eval#11", ["ndcg", "ndcg@20", "ndcg_full_ideal@20"])
    assert [result.mean("ndcg"), result.mean("ndcg@20")] == pytest.approx(expected, abs=1e-12)
    assert result.mean("ndcg_full_ideal@20") == pytest.approx(expected[0], abs=1e-12)


def test_err_takes_any_id_and_any_grade(replay):
    result = replay("terrierteam/ir_measures#50", ["err@10", "ndcg(gains=exponential)@10"])
    stop = lambda grade: (2.0 ** grade - 1) / 8  # noqa: E731
    values = result.to_frame().query("metric == 'err@10'").set_index("query_id")["value"]
    assert values["Q0"] == pytest.approx(stop(1) / 2) and values["Q1"] == pytest.approx(stop(2))


def test_queries_without_judgments_stay_outside(replay):
    result = replay("joaopalotti/trectools#24", ["ndcg@10"])
    assert result.mean("ndcg@10") == 1.0 and result.notes["off_judgments"] == ("9",)


def test_repeated_judgments(conformance, replay):
    result = replay("joaopalotti/trectools#52", ["ndcg@10"])
    assert result.mean("ndcg@10") == 1.0 and result.notes["repeated_judgments"] == 2
    clash = pd.DataFrame({"query_id": ["1", "1"], "product_id": ["a", "a"], "grade": [1.0, 2.0]})
    with pytest.raises(EvaluationError, match="grades 1 and 2"):
        evaluate(conformance.small_run({"1": {"a": 1.0}}), clash)


def test_repeated_products_count_once_under_their_own_name(conformance, replay):
    result = replay("mlflow/mlflow#25965", ["ndcg@3"], on_no_overlap="zero")
    assert result.mean("ndcg@3") == conformance.replays["mlflow/mlflow#25965"]["values"]["right"] and result.notes["duplicates"] == 1
    with pytest.raises(EvaluationError, match="no product_id in common"):
        replay("mlflow/mlflow#12361", ["ndcg@3"])
    result = replay("mlflow/mlflow#12361", ["ndcg@3", "recall@3"], on_no_overlap="zero")
    assert result.mean("ndcg@3") == result.mean("recall@3") == 0.0 and result.notes["duplicates"] == 2


def test_discount_starts_at_rank_one(conformance, replay):
    case = conformance.replays["OpenAgentHQ/openagent-eval#223"]
    got = [replay("OpenAgentHQ/openagent-eval#223", ["ndcg@3"], run={"q": run}).mean("ndcg@3") for run in case["run"]]
    assert got == pytest.approx(case["values"]["right"], abs=1e-12)


def test_ideal_is_over_all_judged(conformance, replay):
    issue = "karlhigley/ranking-metrics-torch#1"
    result = replay(issue, ["ndcg@3", "ndcg@5"])
    assert result.mean("ndcg@3") == pytest.approx(conformance.replays[issue]["values"]["right"], abs=1e-12)
    assert round(result.mean("ndcg@5"), 4) == 0.6957


def test_graded_linear(replay):
    assert round(replay("recommenders-team/recommenders#1749", ["ndcg@6"]).mean("ndcg@6"), 3) == 0.785


def test_all_tied_is_bounded(conformance, replay):
    row = replay("elixir-nx/scholar#360", ["ndcg"]).means.iloc[0]
    values = conformance.replays["elixir-nx/scholar#360"]["values"]
    assert row["tie_best"] == values["best"]
    assert row["tie_worst"] < values["expected over ties (sklearn)"] < row["tie_best"]
    gains, discount = [10, 0, 0, 1, 5], 1 / np.log2(np.arange(2, 7))
    orders = [np.dot(order, discount) / np.dot(sorted(gains, reverse=True), discount) for order in itertools.permutations(gains)]
    assert math.isclose(min(orders), row["tie_worst"]) and math.isclose(np.mean(orders), values["expected over ties (sklearn)"], abs_tol=1e-6)
