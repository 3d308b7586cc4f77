"""One query in two rankings: which product moved where."""

from __future__ import annotations

import pandas as pd

from toolkit.evaluation.pool import EvaluationError, meet, read_judgments


def rank_movements(baseline: pd.DataFrame, candidate: pd.DataFrame, judgments: pd.DataFrame, query_id: str, *, k: int = 10) -> pd.DataFrame:
    """Products in either top k of one query, with both ranks and the grade.

    Parameters
    ----------
    baseline, candidate : DataFrame
        query_id, product_id, score or rank.
    judgments : DataFrame
        query_id, product_id, grade.
    query_id : str
    k : int

    Returns
    -------
    DataFrame
        product_id, rank_baseline, rank_candidate (null where the list does not have it), grade (null
        where unjudged), move (places up; null where it is in one list only); by candidate rank.
    """
    known = set(baseline["query_id"]) | set(candidate["query_id"]) | set(judgments["query_id"])
    if query_id not in known:
        raise EvaluationError(f"rank_movements: query {query_id!r} is in neither ranking; for example {sorted(known)[:3]}")
    judged = read_judgments(judgments, [query_id])
    sides = []
    for rankings in (baseline, candidate):
        pool = meet(rankings.loc[rankings["query_id"] == query_id], judged, on_no_overlap="zero")
        sides.append(pd.DataFrame({"product_id": pool.product_ids[pool.product].astype("str"), "rank": pool.position + 1}))
    both = sides[0].merge(sides[1], on="product_id", how="outer", suffixes=("_baseline", "_candidate"))
    both = both.loc[(both["rank_baseline"] <= k) | (both["rank_candidate"] <= k)].astype({"rank_baseline": "Int64", "rank_candidate": "Int64"})
    grades = judgments.loc[judgments["query_id"] == query_id, ["product_id", "grade"]].drop_duplicates("product_id")
    both = both.merge(grades, on="product_id", how="left")
    both["move"] = both["rank_baseline"] - both["rank_candidate"]
    return both.sort_values(["rank_candidate", "rank_baseline"], na_position="last", kind="stable").reset_index(drop=True)
