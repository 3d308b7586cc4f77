"""Results of this room: tables that know the definition of their numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from toolkit.lineage.intervals import Rate, rate

RATE_COLUMNS = ["metric", "role", "value", "ci_low", "ci_high", "n", "count", "method", "definition"]
POOLED = "all roles"
EVERYTHING = (POOLED, "all prompts", "all sessions", "all turns")  # names of groups that hold every row


def card(title: str, text: str, table: pd.DataFrame, *, rows: int = 60) -> str:
    """Escaped, script-free HTML of a result: heading, its summary, its table."""
    note = f"<p>first {rows} of {len(table)} rows</p>" if len(table) > rows else ""
    shown = table.head(rows).to_html(index=False, escape=True, float_format=lambda value: f"{value:.3f}")
    return f"<section><h4>{html.escape(title)}</h4><p>{html.escape(text)}</p>{shown}{note}</section>"


def percent(value: float) -> str:
    """A share in words: ``44.0 %``, or ``undefined``."""
    return "undefined" if np.isnan(value) else f"{100 * value:.1f} %"


@dataclass(frozen=True)
class Rates:
    """Rates with intervals.

    Attributes
    ----------
    table : DataFrame
        metric, role, value, ci_low, ci_high, n (rows the rate is over), count (rows that have the flag), method, definition.
    title : str
    notes : tuple of str
        What a reader must know before using the numbers.
    flags : DataFrame, optional
        The rows the rates were counted on, one flag column per metric.
    """

    table: pd.DataFrame
    title: str
    notes: tuple[str, ...] = ()
    flags: pd.DataFrame | None = field(default=None, repr=False)

    def to_frame(self) -> pd.DataFrame:
        """The rates."""
        return self.table

    def value(self, metric: str, role: str = POOLED) -> float:
        """One number; raises KeyError naming the metrics and roles there are."""
        row = self.table[(self.table["metric"] == metric) & (self.table["role"] == role)]
        if row.empty:
            raise KeyError(f"{metric!r} for {role!r}; there are {sorted(self.table['metric'].unique())} for {sorted(self.table['role'].unique())}")
        return float(row["value"].iloc[0])

    def summary(self) -> str:
        """The pooled (or only) rates in words, then the notes."""
        pooled = self.table["role"].isin(EVERYTHING)
        rows = self.table[pooled] if pooled.any() else self.table
        names = [row.metric if pooled.any() else f"{row.metric} ({row.role})" for row in rows.itertuples()]
        parts = [f"{name} {percent(row.value)} [{percent(row.ci_low)}, {percent(row.ci_high)}] (n={row.n})"
                 for name, row in zip(names, rows.itertuples(), strict=True)]
        return f"{self.title}: " + "; ".join(parts) + ". " + " ".join(self.notes)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return card(self.title, " ".join(self.notes), self.table)


def rate_row(metric: str, group: str, found: Rate, definition: str) -> dict[str, object]:
    """One row of a rates table."""
    return {"metric": metric, "role": group, "value": found.value, "ci_low": found.low, "ci_high": found.high,
            "n": found.n, "count": found.count, "method": found.method, "definition": definition}


def rates_by(flags: pd.DataFrame, definitions: Mapping[str, str], groups: pd.Series | None, *,
             weights: np.ndarray | None = None, clusters: np.ndarray | None = None, pooled: str = POOLED,
             method: str = "auto") -> pd.DataFrame:
    """Rates of flag columns, pooled and per group.

    Parameters
    ----------
    flags : DataFrame
        One boolean column per metric; null rows are outside that metric's n.
    definitions : mapping of str to str
        Metric (a column of ``flags``) -> its definition.
    groups : Series or None
        Group of each row, for example its role; null rows are shown as "unknown".
    """
    masks = [(pooled, np.ones(len(flags), dtype=bool))]
    if groups is not None:
        names = groups.astype("str").fillna("unknown").to_numpy()
        masks += [(name, names == name) for name in sorted(set(names))]
    rows = []
    for metric, definition in definitions.items():
        values = flags[metric]
        known = values.notna().to_numpy()
        numbers = values.fillna(False).to_numpy(dtype=np.float64)
        for name, mask in masks:
            keep = mask & known
            found = rate(numbers[keep], weights=None if weights is None else weights[keep],
                         clusters=None if clusters is None else clusters[keep], method=method)
            rows.append(rate_row(metric, name, found, definition))
    return pd.DataFrame(rows, columns=RATE_COLUMNS)
