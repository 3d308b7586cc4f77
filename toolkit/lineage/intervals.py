"""Intervals for rates: small samples, design weights, clusters.

Rows of one user or session are alike; a row-wise interval is then too narrow. So where clusters are
given, whole clusters are resampled; where design weights are given, the effective sample size is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

SEED = 20260816
DRAWS = 2_000
# Fewer clusters resample too coarsely; with more, the linearised variance says the same for less work.
BOOTSTRAP_CLUSTERS = (20, 400)


@dataclass(frozen=True)
class Rate:
    """A rate with its interval: ``value``, ``low``, ``high``, ``n`` rows, ``count`` positive rows, ``method``."""

    value: float
    low: float
    high: float
    n: int
    count: int
    method: str


def wilson(count: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of ``count`` out of ``n`` (both may be effective, non-integer sizes).

    Source: Wilson 1927, JASA 22:209; recommended for small n by Brown, Cai and DasGupta 2001, Stat. Sci. 16:101.
    ``n = 0`` gives (0, 1): nothing is known.
    """
    if n <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p = count / n
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return float(max(0.0, (centre - half) / scale)), float(min(1.0, (centre + half) / scale))


def exact(count: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval: never below its nominal coverage. Source: Clopper and Pearson 1934, Biometrika 26:404."""
    from scipy.stats import beta

    if n <= 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if count == 0 else float(beta.ppf(tail, count, n - count + 1))
    return low, 1.0 if count == n else float(beta.ppf(1 - tail, count + 1, n - count))


def effective_wilson(flags: np.ndarray, weights: np.ndarray, clusters: np.ndarray | None = None,
                     level: float = 0.95) -> tuple[float, float]:
    """Wilson interval of a weighted rate at its effective sample size.

    The Hájek estimate is ``p = sum(w y) / sum(w)``; its linearised variance is
    ``v = m / (m - 1) * sum_c (sum_{i in c} w_i (y_i - p))**2 / sum(w)**2`` over the m clusters (rows where none
    are given); the effective size is ``p (1 - p) / v``. At p of 0 or 1, where v is 0, it is Kish's
    ``sum(w)**2 / sum(w**2)``, or the number of clusters where that is smaller.

    Source: Korn and Graubard 1998, Survey Methodology 24:193, with Wilson in place of the exact interval.
    """
    total = weights.sum()
    if not len(flags) or total <= 0:
        return 0.0, 1.0
    p = float(weights @ flags / total)
    groups = np.arange(len(flags)) if clusters is None else clusters
    sums = np.bincount(groups, weights * (flags - p))
    return wilson_of_sums(p, float(sums @ sums), float(total), float(weights @ weights), len(np.unique(groups)), len(flags), level)


def wilson_of_sums(p: float, squares: float, total: float, weight_squares: float, m: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """:func:`effective_wilson` from its sums, which a database can count.

    Parameters
    ----------
    p : float
        The weighted rate.
    squares : float
        ``sum_c (sum_{i in c} w_i (y_i - p))**2``.
    total, weight_squares : float
        ``sum(w)`` and ``sum(w**2)``.
    m, n : int
        Clusters and rows.
    """
    kish = min(total**2 / weight_squares, m)
    variance = linearised_variance(squares, total, m)
    size = kish if variance <= 1e-15 else min(p * (1 - p) / variance, float(n))
    return wilson(p * size, size, level)


def linearised_variance(squares: float, total: float, m: int) -> float:
    """``m / (m - 1) * squares / total**2``, with ``squares`` the squared cluster sums of ``w (y - mean)``. Source: Korn and Graubard 1998."""
    return m / max(m - 1, 1) * squares / total**2


def mean_interval(mean: float, squares: float, total: float, m: int, level: float = 0.95) -> tuple[float, float]:
    """Normal interval of a weighted mean over many clusters, from its sums (as for :func:`wilson_of_sums`)."""
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(linearised_variance(squares, total, m))
    return float(mean - half), float(mean + half)


def cluster_bootstrap(values: np.ndarray, weights: np.ndarray, clusters: np.ndarray, *, level: float = 0.95,
                      draws: int = DRAWS, seed: int = SEED) -> tuple[float, float]:
    """Percentile interval of a weighted mean, resampling whole clusters.

    Parameters
    ----------
    values, weights : ndarray, shape (n,)
    clusters : ndarray of int, shape (n,)
        Cluster of each row, from 0.

    Returns
    -------
    tuple of float
        Percentiles of the resampled means. Few clusters resample too coarsely (one gives a width of 0): :func:`rate` then
        uses the effective size.
    """
    sums, sizes = np.bincount(clusters, weights * values), np.bincount(clusters, weights)
    used = sizes > 0
    sums, sizes = sums[used], sizes[used]
    counts = _resamples(len(sums), draws, seed)
    means = (counts @ sums) / (counts @ sizes)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


@lru_cache(maxsize=16)
def _resamples(m: int, draws: int, seed: int) -> np.ndarray:
    """How often each of ``m`` clusters is in each draw, shape (draws, m); shared by all rates over the same number of clusters."""
    counts = np.random.default_rng(seed).multinomial(m, np.full(m, 1 / m), size=draws).astype(np.float64)
    counts.flags.writeable = False
    return counts


def rate(flags: np.ndarray, *, weights: np.ndarray | None = None, clusters: np.ndarray | None = None,
         method: str = "auto", level: float = 0.95) -> Rate:
    """A rate and its interval by one of the methods of this module.

    Parameters
    ----------
    flags : ndarray of bool, shape (n,)
    weights : ndarray, optional
        Design weights, shape (n,).
    clusters : ndarray, optional
        User or session of each row, any values; a null is its own cluster.
    method : {"auto", "wilson", "exact", "design", "bootstrap"}
        ``auto``: bootstrap over clusters where there are 20 to 400 of them and the rate is not 0 or 1, else the
        effective-size interval where there are clusters or weights, else Wilson.
    """
    flags = np.asarray(flags, dtype=np.float64)
    n, count = len(flags), int(flags.sum())
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if n == 0 or w.sum() <= 0:
        return Rate(float("nan"), 0.0, 1.0, n, count, "none")
    codes = None if clusters is None else cluster_codes(clusters)
    value = float(w @ flags / w.sum())
    chosen = _choose(codes, weights, value) if method == "auto" else method
    if chosen == "bootstrap":
        if codes is None:
            raise ValueError("rate: method 'bootstrap' resamples clusters; give clusters=")
        low, high = cluster_bootstrap(flags, w, codes, level=level)
    elif chosen == "design":
        low, high = effective_wilson(flags, w, codes, level)
    elif chosen in ("wilson", "exact"):
        low, high = (wilson if chosen == "wilson" else exact)(count, n, level)
    else:
        raise ValueError(f"rate: method {method!r}; expected auto, wilson, exact, design or bootstrap")
    return Rate(value, low, high, n, count, chosen)


def mean_rate(values: np.ndarray, weights: np.ndarray, clusters: np.ndarray | None) -> Rate:
    """A weighted mean of any values: bootstrap over up to 400 clusters (rows where none are given), else the linearised normal interval."""
    n, total = len(values), weights.sum()
    if n == 0 or total <= 0:
        return Rate(float("nan"), float("nan"), float("nan"), n, 0, "none")
    codes = np.arange(n) if clusters is None else cluster_codes(clusters)
    mean, m, count = float(weights @ values / total), int(codes.max()) + 1, int((values > 0).sum())
    if n == 1:
        return Rate(mean, float("nan"), float("nan"), n, count, "none")
    if m <= BOOTSTRAP_CLUSTERS[1]:
        return Rate(mean, *cluster_bootstrap(values, weights, codes), n, count, "bootstrap")
    sums = np.bincount(codes, weights * (values - mean))
    return Rate(mean, *mean_interval(mean, float(sums @ sums), float(total), m), n, count, "design")


def _choose(codes: np.ndarray | None, weights: np.ndarray | None, value: float) -> str:
    """The method ``auto`` stands for."""
    low, high = BOOTSTRAP_CLUSTERS
    if codes is not None and low <= codes.max(initial=-1) + 1 <= high and 0 < value < 1:
        return "bootstrap"
    return "design" if codes is not None or weights is not None else "wilson"


def cluster_codes(clusters: object) -> np.ndarray:
    """Codes from 0 for any cluster labels; each null is a cluster of its own (its owner is unknown)."""
    import pandas as pd

    codes = pd.factorize(pd.Series(clusters))[0].astype(np.int64)
    null = codes < 0
    codes[null] = codes.max(initial=-1) + 1 + np.arange(null.sum())
    return codes
