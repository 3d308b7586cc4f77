"""Rank-biased overlap: how alike two rankings are, whatever their products are worth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolkit import tables
from toolkit.evaluation.measures import Measure


def rank_biased_overlap(left: pd.DataFrame, right: pd.DataFrame, *, p: float = 0.9, k: int = 10) -> pd.DataFrame:
    """Extrapolated rank-biased overlap of two rankings, query by query.

    Parameters
    ----------
    left, right : DataFrame
        query_id, product_id, rank (from 1; ordered by rank).
    p : float
        Persistence, in (0, 1): weight of depth d is proportional to p^(d-1).
    k : int
        Depth compared.

    Returns
    -------
    DataFrame
        query_id, metric, value in [0, 1]; null where both lists are empty (such queries appear only
        if one table has them, so they do not appear).

    Notes
    -----
    RBO_ext(k) = X_k/k * p^k + (1-p)/p * sum over d <= k of X_d/d * p^d, X_d the overlap of the top d.
    Source: Webber, Moffat and Zobel 2010, equation 32 for two lists of even length; a list shorter
    than k is treated as followed by products that agree with nothing.
    """
    if not 0 < p < 1:
        raise ValueError(f"rank_biased_overlap: p is {p!r}; expected a number between 0 and 1")
    for name, frame in (("left", left), ("right", right)):
        tables.check(frame, tables.RANKINGS, columns=["query_id", "product_id", "rank"], source=name)
    names = {name: list(part.sort_values("rank")["product_id"].drop_duplicates()[:k]) for name, part in left.groupby("query_id")}
    others = {name: list(part.sort_values("rank")["product_id"].drop_duplicates()[:k]) for name, part in right.groupby("query_id")}
    queries = sorted(set(names) | set(others))
    values = [_overlap(names.get(q, []), others.get(q, []), p, k) for q in queries]
    return pd.DataFrame({"query_id": pd.Series(queries, dtype="str"), "metric": str(Measure("rbo", k, p=p)), "value": values})


def _overlap(a: list[str], b: list[str], p: float, k: int) -> float:
    """RBO_ext of two lists at depth k."""
    depth = np.arange(1, k + 1)
    place = {product: rank for rank, product in enumerate(b, start=1)}
    met = np.array([max(rank, place[product]) for rank, product in enumerate(a, start=1) if product in place], dtype=int)
    overlap = np.cumsum(np.bincount(met, minlength=k + 1)[1:k + 1])
    return float(overlap[-1] / k * p**k + (1 - p) / p * (overlap / depth * p**depth).sum())
