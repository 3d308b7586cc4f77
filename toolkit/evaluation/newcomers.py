"""What each arm brought to the top k that the other did not, and how good it would have to be."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from toolkit.evaluation.formulas import discount
from toolkit.evaluation.gains import GAINS, Gains
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Pool, positions


def newcomers(baseline: Pool, candidate: Pool, k: int) -> pd.DataFrame:
    """Products in only one arm's top k.

    Returns
    -------
    DataFrame
        query_id, product_id, arm (the one that has it), rank there, judged, grade (null where unjudged).
    """
    tops = [_top(pool, k) for pool in (baseline, candidate)]
    both = tops[0].merge(tops[1], on=["query_id", "product_id"], how="outer", suffixes=("_b", "_c"), indicator=True)
    frames = []
    for arm, side, suffix in (("candidate", "right_only", "_c"), ("baseline", "left_only", "_b")):
        part = both.loc[both["_merge"] == side]
        frames.append(pd.DataFrame({"query_id": part["query_id"], "product_id": part["product_id"], "arm": arm,
                                    "rank": part["rank" + suffix].astype(int), "judged": part["grade" + suffix].notna(), "grade": part["grade" + suffix]}))
    return pd.concat(frames).sort_values(["arm", "query_id", "rank"], ascending=[False, True, True], kind="stable").reset_index(drop=True)


def _top(pool: Pool, k: int) -> pd.DataFrame:
    """query_id, product_id, rank, grade of the top k."""
    rows = np.flatnonzero(pool.position < k)
    return pd.DataFrame({"query_id": pool.judged.query_ids[pool.query[rows]], "product_id": pool.product_ids[pool.product[rows]],
                         "rank": pool.position[rows] + 1, "grade": pool.grade[rows]})


def tipping_point(baseline: Pool, candidate: Pool, measure: Measure, gains: Gains, relevant_grade: float,
                  include: np.ndarray | None = None) -> dict[str, object]:
    """Share of the unjudged products of the losing arm that must be good to turn the mean difference.

    Every unjudged product that the losing arm ranks better gets the same expected gain, ``share`` of
    the best one, in numerator and ideal; all other unjudged products stay irrelevant. The smallest
    share with a mean difference of 0 is the tipping point; read as a grade it is share x best grade.

    Parameters
    ----------
    baseline, candidate : Pool
        On the same queries.
    measure : Measure
        ndcg, ndcg_full_ideal, recall or precision; others have no tipping point here.
    gains, relevant_grade
        As in ``evaluate``.
    include : ndarray of bool, shape (Q,), optional
        Queries in the mean.

    Returns
    -------
    dict
        metric, delta, arm (whose unjudged products), products (their number), share and grade (null
        where even all of them at the best grade do not turn it), sentence.
    """
    if measure.name not in ("ndcg", "ndcg_full_ideal", "recall", "precision"):
        return {}
    world = _World.of(baseline, candidate, measure, gains, relevant_grade)
    include = (world.ideal(0.0, np.zeros(baseline.size, dtype=int)) > 0) & (True if include is None else include)
    delta = world.mean(0.0, 1.0, include)
    if not include.any() or delta == 0:
        return {}
    sign, arm = (-1.0, "baseline") if delta > 0 else (1.0, "candidate")
    count = int((world.adverse(sign) > 0).sum(axis=1)[include].sum())
    share = _crossing(lambda s: world.mean(s, sign, include), delta)
    best = world.gains.max_grade
    said = ("no grading of them turns the difference" if math.isnan(share) else
            f"the difference turns once {share:.0%} of them are of the best grade (or all of grade {share * best:.2g} where gain = grade)")
    return {"metric": str(measure), "delta": delta, "arm": arm, "products": count, "share": share, "grade": share * best,
            "sentence": f"{count} unjudged products stand better in the {arm}'s lists: {said}."}


def _crossing(mean, start: float) -> float:
    """Smallest share in [0, 1] at which ``mean`` leaves the sign of ``start``; NaN where it never does."""
    if mean(1.0) * start > 0:
        return math.nan
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) * start > 0 else (low, middle)
    return high


class _World:
    """Numerators, weights and ideals of two arms while one arm's unjudged products gain a share."""

    def __init__(self, start: np.ndarray, weights: np.ndarray, table: np.ndarray, measure: Measure, gains: Gains) -> None:
        self.start, self.weights, self.table, self.measure, self.gains = start, weights, table, measure, gains

    @classmethod
    def of(cls, baseline: Pool, candidate: Pool, measure: Measure, gains: Gains, relevant_grade: float) -> _World:
        gains = GAINS[measure.gains] if measure.gains else gains
        counted = measure.name in ("recall", "precision")
        relevant = relevant_grade if measure.relevant is None else measure.relevant
        value = (lambda grade: (grade >= relevant).astype(float)) if counted else gains.of
        parts, start = [], np.zeros(baseline.size)
        for pool, sign in ((candidate, 1.0), (baseline, -1.0)):
            rows = np.flatnonzero(pool.position < (measure.k or np.inf))
            weight = sign * (np.ones(len(rows)) if counted else discount(pool.position[rows]))
            start += pool.sums(pool.query[rows], weight * value(pool.grade[rows]))
            hole = np.isnan(pool.grade[rows])
            parts.append(pd.DataFrame({"q": pool.query[rows][hole], "p": pool.product_ids[pool.product[rows][hole]], "w": weight[hole]}))
        summed = pd.concat(parts).groupby(["q", "p"], as_index=False)["w"].sum().sort_values("q", kind="stable")
        judged = baseline.judged
        return cls(start, _padded(summed["q"].to_numpy(), summed["w"].to_numpy(), baseline.size),
                   _padded(judged.query, value(judged.grade), baseline.size), measure, gains)

    def adverse(self, sign: float) -> np.ndarray:
        """Weights of the products that the losing arm ranks better, as gains of that arm; shape (Q, M)."""
        return np.maximum(sign * self.weights, 0.0)

    def ideal(self, gain: float, count: np.ndarray) -> np.ndarray:
        """Ideal with ``count`` more products of ``gain`` per query, shape (Q,)."""
        name, k = self.measure.name, self.measure.k
        if name == "precision":
            return np.full(len(count), float(k or 1)) * (self.table.sum(axis=1) > 0)
        if name == "recall":
            return self.table.sum(axis=1) + gain * count
        extra = np.where(np.arange(int(count.max(initial=0)))[None, :] < count[:, None], gain, 0.0)
        best = -np.sort(-np.hstack([self.table, extra]), axis=1)[:, : k if name == "ndcg" else None]
        return best @ discount(np.arange(best.shape[1], dtype=float))

    def mean(self, share: float, sign: float, include: np.ndarray) -> float:
        """Mean difference when the losing arm's unjudged products have ``share`` of the best gain."""
        top = 1.0 if self.measure.name in ("recall", "precision") else float(self.gains.of(np.array([self.gains.max_grade]))[0])
        weights = self.adverse(sign)
        numerator = self.start + sign * share * top * weights.sum(axis=1)
        ideal = self.ideal(share * top, (weights > 0).sum(axis=1) if share > 0 else np.zeros(len(weights), dtype=int))
        return float(np.mean(numerator[include] / ideal[include])) if include.any() else math.nan


def _padded(query: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Values of sorted queries as rows of a table padded with 0, shape (size, most)."""
    table = np.zeros((size, int(np.bincount(query, minlength=size).max(initial=0))))
    table[query, positions(query)] = values
    return table
