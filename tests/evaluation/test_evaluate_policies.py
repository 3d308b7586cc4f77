"""evaluate(): each policy stated in the docs, on tables small enough to check by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import toolkit as tk
from toolkit.evaluation import ESCI_OFFICIAL, EvaluationError, EvaluationWarning, evaluate
from toolkit.search import MultiMatch, SearchRun
from toolkit.tables import TableError


def frame(rows, columns=("query_id", "product_id", "score")):
    return pd.DataFrame(rows, columns=list(columns))


def judgments(rows):
    return frame(rows, ("query_id", "product_id", "grade"))


def column(result, metric):
    return result.to_frame().query("metric == @metric").set_index("query_id")["value"].to_dict()


J = judgments([("q1", "a", 3), ("q1", "b", 2), ("q1", "c", 1), ("q1", "d", 0), ("q2", "e", 3), ("q3", "f", 0)])


def test_ndcg_by_hand_and_the_public_face():
    run = frame([("q1", "c", 9.0), ("q1", "x", 8.0), ("q1", "a", 7.0)])
    result = tk.evaluate(run, J, metrics=["ndcg@10"], queries=["q1"])
    expected = (1 / math.log2(2) + 3 / math.log2(4)) / (3 + 2 / math.log2(3) + 1 / math.log2(4))
    assert result.to_frame().columns.tolist() == ["query_id", "metric", "value"]
    assert result.to_frame().iloc[0].tolist() == ["q1", "ndcg@10", pytest.approx(expected)]


def test_float_gains_of_the_official_map():
    run = frame([("q1", p, 4.0 - i) for i, p in enumerate("cbda")])
    assert evaluate(run, J, ["ndcg@10"], gains=ESCI_OFFICIAL, queries=["q1"]).mean("ndcg@10") == pytest.approx(0.47165, abs=5e-6)


def test_every_state_of_a_query_is_counted_once():
    run = frame([("q1", "a", 1.0), ("zz", "a", 1.0)])
    status = pd.DataFrame({"query_id": ["q1", "q2", "q3", "q4"], "status": ["ok", "failed", "ok", "zero_results"],
                           "reason": [None, "timeout", None, None]})
    more = pd.concat([J, judgments([("q4", "a", 3), ("q5", "a", 3)])])
    with pytest.warns(EvaluationWarning, match="1 of 5 judged queries are not in the rankings"):
        result = evaluate(run, more, ["ndcg@10", "judged@10", "zero_result_rate"], status=status)
    states = result.queries.set_index("query_id")["state"].to_dict()
    assert states == {"q1": "ok", "q2": "failed", "q3": "zero_results", "q4": "zero_results", "q5": "missing"}
    assert result.queries.set_index("query_id").loc["q2", "reason"] == "timeout"
    row = result.means.set_index("metric").loc["ndcg@10"]
    # q1 scores, q2 failed, q3 has no relevant product, q4 returned nothing, q5 was never searched.
    assert (row["n"], row["failed"], row["undefined"], row["zero_results"], row["missing"]) == (3, 1, 1, 1, 1)
    assert row["mean"] == pytest.approx(column(result, "ndcg@10")["q1"] / 3)
    assert np.isnan(column(result, "ndcg@10")["q2"]) and np.isnan(column(result, "ndcg@10")["q3"])
    assert result.notes["off_judgments"] == ("zz",)
    assert column(result, "zero_result_rate")["q4"] == 1.0 and np.isnan(column(result, "judged@10")["q4"])
    for word in ("1 missing from the run", "2 without results", "1 failed", "1 searched queries outside"):
        assert word in result.summary()


def test_a_run_brings_its_status_and_a_failure_is_not_a_zero():
    run = SearchRun(frame([("q1", "a", 1.0)]).assign(rank=1),
                    pd.DataFrame({"query_id": ["q1", "q2"], "status": ["ok", "failed"], "reason": [None, "503"]}),
                    MultiMatch({"title": 1}), 10, "test")
    result = evaluate(run, J, ["recall@10"], queries=["q1", "q2"])
    assert result.means.iloc[0][["n", "failed"]].tolist() == [1, 1]


def test_duplicates_keep_the_first_and_are_reported():
    run = frame([("q1", "a", 3.0), ("q1", "a", 2.0), ("q1", "b", 1.0)])
    result = evaluate(run, J, ["ndcg@10", "precision@2"], queries=["q1"])
    assert result.notes["duplicates"] == 1 and column(result, "precision@2")["q1"] == 1.0
    assert column(result, "ndcg@10")["q1"] < 1.0 and "1 repeated products dropped" in result.summary()


@pytest.mark.parametrize("grade", [-1.0, math.inf, math.nan, "Infinity", "-2", "0x10", ""])
def test_bad_grades_are_refused_with_their_row(grade):
    bad = pd.DataFrame({"query_id": ["q1", "q1"], "product_id": ["a", "b"], "grade": pd.Series([1.0, grade], dtype=object)})
    with pytest.raises(EvaluationError, match="judgments row 1: grade"):
        evaluate(frame([("q1", "a", 1.0)]), bad)


def test_integer_ids_never_meet_strings():
    with pytest.raises(TableError, match="must hold strings"):
        evaluate(frame([(1, "a", 1.0)]), J)


def test_nothing_in_common_shows_both_sides():
    with pytest.raises(EvaluationError, match=r"no query_id in common: rankings have \['001'\], judgments have \['q1', 'q2', 'q3'\]"):
        evaluate(frame([("001", "a", 1.0)]), J)
    with pytest.raises(EvaluationError, match="no product_id in common"):
        evaluate(frame([("q1", "A", 1.0)]), J)
    assert evaluate(frame([("q1", "A", 1.0)]), J, ["ndcg@10"], on_no_overlap="zero", queries=["q1"]).mean("ndcg@10") == 0.0


def test_order_is_by_score_then_id_and_by_rank_without_scores():
    tied = frame([("q1", "b", 1.0), ("q1", "a", 1.0)])
    assert column(evaluate(tied, J, ["ndcg@1"], queries=["q1"]), "ndcg@1")["q1"] == 1.0
    ranked = pd.DataFrame({"query_id": ["q1", "q1"], "product_id": ["b", "a"], "rank": [1, 2]})
    assert column(evaluate(ranked, J, ["ndcg@1"], queries=["q1"]), "ndcg@1")["q1"] == pytest.approx(2 / 3)
    with pytest.raises(EvaluationError, match="neither a score nor a rank"):
        evaluate(ranked.drop(columns="rank"), J)
    with pytest.raises(EvaluationError, match="expected a number from 1"):
        evaluate(ranked.assign(rank=[0, 1]), J)
    with pytest.raises(EvaluationError, match="is not finite"):
        evaluate(tied.assign(score=[1.0, math.nan]), J)


def test_an_engines_ranks_and_scores_are_one_order():
    products, queries, judged = tk.load_sample()
    run = tk.EmbeddedEngine.build(products.head(600), progress=False).run(queries, MultiMatch({"title": 2, "brand": 1}), 50)
    by_score, by_rank = (evaluate(r, judged, ["ndcg@10", "ap", "judged@10"], status=run.status) for r in (run.rankings.drop(columns="rank"), run.rankings.drop(columns="score")))
    pd.testing.assert_frame_equal(by_score.to_frame(), by_rank.to_frame(), check_exact=True)
    assert evaluate(run, judged).notes["rank_conflicts"] == 0


@pytest.mark.parametrize("dtype", ["category", object, "string[python]"])
def test_ids_of_any_text_type_meet(dtype):
    run = frame([("q1", "a", 3.0), ("q1", "x", 2.0), ("q2", "e", 1.0)])
    expected = evaluate(run, J, ["ndcg@10"], queries=["q1", "q2"]).to_frame()["value"].tolist()
    typed = [t.astype({"query_id": dtype, "product_id": dtype}) for t in (run, J)]
    assert evaluate(*typed, ["ndcg@10"], queries=["q1", "q2"]).to_frame()["value"].tolist() == expected


def test_ranks_that_contradict_scores_are_reported():
    run = frame([("q1", "a", 1.0), ("q1", "b", 2.0)]).assign(rank=[1, 2])
    with pytest.warns(EvaluationWarning, match="in 1 queries the rank column contradicts the scores"):
        result = evaluate(run, J, ["ndcg@1"], queries=["q1"])
    assert result.notes["rank_conflicts"] == 1 and column(result, "ndcg@1")["q1"] == pytest.approx(2 / 3)
    agreeing = frame([("q1", "a", 2.0), ("q1", "b", 1.0)]).assign(rank=[1, 2])
    both = [evaluate(t, J, ["ndcg@10"], queries=["q1"]).mean("ndcg@10") for t in (agreeing, agreeing.drop(columns="score"))]
    assert both[0] == both[1]


def test_ties_across_the_cut_are_counted_and_bounded():
    run = frame([("q1", "d", 5.0), ("q1", "a", 4.0), ("q1", "b", 4.0), ("q2", "e", 1.0)])
    row = evaluate(run, J, ["ndcg@2"], queries=["q1", "q2"]).means.iloc[0]
    assert (row["ties_across_cut"], row["tie_dependent"]) == (1, 1)
    assert row["tie_worst"] < row["mean"] == row["tie_best"]


def test_condensed_moves_the_judged_up_and_says_so():
    run = frame([("q1", "x", 3.0), ("q1", "a", 2.0), ("q1", "b", 1.0)])
    zero, condensed = (evaluate(run, J, ["ndcg@1", "judged@1"], queries=["q1"], unjudged=p) for p in ("zero", "condensed"))
    assert zero.mean("ndcg@1") == 0.0 and condensed.mean("ndcg@1") == 1.0
    assert zero.mean("judged@1") == condensed.mean("judged@1") == 0.0
    assert "taken out" in condensed.summary() and "count as irrelevant" in zero.summary()


@pytest.mark.filterwarnings("ignore:no judgment reaches")
def test_threshold_is_stated_never_derived():
    only_c = judgments([("q1", "a", 1.0), ("q1", "b", 0.0)])
    run = frame([("q1", "a", 1.0)])
    assert evaluate(run, only_c, ["recall@10"]).means.iloc[0]["undefined"] == 1
    assert evaluate(run, only_c, ["recall@10"], relevant_grade=1.0).mean("recall@10") == 1.0
    assert evaluate(run, only_c, ["recall(relevant=1)@10"]).mean("recall(relevant=1)@10") == 1.0
    with pytest.raises(ValueError, match="relevant_grade is 0"):
        evaluate(run, only_c, ["recall@10"], relevant_grade=0)


@pytest.mark.filterwarnings("ignore:no judgment reaches")
def test_err_ceiling_belongs_to_the_scale():
    run = frame([("q1", "a", 1.0)])
    assert evaluate(run, J, ["err@10"], queries=["q1"]).mean("err@10") == pytest.approx(7 / 8)
    weak = judgments([("q1", "a", 1.0)])
    assert evaluate(run, weak, ["err@10"]).mean("err@10") == pytest.approx(1 / 8)  # not 1/2, its own best
    with pytest.raises(ValueError, match="above the scale's best grade 3"):
        evaluate(run, judgments([("q1", "a", 4.0)]), ["err@10"])
    assert evaluate(run, judgments([("q1", "a", 4.0)]), ["err(max_grade=4)@10"]).mean("err(max_grade=4)@10") == pytest.approx(15 / 16)


def test_empty_rankings_are_an_answer():
    empty = frame([]).astype({"query_id": "str", "product_id": "str", "score": float})
    result = evaluate(empty, J, ["ndcg@10", "mrr@10", "err@10", "ap@10", "judged@10"], queries=["q1", "q2"])
    assert result.means["mean"].tolist()[:4] == [0.0, 0.0, 0.0, 0.0] and np.isnan(result.mean("judged@10"))


def test_judgments_that_never_reach_the_threshold_are_told():
    run, binary = frame([("q", "a", 2.0)]), judgments([("q", "a", 1), ("q", "b", 0)])
    for measure in (evaluate, tk.diagnose_failures):
        with pytest.warns(EvaluationWarning, match=r"no judgment reaches relevant_grade 2 \(best grade 1\).*relevant_grade="):
            measure(run, binary)
    assert evaluate(run, binary, ["recall@10"], relevant_grade=1).mean("recall@10") == 1


@pytest.mark.parametrize("measure", [evaluate, tk.diagnose_failures])
def test_query_ids_are_a_list_of_strings(measure):
    run = frame([("q1", "a", 2.0)])
    with pytest.raises(EvaluationError, match=r"queries is the text 'q1'; expected a list"):
        measure(run, J, queries="q1")
    with pytest.raises(TableError, match="must hold strings"):
        measure(run, J, queries=[1, 2])


def test_rbo_and_unknown_requests_are_refused():
    run = frame([("q1", "a", 1.0)])
    with pytest.raises(ValueError, match="rank_biased_overlap"):
        evaluate(run, J, ["rbo@10"], queries=["q1"])
    with pytest.raises(ValueError, match="unjudged is 'drop'"):
        evaluate(run, J, unjudged="drop")
    with pytest.raises(EvaluationError, match="expected a DataFrame"):
        evaluate([("q1", "a")], J)
    for wrong, words in (({"gains": "exponential"}, "expected a Gains"), ({"relevant_grade": "E"}, "expected a grade above 0"),
                         ({"unseen": -1}, "unseen is -1"), ({"on_no_overlap": "ignore"}, "expected 'error' or 'zero'")):
        with pytest.raises(ValueError, match=words):
            evaluate(run, J, queries=["q1"], **wrong)
    with pytest.raises(KeyError, match="was not evaluated"):
        evaluate(run, J, ["ndcg@10"], queries=["q1"]).mean("ndcg@5")


def test_html_is_escaped_and_script_free():
    bad = "<script>alert(1)</script>"
    result = evaluate(frame([(bad, "a", 1.0)]), judgments([(bad, "a", 3.0)]), ["ndcg@10"])
    page = result._repr_html_()
    assert "<script" not in page and "ndcg@10" in page and "Definitions" in page
    assert repr(result).startswith("Evaluation: 1 queries")
