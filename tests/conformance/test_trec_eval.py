"""Agreement with trec_eval 9 and 10 on its own test files, where the definitions coincide.

The tie rule is the one definition that does not: trec_eval orders equal scores by document id
descending, this toolkit ascending. The runs are therefore compared under trec_eval's order, and a
test shows that our own order stays inside the tie bounds.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from toolkit.evaluation import EvaluationWarning, evaluate

# trec_eval's name -> ours; relevant from grade 1, as trec_eval's default level.
NAMES = {
    "ndcg_cut_5": "ndcg@5", "ndcg_cut_10": "ndcg@10", "ndcg_cut_100": "ndcg@100", "ndcg": "ndcg", "map": "ap", "map_cut_10": "ap@10",
    "recip_rank": "mrr", "P_5": "precision@5", "P_10": "precision@10", "recall_10": "recall@10", "recall_100": "recall@100",
    "success_1": "success@1", "success_10": "success@10",
}


def scored(conformance, qrels, run, *, relevant_grade=1.0, unjudged="zero"):
    """Values by (our measure, query), and the Evaluation."""
    judgments = conformance.qrels(conformance.folder / qrels)
    judgments = judgments[judgments["grade"] >= 0]  # -1 is trec_eval's mark of a document outside the judged pool
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        result = evaluate(conformance.in_trec_order(conformance.run(conformance.folder / run)), judgments, list(NAMES.values()), relevant_grade=relevant_grade, unjudged=unjudged)
    frame = result.to_frame()
    return {(m, q): v for q, m, v in frame.itertuples(index=False)}, result


@pytest.mark.parametrize("version", ["trec_eval_v10", "trec_eval_v9.0.8_expected"])
@pytest.mark.parametrize(("qrels", "run", "out", "relevant"), [
    ("qrels.test", "results.test", "out.test.aq", 1.0),
    ("qrels.test", "results.trunc", "out.test.aqc", 1.0),
    ("qrels.rel_level", "results.test", "out.test.aql", 2.0),
])
def test_per_query_and_mean(conformance, version, qrels, run, out, relevant):
    expected = conformance.out(conformance.folder / version / out)
    values, result = scored(conformance, f"trec_eval_v10/{qrels}", f"trec_eval_v10/{run}", relevant_grade=relevant)
    compared = 0
    for theirs, ours in NAMES.items():
        for query in ("301", "302", "303"):
            if (theirs, query) in expected:
                assert values[ours, query] == pytest.approx(expected[theirs, query], abs=5.1e-5), (theirs, query)
                compared += 1
        # Version 9 prints no zero line for the query that is missing from the run, yet counts it.
        if (theirs, "all") in expected:
            assert result.mean(ours) == pytest.approx(expected[theirs, "all"], abs=5.1e-5), theirs
            compared += 1
    assert compared > 30


def test_the_stated_figures(conformance):
    values, result = scored(conformance, "trec_eval_v10/qrels.test", "trec_eval_v10/results.test")
    assert [round(values["ndcg@10", q], 4) for q in ("301", "302", "303")] == [0.1518, 0.7530, 0.0]
    assert round(result.mean("ndcg@10"), 4) == 0.3016
    truncated, result = scored(conformance, "trec_eval_v10/qrels.test", "trec_eval_v10/results.trunc")
    assert truncated["ndcg@10", "302"] == 0.0 and round(result.mean("ndcg@10"), 4) == 0.1717
    assert result.queries.set_index("query_id").loc["302", "state"] == "missing"
    _, graded = scored(conformance, "trec_eval_v10/qrels.rel_level", "trec_eval_v10/results.test", relevant_grade=2.0)
    assert round(graded.mean("ndcg@10"), 4) == 0.2656


def test_to_the_last_digit(conformance):
    for key, qrels in (("qrels.test x results.test", "qrels.test"), ("qrels.rel_level x results.test", "qrels.rel_level")):
        values, _ = scored(conformance, f"trec_eval_v10/{qrels}", "trec_eval_v10/results.test")
        for query, expected in conformance.precise["values"][key].items():
            for theirs, value in expected.items():
                if theirs in NAMES:
                    assert values[NAMES[theirs], query] == pytest.approx(value, abs=1e-12), (key, query, theirs)


def test_condensed_equals_trec_eval_j(conformance):
    expected = conformance.out(conformance.folder / "derived" / "out.thin12.cJ")
    values, result = scored(conformance, "derived/qrels.thin12.test", "trec_eval_v10/results.test", unjudged="condensed")
    for theirs, ours in NAMES.items():
        for query in ("301", "302", "303"):
            if (theirs, query) in expected:
                assert values[ours, query] == pytest.approx(expected[theirs, query], abs=5.1e-5), (theirs, query)
    plain, _ = scored(conformance, "derived/qrels.thin12.test", "trec_eval_v10/results.test")
    assert not np.isclose(plain["ndcg@10", "302"], values["ndcg@10", "302"], atol=0.01)


def test_the_tie_rule_is_the_difference(conformance):
    judgments = conformance.qrels(conformance.folder / "trec_eval_v10" / "qrels.test")
    run = conformance.run(conformance.folder / "trec_eval_v10" / "results.test")
    ours = evaluate(run, judgments, ["ap"], relevant_grade=1.0)
    theirs = evaluate(conformance.in_trec_order(run), judgments, ["ap"], relevant_grade=1.0)
    row = ours.means.iloc[0]
    assert ours.mean("ap") != theirs.mean("ap") and row["tie_dependent"] > 0
    assert row["tie_worst"] <= theirs.mean("ap") <= row["tie_best"]


def test_gdeval_exponential_ndcg_and_err(conformance):
    """gdeval's ERR divides by 2^4, its best grade: stated inside the measure's name."""
    expected = conformance.precise["values"]["gdeval (5 decimals) qrels.rel_level x results.test"]
    judgments = conformance.qrels(conformance.folder / "trec_eval_v10" / "qrels.rel_level").query("grade >= 0")
    run = conformance.in_trec_order(conformance.run(conformance.folder / "trec_eval_v10" / "results.test"))
    names = {f"{theirs}@{k}": f"{ours}@{k}" for k in (10, 20) for theirs, ours in (("nDCG(dcg='exp-log2')", "ndcg(gains=exponential)"), ("ERR", "err(max_grade=4)"))}
    values = evaluate(run, judgments, list(names.values())).to_frame().set_index(["query_id", "metric"])["value"]
    for query, found in expected.items():
        for theirs, value in found.items():
            assert values[query, names[theirs]] == pytest.approx(value, abs=6e-6), (query, theirs)


def test_a_missing_query_scores_zero_to_the_last_digit(conformance):
    expected = conformance.precise["values"]["qrels.test x results.trunc (302 absent: score it 0)"]
    values, result = scored(conformance, "trec_eval_v10/qrels.test", "trec_eval_v10/results.trunc")
    for query, found in expected.items():
        for theirs, value in found.items():
            if theirs in NAMES:
                assert values[NAMES[theirs], query] == pytest.approx(value, abs=1e-12)
    assert result.mean("ndcg@10") == pytest.approx(sum(found["ndcg_cut_10"] for found in expected.values()) / 3, abs=1e-12)
