"""The winner's curse: the best of m configurations looks better than it is."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.evaluation.resampling import bootstrap_means


@dataclass(frozen=True)
class Selection:
    """The best of several configurations on train, with its expected optimism.

    Attributes
    ----------
    table : DataFrame
        config, train (mean), share_best (share of resamples in which it wins); best first.
    best : str
    optimism : float
        How much the mean of a winner exceeds its true mean on average, estimated by resampling the queries.
    holdout : float
        Mean of the best on the holdout; NaN where not given.
    n, resamples, seed : int
    """

    table: pd.DataFrame
    best: str
    optimism: float
    holdout: float
    n: int
    resamples: int
    seed: int

    @property
    def train(self) -> float:
        """Mean of the best on train."""
        return float(self.table["train"].iloc[0])

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def summary(self) -> str:
        """The selection in words."""
        seen = "" if math.isnan(self.holdout) else f" On the holdout it has {self.holdout:.4f}."
        return (f"Best of {len(self.table)} configurations on {self.n} train queries: {self.best}, {self.train:.4f}; a winner of such a search is "
                f"{self.optimism:.4f} too good on average, so expect {self.train - self.optimism:.4f}.{seen}")

    def __repr__(self) -> str:
        return f"Selection: {self.summary()}"

    def _repr_html_(self) -> str:
        top = self.table.head(5).to_html(index=False, float_format=lambda v: f"{v:.4f}", escape=True, border=0)
        return f"<p>{html.escape(self.summary())}</p>{top}"


def select_best(train: pd.DataFrame, *, holdout: pd.DataFrame | None = None, resamples: int = 2000, seed: int = 20260816) -> Selection:
    """Pick the configuration with the best train mean and estimate the optimism of picking.

    Parameters
    ----------
    train : DataFrame
        query_id, config, value: one metric's value of every configuration on every train query.
    holdout : DataFrame, optional
        The same for the holdout (at least the best configuration).
    resamples, seed : int

    Returns
    -------
    Selection

    Notes
    -----
    For each resample of the queries the winner there is found; its resampled mean minus its mean on
    all train queries, averaged, is the optimism. Source: Efron and Tibshirani 1993, section 17.6.
    """
    wide = train.pivot(index="query_id", columns="config", values="value")
    if wide.isna().to_numpy().any():
        raise ValueError("select_best: some configuration lacks a value on some query; give every configuration on the same queries")
    values = wide.to_numpy()
    means = values.mean(axis=0)
    drawn = bootstrap_means(values, resamples=resamples, seed=seed)
    winners = drawn.argmax(axis=1)
    optimism = float((drawn[np.arange(resamples), winners] - means[winners]).mean())
    table = pd.DataFrame({"config": wide.columns, "train": means, "share_best": np.bincount(winners, minlength=len(means)) / resamples})
    table = table.sort_values("train", ascending=False, kind="stable").reset_index(drop=True)
    best = table["config"].iloc[0]
    seen = math.nan if holdout is None else float(holdout.loc[holdout["config"] == best, "value"].mean())
    return Selection(table, str(best), optimism, seen, len(wide), resamples, seed)
