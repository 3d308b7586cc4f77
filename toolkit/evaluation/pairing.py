"""Two arms on the same queries: metric tables aligned by query_id, mismatches refused."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from toolkit import tables
from toolkit.evaluation.evaluation import Evaluation
from toolkit.evaluation.pool import EvaluationError
from toolkit.evaluation.splitting import natural_order

OnMissing = Literal["error", "intersect", "zero"]


def metric_table(values: pd.DataFrame | Evaluation, name: str) -> pd.DataFrame:
    """Check one arm's long metric table: query_id, metric, value; one row a query and metric."""
    frame = values.to_frame() if isinstance(values, Evaluation) else values
    tables.check(frame, tables.METRIC_VALUES, source=name)
    twice = frame.duplicated(["query_id", "metric"])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise EvaluationError(f"{name}: query {row['query_id']!r} has metric {row['metric']!r} more than once ({int(twice.sum())} rows); keep one value each")
    return frame


def align(baseline: pd.DataFrame, candidate: pd.DataFrame, *, metrics: list[str] | None, on_missing: OnMissing,
          names: tuple[str, str]) -> tuple[pd.DataFrame, dict[str, int]]:
    """Pair two metric tables by query and metric, in natural order of the query ids.

    Returns
    -------
    tuple
        Table query_id, metric, baseline, candidate, delta (null where either value is), and the
        number of queries that only one arm has: {"only_baseline": …, "only_candidate": …}.

    Raises
    ------
    EvaluationError
        The arms have different queries or metrics, with samples (unless ``on_missing`` says otherwise).
    """
    chosen = _common_metrics(baseline, candidate, metrics, names)
    ids = [set(frame["query_id"]) for frame in (baseline, candidate)]
    only = {"only_baseline": len(ids[0] - ids[1]), "only_candidate": len(ids[1] - ids[0])}
    if any(only.values()) and on_missing == "error":
        samples = [natural_order(side)[:3] for side in (ids[0] - ids[1], ids[1] - ids[0])]
        raise EvaluationError(
            f"the arms have different queries: {len(ids[0])} in {names[0]}, {len(ids[1])} in {names[1]}; only in {names[0]}: {only['only_baseline']} "
            f"{samples[0]}; only in {names[1]}: {only['only_candidate']} {samples[1]}. Evaluate both on the same queries, "
            "or say on_missing='intersect' (drop them) or 'zero' (score them 0)")
    order = natural_order(ids[0] & ids[1] if on_missing == "intersect" else ids[0] | ids[1])
    index = pd.MultiIndex.from_product([chosen, order], names=["metric", "query_id"])
    values = [frame.set_index(["metric", "query_id"])["value"].astype(float).reindex(index) for frame in (baseline, candidate)]
    if on_missing == "zero":
        asked = index.get_level_values("query_id")
        values = [value.mask(~asked.isin(known), 0.0) for value, known in zip(values, ids, strict=True)]
    pairs = pd.DataFrame({"baseline": values[0], "candidate": values[1]}).reset_index()[["query_id", "metric", "baseline", "candidate"]]
    pairs["delta"] = pairs["candidate"] - pairs["baseline"]
    if not np.isfinite(pairs[["baseline", "candidate"]].to_numpy()[pairs[["baseline", "candidate"]].notna().to_numpy()]).all():
        raise EvaluationError("metric values hold an infinity; expected finite numbers, or null where undefined")
    return pairs, only


def _common_metrics(baseline: pd.DataFrame, candidate: pd.DataFrame, metrics: list[str] | None, names: tuple[str, str]) -> list[str]:
    """The metrics to compare: those asked for, or all of two tables that hold the same ones."""
    have = [list(pd.unique(frame["metric"])) for frame in (baseline, candidate)]
    wanted = have[0] if metrics is None else metrics
    for name, known in zip(names, have, strict=True):
        lacking = [metric for metric in wanted if metric not in known]
        if lacking:
            raise EvaluationError(f"{name} lacks metric(s) {lacking}; it has {known}; compare the metrics that both arms have (metrics=)")
    extra = [metric for metric in have[1] if metric not in have[0]]
    if metrics is None and extra:
        raise EvaluationError(f"{names[0]} lacks metric(s) {extra}; it has {have[0]}; compare the metrics that both arms have (metrics=)")
    return list(wanted)
