"""Why tools disagree: each definition against the tool where it can be run, and the public cases."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from toolkit.evaluation import evaluate
from toolkit.evaluation.tool_definitions import RULES, SMALL_RUN, TOOLS, SmallQuery, ToolDefinition, ndcg_under, public_cases, tool_table


def test_public_cases():
    cases = public_cases().set_index("case")
    got = {name.split(" (")[0]: (round(row["ours"], 3), round(row["other"], 3)) for name, row in cases.iterrows()}
    assert got == {
        "one hit of five judged": (0.339, 1.0),
        "ten of thirty relevant returned, all good": (1.0, 0.496),
        "the same relevant product twice": (1.0, 1.631),
        "precision@2 of two grade-1 products after a grade-3 product is judged": (1.0, 0.0),
        "two of four requests failed, the others score 0.8": (0.8, 0.4),
        "NDCG@1 of two tied products, one relevant": (1.0, 0.0),
    }
    assert set(cases["rule"]) <= set(RULES.values())


def test_our_row_is_what_evaluate_says():
    run = pd.DataFrame([(q.name, p, s) for q in SMALL_RUN for p, s in q.returned], columns=["query_id", "product_id", "score"])
    judgments = pd.DataFrame([(q.name, p, float(g)) for q in SMALL_RUN for p, g in q.grades], columns=["query_id", "product_id", "grade"])
    status = pd.DataFrame({"query_id": [q.name for q in SMALL_RUN], "status": ["failed" if q.failed else "ok" for q in SMALL_RUN], "reason": None})
    ours = evaluate(run, judgments, ["ndcg@10"], status=status)
    row = tool_table().iloc[0]
    for query, value in ours.to_frame().set_index("query_id")["value"].items():
        assert row[query] == pytest.approx(value, abs=1e-12, nan_ok=True)
    assert row["mean"] == pytest.approx(ours.mean("ndcg@10"), abs=1e-12) and row["queries"] == ours.means["n"].iloc[0]


def test_every_departure_shows_in_a_value_or_is_named():
    table = tool_table().set_index("tool")
    assert list(table.index) == [d.tool for d in TOOLS] and table.loc["this toolkit", "departs_from"] == "–"
    for definition in TOOLS[1:]:
        row, ours = table.loc[definition.tool], table.loc["this toolkit"]
        differs = {q.name for q in SMALL_RUN if not (row[q.name] == pytest.approx(ours[q.name], abs=1e-9, nan_ok=True))}
        assert differs and definition.departs and all(key in RULES for key in definition.departs)


def test_scikit_learn_definition_against_scikit_learn():
    from sklearn.metrics import ndcg_score

    definition = next(d for d in TOOLS if d.tool.startswith("scikit-learn"))
    for query in SMALL_RUN:
        if len(query.returned) > 1 and len(dict(query.returned)) == len(query.returned):
            grades = dict(query.grades)
            theirs = ndcg_score([[grades.get(p, 0) for p, _ in query.returned]], [[s for _, s in query.returned]], k=10)
            assert ndcg_under(definition, query) == pytest.approx(theirs)


def test_trec_eval_and_ranx_definitions_on_the_recorded_cases(conformance):
    for name, case in conformance.micro.items():
        for query, docs in case["run"].items():
            grades = case["qrels"].get(query, {})
            if not docs or not any(g > 0 for g in grades.values()) or any(g < 0 for g in grades.values()) or len(docs) > 40:
                continue
            small = SmallQuery(query, tuple(docs.items()), tuple(grades.items()))
            for tool, recorded in (("trec_eval ndcg_cut", case["observed"]["trec_eval_10.0 -c"].get(f"{query}:ndcg_cut_{case['k']}")),
                                   ("ranx ndcg", _ranx(case, query))):
                if recorded is not None:
                    definition = next(d for d in TOOLS if d.tool == tool)
                    assert ndcg_under(definition, small, case["k"]) == pytest.approx(float(recorded), abs=6e-5), (name, tool)


def _ranx(case, query):
    observed = case["observed"]["ranx_0.3.21 Run objects"]
    return observed[f"ndcg@{case['k']}"].get(query) if isinstance(observed, dict) else None


def test_options_of_a_definition():
    query = SmallQuery("q", (("b", 1.0), ("a", 1.0), ("c", 0.5)), (("a", 3), ("c", 1), ("d", 3)))
    half = 3 / 2 * (1 + 1 / math.log2(3)) + 0.5
    assert ndcg_under(ToolDefinition("t", ties="average"), query) == pytest.approx(half / (3 + 3 / math.log2(3) + 0.5))
    assert ndcg_under(ToolDefinition("t", ties="given"), query) < ndcg_under(ToolDefinition("t"), query)
    assert np.isnan(ndcg_under(ToolDefinition("t"), SmallQuery("f", (), (("a", 1),), failed=True)))
