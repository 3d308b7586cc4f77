"""Foreign rows to *raw* tables: text columns under canonical names, nothing judged yet.

A raw table has ``row`` (line or running number in the source), ``repair`` (what was mended, else
null) and one text column per role. Rows that have no place for a needed value are set aside here.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from toolkit.datasets.columns import known_names, map_columns
from toolkit.datasets.delimited import guess_delimiter, split_rows
from toolkit.datasets.report import ReadError, ReadReport
from toolkit.datasets.text import JsonObject, as_text, decode, parse_json, parse_json_lines, read_bytes

Roles = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Source:
    """A file's content: exactly one of text, json (a document), records (JSON lines), frame (Parquet)."""

    text: str | None = None
    json: object = None
    records: list[tuple[int, object]] | None = None
    frame: pd.DataFrame | None = None


def load(path: str | Path, report: ReadReport, encoding: str | None = None) -> Source:
    """Read a file and tell JSON, JSON lines and Parquet from other text by its content."""
    data = read_bytes(path)
    if data[:4] == b"PAR1":
        return Source(frame=read_parquet(data, report.source))
    text = decode(data, report, encoding)
    if text.lstrip()[:1] not in ("{", "["):
        return Source(text=text)
    try:
        return Source(json=parse_json(text))
    except json.JSONDecodeError as error:
        first = text.lstrip().split("\n", 1)[0]
        if not _is_json(first):
            if first.startswith("{"):
                raise ReadError(f"{report.source} line {error.lineno} column {error.colno}: not JSON ({error.msg}); "
                                "correct the file there or export it again") from error
            return Source(text=text)
        return Source(records=list(parse_json_lines(text, report)))


def read_parquet(data: bytes, source: str) -> pd.DataFrame:
    """Parquet bytes as a DataFrame; a damaged file is a ReadError."""
    import pyarrow as pa

    try:
        return pd.read_parquet(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise ReadError(f"{source}: damaged Parquet file ({error}); write or fetch it again") from error


def _is_json(line: str) -> bool:
    try:
        parse_json(line)
    except json.JSONDecodeError:
        return False
    return True


def raw_from_text(text: str, roles: Roles, report: ReadReport, *, columns: Mapping[str, str] | None, delimiter: str | None,
                  needed: Sequence[Sequence[str]], headerless: Mapping[int, Sequence[str]]) -> pd.DataFrame:
    """A delimited text as a raw table.

    Parameters
    ----------
    needed : sequence of sequences of str
        Of each inner sequence at least one role must have a column.
    headerless : mapping of int to sequence of str
        Number of columns -> roles, for files whose first row is data (its last field is a number).
    """
    if not text.strip():
        raise ReadError(f"{report.source}: the file is empty; expected a header and rows")
    told = re.match(r"(?:\"?)sep=(.)(?:\"?)\r?\n", text)
    if told:  # a first line that spreadsheets write; kept blank so that line numbers stay true
        delimiter, text = delimiter or told[1], "\n" + text[told.end():]
    delimiter = delimiter or guess_delimiter(text, known_names(roles) | {name.casefold() for name in (columns or {}).values()})
    if delimiter is None:
        raise ReadError(f"{report.source}: no delimiter separates three columns; give delimiter=")
    rows = split_rows(text, delimiter)
    header = next(rows, None)
    if header is None:
        raise ReadError(f"{report.source}: the file has no header")
    report.note("noted", f"delimiter {delimiter!r}")
    names = [name.strip() for name in header.fields]
    found = map_columns(names, roles, columns, report)
    if not _complete(found, needed) and columns is None and len(names) in headerless and is_number(names[-1]):
        found = {role: index for index, role in enumerate(headerless[len(names)])}
        report.note("noted", f"no header; columns read as {list(found)}")
        rows = split_rows(text, delimiter)
    _require(found, needed, names, roles, report)
    return _fit(rows, found, len(names), needed, report)


def is_number(text: str) -> bool:
    """Is this a plain decimal number?"""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _complete(found: Mapping[str, int], needed: Sequence[Sequence[str]]) -> bool:
    return all(any(role in found for role in choice) for choice in needed)


def _require(found: Mapping[str, int], needed: Sequence[Sequence[str]], names: Sequence[str], roles: Roles, report: ReadReport) -> None:
    for choice in needed:
        if not any(role in found for role in choice):
            spellings = [alias for role in choice for alias in roles[role][:4]]
            raise ReadError(f"{report.source}: no column for {' or '.join(choice)}; the columns are {list(names)}; name it one of "
                            f"{spellings} or give columns={{{choice[0]!r}: <its name>}}")


def _fit(rows: Iterable, found: Mapping[str, int], width: int, needed: Sequence[Sequence[str]], report: ReadReport) -> pd.DataFrame:
    """Fields to columns; too short and too long rows are mended where nothing is lost, else set aside."""
    last = max(max(found[role] for role in choice if role in found) for choice in needed)
    kept = []
    for row in rows:
        report.read += 1
        fields, repair = row.fields, row.repair
        if row.span > 1:
            report.note("noted", "quoted field with line breaks", row=row.line, value=max(fields, key=len)[:60])
        if len(fields) > width and not any(field.strip() for field in fields[width:]):
            repair = repair or "empty fields at the row's end dropped"
        elif len(fields) > width:
            report.note("set_aside", f"more fields than the header's {width}", row=row.line, value=fields,
                        advice="quote fields that hold the delimiter, or remove the extra field")
            continue
        elif len(fields) <= last:
            report.note("set_aside", f"fewer fields than the header's {width}", row=row.line, value=fields)
            continue
        elif len(fields) < width:
            repair = repair or "fields missing at the row's end left empty"
            fields = fields + [""] * (width - len(fields))
        kept.append((row.line, repair, *(fields[index] for index in found.values())))
    return pd.DataFrame(kept, columns=["row", "repair", *found], dtype=object)


def raw_from_records(records: Iterable[tuple[int, object]], roles: Roles, report: ReadReport, *, columns: Mapping[str, str] | None,
                     needed: Sequence[Sequence[str]], convert: Callable[[object], str | None] = as_text) -> pd.DataFrame:
    """JSON objects, one a row, as a raw table; keys play the part of a header."""
    rows = []
    for number, record in records:
        report.read += 1
        if isinstance(record, dict):
            rows.append((number, record))
            for key, value in getattr(record, "repeated", []):
                report.note("noted", "key repeated in one JSON object (the last value is kept)", row=number, value=(key, value))
        else:
            report.note("set_aside", "not a JSON object", row=number, value=record)
    header = list(dict.fromkeys(key for _, record in rows for key in record))
    found = map_columns(header, roles, columns, report)
    _require(found, needed, header, roles, report)
    kept = [(number, None, *(convert(record.get(header[index])) for index in found.values())) for number, record in rows]
    return pd.DataFrame(kept, columns=["row", "repair", *found], dtype=object)


def raw_from_frame(frame: pd.DataFrame, roles: Roles, report: ReadReport, *, columns: Mapping[str, str] | None,
                   needed: Sequence[Sequence[str]], convert: Callable[[object], str | None] = as_text) -> pd.DataFrame:
    """A DataFrame (a Parquet file) as a raw table; row numbers start at 0."""
    names = [str(name) for name in frame.columns]
    found = map_columns(names, roles, columns, report)
    _require(found, needed, names, roles, report)
    report.read += len(frame)
    made = {"row": range(len(frame)), "repair": None}
    made |= {role: [convert(plain_cell(value)) for value in frame.iloc[:, index]] for role, index in found.items()}
    return pd.DataFrame(made, dtype=object)


def plain_cell(value: object) -> object:
    """A cell of a DataFrame as JSON would have it: lists for arrays, None for missing."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if not isinstance(value, list) and pd.isna(value) else value


def is_nested(data: object) -> bool:
    """Is this ``{query: {product: number}}``, as several Python tools write?"""
    return isinstance(data, dict) and any(data.values()) and all(
        isinstance(inner, dict) and all(isinstance(v, (int, float, str)) and not isinstance(v, bool) for v in inner.values()) for inner in data.values())


def raw_from_nested(data: JsonObject, value: str, report: ReadReport) -> pd.DataFrame:
    """``{query: {product: number}}`` as a raw table; repeated keys are rows, too."""
    kept = []
    for query, inner in data.pairs():
        for product, number in inner.pairs():
            report.read += 1
            kept.append((report.read, None, query, product, as_text(number)))
    return pd.DataFrame(kept, columns=["row", "repair", "query_id", "product_id", value], dtype=object)
