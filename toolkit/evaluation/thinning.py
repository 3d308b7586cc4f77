"""What missing judgments do to a comparison: take judgments away from a world where all are known."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from toolkit.evaluation.comparing import compare
from toolkit.evaluation.deciding import Policy, verdict

Kept = Literal["random", "baseline_pool"]


@dataclass(frozen=True)
class ClosedWorld:
    """Two rankings whose products are all judged.

    Attributes
    ----------
    baseline, candidate : DataFrame
        query_id, product_id, score.
    judgments : DataFrame
        query_id, product_id, grade of every ranked product.
    """

    baseline: pd.DataFrame
    candidate: pd.DataFrame
    judgments: pd.DataFrame


def closed_world(queries: int = 200, products: int = 30, *, noise: tuple[float, float] = (1.4, 1.2), seed: int = 1) -> ClosedWorld:
    """Simulated rankings of fully judged products; the candidate sees the grade with less noise.

    Parameters
    ----------
    queries, products : int
        Products are per query; about a tenth are E, a tenth S, a tenth C.
    noise : tuple of float
        Standard deviation of each arm's score around the grade.
    seed : int
    """
    rng = np.random.default_rng(seed)
    grade = rng.choice([3.0, 2.0, 1.0, 0.0], (queries, products), p=[0.1, 0.1, 0.1, 0.7])
    ids = {"query_id": np.repeat([f"q{i:03d}" for i in range(queries)], products), "product_id": np.tile([f"p{i:02d}" for i in range(products)], queries)}
    arms = [pd.DataFrame({**ids, "score": (grade + rng.normal(0, spread, grade.shape)).ravel()}).astype({"query_id": "str", "product_id": "str"}) for spread in noise]
    return ClosedWorld(*arms, pd.DataFrame({**ids, "grade": grade.ravel()}).astype({"query_id": "str", "product_id": "str"}))


def thin_judgments(judgments: pd.DataFrame, share: float, *, always: pd.DataFrame | None = None, seed: int = 0) -> pd.DataFrame:
    """Keep a share of the judgments, chosen by hash: a smaller share is a subset of a larger one.

    Parameters
    ----------
    judgments : DataFrame
        query_id, product_id, grade.
    share : float
        From 0 to 1.
    always : DataFrame, optional
        Pairs (query_id, product_id) whose judgments stay in any case.
    seed : int
    """
    if not 0 <= share <= 1:
        raise ValueError(f"thin_judgments: share is {share!r}; expected a number from 0 to 1")
    place = np.array([int(hashlib.sha256(f"{seed}|{q}|{p}".encode()).hexdigest()[:12], 16) / 16**12
                      for q, p in zip(judgments["query_id"], judgments["product_id"], strict=True)])
    kept = place < share
    if always is not None:
        stay = pd.MultiIndex.from_frame(always[["query_id", "product_id"]])
        kept |= pd.MultiIndex.from_frame(judgments[["query_id", "product_id"]]).isin(stay)
    return judgments.loc[kept].reset_index(drop=True)


def holes_curve(world: ClosedWorld, shares: Sequence[float], *, kept: Kept = "random", metric: str = "ndcg@10", k: int = 10, seed: int = 0,
                policy: Policy | None = None, resamples: int = 500) -> pd.DataFrame:
    """One comparison per judged share.

    Parameters
    ----------
    world : ClosedWorld
    shares : sequence of float
        Share of the judgments that is known.
    kept : {"random", "baseline_pool"}
        Judgments are missing at random; or those of the baseline's top k are all there and ``share``
        is what is known of the rest (judgments collected on the old ranker's results).
    metric, k, seed, policy, resamples

    Returns
    -------
    DataFrame
        share, judged_baseline, judged_candidate, n, delta (unjudged as irrelevant), condensed_delta,
        hole_low, hole_high, decision.
    """
    pool = world.baseline.sort_values(["query_id", "score"], ascending=[True, False]).groupby("query_id").head(k) if kept == "baseline_pool" else None
    rows = []
    for share in shares:
        known = thin_judgments(world.judgments, share, always=pool, seed=seed)
        c = compare(world.baseline, world.candidate, known, metrics=[metric], resamples=resamples)
        judged, row = c.coverage["judged"], c.row()
        rows.append((share, judged[0], judged[1], row["n"], row["delta"], row["condensed_delta"], row["hole_low"], row["hole_high"], verdict(c, policy).decision))
    return pd.DataFrame(rows, columns=["share", "judged_baseline", "judged_candidate", "n", "delta", "condensed_delta", "hole_low", "hole_high", "decision"])
