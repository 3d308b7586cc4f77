"""Score one query over the postings: sums in double, roundings to float32 where Lucene has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toolkit.search.index import Index
from toolkit.search.jit import kernel
from toolkit.search.plan import QueryPlan

UNSEEN = -1.0
"""Mark of a product without a score; scores are never negative."""


@dataclass(frozen=True)
class Scratch:
    """Working memory of one search, a few values a product; clean (``UNSEEN``) between queries."""

    total: np.ndarray
    group: np.ndarray
    matches: np.ndarray
    best: np.ndarray
    rest: np.ndarray
    touched: np.ndarray
    grouped: np.ndarray
    found: np.ndarray

    @classmethod
    def of(cls, products: int) -> Scratch:
        """Memory for an index of that many products."""
        def unseen() -> np.ndarray:
            return np.full(products, UNSEEN)

        def positions() -> np.ndarray:
            return np.empty(products, np.int32)
        return cls(unseen(), unseen(), positions(), unseen(), np.empty(products), positions(), positions(), positions())


def score(index: Index, plan: QueryPlan, field_weights: np.ndarray, tie: float, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
    """Every matching product and its score.

    Parameters
    ----------
    index : Index
    plan : QueryPlan
    field_weights : ndarray, float32, shape (fields of the plan,)
    tie : float
        Tie breaker, already rounded to float32.
    scratch : Scratch

    Returns
    -------
    tuple of ndarray
        Product positions (int32, no order) and scores (float32).

    Notes
    -----
    ``score = float32(max + tie * (sum of the other fields))`` in double over the fields' float32
    scores. With tie 1 a plain sum field of weight 1 adds its clauses without its own rounding.
    """
    exact = inlined(plan, field_weights, tie)
    require_all = np.array([field.require_all for field in plan.fields], np.bool_)
    scores = np.empty(len(index.product_ids), np.float32)
    found = _score(plan.field_start, plan.clause_start, plan.start, plan.stop, plan.weights(field_weights), require_all,
                   exact, tie, index.docs, index.den, scratch.total, scratch.group, scratch.matches, scratch.best,
                   scratch.rest, scratch.touched, scratch.grouped, scratch.found, scores)
    return scratch.found[:found].copy(), scores[:found]


def inlined(plan: QueryPlan, field_weights: np.ndarray, tie: float) -> np.ndarray:
    """Fields whose clauses join the outer sum without their own rounding: bool, one a field."""
    plain = np.array([field.inlinable for field in plan.fields], np.bool_)
    return plain & (field_weights == 1) & (tie == 1.0)


def top(docs: np.ndarray, scores: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """The best ``depth`` products by score, then by position."""
    if len(docs) > depth:
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        kept = scores >= least
        docs, scores = docs[kept], scores[kept]
    order = np.lexsort((docs, -scores))[:depth]
    return docs[order], scores[order]


@kernel
def _score(field_start, clause_start, start, stop, weight, require_all, exact, tie, docs, den,
           total, group, matches, best, rest, touched, grouped, found, scores):
    """All fields: sum each, round it, keep the best and the sum of the others."""
    count = 0
    for field in range(len(field_start) - 1):
        first, last = field_start[field], field_start[field + 1]
        seen = _sum_field(first, last, clause_start, start, stop, weight, docs, den, total, group, matches, touched, grouped)
        for i in range(seen):
            doc = touched[i]
            value = total[doc]
            total[doc] = UNSEEN
            if require_all[field] and matches[doc] < last - first:
                continue
            if not exact[field]:
                value = np.float64(np.float32(value))
            if best[doc] < 0.0:
                found[count] = doc
                count += 1
                best[doc] = value
                rest[doc] = 0.0
            elif value >= best[doc]:
                rest[doc] += best[doc]
                best[doc] = value
            else:
                rest[doc] += value
    for i in range(count):
        doc = found[i]
        scores[i] = np.float32(best[doc] + rest[doc] * tie)
        best[doc] = UNSEEN
    return count


@kernel
def _sum_field(first, last, clause_start, start, stop, weight, docs, den, total, group, matches, touched, grouped):
    """Sum the clauses of one field into ``total``; returns how many products were touched."""
    seen = 0
    for clause in range(first, last):
        a, b = clause_start[clause], clause_start[clause + 1]
        if b - a == 1:
            w = weight[a]
            for p in range(start[a], stop[a]):
                doc = docs[p]
                value = np.float64(w - w / den[p])
                if total[doc] < 0.0:
                    touched[seen] = doc
                    seen += 1
                    total[doc] = value
                    matches[doc] = 1
                else:
                    total[doc] += value
                    matches[doc] += 1
            continue
        members = 0
        for row in range(a, b):
            w = weight[row]
            for p in range(start[row], stop[row]):
                doc = docs[p]
                value = np.float64(w - w / den[p])
                if group[doc] < 0.0:
                    grouped[members] = doc
                    members += 1
                    group[doc] = value
                else:
                    group[doc] += value
        for i in range(members):
            doc = grouped[i]
            value = np.float64(np.float32(group[doc]))
            group[doc] = UNSEEN
            if total[doc] < 0.0:
                touched[seen] = doc
                seen += 1
                total[doc] = value
                matches[doc] = 1
            else:
                total[doc] += value
                matches[doc] += 1
    return seen


def field_values(index: Index, plan: QueryPlan, docs: np.ndarray, scratch: Scratch) -> np.ndarray:
    """Unboosted float32 score of each field for chosen products.

    Parameters
    ----------
    index : Index
    plan : QueryPlan
    docs : ndarray, int32, shape (n,)
        Different product positions.
    scratch : Scratch

    Returns
    -------
    ndarray, float32, shape (n, fields of the plan)
        NaN where a field does not match.
    """
    values = np.full((len(docs), len(plan.fields)), np.nan, np.float32)
    slot = np.full(len(index.product_ids), -1, np.int32)
    slot[docs] = np.arange(len(docs), dtype=np.int32)
    require_all = np.array([field.require_all for field in plan.fields], np.bool_)
    weights = plan.weights(np.ones(len(plan.fields), np.float32))
    _field_values(plan.field_start, plan.clause_start, plan.start, plan.stop, weights, require_all, index.docs, index.den,
                  scratch.total, scratch.group, scratch.matches, scratch.touched, scratch.grouped, slot, values)
    return values


@kernel
def _field_values(field_start, clause_start, start, stop, weight, require_all, docs, den,
                  total, group, matches, touched, grouped, slot, values):
    """Each field's sum, rounded, for the products that have a slot."""
    for field in range(len(field_start) - 1):
        first, last = field_start[field], field_start[field + 1]
        seen = _sum_field(first, last, clause_start, start, stop, weight, docs, den, total, group, matches, touched, grouped)
        for i in range(seen):
            doc = touched[i]
            if slot[doc] >= 0 and not (require_all[field] and matches[doc] < last - first):
                values[slot[doc], field] = np.float32(total[doc])
            total[doc] = UNSEEN
