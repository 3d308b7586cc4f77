"""Tables of an experiment: coverage, per-bucket effect, winners and losers, newcomers, noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from toolkit.diagnosis.ceiling import Headroom
from toolkit.evaluation.comparison import Comparison
from toolkit.evaluation.deciding import Verdict
from toolkit.evaluation.resampling import bootstrap_interval
from toolkit.interventions.outcome import Outcome

NO_NOISE = pd.DataFrame({"arm": pd.Series(dtype="str"), "metric": pd.Series(dtype="str"), "n": pd.Series(dtype="int64"),
                         "differing": pd.Series(dtype="int64"), "mean": pd.Series(dtype="float64"), "largest": pd.Series(dtype="float64")})


def primary_pairs(comparison: Comparison) -> pd.DataFrame:
    """The primary metric's pairs: query_id, baseline, candidate, delta."""
    return comparison.pairs.loc[comparison.pairs["metric"] == comparison.primary].reset_index(drop=True)


def coverage(arms: Mapping[str, tuple[Outcome, Comparison]]) -> pd.DataFrame:
    """What became of the queries.

    Returns
    -------
    DataFrame
        One row an arm: arm, queries, requested (a model was asked), applied, no_change, degraded (asked, no
        usable answer), disabled, not_requested, metric (the primary), changed, up, down (queries whose primary
        metric changed), mean_change (over changed queries).
    """
    rows = []
    for name, (outcome, comparison) in arms.items():
        table, counts = outcome.to_frame(), outcome.counts()
        delta = primary_pairs(comparison)["delta"].dropna()
        changed = delta[delta != 0]
        rows.append({
            "arm": name, "queries": len(table), "requested": len(table) - int(counts["NOT_REQUESTED"] + counts["DISABLED"]),
            "applied": int(counts["APPLIED"]), "no_change": int(counts["NO_CHANGE"]), "degraded": int(table["failure"].sum()),
            "disabled": int(counts["DISABLED"]), "not_requested": int(counts["NOT_REQUESTED"]), "metric": comparison.primary,
            "changed": len(changed), "up": int((changed > 0).sum()), "down": int((changed < 0).sum()), "mean_change": changed.mean(),
        })
    return pd.DataFrame(rows)


def bucket_effects(arms: Mapping[str, tuple[Comparison, int | None]], promise: Headroom) -> pd.DataFrame:
    """What came against what was promised, per failure bucket.

    Parameters
    ----------
    arms : mapping of str to (Comparison, depth)
        Depth is None for a rewrite, whose promise is retrieving every relevant product.
    promise : Headroom
        Of the same baseline.

    Returns
    -------
    DataFrame
        arm, bucket, n, now (mean primary metric of the baseline), promised (largest possible gain of NDCG on
        these judgments; null where the depth is unknown), delta (mean gain that came), ci_low, ci_high
        (paired percentile bootstrap, 95 %), up, down. The promise is NDCG@k whatever the primary metric is.
    """
    bucket_of = promise.table.drop_duplicates("query_id").set_index("query_id")["bucket"]
    table = group_effects({name: comparison for name, (comparison, _) in arms.items()}, bucket_of, order=list(promise.means["bucket"].unique()))
    gain = {name: _promised(promise, depth) for name, (_, depth) in arms.items()}
    table.insert(4, "promised", [gain[row.arm].get(row.group, np.nan) for row in table.itertuples()])
    return table.rename(columns={"group": "bucket"})


def group_effects(comparisons: Mapping[str, Comparison], group_of: pd.Series, *, order: Sequence[str] | None = None) -> pd.DataFrame:
    """The effect of each arm in groups of queries.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
    group_of : Series
        query_id -> group; queries without a group are left out.
    order : sequence of str, optional
        Order of the groups; default as they come.

    Returns
    -------
    DataFrame
        arm, group, n, now (mean primary metric of the baseline), delta (mean change), ci_low, ci_high (paired
        percentile bootstrap, 95 %), up, down.
    """
    rows = []
    for name, comparison in comparisons.items():
        pairs = primary_pairs(comparison)
        for group, part in pairs.groupby(pairs["query_id"].map(group_of), sort=False):
            delta = part["delta"].dropna().to_numpy(np.float64)
            if not len(delta):
                continue
            low, high = bootstrap_interval(delta[:, None])[:, 0]
            rows.append({"arm": name, "group": group, "n": len(delta), "now": part["baseline"].mean(), "delta": delta.mean(),
                         "ci_low": low, "ci_high": high, "up": int((delta > 0).sum()), "down": int((delta < 0).sum())})
    table = pd.DataFrame(rows, columns=["arm", "group", "n", "now", "delta", "ci_low", "ci_high", "up", "down"])
    keys = {"arm": {name: at for at, name in enumerate(comparisons)}, "group": {group: at for at, group in enumerate(order or table["group"].unique())}}
    return table.sort_values(["arm", "group"], key=lambda column: column.map(keys[column.name]), kind="stable", ignore_index=True)


def _promised(promise: Headroom, depth: int | None) -> dict[str, float]:
    """Bucket -> largest gain of reordering the top ``depth``, or of retrieving everything."""
    means = promise.means
    chosen = means[(means["action"] == "retrieve") if depth is None else (means["action"] == "reorder") & (means["depth"] == depth)]
    return dict(zip(chosen["bucket"], chosen["gain"]))


def extremes(outcome: Outcome, comparison: Comparison, queries: pd.DataFrame, count: int) -> pd.DataFrame:
    """The ``count`` largest gains and losses of the primary metric, gains first; unchanged queries are left out."""
    pairs = primary_pairs(comparison)
    pairs = pairs[pairs["delta"].fillna(0) != 0].sort_values("delta", ascending=False, kind="stable")
    chosen = pd.concat([pairs[pairs["delta"] > 0].head(count), pairs[pairs["delta"] < 0].tail(count)])
    columns = ["query_id", "status", *[name for name in ("rewritten_query",) if name in outcome.table]]
    named = chosen.merge(queries[["query_id", "query"]], on="query_id").merge(outcome.table[columns], on="query_id")
    return named[["query_id", "query", "baseline", "candidate", "delta", *columns[1:]]]


def unjudged_newcomers(comparisons: Mapping[str, Comparison]) -> pd.DataFrame:
    """How many of the products an arm brought into the top 10 nobody judged: the typical fingerprint of a rewrite."""
    rows = []
    for name, comparison in comparisons.items():
        new = comparison.newcomers[comparison.newcomers["arm"] == "candidate"]
        unjudged = int((~new["judged"].astype(bool)).sum())
        rows.append({"arm": name, "newcomers": len(new), "unjudged": unjudged, "share": unjudged / len(new) if len(new) else np.nan})
    return pd.DataFrame(rows)


def noise(name: str, first: Comparison, second: Comparison) -> pd.DataFrame:
    """How much two runs of the same arm differ, per metric (columns as in ``Experiment.noise``)."""
    both = first.pairs.merge(second.pairs, on=["query_id", "metric"], suffixes=("_1", "_2"))
    rows = []
    for metric, group in both.groupby("metric", sort=False):
        change = (group["candidate_2"] - group["candidate_1"]).dropna()
        rows.append({"arm": name, "metric": metric, "n": len(change), "differing": int((change != 0).sum()),
                     "mean": change.mean(), "largest": change.abs().max()})
    return pd.DataFrame(rows, columns=NO_NOISE.columns)


def sentence(name: str, outcome: Outcome, comparison: Comparison, decided: Verdict) -> str:
    """An arm in one sentence: never a significance without the coverage beside it."""
    row, judged = comparison.row(), comparison.coverage.set_index("arm")["judged"]
    table = outcome.to_frame()
    return (f"{name}: {row.metric} {row.baseline:.4f} -> {row.candidate:.4f} ({row.delta:+.4f}, 95 % [{row.ci_low:+.4f}, {row.ci_high:+.4f}], "
            f"p {row.p_value:.4f}, n {row.n}; {row.wins} up, {row.losses} down; applied to {int((table['status'] == 'APPLIED').sum())} of {len(table)} queries, "
            f"{int(table['failure'].sum())} degraded; judged@10 {judged['baseline']:.2f} -> {judged['candidate']:.2f}): {decided.decision}")
