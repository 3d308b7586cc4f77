"""Rates and means with their intervals from sums that a SQL engine counts.

Three levels: rows -> sums per (group, unit) -> moments per group. A linearised interval needs only the moments; the
bootstrap over few units fetches their sums. Values and intervals are those of :mod:`toolkit.lineage.intervals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from toolkit.lineage.intervals import BOOTSTRAP_CLUSTERS, Rate, cluster_bootstrap, mean_interval, wilson, wilson_of_sums
from toolkit.lineage.results import RATE_COLUMNS, rate_row

POOLED_GROUP = "\x1fpooled"  # no role is called so
NAN = float("nan")


class Engine(Protocol):
    """What a SQL engine must do: keep tables and views, and return small results."""

    def define(self, name: str, select: str) -> None:
        """Compute a table and keep it."""

    def view(self, name: str, select: str) -> None:
        """Name a SELECT."""

    def drop(self, name: str) -> None:
        """Forget a computed table."""

    def frame(self, select: str) -> pd.DataFrame:
        """A small result."""


@dataclass(frozen=True)
class Measure:
    """One rate or mean over the rows of a flags table.

    Parameters
    ----------
    name : str
        As printed.
    column : str
        Column (or SQL expression) of the flags table; null rows are outside.
    definition : str
    weighted : bool
        Whether the rows' design weights apply.
    mean : bool
        A number, not a flag.
    """

    name: str
    column: str
    definition: str
    weighted: bool = False
    mean: bool = False


def rates_of(engine: Engine, table: str, measures: Sequence[Measure], *, pooled: str, grouped: bool = True, units: bool = True) -> pd.DataFrame:
    """Rates of a flags table, pooled and per group.

    Parameters
    ----------
    engine : Engine
    table : str
        A table with ``grp``, ``unit`` (what is resampled), ``weight`` and the measures' columns.
    pooled : str
        Name of the group that holds every row.
    grouped : bool
        Whether each ``grp`` gets rows of its own.
    units : bool
        False: rows are their own units, and unweighted rates get Wilson intervals.

    Returns
    -------
    DataFrame
        As :func:`toolkit.lineage.results.rates_by` gives it.
    """
    sums, kept = f"{table}_sums", f"{table}_units"
    engine.define(sums, sums_sql(table, measures)) if units else engine.view(sums, rows_sql(table, measures))
    pool = f"SELECT '{POOLED_GROUP}' AS grp, unit, {_added(measures)} FROM {sums} GROUP BY unit" if units else (
        f"SELECT '{POOLED_GROUP}' AS grp, unit, {', '.join(_columns(measures))} FROM {sums}")
    engine.view(kept, pool + (f" UNION ALL SELECT grp, unit, {', '.join(_columns(measures))} FROM {sums}" if grouped else ""))
    moments = engine.frame(moments_sql(kept, measures)).set_index("grp").astype("float64")
    few = _few_units(engine, kept, measures, moments, units)
    names = [POOLED_GROUP, *sorted(set(moments.index) - {POOLED_GROUP})] if grouped else [POOLED_GROUP]
    rows = []
    for at, measure in enumerate(measures):
        for group in names:
            found = _rate(measure, moments.loc[group] if group in moments.index else None, at, units, few.get((group, at)))
            rows.append(rate_row(measure.name, pooled if group == POOLED_GROUP else group, found, measure.definition))
    if units:
        engine.drop(sums)
    return pd.DataFrame(rows, columns=RATE_COLUMNS)


def _value(measure: Measure) -> str:
    """A measure's value of a row as a number."""
    return measure.column if measure.mean else f"CASE WHEN {measure.column} THEN 1.0 WHEN NOT {measure.column} THEN 0.0 END"


def _columns(measures: Sequence[Measure]) -> list[str]:
    """n rows, count of positive rows, and (weighted or mean) sums of w, w y and w squared, per measure."""
    return [f"{letter}{at}" for at, measure in enumerate(measures) for letter in ("nc" + ("wsq" if measure.weighted else "s" if measure.mean else ""))]


def _added(measures: Sequence[Measure]) -> str:
    """The columns, summed."""
    return ", ".join(f"sum({name}) AS {name}" for name in _columns(measures))


def sums_sql(table: str, measures: Sequence[Measure]) -> str:
    """SELECT of the sums per group and unit."""
    parts = []
    for at, measure in enumerate(measures):
        value, column = _value(measure), measure.column
        positive = f"{column} > 0" if measure.mean else column
        parts += [f"count({column}) AS n{at}", f"count_if({positive}) AS c{at}"]
        if measure.weighted:
            parts += [f"coalesce(sum(CASE WHEN {column} IS NOT NULL THEN weight END), 0.0) AS w{at}", f"coalesce(sum(weight * ({value})), 0.0) AS s{at}",
                      f"coalesce(sum(CASE WHEN {column} IS NOT NULL THEN weight * weight END), 0.0) AS q{at}"]
        elif measure.mean:
            parts.append(f"coalesce(sum({value}), 0.0) AS s{at}")
    return f"SELECT grp, unit, {', '.join(parts)} FROM {table} GROUP BY grp, unit"


def rows_sql(table: str, measures: Sequence[Measure]) -> str:
    """The same where each row is its own unit."""
    parts = []
    for at, measure in enumerate(measures):
        value, column = _value(measure), measure.column
        positive = f"{column} > 0" if measure.mean else column
        parts += [f"CASE WHEN {column} IS NULL THEN 0 ELSE 1 END AS n{at}", f"CASE WHEN {positive} THEN 1 ELSE 0 END AS c{at}"]
        if measure.weighted:
            parts += [f"CASE WHEN {column} IS NULL THEN 0.0 ELSE weight END AS w{at}", f"coalesce(weight * ({value}), 0.0) AS s{at}",
                      f"CASE WHEN {column} IS NULL THEN 0.0 ELSE weight * weight END AS q{at}"]
        elif measure.mean:
            parts.append(f"coalesce({value}, 0.0) AS s{at}")
    return f"SELECT grp, unit, {', '.join(parts)} FROM {table}"


def _names_of(measure: Measure, at: int) -> tuple[str, str, str]:
    """Columns that hold sum(w), sum(w y) and sum(w squared): counts where rows weigh 1."""
    return (f"w{at}" if measure.weighted else f"n{at}", f"s{at}" if measure.weighted or measure.mean else f"c{at}",
            f"q{at}" if measure.weighted else f"n{at}")


def moments_sql(units: str, measures: Sequence[Measure]) -> str:
    """SELECT of the moments per group: rows, positive rows, sums of w, w y, w squared, units, and squares of the units' sums."""
    parts = []
    for at, measure in enumerate(measures):
        w, s, q = (f"CAST({name} AS DOUBLE)" for name in _names_of(measure, at))
        parts += [f"sum(n{at}) AS rows{at}", f"sum(c{at}) AS count{at}", f"sum({w}) AS w{at}", f"sum({s}) AS s{at}", f"sum({q}) AS q{at}",
                  f"count_if(n{at} > 0) AS m{at}", f"sum({s} * {s}) AS ss{at}", f"sum({s} * {w}) AS sw{at}", f"sum({w} * {w}) AS ww{at}"]
    return f"SELECT grp, {', '.join(parts)} FROM {units} GROUP BY grp"


def _few_units(engine: Engine, units: str, measures: Sequence[Measure], moments: pd.DataFrame,
               clustered: bool) -> dict[tuple[str, int], tuple[np.ndarray, np.ndarray]]:
    """Sums of w and w y of each unit, where there are few enough to resample; in the order of their names."""
    wanted: dict[str, list[int]] = {}
    for group, row in moments.iterrows():
        wanted[group] = [at for at, measure in enumerate(measures) if _resampled(measure, row[f"m{at}"], row[f"s{at}"], row[f"w{at}"], clustered)]
    tests = [f"(grp = '{_quoted(group)}' AND ({' OR '.join(f'n{at} > 0' for at in found)}))" for group, found in wanted.items() if found]
    if not tests:
        return {}
    frame = engine.frame(f"SELECT grp, unit, {', '.join(_columns(measures))} FROM {units} WHERE {' OR '.join(tests)} ORDER BY grp, unit")
    result = {}
    for group, part in frame.groupby("grp", sort=False):
        for at in wanted[group]:
            used = part[part[f"n{at}"] > 0]
            w, s, _ = _names_of(measures[at], at)
            result[group, at] = used[w].to_numpy(dtype=np.float64), used[s].to_numpy(dtype=np.float64)
    return result


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _resampled(measure: Measure, m: float, s: float, w: float, clustered: bool) -> bool:
    """Whether the reference would bootstrap: a rate strictly between 0 and 1 over 20 to 400 clusters, or a mean over at most 400 units."""
    low, high = BOOTSTRAP_CLUSTERS
    return 0 < m <= high if measure.mean else clustered and low <= m <= high and 0 < s < w


def _rate(measure: Measure, row: pd.Series | None, at: int, units: bool, few: tuple[np.ndarray, np.ndarray] | None) -> Rate:
    """Value and interval of one measure in one group."""
    if row is None or not row[f"rows{at}"] or not row[f"w{at}"] > 0:
        n = 0 if row is None else int(row[f"rows{at}"])
        return Rate(NAN, NAN, NAN, n, 0, "none") if measure.mean else Rate(NAN, 0.0, 1.0, n, 0, "none")
    n, count, m = (int(row[f"{name}{at}"]) for name in ("rows", "count", "m"))
    w, s, q, ss, sw, ww = (float(row[f"{name}{at}"]) for name in ("w", "s", "q", "ss", "sw", "ww"))
    value = s / w
    squares = max(ss - 2 * value * sw + value * value * ww, 0.0)
    if measure.mean and n == 1:
        return Rate(value, NAN, NAN, n, count, "none")
    if few is not None:
        low, high = cluster_bootstrap(few[1] / few[0], few[0], np.arange(len(few[0])))
        return Rate(value, low, high, n, count, "bootstrap")
    if measure.mean:
        return Rate(value, *mean_interval(value, squares, w, m), n, count, "design")
    if units or measure.weighted:
        return Rate(value, *wilson_of_sums(value, squares, w, q, m, n), n, count, "design")
    return Rate(value, *wilson(count, n), n, count, "wilson")
