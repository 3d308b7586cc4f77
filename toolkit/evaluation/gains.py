"""From grades to gains: the three maps in use for ESCI labels, each under its own name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Gains:
    """A map from relevance grades to the gains of NDCG.

    Parameters
    ----------
    name : str
        Printed in every definition that uses the map.
    kind : {"identity", "table", "exponential"}
        ``gain = grade``, a table of (grade, gain) pairs, or ``gain = 2**grade - 1``.
    table : tuple of (float, float)
        The pairs of a ``table`` map.
    max_grade : float
        Best grade of the scale (not of the data): ERR's ceiling, and the best an unjudged product can be.

    Notes
    -----
    Source: Amazon ESCI (Reddy et al. 2022) for the grades E, S, C, I and the official gains 1, 0.1,
    0.01, 0; Burges et al. 2005 for the exponential form.
    """

    name: str
    kind: Literal["identity", "table", "exponential"] = "identity"
    table: tuple[tuple[float, float], ...] = ()
    max_grade: float = 3.0

    def of(self, grades: np.ndarray) -> np.ndarray:
        """Gains of an array of grades; NaN (unjudged) gives 0.

        Raises
        ------
        ValueError
            A ``table`` map met a grade it does not list.
        """
        known = np.nan_to_num(np.asarray(grades, dtype=np.float64), nan=0.0)
        if self.kind == "identity":
            return known
        if self.kind == "exponential":
            return np.exp2(known) - 1.0
        gain = np.full(known.shape, np.nan)
        for grade, value in self.table:
            gain[known == grade] = value
        strange = np.isnan(gain)
        if strange.any():
            raise ValueError(f"gains {self.name}: grade {known[strange][0]:g} has no gain; "
                             f"known grades: {[grade for grade, _ in self.table]}")
        return gain

    @property
    def levels(self) -> np.ndarray:
        """Grades of the scale, ascending from 0: what an unjudged product may turn out to be."""
        if self.kind == "table":
            return np.array(sorted({0.0, *(grade for grade, _ in self.table)}))
        return np.arange(0.0, np.floor(self.max_grade) + 1.0)

    def __str__(self) -> str:
        rule = {"identity": "gain = grade", "exponential": "gain = 2^grade - 1"}.get(
            self.kind, ", ".join(f"{grade:g}: {gain:g}" for grade, gain in self.table))
        return f"{self.name} ({rule}; best grade {self.max_grade:g})"


ESCI_LINEAR = Gains("linear")
ESCI_OFFICIAL = Gains("esci_official", "table", ((3.0, 1.0), (2.0, 0.1), (1.0, 0.01), (0.0, 0.0)))
EXPONENTIAL = Gains("exponential", "exponential")

GAINS = {gains.name: gains for gains in (ESCI_LINEAR, ESCI_OFFICIAL, EXPONENTIAL)}
