"""Rankings met with judgments: sorted numpy arrays that every measure reads.

One place for what often goes wrong silently: the order of ties, duplicate products, duplicate
judgments, queries on one side only, ids that never meet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from toolkit import tables


class EvaluationError(ValueError):
    """Rankings or judgments cannot be evaluated as they are."""


@dataclass(frozen=True)
class Judged:
    """Judgments of the evaluated queries, best grade first.

    Attributes
    ----------
    query_ids : ndarray of str, shape (Q,)
        Evaluated queries.
    product_ids : Index, length P
        Distinct judged products; ``product`` holds positions in it.
    query, product : ndarray of int, shape (J,)
        One judgment each, sorted by query, then grade descending.
    grade : ndarray of float, shape (J,)
    folded : int
        Exact repetitions that were dropped.
    """

    query_ids: np.ndarray
    product_ids: pd.Index
    query: np.ndarray
    product: np.ndarray
    grade: np.ndarray
    folded: int

    @property
    def position(self) -> np.ndarray:
        """Position from 0 of each judgment in its query's ideal list, shape (J,)."""
        return positions(self.query)


@dataclass(frozen=True)
class Pool:
    """Returned products of the evaluated queries, in rank order, with their grades.

    Attributes
    ----------
    judged : Judged
    query, position : ndarray of int, shape (R,)
        Query (index into ``judged.query_ids``) and rank - 1 of each returned product; sorted.
    grade : ndarray of float, shape (R,)
        NaN where the product is unjudged for the query.
    tie : ndarray of int, shape (R,)
        Products of one query with one score share a number; -1 where nothing is tied.
    product : ndarray of int, shape (R,)
        Position of each product in ``product_ids``, the distinct products of the rankings.
    returned : ndarray of int, shape (Q,)
        Distinct products returned, before any cut.
    duplicates : int
        Rows dropped because their product stood higher in the same list.
    off_judgments : tuple of str
        Queries of the rankings that are not evaluated.
    rank_conflicts : int
        Queries whose rank column contradicts their scores (the scores hold).
    """

    judged: Judged
    query: np.ndarray
    position: np.ndarray
    grade: np.ndarray
    tie: np.ndarray
    product: np.ndarray
    product_ids: pd.Index
    returned: np.ndarray
    duplicates: int = 0
    off_judgments: tuple[str, ...] = ()
    rank_conflicts: int = 0

    @property
    def size(self) -> int:
        """Number of evaluated queries, Q."""
        return len(self.judged.query_ids)

    def sums(self, query: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Sum of ``weights`` (or count) per query, shape (Q,)."""
        return np.bincount(query, weights=weights, minlength=self.size)

    def take(self, order: np.ndarray) -> Pool:
        """The pool with its rows reordered or filtered (sorted by query still) and positions counted anew."""
        query = self.query[order]
        return replace(self, query=query, position=positions(query), grade=self.grade[order],
                       tie=self.tie[order], product=self.product[order])

    def condensed(self) -> Pool:
        """Without the unjudged products: those below move up."""
        return self.take(np.flatnonzero(~np.isnan(self.grade)))


def positions(query: np.ndarray) -> np.ndarray:
    """Position from 0 of each row within its run of equal values, for a sorted array."""
    if not len(query):
        return np.zeros(0, dtype=np.int64)
    row = np.arange(len(query))
    starts = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    return row - np.repeat(starts, np.diff(np.r_[starts, len(query)]))


def read_judgments(judgments: pd.DataFrame, query_ids: list[str] | None) -> Judged:
    """Check the judgments and sort them by query, best grade first.

    Parameters
    ----------
    judgments : DataFrame
        query_id, product_id, grade.
    query_ids : list of str or None
        Queries to evaluate; default all judged ones, in order of first appearance.

    Raises
    ------
    EvaluationError
        A grade is not a finite number >= 0, or one pair has two grades.
    """
    tables.check(judgments, tables.JUDGMENTS, source="judgments")
    grade = pd.to_numeric(judgments["grade"], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(grade) | (grade < 0)
    if bad.any():
        row = int(bad.argmax())
        raise EvaluationError(
            f"judgments row {row}: grade {judgments['grade'].iloc[row]!r} of query {judgments['query_id'].iloc[row]!r} is not "
            f"a finite number >= 0 ({int(bad.sum())} such rows); remove the rows or give them a grade")
    known = pd.Index(pd.unique(judgments["query_id"]) if query_ids is None else query_ids, dtype="str")
    query = known.get_indexer(judgments["query_id"])
    product, product_ids = pd.factorize(judgments["product_id"])
    inside = query >= 0
    query, product, grade = query[inside], product[inside], grade[inside]
    order = np.lexsort((product, -grade, query))
    query, product, grade = query[order], product[order], grade[order]
    keep = _without_repeats(query, product, grade, known, product_ids)
    return Judged(known.to_numpy(), pd.Index(product_ids), query[keep], product[keep], grade[keep], int((~keep).sum()))


def _without_repeats(query: np.ndarray, product: np.ndarray, grade: np.ndarray, query_ids: pd.Index,
                     product_ids: pd.Index) -> np.ndarray:
    """Mask of the first judgment of each pair; two different grades of one pair are refused."""
    pairs = pd.Series(query.astype(np.int64) * max(len(product_ids), 1) + product)
    keep = ~pairs.duplicated().to_numpy()
    if not keep.all():
        spread = pd.Series(grade).groupby(pairs).agg(["min", "max"])
        clash = spread.index[spread["min"] != spread["max"]]
        if len(clash):
            q, p = divmod(int(clash[0]), len(product_ids))
            low, high = spread.loc[clash[0]]
            raise EvaluationError(
                f"judgments: query {query_ids[q]!r}, product {product_ids[p]!r} has grades {low:g} and {high:g} "
                f"({len(clash)} such pairs); decide which holds (a mean, the latest) before evaluating")
    return keep


def meet(rankings: pd.DataFrame, judged: Judged, *, on_no_overlap: Literal["error", "zero"] = "error") -> Pool:
    """Order the rankings (score descending, then product_id ascending) and look up each product's grade.

    Parameters
    ----------
    rankings : DataFrame
        query_id, product_id and score, or rank where there is no score.
    judged : Judged
    on_no_overlap : {"error", "zero"}
        What to do where no product (or no query) of the rankings is judged at all.

    Raises
    ------
    EvaluationError
        Neither score nor rank; a score that is not finite; no id in common.
    """
    tables.check(rankings, tables.RANKINGS, source="rankings")
    query_of, query_names = pd.factorize(rankings["query_id"])
    wanted = pd.Index(judged.query_ids, dtype="str").get_indexer(pd.Index(query_names))
    product_code, product_names = pd.factorize(rankings["product_id"])
    _check_overlap(wanted, query_names, product_names, judged, on_no_overlap)
    key = _sort_key(rankings)
    rows, tie, conflicts = _ordered(wanted[query_of], key, product_code, product_names, _ranks(rankings))
    query, product = wanted[query_of[rows]], product_code[rows]
    pair = query.astype(np.int64) * max(len(product_names), 1) + product
    first = ~pd.Series(pair).duplicated().to_numpy()
    query, product, tie = query[first], product[first], tie[first]
    translated = judged.product_ids.get_indexer(pd.Index(product_names))
    grade = _grades(judged, query, translated[product])
    returned = np.bincount(query, minlength=len(judged.query_ids))
    return Pool(judged, query, positions(query), grade, tie, product, pd.Index(product_names), returned, duplicates=int((~first).sum()),
                off_judgments=tuple(query_names[wanted < 0].tolist()), rank_conflicts=conflicts)


def _sort_key(rankings: pd.DataFrame) -> np.ndarray:
    """Ascending sort key of each row: minus the score, or the rank where there is no score."""
    if "score" in rankings.columns:
        score = rankings["score"].to_numpy(dtype=np.float64, na_value=np.nan)
        bad = ~np.isfinite(score)
        if bad.any():
            row = int(bad.argmax())
            raise EvaluationError(f"rankings row {row}: score {rankings['score'].iloc[row]!r} of query "
                                  f"{rankings['query_id'].iloc[row]!r} is not finite; give scores, or drop the column and keep rank")
        return -score
    rank = _ranks(rankings)
    if rank is None:
        raise EvaluationError(f"rankings: neither a score nor a rank column; got {list(rankings.columns)}; the order of rows is not a ranking")
    if not (rank >= 1).all():
        row = int((~(rank >= 1)).argmax())
        raise EvaluationError(f"rankings row {row}: rank {rankings['rank'].iloc[row]!r}; expected a number from 1")
    return rank


def _ranks(rankings: pd.DataFrame) -> np.ndarray | None:
    """The rank column as floats, if there is one."""
    return rankings["rank"].to_numpy(dtype=np.float64, na_value=np.nan) if "rank" in rankings.columns else None


def _ordered(query: np.ndarray, key: np.ndarray, product: np.ndarray, names: pd.Index,
             rank: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows of evaluated queries in rank order, their tie groups, and queries whose ranks contradict the key."""
    rows = np.flatnonzero(query >= 0)
    q, k = query[rows], key[rows]
    if not _is_sorted(q, k):
        order = np.lexsort((k, q))
        rows, q, k = rows[order], q[order], k[order]
    same = (q[1:] == q[:-1]) & (k[1:] == k[:-1])
    tie = np.full(len(rows), -1, dtype=np.int64)
    if same.any():
        tied = np.r_[False, same] | np.r_[same, False]
        group = np.cumsum(np.r_[True, ~same])[tied]
        where = np.flatnonzero(tied)
        used, compact = np.unique(product[rows[where]], return_inverse=True)
        alphabetical = np.argsort(np.argsort(names[used].to_numpy(dtype=object), kind="stable"))
        rows[where] = rows[where][np.lexsort((alphabetical[compact], group))]
        tie[where] = group
    conflicts = 0
    if rank is not None and len(rows):
        r = rank[rows]
        conflicts = len(np.unique(q[1:][(q[1:] == q[:-1]) & (r[1:] < r[:-1]) & ~same]))
    return rows, tie, conflicts


def _is_sorted(query: np.ndarray, key: np.ndarray) -> bool:
    """Whether rows already stand by query, then key."""
    step = np.diff(query)
    return bool((step >= 0).all() and (np.diff(key)[step == 0] >= 0).all())


def _grades(judged: Judged, query: np.ndarray, product: np.ndarray) -> np.ndarray:
    """Grade of each (query, judged product) pair, NaN where there is none."""
    width = max(len(judged.product_ids), 1)
    pairs = pd.Index(judged.query.astype(np.int64) * width + judged.product)
    found = pairs.get_indexer(np.where(product >= 0, query.astype(np.int64) * width + product, -1))
    grades = np.append(judged.grade, np.nan)
    return grades[found]


def _check_overlap(wanted: np.ndarray, query_names: pd.Index, product_names: pd.Index, judged: Judged, policy: str) -> None:
    """No id in common is a mistake of formats far more often than a bad ranker."""
    if policy == "zero" or not len(query_names) or not len(judged.query):
        return
    for kind, left, right, common in (
            ("query_id", query_names, judged.query_ids, (wanted >= 0).any()),
            ("product_id", product_names, judged.product_ids, (judged.product_ids.get_indexer(pd.Index(product_names)) >= 0).any())):
        if not common:
            raise EvaluationError(
                f"rankings and judgments have no {kind} in common: rankings have {list(left[:3])}, judgments have {list(right[:3])}; "
                "compare the formats (leading zeros, prefixes, integers written as '1.0'); where the ids are right: "
                "evaluate(..., on_no_overlap='zero'), diagnose_failures(..., products=the indexed products)")
