"""Timestamps of several dialects to UTC; integers stay exact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from toolkit.datasets.report import ReadReport

# Upper limit of the absolute value -> factor to nanoseconds: seconds, milliseconds, microseconds, nanoseconds.
_UNITS = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3), (10**19, 1))
_INTEGER = re.compile(r"[+-]?[0-9]{9,19}$")
_LIMIT = np.iinfo(np.int64).max


def parse_times(values: Sequence[object], report: ReadReport, name: str = "time", rows: Sequence[int] | None = None) -> pd.Series:
    """Times as timezone-aware UTC with nanoseconds.

    Parameters
    ----------
    values : sequence
        ISO 8601 texts (``…Z``, ``+0000``, ``+00:00``), Unix time as integer or digits (seconds to
        nanoseconds, told apart by size), datetimes, or null.
    report : ReadReport
        Gets unreadable values (null in the result) and times without a zone (taken as UTC), noted.
    name : str
        Column name for the report.
    rows : sequence of int, optional
        Row numbers for the report.

    Returns
    -------
    Series of datetime64[ns, UTC]
    """
    nanoseconds = np.full(len(values), np.iinfo(np.int64).min, dtype=np.int64)
    texts: dict[str, list[int]] = {}
    for at, value in enumerate(values):
        exact = _unix(value)
        if exact is not None:
            nanoseconds[at] = exact
        elif value is not None and not (isinstance(value, float) and value != value) and value is not pd.NaT:
            texts.setdefault(str(value).strip(), []).append(at)
    if texts:
        keys = list(texts)
        parsed = pd.to_datetime(pd.Series(keys, dtype=object), format="ISO8601", utc=True, errors="coerce")
        parsed = parsed.where(parsed.dt.year.between(1678, 2261)).dt.as_unit("ns")  # what nanoseconds can hold
        _note(texts, parsed, report, name, rows)
        for text, time in zip(keys, parsed.astype("int64")):
            nanoseconds[texts[text]] = time
    return pd.Series(nanoseconds.view("M8[ns]")).dt.tz_localize("UTC")


def _unix(value: object) -> int | None:
    """Nanoseconds of a Unix time given as an integer, its digits, or a whole float; never through a float."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal) and value.is_finite():
        value = int(value) if value == int(value) else int(value * 10**9) if abs(value) < 10**11 else None
    if isinstance(value, (float, np.floating)) and value == value and abs(value) < 10**14:
        value = round(value * 1000) if abs(value) < 10**11 else round(value)  # seconds keep their milliseconds
    if isinstance(value, str) and _INTEGER.match(value.strip()):
        value = int(value)
    if not isinstance(value, (int, np.integer)):
        return None
    for limit, factor in _UNITS:
        if abs(int(value)) < limit:
            return int(value) * factor if abs(int(value)) * factor <= _LIMIT else None
    return None


def _note(texts: dict[str, list[int]], parsed: pd.Series, report: ReadReport, name: str, rows: Sequence[int] | None) -> None:
    for (text, places), time in zip(texts.items(), parsed):
        row = rows[places[0]] if rows is not None else None
        if pd.isna(time):
            report.note("noted", f"{name} is unreadable (null in the table)", row=row, value=text, count=len(places))
        elif not re.search(r"(Z|[+-][0-9]{2}:?([0-9]{2})?)$", text[10:]):
            report.note("noted", f"{name} without a time zone (taken as UTC)", row=row, value=text, count=len(places))
