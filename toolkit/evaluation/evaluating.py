"""``evaluate``: rankings and judgments in, one value per query and metric out, nothing lost silently."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Literal

import numpy as np
import pandas as pd

from toolkit import tables
from toolkit.evaluation.evaluation import Evaluation
from toolkit.evaluation.formulas import evaluate_measure
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.evaluation.holes import metric_bounds
from toolkit.evaluation.measures import Measure, parse_measures
from toolkit.evaluation.pool import EvaluationError, Judged, Pool, meet, read_judgments
from toolkit.evaluation.ties import tie_bounds, ties_across_cut
from toolkit.search.protocol import SearchRun

Unjudged = Literal["zero", "condensed", "bounds"]


class EvaluationWarning(UserWarning):
    """Something about an evaluation that its means do not show."""


def evaluate(rankings_or_run: pd.DataFrame | SearchRun, judgments: pd.DataFrame,
             metrics: Sequence[str | Measure] | str = ("ndcg@10", "recall@10", "mrr@10"), *, gains: Gains = ESCI_LINEAR,
             relevant_grade: float = 2.0, unjudged: Unjudged = "zero", queries: pd.DataFrame | Sequence[str] | None = None,
             status: pd.DataFrame | None = None, unseen: int = 0,
             on_no_overlap: Literal["error", "zero"] = "error") -> Evaluation:
    """Measure rankings against judgments, query by query.

    Parameters
    ----------
    rankings_or_run : DataFrame or SearchRun
        query_id, product_id with a score (order: score descending, then product_id ascending) or,
        without a score, a rank. A run brings its status table along.
    judgments : DataFrame
        query_id, product_id, grade (finite, >= 0).
    metrics : sequence of str or Measure
        For example ``"ndcg@10"``; see :class:`~toolkit.evaluation.measures.Measure`.
    gains : Gains
        ``ESCI_LINEAR`` (E 3, S 2, C 1, I 0), ``ESCI_OFFICIAL`` or ``EXPONENTIAL``.
    relevant_grade : float
        Smallest grade that counts as relevant (default 2: E or S); fixed, never taken from the data.
    unjudged : {"zero", "condensed", "bounds"}
        Unjudged products count as irrelevant; are taken out and the rest moves up; or count as
        irrelevant with the bounds over all their gradings beside (columns low and high).
    queries : DataFrame or sequence of str, optional
        Queries to evaluate; default all judged ones.
    status : DataFrame, optional
        query_id, status (ok, zero_results, failed), reason; taken from a run.
    unseen : int
        With ``bounds``: unjudged products per query that were not returned (they can raise the ideal).
    on_no_overlap : {"error", "zero"}
        What to do where rankings and judgments share no id at all.

    Returns
    -------
    Evaluation
        ``to_frame()`` is query_id, metric, value.

    Raises
    ------
    EvaluationError, TableError, ValueError
        Saying what was given, what was expected and what to do.
    """
    measures = parse_measures(metrics)
    check_policy(gains, relevant_grade)
    if unjudged not in ("zero", "condensed", "bounds"):
        raise ValueError(f"unjudged is {unjudged!r}; expected 'zero', 'condensed' or 'bounds'")
    if unseen < 0:
        raise ValueError(f"unseen is {unseen!r}; expected a number of products, 0 or more")
    if on_no_overlap not in ("error", "zero"):
        raise ValueError(f"on_no_overlap is {on_no_overlap!r}; expected 'error' or 'zero'")
    rankings, status = unpack(rankings_or_run, status)
    judged = read_judgments(judgments, query_list(queries))
    pool = meet(rankings, judged, on_no_overlap=on_no_overlap)
    state = query_states(pool, status)
    _warn(pool, state, queries is not None)
    warn_nothing_relevant(judged, relevant_grade)
    used = pool.condensed() if unjudged == "condensed" else pool
    columns = {str(m): _column(used, pool, m, gains, relevant_grade, unjudged, unseen, state) for m in measures}
    return Evaluation.build(columns, measures, pool, state, gains=gains, relevant_grade=relevant_grade, unjudged=unjudged, unseen=unseen)


def check_policy(gains: Gains, relevant_grade: float) -> None:
    """Raise a ValueError for a gain map or a relevance threshold that is none."""
    if not isinstance(gains, Gains):
        raise ValueError(f"gains is {gains!r}; expected a Gains, for example toolkit.evaluation.EXPONENTIAL")
    if not isinstance(relevant_grade, Real) or not relevant_grade > 0:
        raise ValueError(f"relevant_grade is {relevant_grade!r}; expected a grade above 0 (unjudged products count as grade 0)")


def unpack(rankings_or_run: pd.DataFrame | SearchRun, status: pd.DataFrame | None) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Rankings and status of a run, or of a rankings table with a status table."""
    if isinstance(rankings_or_run, pd.DataFrame):
        return rankings_or_run, status
    if not hasattr(rankings_or_run, "rankings"):
        raise EvaluationError(f"rankings: got {type(rankings_or_run).__name__}; expected a DataFrame (query_id, product_id, score or rank) or a SearchRun")
    return rankings_or_run.rankings, rankings_or_run.status if status is None else status


def query_list(queries: pd.DataFrame | Sequence[str] | None) -> list[str] | None:
    """Distinct query ids, in the order given; None for all."""
    if queries is None:
        return None
    if isinstance(queries, str):
        raise EvaluationError(f"queries is the text {queries!r}; expected a list of query ids, for example [{queries!r}], or a table with query_id")
    frame = queries if isinstance(queries, pd.DataFrame) else pd.DataFrame({"query_id": pd.Series(list(queries))})
    return list(pd.unique(tables.check(frame, tables.QUERIES, columns=["query_id"], source="queries")["query_id"]))


def query_states(pool: Pool, status: pd.DataFrame | None) -> pd.DataFrame:
    """What became of each evaluated query.

    Returns
    -------
    DataFrame
        query_id; state: ok, zero_results (the search answered with nothing), missing (judged, but the
        run does not know it), failed (no answer); reason; judgments; returned.
    """
    ids = pool.judged.query_ids
    n_judged = pool.sums(pool.judged.query)
    state = np.where(pool.returned > 0, "ok", "missing").astype(object)
    reason = np.full(len(ids), None, dtype=object)
    if status is not None:
        tables.check(status, tables.QUERY_STATUS, source="status")
        known = status.drop_duplicates("query_id").set_index("query_id").reindex(ids)
        told = known["status"].to_numpy(dtype=object)
        unknown = sorted({s for s in told if isinstance(s, str)} - {"ok", "zero_results", "failed"})
        if unknown:
            raise EvaluationError(f"status: {unknown}; expected ok, zero_results or failed")
        state = np.where(told == "failed", "failed", state)
        state = np.where((state == "missing") & np.isin(told.astype(str), ["ok", "zero_results"]), "zero_results", state)
        if "reason" in known:
            reason = np.where(state == "failed", known["reason"].to_numpy(dtype=object), None)
    return pd.DataFrame({"query_id": ids, "state": pd.Series(state, dtype="str"), "reason": pd.Series(reason, dtype="str"),
                         "judgments": n_judged, "returned": pool.returned})


def _column(used: Pool, raw: Pool, measure: Measure, gains: Gains, relevant_grade: float, unjudged: Unjudged, unseen: int,
            state: pd.DataFrame) -> Mapping[str, np.ndarray | int]:
    """Values and bounds of one measure: value, worst, best, low, high (Q,) and the count of ties across the cut."""
    pool = raw if measure.name in ("judged", "zero_result_rate") else used
    value = evaluate_measure(pool, measure, gains, relevant_grade)
    worst, best = tie_bounds(pool, measure, gains, relevant_grade, value)
    low, high = metric_bounds(pool, measure, gains, relevant_grade, unseen=unseen) if unjudged == "bounds" else (value, value)
    failed = (state["state"] == "failed").to_numpy()
    parts = {name: np.where(failed, np.nan, part) for name, part in
             {"value": value, "worst": worst, "best": best, "low": low, "high": high}.items()}
    return {**parts, "ties_across_cut": ties_across_cut(pool, measure.k)}


def warn_nothing_relevant(judged: Judged, relevant_grade: float) -> None:
    """Judgments of another scale (0 and 1, say) may never reach the threshold: everything about relevance is then undefined."""
    if len(judged.grade) and judged.grade.max() < relevant_grade:
        warnings.warn(f"no judgment reaches relevant_grade {relevant_grade:g} (best grade {judged.grade.max():g}), so no query has a relevant product; "
                      "pass relevant_grade= as the scale has it, for example 1 for judgments of 0 and 1", EvaluationWarning, stacklevel=4)


def _warn(pool: Pool, state: pd.DataFrame, chosen: bool) -> None:
    """Say what a reader of the means would want to know."""
    missing = state.loc[state["state"] == "missing", "query_id"]
    if len(missing) and not chosen:
        warnings.warn(f"{len(missing)} of {len(state)} judged queries are not in the rankings and score 0 (first: {missing.iloc[0]!r}); "
                      "pass queries= to evaluate only those that were searched", EvaluationWarning, stacklevel=3)
    if pool.rank_conflicts:
        warnings.warn(f"in {pool.rank_conflicts} queries the rank column contradicts the scores; the scores hold; "
                      "drop the score column to use the ranks", EvaluationWarning, stacklevel=3)
