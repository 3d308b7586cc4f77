"""Simulations with known truth: does the gate keep its promises?

Per-query differences are drawn from a known world, compared and decided; the rates are reported with
their binomial standard errors. Seeded, so a rate is the same on every machine.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from toolkit.evaluation.deciding import Policy
from toolkit.evaluation.effects import minimal_detectable, power_from, standard_deviation
from toolkit.evaluation.resampling import bootstrap_interval, p_floor, sign_flip_p


def draw_differences(rng: np.random.Generator, n: int, *, zero_share: float, effect: float = 0.0, spread: float = 0.3) -> np.ndarray:
    """Differences of n queries: a share exactly 0, the rest symmetric around their mean (truncated normal, steps of 0.001).

    The mean over all queries is ``effect``; changed queries have mean ``effect / (1 - zero_share)``.
    """
    changed = rng.random(n) >= zero_share
    values = np.clip(rng.normal(effect / (1 - zero_share), spread, n), -1, 1)
    return np.where(changed, np.round(values, 3), 0.0)


def lucky_configs(values: pd.DataFrame, configs: int, *, spread: float = 0.15, seed: int = 20260816) -> pd.DataFrame:
    """Configurations that are no better than the baseline: its values plus noise of mean 0 on the queries that change.

    Parameters
    ----------
    values : DataFrame
        query_id, value: one metric of the baseline; null values are left out.
    configs : int
        How many.
    spread : float
        Standard deviation of a changed query's difference; half of the queries change.
    seed : int

    Returns
    -------
    DataFrame
        query_id, config, value.
    """
    rng = np.random.default_rng(seed)
    known = values.dropna(subset=["value"])
    names = [f"config {i + 1:02d}" for i in range(configs)]
    parts = [pd.DataFrame({"query_id": known["query_id"], "config": name,
                           "value": known["value"].to_numpy() + draw_differences(rng, len(known), zero_share=0.5, spread=spread)}) for name in names]
    return pd.concat(parts, ignore_index=True)


def gate(differences: np.ndarray, *, alpha: float = 0.05, resamples: int = 1000, seed: int = 0, policy: Policy | None = None) -> str:
    """The primary check of the verdict on bare differences: better, worse or open.

    Same rule as ``verdict`` (interval and p and enough changed queries) without building tables.
    """
    policy = policy or Policy()
    changed = int(np.count_nonzero(differences))
    if changed < policy.min_changed or p_floor(changed) > alpha:
        return "open"
    column = differences[:, None]
    if sign_flip_p(column, resamples=resamples, seed=seed)[0].value > alpha:
        return "open"
    low, high = bootstrap_interval(column, resamples=resamples, seed=seed)[:, 0]
    return "better" if low > 0 else "worse" if high < 0 else "open"


def false_promotions(*, sizes: tuple[int, ...] = (10, 50, 200, 600), zero_shares: tuple[float, ...] = (0.5, 0.9), runs: int = 1000,
                     alpha: float = 0.05, resamples: int = 1000, seed: int = 20260816) -> pd.DataFrame:
    """A/A runs: how often does a ranker that is no better get promoted?

    Returns
    -------
    DataFrame
        n, zero_share, runs, promoted (share), limit (alpha + 2 standard errors), within.
    """
    rows = []
    for n in sizes:
        for zero_share in zero_shares:
            rng = np.random.default_rng([seed, n, round(100 * zero_share)])
            promoted = sum(gate(draw_differences(rng, n, zero_share=zero_share), alpha=alpha, resamples=resamples, seed=run) == "better"
                           for run in range(runs)) / runs
            limit = alpha + 2 * math.sqrt(alpha * (1 - alpha) / runs)
            rows.append((n, zero_share, runs, promoted, limit, promoted <= limit))
    return pd.DataFrame(rows, columns=["n", "zero_share", "runs", "promoted", "limit", "within"])


def interval_coverage(*, sizes: tuple[int, ...] = (10, 50, 200, 600), zero_shares: tuple[float, ...] = (0.5, 0.9), effect: float = 0.03,
                      runs: int = 1000, resamples: int = 1000, seed: int = 20260816) -> pd.DataFrame:
    """How often does the 95 % interval hold the true mean difference?

    Returns
    -------
    DataFrame
        n, zero_share, runs, coverage, standard_error.
    """
    rows = []
    for n in sizes:
        for zero_share in zero_shares:
            truth = _true_mean(zero_share, effect, seed)
            rng = np.random.default_rng([seed, 1, n, round(100 * zero_share)])
            held = 0
            for run in range(runs):
                low, high = bootstrap_interval(draw_differences(rng, n, zero_share=zero_share, effect=effect)[:, None], resamples=resamples, seed=run)[:, 0]
                held += low <= truth <= high
            share = held / runs
            rows.append((n, zero_share, runs, share, math.sqrt(share * (1 - share) / runs)))
    return pd.DataFrame(rows, columns=["n", "zero_share", "runs", "coverage", "standard_error"])


def power_check(*, sizes: tuple[int, ...] = (50, 200, 600), zero_shares: tuple[float, ...] = (0.5, 0.9), target: float = 0.8, runs: int = 1000,
                resamples: int = 1000, alpha: float = 0.05, seed: int = 20260816) -> pd.DataFrame:
    """Power of the sign-flip test against the predicted one (:func:`~toolkit.evaluation.effects.power_from`).

    The effect is the detectable one at ``target`` power. Worlds with fewer than 15 changed queries on
    average are left out: no large-sample prediction applies to them.

    Returns
    -------
    DataFrame
        n, zero_share, effect, predicted, found, standard_error.
    """
    rows = []
    for n in sizes:
        for zero_share in zero_shares:
            if n * (1 - zero_share) < 15:
                continue
            effect = _effect_for(n, zero_share, target, alpha, seed)
            big = draw_differences(np.random.default_rng([seed, 2]), 400_000, zero_share=zero_share, effect=effect)
            predicted = power_from(big, n, alpha=alpha)
            rng = np.random.default_rng([seed, 3, n, round(100 * zero_share)])
            found = sum(sign_flip_p(draw_differences(rng, n, zero_share=zero_share, effect=effect)[:, None], resamples=resamples, seed=run)[0].value <= alpha
                        for run in range(runs)) / runs
            rows.append((n, zero_share, effect, predicted, found, math.sqrt(found * (1 - found) / runs)))
    return pd.DataFrame(rows, columns=["n", "zero_share", "effect", "predicted", "found", "standard_error"])


def _true_mean(zero_share: float, effect: float, seed: int) -> float:
    """Mean of the world, clipping included, from a million draws."""
    return float(draw_differences(np.random.default_rng([seed, 4]), 1_000_000, zero_share=zero_share, effect=effect).mean())


def _effect_for(n: int, zero_share: float, target: float, alpha: float, seed: int) -> float:
    """Effect whose predicted power is ``target``: a few steps of mde from the world's own spread."""
    effect = 0.05
    for _ in range(6):
        world = draw_differences(np.random.default_rng([seed, 5]), 200_000, zero_share=zero_share, effect=effect)
        effect = minimal_detectable(standard_deviation(world), n, alpha=alpha, power=target)
    return effect
