"""Paired resampling of per-query differences: bootstrap intervals and sign-flip p-values.

Sums are formed in fixed point: differences are rounded to a binary grid so fine that every sum of n
of them is exact in float64. Exact sums do not depend on their order, so the digits are the same on
any number of threads, in any chunk, on any BLAS; and differences that are equal on paper (0.4 - 0.3
and 0.2 - 0.1) are equal here, where a naive comparison makes them a false extreme.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
EXACT_LIMIT = 20  # up to this many non-zero differences, all 2^k sign patterns are enumerated
_CHUNK = 500      # resamples drawn at a time: bounds memory, changes no digit


class PValue(NamedTuple):
    """A p-value and how it was found: ``exact`` (all sign patterns) or ``sampled``."""

    value: float
    method: str


def to_grid(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differences as whole multiples of a unit per column, with every sum of their number exact in float64.

    Parameters
    ----------
    differences : ndarray of float, shape (n, m)

    Returns
    -------
    tuple of ndarray
        Whole numbers as float64, shape (n, m), and each column's unit, shape (m,): a power of two,
        below 1e-9 for values within [-1, 1] and n up to a million.
    """
    largest = np.abs(differences).max(axis=0, initial=0.0)
    room = 51 - math.ceil(math.log2(max(len(differences), 2)))
    unit = np.where(largest > 0, np.exp2(np.frexp(largest)[1] - float(room)), 1.0)
    return np.round(differences / unit), unit


def bootstrap_means(differences: np.ndarray, *, resamples: int = RESAMPLES, seed: int = 20260816) -> np.ndarray:
    """Means of resampled differences: resampling weights (bincount) times differences, in BLAS.

    Parameters
    ----------
    differences : ndarray of float, shape (n, m)
        One row a query, one column a metric; all columns see the same resamples.
    resamples : int
    seed : int

    Returns
    -------
    ndarray of float, shape (resamples, m)

    Notes
    -----
    Source: Efron 1979. Draws are ``default_rng(seed).integers(0, n, (resamples, n))``, so the means
    equal those of ``scipy.stats.bootstrap(..., rng=default_rng(seed))``.
    """
    n = len(differences)
    rng = np.random.default_rng(seed)
    grid, unit = to_grid(differences)
    middle = np.array([math.fsum(column) / n for column in differences.T])
    total = grid.sum(axis=0)
    sums = np.empty((resamples, differences.shape[1]))
    for start in range(0, resamples, _CHUNK):
        rows = min(_CHUNK, resamples - start)
        drawn = rng.integers(0, n, (rows, n))
        drawn += np.arange(rows)[:, None] * n
        weights = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        sums[start:start + rows] = weights.astype(np.float64) @ grid
    # Around the exact mean: where all differences are equal, every resample has that mean to the last bit.
    return middle + (sums - total) * (unit / n)


def bootstrap_interval(differences: np.ndarray, *, confidence: float = 0.95, resamples: int = RESAMPLES,
                       seed: int = 20260816) -> np.ndarray:
    """Paired percentile bootstrap interval of each column's mean, shape (2, m): low, high."""
    tail = 50 * (1 - confidence)
    return np.percentile(bootstrap_means(differences, resamples=resamples, seed=seed), [tail, 100 - tail], axis=0)


def sign_flip_p(differences: np.ndarray, *, resamples: int = RESAMPLES, seed: int = 20260816) -> list[PValue]:
    """Two-sided paired sign-flip p of each column's mean.

    Exact over all 2^k patterns where at most ``EXACT_LIMIT`` differences are non-zero; else sampled
    with p = (1 + patterns at least as extreme) / (1 + resamples), which is never 0.

    Parameters
    ----------
    differences : ndarray of float, shape (n, m)

    Returns
    -------
    list of PValue, length m

    Notes
    -----
    Source: Fisher 1935; Phipson and Smyth 2010 for the +1. Draws are
    ``default_rng(seed).integers(0, 2, (resamples, n))``, one sign a query, shared by the columns.
    """
    grid, _ = to_grid(differences)
    changed = np.count_nonzero(grid, axis=0)
    sampled = np.flatnonzero(changed > EXACT_LIMIT)
    found: dict[int, PValue] = {c: PValue(_exact_p(grid[:, c]), "exact") for c in np.flatnonzero(changed <= EXACT_LIMIT)}
    if len(sampled):
        extreme = _count_extreme(grid[:, sampled], resamples, seed)
        found |= {int(c): PValue((1 + int(e)) / (1 + resamples), "sampled") for c, e in zip(sampled, extreme, strict=True)}
    return [found[c] for c in range(differences.shape[1])]


def _exact_p(grid: np.ndarray) -> float:
    """Share of all sign patterns whose sum is at least as far from 0 as the observed one."""
    sums = np.zeros(1)
    values = grid[grid != 0]
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return float(np.mean(np.abs(sums) >= abs(values.sum()) - _slack(values)))


def _count_extreme(grid: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Sampled sign patterns at least as extreme as the observed sums, one count a column."""
    rng = np.random.default_rng(seed)
    total = grid.sum(axis=0)
    bar = np.abs(total) - _slack(grid)
    extreme = np.zeros(grid.shape[1], dtype=np.int64)
    for start in range(0, resamples, _CHUNK):
        kept = rng.integers(0, 2, (min(_CHUNK, resamples - start), len(grid)))
        extreme += (np.abs(2.0 * (kept.astype(np.float64) @ grid) - total) >= bar).sum(axis=0)
    return extreme


def _slack(grid: np.ndarray) -> np.ndarray | float:
    """Grid steps by which sums that are equal on paper can differ: one a non-zero difference."""
    return np.count_nonzero(grid, axis=0)


def p_floor(changed: int) -> float:
    """Smallest two-sided sign-flip p that ``changed`` non-zero differences can reach: 2/2^k, at most 1."""
    return min(1.0, 2.0 ** (1 - changed))


def benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    """Benjamini-Hochberg adjusted p-values of a family, shape (m,); undefined ones leave the family.

    Notes
    -----
    Source: Benjamini and Hochberg 1995, by ``scipy.stats.false_discovery_control``.
    """
    from scipy.stats import false_discovery_control

    p = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    adjusted = np.full(p.shape, np.nan)
    if known.any():
        adjusted[known] = false_discovery_control(p[known], method="bh")
    return adjusted
