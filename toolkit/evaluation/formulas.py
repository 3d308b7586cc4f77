"""The formulas of the measures, each in one function of a :class:`~toolkit.evaluation.pool.Pool`.

Every function returns shape (Q,) float64 with NaN where the measure is undefined. The sentence of
each formula, as printed with results, is in :data:`toolkit.evaluation.measures.SENTENCES`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from toolkit.evaluation.gains import GAINS, Gains
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Pool


def evaluate_measure(pool: Pool, measure: Measure, gains: Gains, relevant_grade: float) -> np.ndarray:
    """Values of one measure, one a query, shape (Q,)."""
    gains = GAINS[measure.gains] if measure.gains else gains
    relevant = relevant_grade if measure.relevant is None else measure.relevant
    if measure.name in ("ndcg", "ndcg_full_ideal", "dcg"):
        return _gain_measure(pool, measure, gains)
    if measure.name == "err":
        return err(pool, measure.k, gains.max_grade if measure.max_grade is None else measure.max_grade)
    if measure.name == "judged":
        return judged(pool, measure.k)
    if measure.name == "zero_result_rate":
        return (pool.returned == 0).astype(np.float64)
    if measure.name == "rbo":
        raise ValueError("rbo compares two rankings, not a ranking with judgments; use toolkit.evaluation.rank_biased_overlap")
    if not relevant > 0:
        raise ValueError(f"relevant_grade is {relevant!r}; expected a grade above 0 (unjudged products count as grade 0)")
    return _RELEVANCE[measure.name](pool, measure.k, relevant)


def discount(position: np.ndarray) -> np.ndarray:
    """1/log2(rank + 1) with rank = position + 1 (Järvelin and Kekäläinen 2002, as trec_eval has it)."""
    return 1.0 / np.log2(position + 2.0)


def dcg(pool: Pool, k: int | None, gains: Gains) -> np.ndarray:
    """sum over ranks r <= k of gain(r) / log2(r + 1)."""
    top = _top(pool, k)
    return pool.sums(pool.query[top], gains.of(pool.grade[top]) * discount(pool.position[top]))


def ideal_dcg(pool: Pool, k: int | None, gains: Gains) -> np.ndarray:
    """DCG of all judged products of the query in their best order, cut at k (None: not cut)."""
    position = pool.judged.position
    top = slice(None) if k is None else position < k
    return pool.sums(pool.judged.query[top], gains.of(pool.judged.grade[top]) * discount(position[top]))


def _gain_measure(pool: Pool, measure: Measure, gains: Gains) -> np.ndarray:
    """NDCG = DCG / ideal DCG; the ideal is cut at k or, under its own name, not."""
    value = dcg(pool, measure.k, gains)
    if measure.name == "dcg":
        return value
    return ratio(value, ideal_dcg(pool, measure.k if measure.name == "ndcg" else None, gains))


def ratio(numerator: np.ndarray, denominator: np.ndarray | float) -> np.ndarray:
    """numerator / denominator, NaN where the denominator is not positive."""
    denominator = np.broadcast_to(np.asarray(denominator, dtype=np.float64), numerator.shape)
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator > 0)


def relevant_counts(pool: Pool, relevant: float) -> np.ndarray:
    """Relevant judged products of each query, shape (Q,)."""
    return pool.sums(pool.judged.query[pool.judged.grade >= relevant]).astype(np.float64)


def _hits(pool: Pool, k: int | None, relevant: float) -> np.ndarray:
    """Rows of the relevant products within the top k."""
    return np.flatnonzero((pool.grade >= relevant) & (True if k is None else pool.position < k))


def recall(pool: Pool, k: int | None, relevant: float) -> np.ndarray:
    """|relevant in the top k| / |relevant|."""
    return ratio(pool.sums(pool.query[_hits(pool, k, relevant)]).astype(np.float64), relevant_counts(pool, relevant))


def precision(pool: Pool, k: int | None, relevant: float) -> np.ndarray:
    """|relevant in the top k| / k; without a k, divided by the products returned."""
    hits = pool.sums(pool.query[_hits(pool, k, relevant)]).astype(np.float64)
    value = hits / np.maximum(pool.returned, 1) if k is None else hits / k
    return _defined(value, pool, relevant)


def mrr(pool: Pool, k: int | None, relevant: float) -> np.ndarray:
    """1 / rank of the first relevant product in the top k, else 0."""
    hits = _hits(pool, k, relevant)
    query, first = np.unique(pool.query[hits], return_index=True)
    value = np.zeros(pool.size)
    value[query] = 1.0 / (pool.position[hits[first]] + 1.0)
    return _defined(value, pool, relevant)


def ap(pool: Pool, k: int | None, relevant: float) -> np.ndarray:
    """sum over relevant ranks r <= k of precision at r, divided by |relevant| (trec_eval's map_cut)."""
    hits = _hits(pool, k, relevant)
    query = pool.query[hits]
    nth = np.arange(len(hits)) - np.searchsorted(query, query) + 1.0
    return ratio(pool.sums(query, nth / (pool.position[hits] + 1.0)), relevant_counts(pool, relevant))


def success(pool: Pool, k: int | None, relevant: float) -> np.ndarray:
    """1 where a relevant product is in the top k."""
    return _defined((pool.sums(pool.query[_hits(pool, k, relevant)]) > 0).astype(np.float64), pool, relevant)


def err(pool: Pool, k: int | None, max_grade: float) -> np.ndarray:
    """sum over r <= k of R_r / r * prod over i < r of (1 - R_i), R = (2^grade - 1) / 2^max_grade.

    Notes
    -----
    Source: Chapelle et al. 2009. The ceiling belongs to the scale, not to the query or the data.
    """
    above = pool.judged.grade > max_grade
    if above.any():
        raise ValueError(f"err: grade {pool.judged.grade[above].max():g} is above the scale's best grade {max_grade:g}; "
                         f"state the scale, for example 'err(max_grade={pool.judged.grade.max():g})@10'")
    top = _top(pool, k)
    position = pool.position[top]
    stop = np.zeros((pool.size, int(position.max(initial=-1)) + 1))
    stop[pool.query[top], position] = (np.exp2(np.nan_to_num(pool.grade[top])) - 1.0) / 2.0 ** max_grade
    reached = np.cumprod(np.hstack([np.ones((pool.size, 1)), 1.0 - stop]), axis=1)[:, :-1]
    value = (reached * stop / (np.arange(stop.shape[1]) + 1.0)).sum(axis=1)
    best = pool.sums(pool.judged.query[pool.judged.grade > 0])
    return np.where(best > 0, value, np.nan)


def judged(pool: Pool, k: int | None) -> np.ndarray:
    """|judged in the top k| / min(k, returned), NaN where nothing was returned."""
    top = _top(pool, k)
    known = pool.sums(pool.query[top][~np.isnan(pool.grade[top])]).astype(np.float64)
    return ratio(known, pool.returned if k is None else np.minimum(pool.returned, k))


def _top(pool: Pool, k: int | None) -> slice | np.ndarray:
    """Rows within the top k."""
    return slice(None) if k is None else np.flatnonzero(pool.position < k)


def _defined(value: np.ndarray, pool: Pool, relevant: float) -> np.ndarray:
    """NaN where the query has no relevant product."""
    return np.where(relevant_counts(pool, relevant) > 0, value, np.nan)


_RELEVANCE: dict[str, Callable[[Pool, int | None, float], np.ndarray]] = {
    "recall": recall, "precision": precision, "mrr": mrr, "ap": ap, "success": success,
}
