"""The true rank of each query's first relevant product."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from toolkit.evaluation.evaluating import query_states
from toolkit.evaluation.gains import Gains
from toolkit.evaluation.formulas import evaluate_measure
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Pool


def first_relevant(pool: Pool, relevant_grade: float) -> tuple[np.ndarray, np.ndarray]:
    """Rank and id of the first relevant returned product of each query.

    Parameters
    ----------
    pool : Pool
        Rankings met with judgments.
    relevant_grade : float

    Returns
    -------
    rank : ndarray of float, shape (Q,)
        From 1; NaN where no relevant product was returned.
    product : ndarray of object, shape (Q,)
        None where there is none.
    """
    rank, product = np.full(pool.size, np.nan), np.full(pool.size, None, dtype=object)
    hits = np.flatnonzero(pool.grade >= relevant_grade)
    query, first = np.unique(pool.query[hits], return_index=True)
    rank[query] = pool.position[hits[first]] + 1
    product[query] = pool.product_ids.to_numpy(dtype=object)[pool.product[hits[first]]]
    return rank, product


def indexed_relevant(pool: Pool, relevant_grade: float, indexed: Collection[str] | None) -> np.ndarray:
    """Relevant products of each query that are in the index, shape (Q,); NaN where nobody told."""
    if indexed is None:
        return np.full(pool.size, np.nan)
    relevant = pool.judged.grade >= relevant_grade
    known = pool.judged.product_ids.isin(pd.Index(list(indexed)))[pool.judged.product]
    return pool.sums(pool.judged.query[relevant & known]).astype(np.float64)


def rank_table(pool: Pool, status: pd.DataFrame | None, *, k: int, gains: Gains, relevant_grade: float,
               indexed: Collection[str] | None) -> pd.DataFrame:
    """One row a query: what was measured, and where its first relevant product stands.

    Returns
    -------
    DataFrame
        query_id; state (ok, zero_results, missing, failed); reason; ndcg and recall at k (null where
        undefined or failed); failing (both are 0); first_rank and first_id (null where no relevant
        product was returned); relevant (judged relevant products); relevant_indexed (of these in the
        index; null where unknown); returned.
    """
    state = query_states(pool, status)
    failed = (state["state"] == "failed").to_numpy()
    ndcg, recall = (np.where(failed, np.nan, evaluate_measure(pool, Measure(name, k), gains, relevant_grade)) for name in ("ndcg", "recall"))
    rank, product = first_relevant(pool, relevant_grade)
    relevant = pool.sums(pool.judged.query[pool.judged.grade >= relevant_grade])
    return pd.DataFrame({
        "query_id": pd.array(pool.judged.query_ids, dtype="str"), "state": state["state"], "reason": state["reason"],
        "ndcg": ndcg, "recall": recall, "failing": (ndcg == 0) & (recall == 0),
        "first_rank": pd.array(rank, dtype="Int64"), "first_id": pd.array(product, dtype="str"),
        "relevant": relevant.astype(np.int64), "relevant_indexed": pd.array(indexed_relevant(pool, relevant_grade, indexed), dtype="Int64"),
        "returned": state["returned"].astype(np.int64)})
