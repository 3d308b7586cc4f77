"""Canonical log tables as views of a SQL engine: every column of the schema there, times as integer milliseconds.

A column the log lacks is null, as in the reference. What would make a count wrong is refused: an id that is no
text, a time without a zone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from toolkit.lineage.tables import Log, is_list
from toolkit.tables import ACTIONS, LINEAGE_JUDGMENTS, PROMPTS, RETRIEVALS, Column, Schema, TableError

# Beyond the schema: whether an export cut the list off (see Log).
LOGGED = Schema("retrievals", (*RETRIEVALS.columns, Column("list_cut", "boolean", "the list may have been cut", required=False)))
SCHEMAS = {"prompts": PROMPTS, "retrievals": LOGGED, "actions": ACTIONS, "judgments": LINEAGE_JUDGMENTS, "executions": LOGGED}
REQUIRED = ("retrievals", "actions")
FORMATS = {".parquet": "parquet", ".ndjson": "json", ".jsonl": "json", ".json": "json", ".csv": "csv", ".tsv": "csv"}


def find_tables(source: str | Path | Mapping[str, str | Path]) -> dict[str, str]:
    """Path or glob of each table.

    Parameters
    ----------
    source : path, or mapping of str to path
        A folder with ``retrievals`` and ``actions`` (and ``prompts``, ``judgments``, ``executions``), each a file such as
        ``actions.parquet`` or a folder of part files; or the path or glob of each table.

    Raises
    ------
    TableError
        Where a needed table is not there, or a name is unknown.
    """
    found = {name: str(path) for name, path in source.items()} if isinstance(source, Mapping) else _in_folder(Path(source))
    unknown = set(found) - set(SCHEMAS)
    missing = [name for name in REQUIRED if name not in found and not (name == "retrievals" and "executions" in found)]
    if unknown or missing:
        raise TableError(f"log tables: got {sorted(found)} from {source}; expected retrievals (or executions) and actions, "
                         "and optionally prompts, judgments, executions")
    return found


def _in_folder(folder: Path) -> dict[str, str]:
    """Tables of a folder: files or folders of part files."""
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        name = path.name.split(".")[0]
        if name not in SCHEMAS:
            continue
        if name in found:
            raise TableError(f"log tables: two sources for {name} in {folder}: {Path(found[name]).name} and {path.name}; keep one")
        if path.is_dir():
            parts = sorted({part.suffix for part in path.iterdir()} & set(FORMATS))
            if parts:
                found[name] = str(path / f"*{parts[0]}")
        elif format_of(path.name):
            found[name] = str(path)
    return found


def format_of(name: str) -> str | None:
    """``parquet``, ``json`` or ``csv`` by the file's ending (also gzipped); None for anything else."""
    return FORMATS.get(Path(name.removesuffix(".gz")).suffix)


def canonical_select(schema: Schema, found: Mapping[str, str], spelled: Mapping[str, str], millis: str, relation: str) -> str:
    """A SELECT that gives every column of a schema from a relation.

    Parameters
    ----------
    schema : Schema
    found : mapping of str to str
        Column of the relation -> its kind: text, list, boolean, number, time, milliseconds, naive, null or other.
    spelled : mapping of str to str
        Kind -> SQL type in the engine's spelling.
    millis : str
        The engine's function from a zoned time to milliseconds.

    Raises
    ------
    TableError
        Where a required column is missing or a column has the wrong kind.
    """
    lacking = [name for name in schema.required if name not in found]
    if lacking:
        raise TableError(f"{schema.name}: missing column(s) {lacking}; got {sorted(found)}; expected {schema!r}")
    return f"SELECT {', '.join(_expression(schema, column, found.get(column.name, 'null'), spelled, millis) for column in schema.columns)} FROM {relation}"


def _expression(schema: Schema, column: Column, found: str, spelled: Mapping[str, str], millis: str) -> str:
    """One column: itself, cast, converted to milliseconds, or null."""
    name, kind = column.name, {"id": "text", "integer": "number"}.get(column.kind, column.kind)
    if kind == "time":
        if found not in ("time", "milliseconds", "null"):
            raise TableError(f"{schema.name}: time is {found}; expected timezone-aware UTC, or integer milliseconds since 1970 UTC")
        return f"{millis}(time) AS time_ms" if found == "time" else f"CAST({'time' if found == 'milliseconds' else 'NULL'} AS BIGINT) AS time_ms"
    if found == "null":
        return f"CAST(NULL AS {spelled[kind]}) AS {name}"
    if found != kind and not (kind == "number" and found == "milliseconds"):
        raise TableError(f"{schema.name}: {name} must hold {'strings' if kind == 'text' else kind}, got {found}; convert it once and knowingly")
    return f"CAST({name} AS DOUBLE) AS {name}" if kind == "number" else name


def write_log(log: Log, folder: str | Path) -> Path:
    """Write a log's tables as Parquet files that both engines read (strings, lists of strings, milliseconds).

    Returns
    -------
    Path
        The folder, with one file per table.
    """
    import pyarrow.parquet as pq

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in SCHEMAS.items():
        frame = getattr(log, name)
        if frame is not None:
            pq.write_table(arrow_table(frame, schema), folder / f"{name}.parquet")
    return folder


def arrow_table(frame: pd.DataFrame, schema: Schema) -> object:
    """The schema's columns of a table as a ``pyarrow.Table`` with the types that the SQL expects; columns of no schema are left out."""
    import pyarrow as pa

    types = {"id": pa.string(), "text": pa.string(), "list": pa.list_(pa.string()), "boolean": pa.bool_(), "number": pa.float64(),
             "integer": pa.float64(), "time": pa.timestamp("ms", tz="UTC")}
    kinds = {column.name: column.kind for column in schema.columns if column.name in frame.columns}
    return pa.table({name: pa.array(_plain(frame[name], kind), type=types[kind]) for name, kind in kinds.items()})


def _plain(values: pd.Series, kind: str) -> list:
    """Python values with None for every kind of null."""
    if kind == "list":
        return [list(value) if is_list(value) else None for value in values]
    if kind == "time":
        values = pd.to_datetime(values, utc=True).dt.floor("ms")
    convert = {"boolean": bool, "number": float, "integer": float}.get(kind)
    return [None if null else convert(value) if convert else value for value, null in zip(values.astype(object), values.isna())]
