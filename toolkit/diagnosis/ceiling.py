"""How much reordering could gain, against retrieving more."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.diagnosis.failures import FailureDiagnosis, diagnose_failures, indexed_ids
from toolkit.evaluation.evaluating import unpack
from toolkit.evaluation.formulas import dcg, ideal_dcg, ratio
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.evaluation.pool import Judged, Pool, meet, positions, read_judgments
from toolkit.search.protocol import SearchRun

NOT_FAILING = "does not fail"
ALL = "all queries"


@dataclass(frozen=True)
class Headroom:
    """NDCG that a perfect reranker, or a perfect retrieval, would reach on the same judgments.

    Attributes
    ----------
    table : DataFrame
        query_id; bucket (``does not fail`` where the query does not); action (``now``, ``reorder``,
        ``retrieve``); depth (products the reranker reads; null otherwise); ndcg (null where it is
        undefined, or where the list was cut before ``depth``).
    means : DataFrame
        bucket (``all queries`` first), action, depth, n (queries with a defined NDCG), unknown (of these cut
        before ``depth``), ndcg (null where one is unknown: the others are no fair sample), gain (over ``now``).
    k : int
    gains : Gains
    diagnosis : FailureDiagnosis
        Where the buckets come from.
    """

    table: pd.DataFrame
    means: pd.DataFrame
    k: int
    gains: Gains
    diagnosis: FailureDiagnosis

    def to_frame(self) -> pd.DataFrame:
        """The per-query table."""
        return self.table

    @property
    def retrievable(self) -> str:
        """What perfect retrieval brings: judged products, of which only indexed ones where the index is known."""
        return "indexed judged products" if self.diagnosis.table["relevant_indexed"].notna().any() else "judged products (which are indexed is not known)"

    def definition(self) -> str:
        """What the numbers mean."""
        return (f"NDCG@{self.k} (gains {self.gains}) after sorting the top N by grade (reorder), and with all {self.retrievable} "
                "retrieved and sorted (retrieve). Unjudged products count as irrelevant: a ceiling on these judgments, not a forecast.")

    def summary(self) -> str:
        """The ceiling in words."""
        overall = self.means[self.means["bucket"] == ALL]
        if overall["ndcg"].notna().sum() == 0:
            return f"No query has a defined NDCG@{self.k}. {self.definition()}"
        words = {"now": lambda r: f"now {r.ndcg:.3f}", "reorder": lambda r: f"top {int(r.depth)} reordered {r.ndcg:.3f}",
                 "retrieve": lambda r: f"all {self.retrievable} retrieved {r.ndcg:.3f}"}
        shown = "; ".join(f"{words[r.action](r)} (n = {r.n})" for r in overall.itertuples() if not pd.isna(r.ndcg))
        cut = overall.loc[overall["unknown"] > 0, "depth"]
        beyond = f"; deeper than {self.diagnosis.depth} is unknown (search deeper)" if len(cut) else ""
        return f"Mean NDCG@{self.k}: {shown}{beyond}. {self.definition()}"

    def __repr__(self) -> str:
        return f"Headroom: {self.summary()}"

    def _repr_html_(self) -> str:
        wide = self.means.assign(step=[_step(r) for r in self.means.itertuples()]).pivot(index="bucket", columns="step", values="ndcg")
        order = self.means["bucket"].unique(), [_step(r) for r in self.means[self.means["bucket"] == ALL].itertuples()]
        wide = wide.reindex(index=order[0], columns=order[1])
        wide.insert(0, "n", self.means[self.means["action"] == "now"].set_index("bucket")["n"])
        shown = wide.rename_axis(index=None, columns=None).to_html(float_format=lambda v: f"{v:.3f}", escape=True, border=0, na_rep="–")
        return f"<div><p>{html.escape(self.summary())}</p>{shown}</div>"


def headroom(rankings_or_run: pd.DataFrame | SearchRun, judgments: pd.DataFrame, *, depths: Sequence[int] = (20, 50, 100, 200), k: int = 10,
             queries: pd.DataFrame | Sequence[str] | None = None, products: pd.DataFrame | Collection[str] | None = None,
             status: pd.DataFrame | None = None, bucket_depths: Sequence[int] = (10, 50, 200), depth: int | None = None,
             relevant_grade: float = 2.0, gains: Gains = ESCI_LINEAR) -> Headroom:
    """Compare perfect reordering of the top N with perfect retrieval, per failure bucket.

    Parameters
    ----------
    rankings_or_run, judgments, queries, products, status, depth, relevant_grade, gains
        As for :func:`~toolkit.diagnosis.diagnose_failures`.
    depths : sequence of int
        Products a reranker would read, each at least ``k``.
    k : int
        Cut-off of NDCG.
    bucket_depths : sequence of int
        Edges of the failure buckets.

    Returns
    -------
    Headroom

    Raises
    ------
    ValueError
        For a depth below ``k``, and as ``diagnose_failures``.

    Notes
    -----
    With a sort by grade the first k of the top N carry the largest gains, so no other order of the same
    N products has a larger DCG@k (the discount falls with the rank).
    """
    if not depths or min(depths) < k:
        raise ValueError(f"headroom: depths {tuple(depths)}; expected whole numbers of at least k = {k}")
    diagnosis = diagnose_failures(rankings_or_run, judgments, queries=queries, products=products, status=status, k=k, depths=bucket_depths,
                                  depth=depth, relevant_grade=relevant_grade, gains=gains)
    rankings, _ = unpack(rankings_or_run, status)
    pool = meet(rankings, read_judgments(judgments, list(diagnosis.table["query_id"])), on_no_overlap="zero")  # the diagnosis has checked
    answered = (diagnosis.table["state"] != "failed").to_numpy()
    values = {("now", None): ratio(dcg(pool, k, gains), ideal_dcg(pool, k, gains))}
    values |= {("reorder", n): _reordered(pool, n, k, gains, diagnosis.depth) for n in sorted(depths)}
    values["retrieve", None] = _retrieved(pool, indexed_ids(products, rankings), k, gains)
    table = _long({step: np.where(answered, value, np.nan) for step, value in values.items()}, diagnosis.table)
    return Headroom(table, _means(table, list(diagnosis.shares["bucket"])), k, gains, diagnosis)


def _reordered(pool: Pool, n: int, k: int, gains: Gains, asked: int) -> np.ndarray:
    """NDCG@k after sorting the top n by grade, shape (Q,); NaN where the list was cut before n."""
    top = np.flatnonzero(pool.position < n)
    order = top[np.lexsort((-np.nan_to_num(pool.grade[top]), pool.query[top]))]
    value = ratio(dcg(pool.take(order), k, gains), ideal_dcg(pool, k, gains))
    cut = (pool.returned >= asked) & (pool.returned < n)
    return np.where(cut, np.nan, value)


def _retrieved(pool: Pool, indexed: set[str] | None, k: int, gains: Gains) -> np.ndarray:
    """NDCG@k of the best ranking of everything judged and indexed (of everything judged where that is not known)."""
    ideal = ideal_dcg(pool, k, gains)
    if indexed is None:
        return ratio(ideal, ideal)
    judged = pool.judged
    kept = np.flatnonzero(judged.product_ids.isin(pd.Index(list(indexed)))[judged.product])
    query, grade = judged.query[kept], judged.grade[kept]  # still sorted by query, then best grade first
    none = np.full(len(kept), -1)
    found = Judged(judged.query_ids, judged.product_ids, query, judged.product[kept], grade, 0)
    best = Pool(found, query, positions(query), grade, none, judged.product[kept], judged.product_ids, pool.returned)
    return ratio(dcg(best, k, gains), ideal)


def _long(values: dict[tuple[str, int | None], np.ndarray], ranks: pd.DataFrame) -> pd.DataFrame:
    """The per-query table."""
    bucket = ranks["bucket"].fillna(NOT_FAILING)
    frames = [pd.DataFrame({"query_id": ranks["query_id"], "bucket": bucket, "action": action,
                            "depth": pd.array([depth] * len(ranks), dtype="Int64"), "ndcg": value})
              for (action, depth), value in values.items()]
    return pd.concat(frames, ignore_index=True).astype({"action": "str"})


def _means(table: pd.DataFrame, buckets: Sequence[str]) -> pd.DataFrame:
    """Mean and gain per bucket and step over all its queries; null where a cut list leaves one of them unknown."""
    now = table["query_id"].map(table[table["action"] == "now"].set_index("query_id")["ndcg"])
    defined = table.assign(gain=table["ndcg"] - now, unknown=now.notna() & table["ndcg"].isna())[now.notna()]
    both = pd.concat([defined.assign(bucket=ALL), defined])
    means = both.groupby(["bucket", "action", "depth"], sort=False, dropna=False).agg(
        n=("query_id", "size"), unknown=("unknown", "sum"), ndcg=("ndcg", "mean"), gain=("gain", "mean")).reset_index()
    means.loc[means["unknown"] > 0, ["ndcg", "gain"]] = np.nan
    order = {name: at for at, name in enumerate((ALL, NOT_FAILING, *buckets))}
    return means.sort_values("bucket", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def _step(row: tuple) -> str:
    """Column name of one step."""
    return f"top {int(row.depth)} reordered" if row.action == "reorder" else "all retrieved" if row.action == "retrieve" else "now"
