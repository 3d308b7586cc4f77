"""The score of one product, term by term, in plain numpy: for explanations, and to check the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toolkit.search.index import Index
from toolkit.search.kernels import inlined
from toolkit.search.plan import QueryPlan


@dataclass(frozen=True)
class Trace:
    """Every intermediate value of one product's score; NaN where something does not match.

    Attributes
    ----------
    postings : ndarray, int64, shape (rows,)
        Posting of each term row, -1 where the product lacks the term.
    rows : ndarray, float32, shape (rows,)
    clauses : ndarray, float64, shape (clauses,)
    fields : ndarray, float64, shape (fields of the plan,)
        Float32 values, except where a field is added without its own rounding.
    score : float
        NaN where the product is no hit.
    """

    postings: np.ndarray
    rows: np.ndarray
    clauses: np.ndarray
    fields: np.ndarray
    score: float


def trace(index: Index, plan: QueryPlan, field_weights: np.ndarray, tie: float, doc: int) -> Trace:
    """Score one product.

    Parameters
    ----------
    index : Index
    plan : QueryPlan
    field_weights : ndarray, float32, shape (fields of the plan,)
    tie : float
        Tie breaker, already rounded to float32.
    doc : int
        Position of the product.

    Returns
    -------
    Trace
    """
    postings = np.array([_posting(index.docs, a, b, doc) for a, b in zip(plan.start, plan.stop, strict=True)], np.int64)
    weights = plan.weights(field_weights)
    rows = np.full(len(postings), np.nan, np.float32)
    has = postings >= 0
    rows[has] = weights[has] - weights[has] / index.den[postings[has]]
    clauses = np.array([_sum(rows[a:b], round_it=True) for a, b in zip(plan.clause_start, plan.clause_start[1:])])
    exact = inlined(plan, field_weights, tie)
    fields = np.array([
        np.nan if field.require_all and np.isnan(clauses[a:b]).any() else _sum(clauses[a:b], round_it=not exact[f])
        for f, (field, a, b) in enumerate(zip(plan.fields, plan.field_start, plan.field_start[1:], strict=False))])
    return Trace(postings, rows, clauses, fields, _meet(fields, tie))


def _posting(docs: np.ndarray, start: int, stop: int, doc: int) -> int:
    at = int(start) + int(np.searchsorted(docs[start:stop], doc))
    return at if at < stop and docs[at] == doc else -1


def _sum(parts: np.ndarray, round_it: bool) -> float:
    """Sum in double of the parts that match; NaN if none does."""
    if np.isnan(parts).all():
        return np.nan
    total = np.nansum(parts.astype(np.float64))
    return float(np.float32(total)) if round_it else float(total)


def _meet(fields: np.ndarray, tie: float) -> float:
    """``float32(max + tie * (sum of the others))`` over the matching fields."""
    matching = np.sort(fields[~np.isnan(fields)])
    if not len(matching):
        return np.nan
    return float(np.float32(matching[-1] + matching[:-1].sum() * tie))
