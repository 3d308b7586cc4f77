"""Correct a rate for the judge's errors, from a sample that was judged twice."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from toolkit.lineage.coded import three_valued


@dataclass(frozen=True)
class JudgeError:
    """How a judge's verdict "bad" relates to the reference's, estimated from a double-judged sample.

    Attributes
    ----------
    sensitivity : float
        P(judge says bad | reference says bad), from ``n_bad`` retrievals.
    specificity : float
        P(judge says good | reference says good), from ``n_good`` retrievals.
    """

    sensitivity: float
    n_bad: int
    specificity: float
    n_good: int

    @property
    def youden(self) -> float:
        """Sensitivity + specificity - 1: 0 for a judge that guesses."""
        return self.sensitivity + self.specificity - 1

    def __str__(self) -> str:
        return (f"judge's sensitivity for bad {self.sensitivity:.3f} (n={self.n_bad}), specificity {self.specificity:.3f} (n={self.n_good})")


@dataclass(frozen=True)
class Corrected:
    """A corrected share with its interval."""

    value: float
    low: float
    high: float


def judge_error(double: pd.DataFrame) -> JudgeError:
    """Sensitivity and specificity from a double-judged sample.

    Parameters
    ----------
    double : DataFrame
        Boolean columns ``judge_good`` and ``reference_good``, one row per retrieval judged by both.

    Raises
    ------
    ValueError
        Where columns are missing or hold anything but True and False, or the reference calls none good or none bad.
    """
    missing = {"judge_good", "reference_good"} - set(double.columns)
    if missing:
        raise ValueError(f"judge_error: missing column(s) {sorted(missing)}; got {list(double.columns)}; expected judge_good and reference_good")
    coded = [three_valued(double[name]) for name in ("judge_good", "reference_good")]
    if any((values < 0).any() for values in coded):
        raise ValueError("judge_error: a verdict is null; expected True or False from both; leave out what only one of them judged")
    judge, reference = (values == 1 for values in coded)
    n_bad, n_good = int((~reference).sum()), int(reference.sum())
    if not n_bad or not n_good:
        raise ValueError(f"judge_error: the reference calls {n_good} good and {n_bad} bad; both kinds are needed, so double-judge more retrievals")
    return JudgeError(float((~judge[~reference]).mean()), n_bad, float(judge[reference].mean()), n_good)


def correct_judge_error(share: float, n: float, error: JudgeError, level: float = 0.95) -> Corrected:
    """True share of bad from the judged share of bad.

    Parameters
    ----------
    share : float
        Share the judge called bad.
    n : float
        (Effective) number of judged retrievals.

    Returns
    -------
    Corrected
        ``(share + Sp - 1) / (Se + Sp - 1)`` cut to [0, 1]. A judge no better than a guess gives the interval [0, 1].

    Notes
    -----
    Estimate: Rogan and Gladen 1978, Am. J. Epidemiol. 107:71. Interval: Lang and Reiczigel 2014, Prev. Vet. Med. 113:13, who add
    pseudo-counts to all three proportions and shift the centre. Assumes the judge errs alike in what is corrected and in the sample.
    """
    if not (np.isnan(share) or 0 <= share <= 1):
        raise ValueError(f"correct_judge_error: share {share!r}; expected a share from 0 to 1")
    if error.youden <= 0:
        return Corrected(float("nan"), 0.0, 1.0)
    value = float(np.clip((share + error.specificity - 1) / error.youden, 0, 1))
    if n <= 0:
        return Corrected(float("nan"), 0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    size, n_se, n_sp = n + z * z, error.n_bad + 2, error.n_good + 2
    p = (n * share + z * z / 2) / size
    se, sp = (error.n_bad * error.sensitivity + 1) / n_se, (error.n_good * error.specificity + 1) / n_sp
    youden = se + sp - 1
    if youden <= 0:
        return Corrected(value, 0.0, 1.0)
    centre = (p + sp - 1) / youden
    v_se, v_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z * z * (centre * v_se - (1 - centre) * v_sp)
    spread = z * np.sqrt(p * (1 - p) / size + centre**2 * v_se + (1 - centre) ** 2 * v_sp) / youden
    return Corrected(value, float(np.clip(centre + shift - spread, 0, 1)), float(np.clip(centre + shift + spread, 0, 1)))
