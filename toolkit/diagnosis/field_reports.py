"""Is a field dead? Evidence from the index, from the queries, and from its whole weight axis."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from toolkit.diagnosis.curves import WeightCurve, field_curve
from toolkit.diagnosis.field_statistics import field_statistics, query_idf
from toolkit.diagnosis.list_evaluation import evaluate_lists, winning_fields
from toolkit.diagnosis.weight_space import Objective, WeightSpace, objective, weight_space
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.search.analysis import Analyzer
from toolkit.search.config import MultiMatch
from toolkit.search.field_lists import FieldLists
from toolkit.search.protocol import SearchEngine

#: From this share on, one value is "nearly all" documents.
ONE_VALUE = 0.95
#: Weights up to this multiple of the configuration's largest are called practical.
PRACTICAL = 100.0

MEANINGS = {
    "dead_in_information": "one value (or none) in nearly all products, and no practical weight changes any query's metric",
    "dead_in_effect": "every weight from 0 to infinity, and leaving the field out, gives every query the same metric",
    "recall_only": "leaving it out loses results, but no practical weight > 0 changes any query's metric",
    "live": "its weight, or its presence, changes the metric of some query",
}


@dataclass(frozen=True)
class FieldReport:
    """What each field of a configuration does for these queries.

    Attributes
    ----------
    table : DataFrame
        One row a field: field, weight, verdict (dead_in_information, dead_in_effect, recall_only, live),
        coverage, distinct_values, top_value, top_value_share, query_terms_found (distinct terms of the
        queries that the field holds), idf_median, idf_max (of those terms), queries_matched,
        argmax_share (share of (query, product) pairs in the top k whose best field it is), sole_share
        (share of those pairs that no other field matches), removal_changes (share of queries whose top k
        changes without it), curve_low, curve_high (range of the mean metric over all weights,
        0 and removal included), queries_moved (queries whose metric any weight changes), evidence, likely_cause.
    curves : dict of str to WeightCurve
    definition : str
    k : int
    n : int
        Queries in the means.
    """

    table: pd.DataFrame
    curves: dict[str, WeightCurve]
    definition: str
    k: int
    n: int

    def to_frame(self) -> pd.DataFrame:
        """One row a field."""
        return self.table

    def verdict(self, field: str) -> str:
        """The verdict on one field."""
        row = self.table[self.table["field"] == field]
        if row.empty:
            raise ValueError(f"field {field!r} is not in the report, which has {self.table['field'].tolist()}")
        return str(row["verdict"].iloc[0])

    def summary(self) -> str:
        """The verdicts in words."""
        lines = [f"{row.field}: {row.verdict.replace('_', ' ')} ({row.evidence})" for row in self.table.itertuples()]
        return f"{self.n} queries, {self.definition.split(':')[0]}. " + " ".join(lines)

    def _repr_html_(self) -> str:
        shown = self.table[["field", "weight", "verdict", "evidence", "likely_cause"]]
        meanings = "".join(f"<li>{name.replace('_', ' ')}: {html.escape(text)}</li>" for name, text in MEANINGS.items())
        return f"<p>{self.n} queries; {html.escape(self.definition)}</p>{shown.to_html(index=False)}<ul>{meanings}</ul>"


def field_report(engine: SearchEngine, queries: pd.DataFrame, judgments: pd.DataFrame, base: MultiMatch, metric: str = "ndcg@10", *,
                 lists: FieldLists | None = None, gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0,
                 progress: bool = False) -> FieldReport:
    """Evidence and verdict for every field of a configuration.

    Parameters
    ----------
    engine : EmbeddedEngine or ElasticsearchEngine
        On Elasticsearch: one search per query and field, and a few aggregations.
    queries, judgments : DataFrame
    base : MultiMatch
        ``best_fields`` without tie breaker.
    metric : str
    lists : FieldLists, optional
        Already fetched lists of these queries and fields (one deeper than the metric's cut-off, with first matches).
    gains, relevant_grade
        As in :func:`toolkit.evaluation.evaluate`.
    progress : bool

    Returns
    -------
    FieldReport
        A verdict "dead" is never given to a field whose weight, in the practical range, or whose
        removal changes the metric of any query.
    """
    cut = int(metric.rsplit("@", 1)[1])
    lists = lists or FieldLists.from_engine(engine, queries, base, cut + 1, progress=progress)
    space = weight_space(lists)
    goal = objective(space, judgments, metric, gains=gains, relevant_grade=relevant_grade)
    curves = {name: field_curve(space, goal, name, base) for name in base.fields}
    table = field_statistics(engine, list(base.fields)).merge(_behaviour(space, goal, base, lists), on="field")
    table = table.merge(_terms(engine, queries, table), on="field", how="left")
    table["weight"] = [base.fields[name] for name in table["field"]]
    for column, values in _curve_columns(table["field"], curves).items():
        table[column] = values
    rows = list(table.itertuples())
    table["verdict"] = [_verdict(row, curves[row.field], base) for row in rows]
    rows = list(table.itertuples())
    table["evidence"], table["likely_cause"] = [_evidence(row) for row in rows], [_cause(row) for row in rows]
    order = ["field", "weight", "verdict", "coverage", "distinct_values", "top_value", "top_value_share", "query_terms_found", "idf_median",
             "idf_max", "queries_matched", "argmax_share", "sole_share", "removal_changes", "curve_low", "curve_high", "queries_moved",
             "evidence", "likely_cause"]
    return FieldReport(table[order], curves, goal.definition, goal.k, int(goal.defined.sum()))


def _behaviour(space: WeightSpace, goal: Objective, base: MultiMatch, lists: FieldLists) -> pd.DataFrame:
    """Who wins the top k, who is alone there, and what removal changes."""
    best = winning_fields(space, base, goal.k)
    alone = _sole(lists)
    best = best.merge(alone, on=["query_id", "product_id"], how="left")
    rows = []
    for name in base.fields:
        won = best[best["field"] == name]
        rest = {key: weight for key, weight in base.fields.items() if key != name}
        changes = np.nan
        if rest:
            prints = evaluate_lists(space, [base, replace(base, fields=rest)], [goal]).prints
            changes = float((prints[:, 0] != prints[:, 1]).mean())
        matched = int((space.length[:, space.fields.index(name)] > 0).sum())
        rows.append((name, matched, len(won) / max(len(best), 1), float(won["alone"].mean()) if len(won) else np.nan, changes))
    return pd.DataFrame(rows, columns=["field", "queries_matched", "argmax_share", "sole_share", "removal_changes"])


def _sole(lists: FieldLists) -> pd.DataFrame:
    """Which listed pairs match in one field only."""
    known = lists.field_scores.table
    count = known.groupby(["query_id", "product_id"], sort=False)["field"].size()
    return (count == 1).rename("alone").reset_index()


@cache
def _analyzer() -> Analyzer:
    """One analyzer for all reports: it remembers the words it has seen."""
    return Analyzer()


def _terms(engine: SearchEngine, queries: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """IDF of the queries' terms in each field."""
    terms = sorted({term for text in queries["query"] for term in _analyzer().terms(text)})
    documents = {row.field: round(row.coverage * row.products) for row in table.itertuples()}
    found = query_idf(engine, table["field"].tolist(), terms, documents).groupby("field")["idf"]
    out = pd.DataFrame({"query_terms_found": found.size(), "idf_median": found.median(), "idf_max": found.max()})
    out = out.reindex(table["field"])
    out["query_terms_found"] = out["query_terms_found"].fillna(0).astype(int)
    return out.rename_axis("field").reset_index()


def _curve_columns(fields: pd.Series, curves: dict[str, WeightCurve]) -> dict[str, list]:
    def values(curve: WeightCurve) -> list[float]:
        ends = [value for value in (curve.at_zero, curve.absent) if value is not None]
        return [*curve.pieces["value"], *curve.pieces["value_at_from"].dropna(), *ends]

    return {"curve_low": [min(values(curves[name])) for name in fields], "curve_high": [max(values(curves[name])) for name in fields],
            "queries_moved": [int(curves[name].events["query_id"].nunique()) for name in fields]}


def _verdict(row, curve: WeightCurve, base: MultiMatch) -> str:
    """One of MEANINGS; "dead" needs every query's metric unmoved, removal included."""
    limit = PRACTICAL * max(base.fields.values())
    still = not (curve.events["weight"] <= limit).any()
    kept = curve.absent is not None and not curve.ends_change
    if still and kept and (row.coverage == 0 or row.top_value_share >= ONE_VALUE):
        return "dead_in_information"
    if kept and curve.events.empty:
        return "dead_in_effect"
    if still and row.removal_changes > 0:
        return "recall_only"
    return "live"


def _evidence(row) -> str:
    """The numbers behind the verdict."""
    if row.coverage == 0:
        return "no product has a value"
    value = (f"{row.distinct_values} distinct values over {row.coverage:.0%} of products, the commonest ({row.top_value!r}) in "
             f"{row.top_value_share:.1%} of them")
    terms = f"{row.query_terms_found} query terms found" + (f", largest IDF {row.idf_max:.4g}" if row.query_terms_found else "")
    effect = (f"best field of {row.argmax_share:.1%} of top results; removal changes {row.removal_changes:.1%} of queries; "
              f"mean between {row.curve_low:.4f} and {row.curve_high:.4f} over all weights")
    return f"{value}; {terms}; {effect}"


def _cause(row) -> str:
    """A guess worth checking first."""
    if row.verdict == "live":
        return ""
    if row.coverage == 0:
        return "the field was never filled: not mapped, or loaded under another name"
    if row.verdict == "recall_only":
        return "what it finds, no other field finds (or orders otherwise): without it these products are lost, and its weight is free"
    if row.top_value_share >= ONE_VALUE:
        return (f"the step that fills it gives {row.top_value!r} to nearly every product, so a pattern or lookup there probably "
                "never matches: look at the pipeline, not at the weight")
    if row.queries_matched == 0:
        return "no query has a word of this field (codes or ids instead of words?)"
    return "what it matches, other fields find and order as well"
