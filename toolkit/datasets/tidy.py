"""Rules every raw table passes: ids, numbers, repeated pairs; each lost row has a reason."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pandas as pd

from toolkit.datasets.report import ReadReport

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$")
_NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)$", re.IGNORECASE)


def number(text: object) -> tuple[float | None, str | None]:
    """A finite decimal number, or the reason why the text is none.

    ``0x10``, ``1_000`` and non-ASCII digits are refused although Python would take some of them.
    """
    word = "" if text is None else str(text).strip()
    if not word:
        return None, "is empty"
    if _NOT_FINITE.match(word):
        return None, "is not a finite number"
    if not _NUMBER.match(word):
        return None, "is not a decimal number"
    value = float(word)
    return (value, None) if math.isfinite(value) else (None, "is not a finite number")


def tidy_ids(raw: pd.DataFrame, report: ReadReport, names: Sequence[str] = ("query_id", "product_id")) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Set rows without ids aside; give every row a query_id; return the rows and the queries table.

    Ids lose surrounding space (repaired). Where there is no query id, the text is the id, exactly as
    typed. The queries table is None where the source has no texts.
    """
    has_text = "query" in raw and raw["query"].notna().any()
    for name in names:
        if name in raw:
            raw = _strip(raw, name)
        elif name == "query_id":
            raw = raw.assign(query_id=raw["query"])
    for name in names:
        empty = raw[name].isna() | (raw[name].astype(str).str.strip() == "")
        raw = set_aside(raw, empty, f"{name} is empty", name, report)
    return raw, _queries(raw, report) if has_text else None


def _strip(raw: pd.DataFrame, name: str) -> pd.DataFrame:
    stripped = raw[name].map(lambda value: value.strip() if isinstance(value, str) else value)
    changed = (stripped != raw[name]) & raw[name].notna()
    repair = raw["repair"].where(~(changed & raw["repair"].isna()), f"space around {name} removed")
    return raw.assign(**{name: stripped, "repair": repair})


def _queries(raw: pd.DataFrame, report: ReadReport) -> pd.DataFrame:
    pairs = raw.loc[raw["query"].notna(), ["query_id", "query"]].drop_duplicates()
    again = pairs.duplicated("query_id")
    for query_id in pairs.loc[again, "query_id"]:
        report.note("noted", "query id with a second text (the first is kept)", value=query_id)
    return pairs[~again].astype("str").reset_index(drop=True)


def set_aside(raw: pd.DataFrame, bad: pd.Series, reason: str, column: str, report: ReadReport, advice: str | None = None) -> pd.DataFrame:
    """Drop the bad rows, counted under one reason with samples of their rows and values."""
    if not bad.any():
        return raw
    lost = raw[bad.to_numpy(dtype=bool)]
    options = {"advice": advice} if advice else {}
    shown = lost.head(report.SAMPLES)
    for row, value in zip(shown["row"], shown[column]):
        report.note("set_aside", reason, row=row, value=value, **options)
    if len(lost) > len(shown):
        report.note("set_aside", reason, count=len(lost) - len(shown))
    return raw[~bad.to_numpy(dtype=bool)]


def fold_repeats(raw: pd.DataFrame, value: str, report: ReadReport, on_conflict: str) -> pd.DataFrame:
    """One row a (query_id, product_id): the same value again is folded, another one set aside.

    ``on_conflict`` says which value stays: ``first``, ``last`` or ``max``.
    """
    keys = ["query_id", "product_id"]
    if not raw.duplicated(keys).any():
        return raw
    if on_conflict == "last":
        ordered = raw.iloc[::-1]
    elif on_conflict == "max":
        ordered = raw.sort_values(value, ascending=False, kind="stable")
    else:
        ordered = raw
    keep = ~ordered.duplicated(keys).reindex(raw.index)
    kept_value = ordered.groupby(keys, sort=False)[value].transform("first").reindex(raw.index)
    folded = ~keep & (raw[value] == kept_value)
    if folded.any():
        report.note("folded", f"the same pair and {value} again", count=int(folded.sum()), row=raw.loc[folded, "row"].iloc[0])
    raw = raw[~folded]
    keep = keep[~folded]
    return set_aside(raw, ~keep, f"another {value} for a pair ({on_conflict} is kept)", value, report,
                     advice="decide which one holds, or read with strict=False and on_conflict=")


def finish(raw: pd.DataFrame, report: ReadReport) -> None:
    """Count the kept rows and, among them, the repaired ones."""
    report.kept += len(raw)
    for reason, rows in raw[raw["repair"].notna()].groupby("repair", sort=True):
        report.note("repaired", str(reason), count=len(rows), row=rows["row"].iloc[0])
    report.check()
