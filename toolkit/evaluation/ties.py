"""What ties in the score could do to a metric: its best and worst legal value.

Products of equal score have no order of their own; this toolkit takes product_id ascending, as the
engines' sort does. Any other order is as legal, so a mean has a best and a worst value over orders.
"""

from __future__ import annotations

import numpy as np

from toolkit.evaluation.formulas import evaluate_measure
from toolkit.evaluation.gains import Gains
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Pool


def reordered(pool: Pool, *, best: bool) -> Pool:
    """The pool with every tied group in its best (or worst) order by grade; unjudged counts as 0."""
    grade = np.nan_to_num(pool.grade)
    row = np.arange(len(grade))
    tied = pool.tie >= 0
    block = row.copy()
    if tied.any():
        where = row[tied]
        starts = np.r_[True, np.diff(pool.tie[tied]) != 0]
        block[tied] = np.repeat(where[starts], np.diff(np.r_[np.flatnonzero(starts), len(where)]))
    return pool.take(np.lexsort((-grade if best else grade, block)))


def tie_bounds(pool: Pool, measure: Measure, gains: Gains, relevant_grade: float,
               value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Worst and best value of each query over all orders of its tied products, shapes (Q,).

    Every offered measure only gains when a better grade moves up, so the grade orders are extreme.
    """
    if not (pool.tie >= 0).any() or measure.name in ("judged", "zero_result_rate"):
        return value, value
    worst, best = (evaluate_measure(reordered(pool, best=side), measure, gains, relevant_grade) for side in (False, True))
    return worst, best


def ties_across_cut(pool: Pool, k: int | None) -> int:
    """Number of queries where the products at ranks k and k + 1 have one score."""
    if k is None or len(pool.query) < 2:
        return 0
    across = (pool.position[:-1] == k - 1) & (pool.tie[:-1] >= 0) & (pool.tie[1:] == pool.tie[:-1]) & (pool.query[1:] == pool.query[:-1])
    return int(across.sum())
