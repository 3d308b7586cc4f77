"""Bounds of metrics and of differences over all gradings of the unjudged products.

NDCG of one query is F(u)/G(u): the numerator is linear in the gains u of the unjudged products, the
ideal is the sum of the best gains and so convex in u. Both split by gain level: with c_l unjudged
products at level l or above, W the running sum of their best position weights and C the running sum
of discounts,

    F = F0 + sum over l of step_l * W[c_l],     G = sum over l of step_l * C[N_l + c_l],

where N_l judged products are at level l or above. The largest F/G is found exactly by Dinkelbach's
method (each level is maximised alone); a negative largest ratio lies at an all-or-nothing grading,
and those are enumerated. Recall and precision are the same form with one level.

Notes
-----
Source: Dinkelbach 1967 for the fractional step; the decomposition is this project's own, checked
against enumeration of every grading in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from toolkit.evaluation.formulas import discount, evaluate_measure
from toolkit.evaluation.gains import ESCI_LINEAR, GAINS, Gains
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Pool, positions

RATIO_MEASURES = ("ndcg", "ndcg_full_ideal", "dcg", "recall", "precision")


@dataclass(frozen=True)
class Unjudged:
    """Unjudged products of each query with the weight of their position.

    Attributes
    ----------
    weights : ndarray of float, shape (Q, M)
        Discount (or 1) of the product's position in the list; for a difference, candidate minus
        baseline. Sorted descending; padded with NaN at the end.
    count : ndarray of int, shape (Q,)
    """

    weights: np.ndarray
    count: np.ndarray


def metric_bounds(pool: Pool, measure: Measure, gains: Gains, relevant_grade: float, *,
                  unseen: int | np.ndarray = 0) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value of each query over all gradings of its unjudged products, shapes (Q,).

    Parameters
    ----------
    pool : Pool
    measure, gains, relevant_grade
        As in :func:`toolkit.evaluation.evaluate`.
    unseen : int or ndarray of int, shape (Q,)
        Unjudged products per query that the list did not return; they can only raise the ideal.

    Returns
    -------
    tuple of ndarray
        Exact for ndcg, dcg, recall, precision, mrr, success and err; outer bounds for ap. NaN where
        the measure is undefined with the judgments at hand.
    """
    value = evaluate_measure(pool, measure, gains, relevant_grade)
    if measure.name in ("judged", "zero_result_rate"):
        return value, value
    if measure.name in RATIO_MEASURES:
        form = _Form.of(pool, measure, gains, relevant_grade)
        unjudged = _unjudged([(pool, 1.0)], measure, unseen)
        low = -form.largest(-form.numerator(pool), Unjudged(-unjudged.weights[:, ::-1], unjudged.count))
        return _undefined_like(value, low), _undefined_like(value, form.largest(form.numerator(pool), unjudged))
    return _graded_bounds(pool, measure, gains, relevant_grade, value, unseen)


def delta_bounds(baseline: Pool, candidate: Pool, measure: Measure, gains: Gains, relevant_grade: float, *,
                 unseen: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest candidate - baseline of each query over all gradings, shapes (Q,).

    A product that both lists returned has one grade in both. Exact for ndcg, dcg, recall, precision,
    mrr and success; for ap and err the bounds of each list are subtracted (valid, but not tight).
    """
    undefined = evaluate_measure(baseline, measure, gains, relevant_grade)
    if measure.name in RATIO_MEASURES:
        form = _Form.of(baseline, measure, gains, relevant_grade)
        start = form.numerator(candidate) - form.numerator(baseline)
        up = _unjudged([(candidate, 1.0), (baseline, -1.0)], measure, unseen)
        low = -form.largest(-start, _unjudged([(baseline, 1.0), (candidate, -1.0)], measure, unseen))
        return _undefined_like(undefined, low), _undefined_like(undefined, form.largest(start, up))
    if measure.name in ("mrr", "success"):
        low = -_first_hit_gain(candidate, baseline, measure, relevant_grade)
        return _undefined_like(undefined, low), _undefined_like(undefined, _first_hit_gain(baseline, candidate, measure, relevant_grade))
    holes_a, holes_b = (pool.sums(pool.query[np.isnan(pool.grade)]) for pool in (baseline, candidate))
    low_a, high_a = metric_bounds(baseline, measure, gains, relevant_grade, unseen=unseen + holes_b)
    low_b, high_b = metric_bounds(candidate, measure, gains, relevant_grade, unseen=unseen + holes_a)
    return low_b - high_a, high_b - low_a


@dataclass(frozen=True)
class _Form:
    """The ratio form of one measure: level steps, judged counts per level, ideal's running sum."""

    measure: Measure
    gains: Gains
    relevant: float
    steps: np.ndarray   # (L,)
    judged: np.ndarray  # (Q, L) judged products at level l or above

    @classmethod
    def of(cls, pool: Pool, measure: Measure, gains: Gains, relevant_grade: float) -> _Form:
        gains = GAINS[measure.gains] if measure.gains else gains
        relevant = relevant_grade if measure.relevant is None else measure.relevant
        grade, query = pool.judged.grade, pool.judged.query
        if measure.name in ("recall", "precision"):
            steps, counts = np.ones(1), pool.sums(query[grade >= relevant])[:, None]
        else:
            level = np.unique(np.r_[0.0, gains.of(gains.levels), gains.of(grade)])
            steps = np.diff(level)
            gain = gains.of(grade)
            counts = np.stack([pool.sums(query[gain >= floor]) for floor in level[1:]], axis=1)
        return cls(measure, gains, relevant, steps, counts)

    def numerator(self, pool: Pool) -> np.ndarray:
        """F0: the numerator with every unjudged product at 0."""
        top = slice(None) if self.measure.k is None else pool.position < self.measure.k
        grade = pool.grade[top]
        if self.measure.name in ("recall", "precision"):
            return pool.sums(pool.query[top], (grade >= self.relevant).astype(np.float64))
        return pool.sums(pool.query[top], self.gains.of(grade) * discount(pool.position[top]))

    def denominators(self, most: int) -> np.ndarray:
        """C[0..most]: the ideal's running sum at one level (constant where there is no ideal)."""
        n = np.arange(most + 1)
        name, k = self.measure.name, self.measure.k
        if name == "precision" or name == "dcg":
            return np.full(most + 1, float(k) if name == "precision" and k else 1.0)
        if name == "recall":
            return n.astype(np.float64)
        running = np.r_[0.0, np.cumsum(discount(np.arange(most, dtype=np.float64)))]
        return running if k is None or name == "ndcg_full_ideal" else running[np.minimum(n, k)]

    def largest(self, start: np.ndarray, unjudged: Unjudged) -> np.ndarray:
        """Largest F/G over all gradings, shape (Q,); see the module's text."""
        weights, count = unjudged.weights, unjudged.count
        running = np.concatenate([np.zeros((len(start), 1)), np.cumsum(np.nan_to_num(weights), axis=1)], axis=1)
        allowed = np.arange(running.shape[1])[None, :] <= count[:, None]
        ideal = self.denominators(int(self.judged.max(initial=0)) + running.shape[1])
        # DCG has no ideal: its denominator is 1 however many levels there are.
        scale = np.eye(1, len(self.steps))[0] if self.measure.name == "dcg" else self.steps
        at = [ideal[self.judged[:, [level]] + np.arange(running.shape[1])[None, :]] for level in range(len(self.steps))]
        whole = sum(step * c for step, c in zip(scale, at, strict=True))
        best = np.where(allowed & (whole > 0), (start[:, None] + self.steps.sum() * running) / np.where(whole > 0, whole, 1.0), -np.inf).max(axis=1)
        return self._dinkelbach(best, start, running, at, scale, allowed)

    def _dinkelbach(self, best: np.ndarray, start: np.ndarray, running: np.ndarray, at: list[np.ndarray],
                    scale: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """Raise positive ratios until no grading is better."""
        live = np.flatnonzero(np.isfinite(best) & (best > 0))
        for _ in range(50):
            if not len(live):
                break
            top, bottom = start[live].copy(), np.zeros(len(live))
            for step, share, c in zip(self.steps, scale, at, strict=True):
                ideal = c[live]
                worth = np.where(allowed[live], step * running[live] - best[live, None] * share * ideal, -np.inf)
                chosen = worth.argmax(axis=1)[:, None]
                top += step * np.take_along_axis(running[live], chosen, 1)[:, 0]
                bottom += share * np.take_along_axis(ideal, chosen, 1)[:, 0]
            better = np.divide(top, bottom, out=best[live].copy(), where=bottom > 0)
            grew = better > best[live] * (1 + 1e-14)
            best[live] = np.maximum(best[live], better)
            live = live[grew]
        return best


def _unjudged(lists: list[tuple[Pool, float]], measure: Measure, unseen: int | np.ndarray) -> Unjudged:
    """Summed, sorted position weights of the unjudged products of one or two lists."""
    parts = []
    for pool, sign in lists:
        hole = np.flatnonzero(np.isnan(pool.grade))
        inside = True if measure.k is None else pool.position[hole] < measure.k
        weight = np.ones(len(hole)) if measure.name in ("recall", "precision") else discount(pool.position[hole])
        parts.append(pd.DataFrame({"query": pool.query[hole], "product": pool.product_ids[pool.product[hole]],
                                   "weight": np.where(inside, sign * weight, 0.0)}))
    whole = pd.concat(parts, ignore_index=True)
    if len(lists) > 1:
        whole = whole.groupby(["query", "product"], sort=False, as_index=False)["weight"].sum()
    size = lists[0][0].size
    extra = np.repeat(np.arange(size), unseen)
    query = np.r_[whole["query"].to_numpy(dtype=np.int64), extra]
    weight = np.r_[whole["weight"].to_numpy(), np.zeros(len(extra))]
    order = np.lexsort((-weight, query))
    query, weight = query[order], weight[order]
    if measure.name == "ndcg" and measure.k:  # below the cut only the first k can fill the ideal
        idle = np.flatnonzero(weight == 0)
        kept = np.delete(np.arange(len(weight)), idle[positions(query[idle]) >= measure.k])
        query, weight = query[kept], weight[kept]
    count = np.bincount(query, minlength=size)
    table = np.full((size, int(count.max(initial=0))), np.nan)
    table[query, positions(query)] = weight
    return Unjudged(table, count)


def _graded_bounds(pool: Pool, measure: Measure, gains: Gains, relevant_grade: float, value: np.ndarray,
                   unseen: int | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measures that rise with every grade: all unjudged at 0, and all at the best grade."""
    used = GAINS[measure.gains] if measure.gains else gains
    best_grade = used.max_grade if measure.max_grade is None else measure.max_grade
    full = replace(pool, grade=np.where(np.isnan(pool.grade), best_grade, pool.grade))
    high = evaluate_measure(full, measure, gains, relevant_grade)
    if measure.name != "ap":
        return value, high
    relevant = relevant_grade if measure.relevant is None else measure.relevant
    known = pool.sums(pool.judged.query[pool.judged.grade >= relevant])
    holes = pool.sums(pool.query[np.isnan(pool.grade)]) + unseen
    return value * known / np.maximum(known + holes, 1), np.minimum(high, 1.0)


def _first_hit_gain(loser: Pool, winner: Pool, measure: Measure, relevant_grade: float) -> np.ndarray:
    """Largest winner - loser of a first-hit measure over all gradings, shape (Q,).

    One more relevant product is enough: of several, the winner's first decides, and the others can
    only help the loser. So each unjudged product is tried alone, and none.
    """
    relevant = relevant_grade if measure.relevant is None else measure.relevant
    sides = []
    for pool in (winner, loser):
        value = evaluate_measure(pool, measure, ESCI_LINEAR, relevant)
        hole = np.flatnonzero(np.isnan(pool.grade) & (pool.position < (measure.k or np.inf)))
        worth = 1.0 / (pool.position[hole] + 1.0) if measure.name == "mrr" else np.ones(len(hole))
        sides.append((np.nan_to_num(value), pd.Series(worth, index=pd.MultiIndex.from_arrays([pool.query[hole], pool.product_ids[pool.product[hole]]]))))
    (won, holes), (lost, others) = sides
    query = holes.index.get_level_values(0).to_numpy(dtype=np.int64)
    alone = np.maximum(won[query], holes.to_numpy()) - np.maximum(lost[query], others.reindex(holes.index).fillna(0.0).to_numpy())
    best = won - lost
    np.maximum.at(best, query, alone)
    return best


def _undefined_like(value: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """NaN where the value is undefined."""
    return np.where(np.isnan(value), np.nan, bound)
