"""Effect sizes of paired differences, each under its right name, and power from their spread."""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np

TIE = 1e-12  # differences up to this size are ties


def wins_losses_ties(differences: np.ndarray) -> tuple[int, int, int]:
    """Queries that improved, worsened, stayed (within 1e-12)."""
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    return wins, losses, len(differences) - wins - losses


def net_wins(differences: np.ndarray) -> float:
    """(wins - losses) / n: the within-pair dominance some call "Cliff's delta" (that is a two-sample statistic)."""
    wins, losses, _ = wins_losses_ties(differences)
    return (wins - losses) / len(differences) if len(differences) else math.nan


def rank_biserial(differences: np.ndarray) -> float:
    """Matched-pairs rank-biserial correlation: (ranks of wins - ranks of losses) / all ranks, zeros left out.

    Notes
    -----
    Source: Kerby 2014. 0 where nothing changed; -1 to 1.
    """
    from scipy.stats import rankdata

    changed = differences[np.abs(differences) > TIE]
    if not len(changed):
        return 0.0
    ranks = rankdata(np.round(np.abs(changed), 12))
    return float((ranks * np.sign(changed)).sum() / ranks.sum())


def standard_deviation(differences: np.ndarray) -> float:
    """Sample standard deviation (n - 1) of the differences; NaN below two."""
    return float(np.std(differences, ddof=1)) if len(differences) > 1 else math.nan


def cohen_dz(differences: np.ndarray) -> float:
    """Mean difference / its standard deviation; 0 where nothing differs."""
    spread = standard_deviation(differences)
    if math.isnan(spread):
        return math.nan
    return float(np.mean(differences) / spread) if spread > 0 else 0.0


def power_of(delta: float, sd: float, n: int, *, alpha: float = 0.05) -> float:
    """Probability that a two-sided paired t test at ``alpha`` finds a true mean difference ``delta``.

    Notes
    -----
    Source: noncentral t (Cohen 1988), as ``statsmodels.stats.power.TTestPower``.
    """
    from scipy.special import nctdtr, stdtrit

    if n < 2 or math.isnan(sd):
        return math.nan
    if sd == 0:
        return 1.0 if delta else alpha
    critical, shift = stdtrit(n - 1, 1 - alpha / 2), abs(delta) / sd * math.sqrt(n)
    # Far out in the tail the noncentral t's distribution function is 0, and SciPy says NaN.
    below, above = (float(np.nan_to_num(nctdtr(n - 1, shift, bound))) for bound in (critical, -critical))
    return 1.0 - below + above


def power_from(differences: np.ndarray, n: int, *, alpha: float = 0.05) -> float:
    """Power of a repeat with n queries, from the mean, spread and shape of these differences.

    With many ties the differences are skewed and heavy-tailed, and the t statistic varies less (or
    more) than 1 around its mean: its variance is 1 - g*L/sqrt(n) + L^2*(k - 1)/(4n), its mean
    L + 3L(k - 1)/(8n) - g/(2 sqrt(n)), with L = sqrt(n)*mean/sd, g the skewness and k the kurtosis.

    Notes
    -----
    Source: delta method on mean and variance (for example Cramér 1946, chapter 28).
    """
    from scipy.special import ndtr, stdtrit

    sd = float(np.std(differences))
    if n < 2 or sd == 0:
        return math.nan
    scaled = (differences - np.mean(differences)) / sd
    skewness, kurtosis = float(np.mean(scaled**3)), float(np.mean(scaled**4))
    shift = math.sqrt(n) * float(np.mean(differences)) / sd
    middle = shift + 3 * shift * (kurtosis - 1) / (8 * n) - skewness / (2 * math.sqrt(n))
    spread = math.sqrt(max(1 - skewness * shift / math.sqrt(n) + shift**2 * (kurtosis - 1) / (4 * n), 0.05))
    critical = float(stdtrit(n - 1, 1 - alpha / 2))
    return float(ndtr((middle - critical) / spread) + ndtr((-critical - middle) / spread))


@functools.lru_cache(maxsize=4096)
def standardised_mde(n: int, alpha: float, power: float) -> float:
    """Smallest delta/sd that n pairs find with the given power."""
    from scipy.optimize import brentq

    if n < 2:
        return math.nan
    return float(brentq(lambda d: power_of(d, 1.0, n, alpha=alpha) - power, 1e-9, 60.0, xtol=1e-10))


def minimal_detectable(sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8, method: Literal["t", "normal"] = "t") -> float:
    """Smallest true mean difference that n queries with this spread find with the given power (MDE).

    ``t`` is the noncentral t of :func:`power_of`; ``normal`` is (z(1 - alpha/2) + z(power)) * sd / sqrt(n),
    which most published tables use: 0.2 % smaller at n = 600, a quarter smaller at n = 5.
    """
    if method == "normal":
        from scipy.special import ndtri

        return float((ndtri(1 - alpha / 2) + ndtri(power)) * sd / math.sqrt(n)) if n else math.nan
    return sd * standardised_mde(int(n), alpha, power)


def queries_needed(delta: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Queries with which a true ``delta`` is found with the given power; infinite where delta is 0.

    Parameters
    ----------
    delta, sd : float
        True mean difference, and standard deviation of the per-query differences.

    Returns
    -------
    float
        A whole number, or infinity; NaN where the spread is unknown.
    """
    if math.isnan(sd) or math.isnan(delta):
        return math.nan
    if delta == 0:
        return math.inf
    low, high = 1, 2
    while high < 2**40 and power_of(delta, sd, high, alpha=alpha) < power:
        low, high = high, high * 2
    if high >= 2**40:
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(delta, sd, middle, alpha=alpha) < power else (low, middle)
    return float(high)
