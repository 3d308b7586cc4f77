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
    """Check one arm's long metric table: query_id, metric, value; one row a query and metric; values as float64."""
    frame = values.to_frame() if isinstance(values, Evaluation) else values
    tables.check(frame, tables.METRIC_VALUES, source=name)
    if frame.empty:
        raise EvaluationError(f"{name}: the metric table holds no row; expected one a query and metric")
    twice = frame.duplicated(["query_id", "metric"])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise EvaluationError(f"{name}: query {row['query_id']!r} has metric {row['metric']!r} more than once ({int(twice.sum())} rows); keep one value each")
    return frame.assign(value=_numbers(frame["value"], name))


def _numbers(values: pd.Series, name: str) -> pd.Series:
    """Values as float64; text is refused, also where it reads as a number."""
    text = values.map(lambda value: isinstance(value, str)) if values.dtype == object else pd.Series(isinstance(values.dtype, pd.StringDtype), values.index)
    if text.any():
        raise EvaluationError(f"{name}: value must hold numbers, got text {values[text].iloc[0]!r}; convert once and knowingly, for example frame['value'].astype(float)")
    numbers = values.astype(float)
    if np.isinf(numbers).any():
        raise EvaluationError(f"{name}: metric values hold an infinity; expected finite numbers, or null where undefined")
    return numbers


def align(baseline: pd.DataFrame, candidate: pd.DataFrame, *, metrics: list[str] | None, on_missing: OnMissing,
          names: tuple[str, str]) -> pd.DataFrame:
    """Pair two metric tables by query and metric, in natural order of the query ids.

    A row that one arm lacks is a missing query, also where the arm has other metrics of that query: a
    value left out is not a null value.

    Returns
    -------
    DataFrame
        query_id, metric, baseline, candidate, delta (null where either value is).

    Raises
    ------
    EvaluationError
        The arms have different queries or metrics, with samples (unless ``on_missing`` says otherwise).
    """
    chosen = _common_metrics(baseline, candidate, metrics, names)
    values = [frame[frame["metric"].isin(chosen)].set_index(["metric", "query_id"])["value"] for frame in (baseline, candidate)]
    only = [one.index.difference(other.index) for one, other in (values, values[::-1])]
    if any(map(len, only)) and on_missing == "error":
        raise EvaluationError(_mismatch(values, only, names))
    lacking = set(only[0].union(only[1]).get_level_values("query_id"))
    ids = set(baseline["query_id"]) | set(candidate["query_id"])
    index = pd.MultiIndex.from_product([chosen, natural_order(ids - lacking if on_missing == "intersect" else ids)], names=["metric", "query_id"])
    aligned = [one.reindex(index) for one in values]
    if on_missing == "zero":
        aligned = [one.mask(index.isin(missing), 0.0) for one, missing in zip(aligned, only[::-1], strict=True)]
    pairs = pd.DataFrame({"baseline": aligned[0], "candidate": aligned[1]}).reset_index()[["query_id", "metric", "baseline", "candidate"]]
    pairs["delta"] = pairs["candidate"] - pairs["baseline"]
    return pairs


def _mismatch(values: list[pd.Series], only: list[pd.MultiIndex], names: tuple[str, str]) -> str:
    """Which queries of the first unequal metric only one arm has."""
    metric = next(rows for rows in only if len(rows))[0][0]
    had = [int((one.index.get_level_values("metric") == metric).sum()) for one in values]
    ids = [natural_order(set(rows[rows.get_level_values("metric") == metric].get_level_values("query_id"))) for rows in only]
    return (f"the arms have different queries of {metric}: {had[0]} in {names[0]}, {had[1]} in {names[1]}; only in {names[0]}: {len(ids[0])} "
            f"{ids[0][:3]}; only in {names[1]}: {len(ids[1])} {ids[1][:3]}. Evaluate both on the same queries, "
            "or say on_missing='intersect' (drop them) or 'zero' (score them 0)")


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
