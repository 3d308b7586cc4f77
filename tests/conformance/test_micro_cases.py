"""Twenty-one tiny cases: our value, and which tools say something else."""

from __future__ import annotations

import math
import warnings

import pytest

from toolkit.evaluation import EXPONENTIAL, EvaluationError, EvaluationWarning, evaluate

TREC = {"ndcg": "ndcg_cut_{k}", "recall": "recall_{k}", "mrr": "recip_rank"}

# Where our documented value is not trec_eval 10's: (query, measure) -> our value, and why.
OURS = {
    "tie_relevant_first_id": ({("1", "ndcg"): 1.0, ("1", "mrr"): 1.0}, "ties: product_id ascending, trec_eval descending"),
    "tie_relevant_last_id": ({("1", "ndcg"): 0.5, ("1", "mrr"): 1 / 3}, "ties: product_id ascending, trec_eval descending"),
    "long_constant_score_list_n50": ({("1", "ndcg"): 1.0, ("1", "recall"): 1.0, ("1", "mrr"): 1.0}, "ties: 50 equal scores"),
    "query_only_zero_grades": ({("2", "ndcg"): None, ("2", "recall"): None, ("2", "mrr"): None}, "no relevant product: undefined, not 0"),
}
REFUSED = {"query_only_negative_grades", "negative_grade_ranked_first"}
# Tools whose recorded ndcg differs from ours in the case, beyond rounding.
DISSENT = {
    "gain_linear_vs_exp": {"ranx_0.3.21 Run objects:ndcg_burges"},
    "tie_relevant_first_id": {"trec_eval_10.0 -c", "trec_eval_9.0.8", "pytrec_eval-terrier_0.5.11"},
    "tie_relevant_last_id": {"trec_eval_10.0 -c", "trec_eval_9.0.8", "pytrec_eval-terrier_0.5.11"},
    "near_tie_float32": {"trec_eval_9.0.8", "pytrec_eval-terrier_0.5.11"},
    "long_constant_score_list_n50": {"trec_eval_10.0 -c", "trec_eval_9.0.8", "pytrec_eval-terrier_0.5.11", "ranx_0.3.21 Run objects"},
    "esci_int_gains_x100": {"ranx_0.3.21 Run objects:ndcg_burges"},
    "string_query_ids_exp_gain": {"ranx_0.3.21 Run objects:ndcg_burges"},
    "unitxt_1935": {"ranx_0.3.21 Run objects:ndcg_burges"},
}


def values_of(conformance, case, **options):
    """(query, measure) -> our value, and the Evaluation."""
    k = case["k"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        result = evaluate(conformance.small_run(case["run"]), conformance.small_qrels(case["qrels"]),
                          [f"ndcg@{k}", f"recall@{k}", "mrr"], relevant_grade=1.0, **options)
    return {(q, m.split("@")[0]): v for q, m, v in result.to_frame().itertuples(index=False)}, result


def recorded(case, tool):
    """(query, measure) -> the tool's recorded ndcg, in the case's query order."""
    observed, k = case["observed"].get(tool.split(":")[0]), case["k"]
    if not isinstance(observed, dict):
        return {}
    if tool.startswith("trec_eval"):
        return {q: float(observed[f"{q}:ndcg_cut_{k}"]) for q in case["qrels"] if f"{q}:ndcg_cut_{k}" in observed}
    if tool.startswith("pytrec"):
        return {q: found[f"ndcg_cut_{k}"] for q, found in observed.items()}
    return dict(observed.get(f"{'ndcg_burges' if 'burges' in tool else 'ndcg'}@{k}", {}))


def test_every_case_is_here(conformance):
    assert len(conformance.micro) == 21
    assert {*OURS, *REFUSED, *DISSENT} <= set(conformance.micro)


def test_our_value_of_every_case(conformance):
    for name, case in conformance.micro.items():
        if name in REFUSED:
            with pytest.raises(EvaluationError, match="not a finite number >= 0"):
                values_of(conformance, case)
            continue
        ours, _ = values_of(conformance, case)
        trec = case["observed"]["trec_eval_10.0 -c"]
        exceptions = OURS.get(name, ({}, ""))[0]
        for (query, measure), value in ours.items():
            expected = exceptions.get((query, measure), trec.get(f"{query}:{TREC[measure].format(k=case['k'])}"))
            if (query, measure) in exceptions and expected is None:
                assert math.isnan(value), (name, query, measure)
            else:
                assert value == pytest.approx(float(expected), abs=5.1e-5), (name, query, measure)


def test_which_tools_dissent(conformance):
    tools = ["trec_eval_10.0 -c", "trec_eval_9.0.8", "pytrec_eval-terrier_0.5.11", "ranx_0.3.21 Run objects", "ranx_0.3.21 Run objects:ndcg_burges"]
    for name, case in conformance.micro.items():
        if name in REFUSED:
            continue
        ours, _ = values_of(conformance, case)
        undefined = {q for (q, m), v in ours.items() if m == "ndcg" and math.isnan(v)}
        found = {tool for tool in tools for q, v in recorded(case, tool).items()
                 if q not in undefined and abs(v - ours[q, "ndcg"]) > 1e-4}
        if name in ("tie_relevant_first_id", "tie_relevant_last_id", "long_constant_score_list_n50"):
            found -= {"ranx_0.3.21 Run objects:ndcg_burges"}  # the same tie rule as its linear form
        assert found == DISSENT.get(name, set()), name


def test_exponential_gains_by_name(conformance):
    for name, expected in (("gain_linear_vs_exp", 0.5478), ("string_query_ids_exp_gain", 0.7098)):
        ours, result = values_of(conformance, conformance.micro[name], gains=EXPONENTIAL)
        assert next(v for (_, m), v in ours.items() if m == "ndcg") == pytest.approx(expected, abs=5.1e-5)
        assert "2^grade - 1" in result.definitions["ndcg@10"]


def test_tie_bounds_hold_every_tools_value(conformance):
    for name in ("tie_relevant_first_id", "tie_relevant_last_id", "long_constant_score_list_n50"):
        case = conformance.micro[name]
        _, result = values_of(conformance, case)
        row = result.means.iloc[0]
        assert row["tie_dependent"] == 1
        for tool in ("trec_eval_10.0 -c", "ranx_0.3.21 Run objects"):
            assert row["tie_worst"] - 5e-5 <= recorded(case, tool)["1"] <= row["tie_best"] + 5e-5


@pytest.mark.filterwarnings("ignore:no judgment reaches")
def test_judged_denominator(conformance):
    """ir_measures divides by k where the list is short only in some versions; ours divides by min(k, returned)."""
    case = conformance.micro["k_larger_than_list"]
    result = evaluate(conformance.small_run(case["run"]), conformance.small_qrels(case["qrels"]), ["judged@10"])
    assert result.mean("judged@10") == 0.5 == case["observed"]["ir_measures_0.4.3"][0]["1:Judged@10"]
    assert "min(10, products returned)" in result.definitions["judged@10"]
