"""Records of log files: JSON, JSON lines, bulk pairs, two-column TSV, CSV, Parquet; in gzip or zip."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from toolkit.datasets.delimited import guess_delimiter, split_rows
from toolkit.datasets.records import plain_cell, read_parquet
from toolkit.datasets.report import ReadError, ReadReport
from toolkit.datasets.text import decode, parse_json, read_bytes
from toolkit.datasets.textified import plain

ACTIONS = ("index", "create", "update", "delete")


@dataclass(frozen=True)
class Record:
    """One record of a log file.

    Attributes
    ----------
    row : int
        Line (from 1) or running number in its file.
    data : dict
    index : str or None
        Name of the index it belongs to, where the file says.
    id : str or None
        Its document id, where the file says.
    cut : bool
        Whether a text cell of the record had been cut off.
    """

    row: int
    data: dict
    index: str | None = None
    id: str | None = None
    cut: bool = False


def read_records(paths: str | Path | Sequence[str | Path], report: ReadReport, known: Iterable[str] = ()) -> Iterator[Record]:
    """All records of one or several files.

    Parameters
    ----------
    paths : path or sequence of paths
        A folder stands for its files.
    report : ReadReport
        Lines that are no records are counted as read and set aside. Records are *not* counted here.
    known : iterable of str
        Column names that tell a CSV file's delimiter.
    """
    for path in _files(paths):
        for content in _contents(read_bytes(path), path.name):
            for record in _records(content, report, known):
                if getattr(record.data, "repeated", None):
                    report.note("noted", "key repeated in one JSON object (the last value is kept)", row=record.row, value=record.data.repeated[0])
                yield record


def _contents(data: bytes, source: str) -> Iterator[bytes]:
    """The file itself, or the members of a zip archive."""
    if data[:4] != b"PK\x03\x04":
        yield data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                if not name.endswith("/") and not name.startswith("__MACOSX"):
                    yield archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ReadError(f"{source}: damaged zip file ({error}); fetch or pack it again") from error


def _files(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    found = [file for path in map(Path, given) for file in (sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path])]
    if not found:
        raise ReadError(f"no files in {[str(path) for path in given]}")
    return found


def _records(data: bytes, report: ReadReport, known: Iterable[str]) -> Iterator[Record]:
    if data[:4] == b"PAR1":
        yield from _from_frame(read_parquet(data, report.source))
        return
    text = decode(data, report)
    first = text.lstrip()[:1]
    if first in ("{", "["):
        try:
            yield from _from_document(parse_json(text), report)
        except json.JSONDecodeError:
            yield from _from_lines(text, report)
    elif _tab_json(text.split("\n", 1)[0]) or _tab_json(text.split("\n", 2)[1] if "\n" in text else ""):
        yield from _from_lines(text, report)
    elif text.strip():
        yield from _from_csv(text, report, set(known))


def _from_frame(frame: pd.DataFrame) -> Iterator[Record]:
    names = [str(name) for name in frame.columns]
    for row, values in enumerate(frame.itertuples(index=False, name=None)):
        yield Record(row, {name: plain_cell(value) for name, value in zip(names, values)})


def _from_document(data: object, report: ReadReport) -> Iterator[Record]:
    """One JSON document: a list of records, a search response, or a single record."""
    if isinstance(data, dict) and isinstance(data.get("hits"), dict):
        data = data["hits"].get("hits") or []
    for number, record in enumerate(data if isinstance(data, list) else [data]):
        if isinstance(record, dict):
            yield _unwrap(number, record)
        else:
            _refuse(report, number, record, "not a JSON object")


def _unwrap(row: int, record: dict) -> Record:
    """A stored document (``_index``, ``_id``, ``_source``) or the record itself."""
    if isinstance(record.get("_source"), dict):
        return Record(row, record["_source"], record.get("_index"), _id(record.get("_id")))
    return Record(row, record)


def _id(value: object) -> str | None:
    return None if value is None else str(value)


def _from_lines(text: str, report: ReadReport) -> Iterator[Record]:
    """JSON lines, with or without bulk action lines, or an action or id and a JSON record separated by a tab."""
    action: tuple[int, dict] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        left, record = _parse_line(line)
        if record is None:
            _refuse(report, number, line, "the line is not a JSON object")
        elif _is_action(record):
            if action is not None:
                _refuse(report, action[0], action[1], "bulk action without a document")
            action = None if "delete" in record else (number, record)
        else:
            yield _with_action(number, record, left if left is not None else action and action[1])
            action = None
    if action is not None:
        _refuse(report, action[0], action[1], "bulk action without a document")


def _refuse(report: ReadReport, row: int, value: object, reason: str) -> None:
    report.read += 1
    report.note("set_aside", reason, row=row, value=str(value)[:80])


def _parse_line(line: str) -> tuple[object, dict | None]:
    """Left column (None without a tab) and the record; the record is None if it is no JSON object."""
    left, tab, right = line.partition("\t")
    if tab and not line.lstrip().startswith("{"):
        return left.strip(), _object(right)
    if tab and _object(line) is None:
        return _object(left) or left.strip(), _object(right)
    return None, _object(line)


def _object(text: str) -> dict | None:
    text = text.strip()
    if text.startswith('"{') and text.endswith('}"'):
        text = text[1:-1].replace('""', '"')
    try:
        found = parse_json(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _tab_json(line: str) -> bool:
    left, tab, right = line.partition("\t")
    return bool(tab) and _object(right) is not None


def _is_action(record: dict) -> bool:
    return len(record) == 1 and next(iter(record)) in ACTIONS and isinstance(next(iter(record.values())), dict)


def _with_action(row: int, record: dict, action: object) -> Record:
    """A record with what its bulk action or left column says about it."""
    if isinstance(action, dict) and _is_action(action):
        head = next(iter(action.values()))
        body = record["doc"] if "update" in action and isinstance(record.get("doc"), dict) else record
        return Record(row, body, head.get("_index"), _id(head.get("_id")))
    unwrapped = _unwrap(row, record)
    if not isinstance(action, str) or unwrapped.index or unwrapped.id:
        return unwrapped
    named = any(word in action.casefold() for word in ("quer", "event"))
    return Record(row, record, action if named else None, None if named else action or None)


def _from_csv(text: str, report: ReadReport, known: set[str]) -> Iterator[Record]:
    """Delimited text with a header; cells are read for what they stood for (see :mod:`toolkit.datasets.textified`)."""
    delimiter = guess_delimiter(text, known) or ","
    rows = split_rows(text, delimiter)
    header = [name.strip() for name in next(rows).fields]
    report.note("noted", f"delimited text with columns {header}")
    for row in rows:
        if len(row.fields) != len(header):
            _refuse(report, row.line, row.fields, f"{len(row.fields)} fields, the header has {len(header)}")
            continue
        cells = [plain(field) for field in row.fields]
        if any(cut for _, cut in cells):
            report.note("noted", "a cell was cut off by the export; whole leading elements are kept", row=row.line)
        yield Record(row.line, dict(zip(header, (value for value, _ in cells))), cut=any(cut for _, cut in cells))
