"""Failing queries, diagnosed: where their first relevant product stands, and which queries they are."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import pandas as pd

from toolkit.diagnosis.buckets import bucket_of, bucket_shares
from toolkit.diagnosis.ranks import rank_table
from toolkit.diagnosis.shares import share_table
from toolkit.diagnosis.traits import TRAITS, query_traits
from toolkit.evaluation.evaluating import check_policy, query_list, unpack, warn_nothing_relevant
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.evaluation.pool import EvaluationError, Judged, meet, read_judgments
from toolkit.search.protocol import SearchRun
from toolkit.tables import PRODUCTS, check


@dataclass(frozen=True)
class FailureDiagnosis:
    """Failing queries by where their first relevant product stands.

    Attributes
    ----------
    table : DataFrame
        One row an evaluated query: query_id; query (where texts were given); state; reason; ndcg;
        recall; failing; first_rank; first_id; relevant; relevant_indexed; returned; bucket (null where the
        query does not fail).
    shares : DataFrame
        One row a bucket: bucket, count, n (failing queries and failed requests), share, low, high (95 % Wilson
        interval), meaning.
    traits : DataFrame or None
        ``query_traits`` of the queries.
    k, depths, relevant_grade, gains, depth
        Cut-off of the metrics, edges of the buckets, relevance threshold, gain map, and the search depth (given,
        the run's, or the longest list).
    """

    table: pd.DataFrame
    shares: pd.DataFrame
    traits: pd.DataFrame | None
    k: int
    depths: tuple[int, ...]
    relevant_grade: float
    gains: Gains
    depth: int

    @property
    def failing(self) -> pd.DataFrame:
        """The rows of the table that have a bucket."""
        return self.table[self.table["bucket"].notna()].reset_index(drop=True)

    @property
    def countable(self) -> pd.DataFrame:
        """The rows that can fail: queries with a product judged relevant, and failed requests."""
        return _countable(self.table)

    def to_frame(self) -> pd.DataFrame:
        """The per-query table."""
        return self.table

    def by_trait(self) -> pd.DataFrame:
        """How often queries with a trait fail, and where.

        Returns
        -------
        DataFrame
            trait (and ``no noise or negation``, ``all queries``), count (failing), n (queries with the trait), share, low,
            high (95 % Wilson), and one column a bucket with its count. A query may have several traits.

        Raises
        ------
        ValueError
            If the diagnosis has no query texts.
        """
        if self.traits is None:
            raise ValueError("by_trait: the diagnosis has no query texts; call diagnose_failures(..., queries=queries)")
        return _by_trait(self.table, self.traits, list(self.shares["bucket"]))

    def definition(self) -> str:
        """What counts as failing, and the policies."""
        return (f"Failing: NDCG@{self.k} = 0 and Recall@{self.k} = 0 (gains {self.gains}; relevant from grade {self.relevant_grade:g}; "
                f"unjudged products count as irrelevant; ties by product_id). Bucket: rank of the first relevant product, search depth {self.depth}. "
                "Intervals: 95 % Wilson, each share on its own.")

    def summary(self) -> str:
        """The finding in words."""
        no_relevant = len(self.table) - len(self.countable)
        left_out = f" Left out: {no_relevant} without a product judged relevant." if no_relevant else ""
        n = len(self.failing)
        if not n:
            return f"{_headline(self)}.{left_out} {self.definition()}"
        found = "; ".join(
            f"{r.bucket}: {r.found} ({r.share:.1%}, {r.low:.1%} to {r.high:.1%})"
            for r in self.shares.rename(columns={"count": "found"}).itertuples() if r.found)
        return f"{_headline(self)}. First relevant product: {found}; n = {n}.{left_out} {self.definition()}"

    def __repr__(self) -> str:
        return f"FailureDiagnosis: {self.summary()}"

    def _repr_html_(self) -> str:
        shown = self.shares.assign(share=[_percent(r) for r in self.shares.to_dict("records")])[["bucket", "count", "share", "meaning"]]
        return (f"<div><p><b>{html.escape(_headline(self))}</b></p>{shown.to_html(index=False, escape=True, border=0)}"
                f"<p><small>{html.escape(self.definition())}</small></p></div>")


def diagnose_failures(rankings_or_run: pd.DataFrame | SearchRun, judgments: pd.DataFrame, *, queries: pd.DataFrame | Sequence[str] | None = None,
                      products: pd.DataFrame | Collection[str] | None = None, status: pd.DataFrame | None = None, k: int = 10,
                      depths: Sequence[int] = (10, 50, 200), depth: int | None = None, relevant_grade: float = 2.0, gains: Gains = ESCI_LINEAR,
                      vocabulary: Collection[str] | None = None) -> FailureDiagnosis:
    """Find failing queries and the true rank of their first relevant product.

    Parameters
    ----------
    rankings_or_run : DataFrame or SearchRun
        query_id, product_id with score or rank. Search at least as deep as the last of ``depths``: what a
        shorter list cannot tell apart becomes a bucket of its own.
    judgments : DataFrame
        query_id, product_id, grade.
    queries : DataFrame or sequence of str, optional
        Queries to diagnose (default: all judged); with a ``query`` column their traits are marked.
    products : DataFrame or collection of str, optional
        The indexed products (or their ids): tells "not retrieved" from "not indexed".
    status : DataFrame, optional
        query_id, status, reason; a run brings its own.
    k : int
        Cut-off of NDCG and recall.
    depths : sequence of int
        Edges of the buckets, ascending, first ``k``.
    depth : int, optional
        Products asked for per query. Default: the run's depth, else the longest list.
    relevant_grade : float
        Smallest grade that counts as relevant (default 2: E or S).
    gains : Gains
    vocabulary : collection of str, optional
        Index terms, for the misspelling trait (``engine.vocabulary``).

    Returns
    -------
    FailureDiagnosis

    Raises
    ------
    EvaluationError, TableError, ValueError
    """
    depths = _check_depths(depths, k)
    check_policy(gains, relevant_grade)
    rankings, status = unpack(rankings_or_run, status)
    texts = queries if isinstance(queries, pd.DataFrame) and "query" in queries else None
    judged, indexed = read_judgments(judgments, query_list(queries)), indexed_ids(products, rankings)
    warn_nothing_relevant(judged, relevant_grade)
    pool = meet(rankings, judged, on_no_overlap=_overlap_policy(rankings, judged, indexed))
    asked = depth or getattr(rankings_or_run, "depth", None) or int(pool.returned.max(initial=0))
    table = rank_table(pool, status, k=k, gains=gains, relevant_grade=relevant_grade, indexed=indexed)
    table["bucket"] = pd.array([bucket_of(row, depths, asked) for row in table.itertuples()], dtype="str")
    traits = None if texts is None else query_traits(texts, vocabulary)
    if traits is not None:
        table.insert(1, "query", table["query_id"].map(texts.set_index("query_id")["query"]).astype("str"))
    return FailureDiagnosis(table, bucket_shares(table, depths), traits, k, depths, relevant_grade, gains, asked)


def _countable(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the per-query table that can fail."""
    return table[(table["relevant"] > 0) | (table["state"] == "failed")]


def _by_trait(table: pd.DataFrame, traits: pd.DataFrame, buckets: list[str]) -> pd.DataFrame:
    """Failure and buckets by trait, of the queries that can fail."""
    kept = _countable(table).merge(traits.drop(columns="query"), on="query_id", how="left")
    masks = {trait: kept[trait].fillna(False).astype(bool) for trait in TRAITS if kept[trait].notna().any()}
    masks["no noise or negation"] = ~masks["noise"] & ~masks["negation"]
    masks["all queries"] = pd.Series(True, index=kept.index)
    rows = []
    for trait, mask in masks.items():
        inside = kept[mask]
        share = share_table({trait: int(inside["bucket"].notna().sum())}, len(inside)).rename(columns={"name": "trait"})
        counts = inside["bucket"].value_counts()
        rows.append(share.assign(**{name: int(counts.get(name, 0)) for name in buckets}))
    return pd.concat(rows, ignore_index=True)


def _check_depths(depths: Sequence[int], k: int) -> tuple[int, ...]:
    """Ascending edges that start at k."""
    given = tuple(depths)
    if not all(isinstance(depth, Integral) for depth in given) or not given or given[0] != k or any(low >= high for low, high in zip(given, given[1:], strict=False)):
        raise ValueError(f"depths {given}: expected ascending whole numbers that start with k = {k}, for example ({k}, {5 * k}, {20 * k})")
    return tuple(int(depth) for depth in given)


def indexed_ids(products: pd.DataFrame | Collection[str] | None, rankings: pd.DataFrame) -> set[str] | None:
    """Ids in the index, None where nobody told; a returned product outside them is an error."""
    if products is None:
        return None
    ids = set(check(products, PRODUCTS, columns=["product_id"], source="products")["product_id"]) if isinstance(products, pd.DataFrame) else set(products)
    strange = set(rankings["product_id"]) - ids
    if strange:
        raise EvaluationError(f"products: {len(strange)} returned products are not among the {len(ids)} given as indexed (for example "
                              f"{min(strange)!r}); pass the products that were searched")
    return ids


def _overlap_policy(rankings: pd.DataFrame, judged: Judged, indexed: set[str] | None) -> Literal["error", "zero"]:
    """Rankings may miss every judged product, as long as the ids are known to be of one kind: some judged one is indexed."""
    same_queries = rankings["query_id"].isin(judged.query_ids).any()
    return "zero" if indexed is not None and same_queries and not indexed.isdisjoint(judged.product_ids) else "error"


def _headline(diagnosis: FailureDiagnosis) -> str:
    """First line of the card."""
    return f"{len(diagnosis.failing)} of {len(diagnosis.countable)} queries fail"


def _percent(row: dict[str, float]) -> str:
    """A share with its interval and n, as text."""
    return "–" if not row["n"] else f"{row['share']:.1%} ({row['low']:.1%} to {row['high']:.1%}) of {row['n']}"
