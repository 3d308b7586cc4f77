"""Why tools disagree: one small run scored under the NDCG definitions of seven tools.

Each definition is implemented here from the tool's public description or source, as of 2026; the tools
themselves are not run. The rule that a tool departs from is named in :data:`RULES`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from toolkit.evaluation.evaluating import evaluate

RULES = {
    "gain": "gains are linear in the grade unless the name says otherwise",
    "ideal": "the ideal is over all judged products of the query, cut at k",
    "ties": "equal scores are ordered by product_id ascending, and the bounds over other orders are printed",
    "duplicates": "a repeated product counts once, at its first place",
    "undefined": "a query without a relevant product is undefined and leaves the mean by name",
    "failed": "a failed request is null with a reason; it is neither a zero nor silently gone",
    "missing": "a judged query that the run lacks scores 0 and is counted",
    "precision": "values are not rounded before they are averaged",
    "threshold": "relevant is a fixed, stated grade, never one taken from the query's own judgments",
}


@dataclass(frozen=True)
class ToolDefinition:
    """How one tool computes NDCG@k.

    Parameters
    ----------
    tool : str
    gain : {"linear", "exponential"}
    ideal : {"all_at_k", "all", "hits", "returned"}
        Ideal over all judged products cut at k; not cut; cut at the number of returned products;
        over the returned products only.
    ties : {"id_asc", "id_desc", "given", "average"}
    duplicates : {"first", "each"}
    no_relevant : float
        Value of a query without a relevant product (NaN: undefined).
    failed : {"null", "gone", "zero"}
        A failed request: null and reported; leaves the mean; scores 0.
    rounding : {"none", "round_2", "floor_2"}
        Two decimals per query; ``floor_2`` also cuts every addend.
    departs : tuple of str
        Keys of :data:`RULES`.
    source : str
    """

    tool: str
    gain: Literal["linear", "exponential"] = "linear"
    ideal: Literal["all_at_k", "all", "hits", "returned"] = "all_at_k"
    ties: Literal["id_asc", "id_desc", "given", "average"] = "id_asc"
    duplicates: Literal["first", "each"] = "first"
    no_relevant: float = math.nan
    failed: Literal["null", "gone", "zero"] = "null"
    rounding: Literal["none", "round_2", "floor_2"] = "none"
    departs: tuple[str, ...] = ()
    source: str = ""


TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition("this toolkit", source="toolkit.evaluation"),
    ToolDefinition("trec_eval ndcg_cut", ties="id_desc", no_relevant=0.0, failed="gone", departs=("ties", "undefined", "failed", "missing"),
                   source="trec_eval 10, m_ndcg_cut; without -c queries that the run lacks leave the mean"),
    ToolDefinition("Elasticsearch _rank_eval", gain="exponential", ideal="hits", ties="given", no_relevant=0.0, failed="gone",
                   departs=("gain", "ideal", "undefined", "failed"), source="modules/rank-eval DiscountedCumulativeGain, normalize=true"),
    ToolDefinition("Quepid NDCG@10", gain="exponential", ideal="all", ties="given", no_relevant=0.0, failed="zero",
                   departs=("gain", "ideal", "undefined", "failed"), source="Quepid's default scorer ndcg@10"),
    ToolDefinition("Search Relevance Workbench", gain="exponential", ties="given", duplicates="each", no_relevant=0.0, failed="gone", rounding="round_2",
                   departs=("gain", "duplicates", "undefined", "failed", "precision"), source="opensearch search-relevance Evaluation, NDCG@k"),
    ToolDefinition("Rated Ranking Evaluator", ties="given", duplicates="each", no_relevant=0.0, failed="zero", rounding="floor_2",
                   departs=("duplicates", "undefined", "failed", "precision"), source="RRE NDCGAtK"),
    ToolDefinition("ranx ndcg", ties="given", no_relevant=0.0, failed="zero", departs=("ties", "undefined", "failed"), source="ranx 0.3, Run objects"),
    ToolDefinition("scikit-learn ndcg_score", ideal="returned", ties="average", no_relevant=0.0, failed="gone", departs=("ideal", "ties", "undefined", "failed"),
                   source="sklearn.metrics.ndcg_score(ignore_ties=False) on the returned products"),
)


@dataclass(frozen=True)
class SmallQuery:
    """One query of the small run: (product, score) as returned, grades, and whether the request failed."""

    name: str
    returned: tuple[tuple[str, float], ...]
    grades: tuple[tuple[str, float], ...]
    failed: bool = False


SMALL_RUN: tuple[SmallQuery, ...] = (
    SmallQuery("graded", (("c", 4.0), ("x", 3.0), ("a", 2.0)), (("a", 3), ("b", 2), ("c", 1))),
    SmallQuery("one hit of five", (("a", 1.0),), tuple((p, 1) for p in "abcde")),
    SmallQuery("thirty relevant", tuple((f"d{i:02d}", 10.0 - i) for i in range(10)), tuple((f"d{i:02d}", 1) for i in range(30))),
    SmallQuery("tied scores", (("b", 1.0), ("a", 1.0)), (("a", 1), ("b", 0))),
    SmallQuery("duplicate product", (("a", 2.0), ("a", 1.0)), (("a", 1),)),
    SmallQuery("nothing relevant", (("a", 1.0),), (("a", 0),)),
    SmallQuery("failed request", (), (("a", 1),), failed=True),
)


def ndcg_under(definition: ToolDefinition, query: SmallQuery, k: int = 10) -> float:
    """NDCG@k of one small query under a tool's definition; NaN where the tool gives no value."""
    if query.failed:
        return 0.0 if definition.failed == "zero" else math.nan
    grades = dict(query.grades)
    if not any(grade > 0 for grade in grades.values()):
        return definition.no_relevant
    gain: Callable[[float], float] = float if definition.gain == "linear" else lambda grade: 2.0 ** grade - 1
    orders = _orders(definition, query)
    top = np.mean([_dcg([gain(grades.get(p, 0)) for p in order[:k]], definition.rounding) for order in orders])
    best = sorted((gain(g) for p, g in grades.items() if definition.ideal != "returned" or p in dict(query.returned)), reverse=True)
    cut = {"all": None, "all_at_k": k, "returned": k, "hits": min(k, len(orders[0]))}[definition.ideal]
    ideal = _dcg(best[:cut], definition.rounding)
    value = float(top / ideal) if ideal else definition.no_relevant
    if definition.rounding == "none" or math.isnan(value):
        return value
    return round(value, 2) if definition.rounding == "round_2" else math.floor(value * 100 + 1e-9) / 100


def _orders(definition: ToolDefinition, query: SmallQuery) -> list[list[str]]:
    """The ranked products; every legal order of ties where the tool averages over them."""
    rows = list(query.returned)
    if definition.duplicates == "first":
        rows = [row for i, row in enumerate(rows) if row[0] not in [p for p, _ in rows[:i]]]
    if definition.ties == "id_asc":
        rows.sort(key=lambda row: row[0])
    if definition.ties == "id_desc":
        rows.sort(key=lambda row: row[0], reverse=True)
    rows.sort(key=lambda row: -row[1])
    if definition.ties != "average":
        return [[p for p, _ in rows]]
    groups = [[p for p, _ in group] for _, group in itertools.groupby(rows, key=lambda row: row[1])]
    return [list(itertools.chain(*parts)) for parts in itertools.product(*(itertools.permutations(g) for g in groups))]


def _dcg(gains: Sequence[float], rounding: str) -> float:
    """DCG, with every addend cut to two decimals under ``floor_2``."""
    addends = [gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1)]
    return sum(math.floor(a * 100 + 1e-9) / 100 for a in addends) if rounding == "floor_2" else sum(addends)


def tool_table(k: int = 10) -> pd.DataFrame:
    """The small run under every definition.

    Returns
    -------
    DataFrame
        tool; one column a query (null where the tool gives no value); mean (over what is left);
        queries (in the mean); departs_from (our rules that the tool departs from).
    """
    rows = []
    for definition in TOOLS:
        values = {query.name: ndcg_under(definition, query, k) for query in SMALL_RUN}
        counted = [v for v in values.values() if not math.isnan(v)]
        rows.append({"tool": definition.tool, **values, "mean": math.fsum(counted) / len(counted), "queries": len(counted),
                     "departs_from": "; ".join(RULES[key] for key in definition.departs) or "–"})
    return pd.DataFrame(rows)


def public_cases() -> pd.DataFrame:
    """Six cases that users of these tools reported, with our value and the other one.

    Returns
    -------
    DataFrame
        case, ours, other, rule (the rule that makes the difference).
    """
    def by(name: str) -> ToolDefinition:
        return next(d for d in TOOLS if d.tool == name)

    def query(name: str) -> SmallQuery:
        return next(q for q in SMALL_RUN if q.name == name)

    ours = by("this toolkit")
    tied = SmallQuery("tied", (("b", 1.0), ("a", 1.0)), (("a", 1),))
    rows = [
        ("one hit of five judged", ndcg_under(ours, query("one hit of five")), ndcg_under(by("Elasticsearch _rank_eval"), query("one hit of five")), "ideal"),
        ("ten of thirty relevant returned, all good", ndcg_under(ours, query("thirty relevant")), ndcg_under(by("Quepid NDCG@10"), query("thirty relevant")), "ideal"),
        ("the same relevant product twice", ndcg_under(ours, query("duplicate product")),
         ndcg_under(ToolDefinition("naive", duplicates="each"), query("duplicate product")), "duplicates"),
        ("precision@2 of two grade-1 products after a grade-3 product is judged", *_moving_threshold(), "threshold"),
        ("two of four requests failed, the others score 0.8 (ours prints n = 2 and 2 failed beside it)", *_failed_requests(), "failed"),
        ("NDCG@1 of two tied products, one relevant", ndcg_under(ours, tied, 1), ndcg_under(by("trec_eval ndcg_cut"), tied, 1), "ties"),
    ]
    table = pd.DataFrame(rows, columns=["case", "ours", "other", "rule"])
    return table.assign(rule=table["rule"].map(RULES))


def _failed_requests() -> tuple[float, float]:
    """Mean precision@5 of four queries, two of them failed: left out and counted, or scored 0."""
    queries = ["1", "2", "3", "4"]
    judgments = pd.DataFrame([(q, p, 3.0) for q in queries for p in "abcd"], columns=["query_id", "product_id", "grade"])
    run = pd.DataFrame([(q, p, 9.0 - i) for q in queries[:2] for i, p in enumerate("abcdx")], columns=["query_id", "product_id", "score"])
    status = pd.DataFrame({"query_id": queries, "status": ["ok", "ok", "failed", "failed"], "reason": [None, None, "timeout", "timeout"]})
    ours = evaluate(run, judgments, ["precision@5"], status=status)
    return ours.mean("precision@5"), float(ours.to_frame()["value"].fillna(0.0).mean())


def _moving_threshold() -> tuple[float, float]:
    """Precision@2 with a fixed threshold of 1, and with half the best judged grade as threshold."""
    returned, grades = ["a", "b"], {"a": 1.0, "b": 1.0, "c": 3.0}
    return tuple(sum(grades[p] >= bar for p in returned) / 2 for bar in (1.0, max(grades.values()) / 2))
