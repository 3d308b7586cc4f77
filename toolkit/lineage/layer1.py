"""Layer 1, retrieval quality at retrieval time: from the returned list and offline judgments, whatever was done later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.coded import Coded, encode
from toolkit.lineage.definitions import GoodRetrieval, action_names
from toolkit.lineage.intervals import mean_rate
from toolkit.lineage.layer0 import masked, misrouted
from toolkit.lineage.layer2 import clusters_of, weights_of
from toolkit.lineage.results import POOLED, RATE_COLUMNS, Rates, rate_row, rates_by
from toolkit.lineage.tables import Log, column, list_sizes
from toolkit.tables import RETRIEVALS, check

EMPTY_GRAINS = {
    "rows": "logged rows with an empty list / logged rows: facet and page calls look empty here",
    "list calls": "distinct (id, text) whose every execution returned nothing / distinct (id, text) of which that is known",
    "retrievals": "retrieval ids whose every execution returned nothing / retrieval ids of which that is known",
}


@dataclass(frozen=True)
class Quality:
    """Three-valued Layer 1 verdict per retrieval, arrays of shape (n,).

    ``certain``: an asset judged relevant is among the first k. ``possible``: not excluded (unjudged assets, unlogged or cut
    lists). ``known``: the two agree.
    """

    certain: np.ndarray
    possible: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """Retrievals whose verdict the judgments settle."""
        return self.certain | ~self.possible


def good_retrievals(log: Log, good: GoodRetrieval | None = None) -> Quality:
    """Whether each retrieval returned an asset of at least ``good.grade`` among its first ``good.k``."""
    good = good or GoodRetrieval()
    coded = encode(log)
    returned = coded.returned
    grade = pair_grades(log, coded)
    early = returned.position <= good.k
    certain, open_pair = np.zeros(coded.n, dtype=bool), np.zeros(coded.n, dtype=bool)
    certain[returned.row[early & (grade >= good.grade)]] = True
    open_pair[returned.row[early & np.isnan(grade)]] = True
    short = coded.cut & (returned.size < good.k)
    return Quality(certain, certain | open_pair | ~returned.known | short)


def verdict_weights(log: Log) -> np.ndarray | None:
    """Design weights of Layer 1 verdicts: an empty list needs no judge, so it stands for itself alone."""
    weights, returned = weights_of(log.retrievals), encode(log).returned
    return None if weights is None else np.where(returned.known & (returned.size == 0), 1.0, weights)


def pair_grades(log: Log, coded: Coded) -> np.ndarray:
    """Grade of each (retrieval, asset) pair of ``coded.returned``; NaN where unjudged.

    Raises
    ------
    ValueError
        Where one pair has two different grades, or a grade is not a finite number >= 0.
    """
    grades = np.full(len(coded.returned.key), np.nan)
    if log.judgments is None or not len(log.judgments):
        return grades
    pairs = judged_pairs(log)
    value = pd.to_numeric(pairs["grade"], errors="coerce").to_numpy(dtype=np.float64)
    bad = ~np.isfinite(value) | (value < 0)
    if bad.any():
        raise ValueError(f"judgments: grade {pairs['grade'].iloc[int(bad.argmax())]!r}; expected a finite number >= 0")
    rows, assets = _codes_of(log, coded, pairs)
    at = np.searchsorted(coded.returned.key, rows * coded.returned.assets + assets)
    at = np.minimum(at, len(grades) - 1) if len(grades) else at
    inside = (rows >= 0) & (assets >= 0)
    if len(grades):
        inside &= coded.returned.key[at] == rows * coded.returned.assets + assets
        grades[at[inside]] = value[inside]
    return grades


def judged_pairs(log: Log) -> pd.DataFrame:
    """Judgments as retrieval_id, asset_id, grade: given so, or spread over the retrievals of their query text."""
    judgments = log.judgments
    if "retrieval_id" in judgments.columns:
        pairs = judgments[["retrieval_id", "asset_id", "grade"]]
    else:
        owners = pd.DataFrame({"query": column(log.retrievals, "query"), "retrieval_id": log.retrievals["retrieval_id"]}).dropna()
        pairs = judgments.merge(owners, on="query")[["retrieval_id", "asset_id", "grade"]]
    distinct = pairs.drop_duplicates()
    clash = distinct[distinct.duplicated(["retrieval_id", "asset_id"])]
    if len(clash):
        row = clash.iloc[0]
        raise ValueError(f"judgments: retrieval {row.retrieval_id!r}, asset {row.asset_id!r} has two different grades; keep one, "
                         "and give the second judge's as a double-judged sample to correct_judge_error")
    return distinct


def _codes_of(log: Log, coded: Coded, pairs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Retrieval rows and asset codes of judged pairs; -1 where the log has no such id."""
    rows = pd.Index(log.retrievals["retrieval_id"].to_numpy(dtype=object)).get_indexer(pairs["retrieval_id"].to_numpy(dtype=object))
    assets = coded.names.get_indexer(pairs["asset_id"].to_numpy(dtype=object))
    return rows.astype(np.int64), assets.astype(np.int64)


def empty_results(executions: pd.DataFrame) -> pd.DataFrame:
    """Empty-result rate at three grains: rows, list calls, retrievals. Only the last is a property of retrieval.

    Parameters
    ----------
    executions : DataFrame
        Retrievals as logged, where one id may have several rows (facet or page calls that return no list).

    Returns
    -------
    DataFrame
        grain, empty, n, value, definition. Rows without a logged list are left out of n; so are calls and ids of which one execution
        did not log its list and no other returned anything (:func:`~toolkit.lineage.tables.fold_executions` leaves those unknown too).
    """
    check(executions, RETRIEVALS)
    sizes = list_sizes(column(executions, "returned_asset_ids"))
    ids, text = executions["retrieval_id"], column(executions, "query").astype("str").fillna("")
    counted = (sizes.dropna(), _largest(sizes, [ids, text]), _largest(sizes, [ids]))
    return pd.DataFrame([{"grain": name, "empty": int((found == 0).sum()), "n": len(found),
                          "value": float((found == 0).mean()) if len(found) else float("nan"), "definition": EMPTY_GRAINS[name]}
                         for name, found in zip(EMPTY_GRAINS, counted, strict=True)])


def _largest(sizes: pd.Series, keys: list[pd.Series]) -> pd.Series:
    """Largest list of each group, without the groups of which it is unknown: an unlogged list may hold something."""
    groups = sizes.groupby(keys)
    largest = groups.max()
    return largest[(largest > 0) | (groups.count() == groups.size())]


def quality_definitions(good: GoodRetrieval) -> dict[str, str]:
    """Definitions of the Layer 1 rates."""
    return {"empty-result rate": "retrievals with an empty returned list / retrievals with a logged list",
            "good retrieval rate": f"good retrievals / retrievals whose verdict the judgments settle; {good}"}


def quality(log: Log, *, k: int = 5, good: GoodRetrieval | None = None, cluster: str | None = "auto") -> Rates:
    """Layer 1 per role: empty-result rate, good-retrieval rate, P@1, P@k and NDCG@k.

    Misrouted retrievals (prompt labelled out of scope) are left out. P is over retrievals with an empty list or any judgment, NDCG
    over those with a relevant judged asset; unjudged assets count as not relevant there, and judged@k stands beside them.

    Parameters
    ----------
    k : int
        Depth of P and NDCG.
    good : GoodRetrieval, optional
        Default: grade at least 2 among the first ``k``.
    """
    log, good = Log.of(log), good or GoodRetrieval(k=k)
    out = misrouted(log)
    verdict, returned = good_retrievals(log, good), encode(log).returned
    flags = pd.DataFrame({"empty-result rate": masked(returned.size == 0, returned.known & ~out),
                          "good retrieval rate": masked(verdict.certain, verdict.known & ~out)})
    texts = quality_definitions(good)
    clusters, weights, role = clusters_of(log.retrievals, cluster), verdict_weights(log), column(log.retrievals, "role")
    tables = [rates_by(flags, {"empty-result rate": texts["empty-result rate"]}, role, clusters=clusters),
              rates_by(flags, {"good retrieval rate": texts["good retrieval rate"]}, role, clusters=clusters, weights=weights)]
    values = graded_metrics(log, k, good.grade)
    if values is not None:
        values[out] = np.nan
        tables.append(_means(values, role, clusters, weights))
    notes = (f"{int(out.sum())} misrouted retrievals left out. " if out.any() else "") + "Independent of anything done later."
    return Rates(pd.concat(tables, ignore_index=True)[RATE_COLUMNS], "Layer 1, retrieval quality", (notes,), flags)


def click_through(log: Log, clicks: Sequence[str] = ("click", "select"), *, cluster: str | None = "auto") -> Rates:
    """CTR over retrievals with a logged source: a direction to look in, no quality.

    An agent reads the list before the user does, and a click says nothing about a list the user never saw.
    """
    log, clicks = Log.of(log), action_names(clicks, "click_through: clicks")
    clicked = column(log.actions, "source_retrieval_id")[column(log.actions, "action").isin(clicks)].dropna()
    flags = pd.DataFrame({"CTR (directional)": log.retrievals["retrieval_id"].isin(clicked)})
    table = rates_by(flags, click_definitions(clicks), column(log.retrievals, "role"), clusters=clusters_of(log.retrievals, cluster))
    return Rates(table, "Click-through", ("A direction to look in, not retrieval quality.",), flags)


def click_definitions(clicks: Sequence[str]) -> dict[str, str]:
    """Definition of the click-through rate."""
    return {"CTR (directional)": f"retrievals with a {' or '.join(clicks)} / retrievals; directional only: assumes that the user saw the ranking"}


def graded_metrics(log: Log, k: int, relevant_grade: float) -> pd.DataFrame | None:
    """P@1, P@k, NDCG@k and judged@k per retrieval (rows as the log's), or None without judgments or lists."""
    from toolkit.evaluation import evaluate

    coded = encode(log)
    if log.judgments is None or not len(log.judgments) or not coded.returned.known.any():
        return None
    ids = log.retrievals["retrieval_id"].to_numpy(dtype=object)
    rankings = pd.DataFrame({"query_id": ids[coded.returned.row], "product_id": coded.names.to_numpy()[coded.returned.asset],
                             "rank": coded.returned.position})
    pairs = judged_pairs(log).rename(columns={"retrieval_id": "query_id", "asset_id": "product_id"})
    known = pairs["query_id"].isin(ids[coded.returned.known])  # an unlogged list is unknown, not empty
    metrics = list(dict.fromkeys(["precision@1", f"precision@{k}", f"ndcg@{k}", f"judged@{k}"]))
    found = evaluate(rankings, pairs[known], metrics=metrics, relevant_grade=relevant_grade).to_frame()
    wide = found.pivot(index="query_id", columns="metric", values="value").reindex(ids).reset_index(drop=True)
    # P counts relevant assets among those returned: 0, not undefined, where the judged or empty list holds none.
    nothing = (coded.returned.known & (coded.returned.size == 0)) | np.isin(ids, pairs.loc[known, "query_id"].to_numpy(dtype=object))
    for name in metrics[:-2]:
        wide[name] = wide[name].where(wide[name].notna() | ~nothing, 0.0)
    return wide[metrics]


def _means(values: pd.DataFrame, role: pd.Series, clusters: np.ndarray | None, weights: np.ndarray | None) -> pd.DataFrame:
    """Weighted means with intervals clustered as given, pooled and per role."""
    names = role.astype("str").fillna("unknown").to_numpy()
    rows = []
    for metric in values.columns:
        numbers = values[metric].to_numpy(dtype=np.float64)
        for group in [POOLED, *sorted(set(names))]:
            keep = ~np.isnan(numbers) & ((names == group) | (group == POOLED))
            w = np.ones(keep.sum()) if weights is None else weights[keep]
            rows.append(rate_row(metric, group, mean_rate(numbers[keep], w, None if clusters is None else clusters[keep]), mean_definition(metric)))
    return pd.DataFrame(rows)


def mean_definition(metric: str) -> str:
    """Definition of a graded mean."""
    return f"mean {metric} over retrievals where it is defined (logged list, judgments); unjudged assets count as not relevant"
