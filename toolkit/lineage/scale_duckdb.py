"""DuckDB as the engine of the counts: out of core, from Parquet, CSV or JSON lines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pandas as pd

from toolkit.lineage.scale_sources import SCHEMAS, canonical_select, format_of
from toolkit.tables import Schema, TableError

SPELLED = {"text": "VARCHAR", "list": "VARCHAR[]", "boolean": "BOOLEAN", "number": "DOUBLE"}
# Spark's names for what DuckDB calls otherwise: all that stands between one SQL text and two engines.
MACROS = ("array_size(items) AS len(items)", "slice(items, start, length) AS list_slice(items, start, start + length - 1)")


class DuckDBEngine:
    """A database on disk in a folder of its own, deleted at the end.

    Parameters
    ----------
    memory_limit : str
        What DuckDB may hold before it spills to disk; the process needs some hundred MB more.
    threads : int, optional
        Default: all cores.
    temp_directory : path, optional
        Where the database and spilled data live while counting; default the system's.
    """

    millis = "epoch_ms"

    def __init__(self, *, memory_limit: str = "2GB", threads: int | None = None, temp_directory: str | Path | None = None) -> None:
        import duckdb

        if temp_directory is not None:
            Path(temp_directory).mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(dir=temp_directory, prefix="lineage-")
        self.folder = Path(self._folder.name)
        self._views: set[str] = set()
        settings = {"memory_limit": memory_limit, "temp_directory": str(self.folder / "spill"), "preserve_insertion_order": False}
        self.connection = duckdb.connect(str(self.folder / "counts.duckdb"), config=settings | ({"threads": threads} if threads else {}))
        self.connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        for macro in MACROS:
            self.connection.execute(f"CREATE MACRO {macro}")

    def __enter__(self) -> DuckDBEngine:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the connection and delete the database."""
        self.connection.close()
        self._folder.cleanup()

    def load(self, name: str, path: str | None) -> None:
        """The view of one canonical table; without rows where the log has no such table."""
        schema = SCHEMAS[name]
        if path is None:
            found = dict.fromkeys(schema.required, "null")
            self.view(name, canonical_select(schema, found, SPELLED, self.millis, "(SELECT 1) WHERE FALSE"))
            return
        relation = self._relation(name, path)
        self.view(name, canonical_select(schema, self._kinds(relation, schema), SPELLED, self.millis, relation))

    def _relation(self, name: str, path: str) -> str:
        """SQL of the files; text formats become Parquet once, so that later steps read columns."""
        kind = format_of(path)
        if kind is None:
            raise TableError(f"{name}: {Path(path).name}; expected .parquet, .ndjson, .jsonl, .csv or .tsv files (also .gz)")
        if kind == "parquet":
            return f"read_parquet({literal(path)})"
        target = str(self.folder / f"{name}.parquet")
        self.connection.execute(f"COPY ({_text_select(SCHEMAS[name], kind, path, self._names(kind, path))}) TO {literal(target)} (FORMAT parquet)")
        return f"read_parquet({literal(target)})"

    def _names(self, kind: str, path: str) -> list[str]:
        """Column names of text files."""
        reader = "read_json" if kind == "json" else "read_csv"
        extra = ", format='newline_delimited', sample_size=-1" if kind == "json" else ", all_varchar=true"
        return [row[0] for row in self.connection.execute(f"DESCRIBE SELECT * FROM {reader}({literal(path)}{extra})").fetchall()]

    def _kinds(self, relation: str, schema: Schema) -> dict[str, str]:
        """Kind of each column of a relation that the schema knows; a column without any value is null, whatever its type."""
        known = {column.name for column in schema.columns}
        rows = [row[:2] for row in self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall() if row[0] in known]
        kinds = {name: _kind(kind) for name, kind in rows}
        odd = [name for name, kind in kinds.items() if kind in ("other", "milliseconds", "number")]
        if odd:
            counts = self.connection.execute(f"SELECT {', '.join(f'count({name})' for name in odd)} FROM {relation}").fetchone()
            kinds |= {name: "null" for name, count in zip(odd, counts, strict=True) if not count}
        return kinds

    def define(self, name: str, select: str) -> None:
        """Compute a table and keep it; a view of its name makes way."""
        if name in self._views:
            self.connection.execute(f"DROP VIEW {name}")
            self._views.discard(name)
        self.connection.execute(f"CREATE OR REPLACE TABLE {name} AS {select}")

    def view(self, name: str, select: str) -> None:
        """Name a SELECT without computing it."""
        self._views.add(name)
        self.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {select}")

    def drop(self, name: str) -> None:
        """Forget a computed table."""
        self.connection.execute(f"DROP TABLE IF EXISTS {name}")

    def frame(self, select: str) -> pd.DataFrame:
        """A small result."""
        return self.connection.execute(select).df()

    def batches(self, select: str, rows: int = 200_000) -> Iterator[object]:
        """A large result as ``pyarrow.RecordBatch`` pieces."""
        yield from self.connection.sql(select).to_arrow_reader(rows)


def literal(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _kind(name: str) -> str:
    """Kind of a DuckDB type."""
    if name in ("VARCHAR", "BOOLEAN", "VARCHAR[]"):
        return {"VARCHAR": "text", "BOOLEAN": "boolean", "VARCHAR[]": "list"}[name]
    if name.startswith("ENUM"):
        return "text"
    if name == "TIMESTAMP WITH TIME ZONE":
        return "time"
    if name.startswith("TIMESTAMP") or name == "DATE":
        return "naive (no timezone)"
    if name in ("BIGINT", "UBIGINT", "INTEGER"):
        return "milliseconds"
    return "number" if name in ("DOUBLE", "FLOAT", "HUGEINT", "UINTEGER", "SMALLINT", "TINYINT") or name.startswith("DECIMAL") else "other"


def _text_select(schema: Schema, kind: str, path: str, names: list[str]) -> str:
    """SELECT that reads text files with the schema's types: ids stay text (``007``), whole-number times are milliseconds."""
    columns = [column for column in schema.columns if column.name in names]
    read = {name: "VARCHAR" for name in names} | ({c.name: "VARCHAR[]" for c in columns if c.kind == "list"} if kind == "json" else {})
    types = ", ".join(f"{literal(name)}: {literal(type_)}" for name, type_ in read.items())
    reader = (f"read_json({literal(path)}, format='newline_delimited', columns={{{types}}})" if kind == "json"
              else f"read_csv({literal(path)}, header=true, columns={{{types}}})")
    casts = {"time": _TIME, "boolean": "CAST({0} AS BOOLEAN) AS {0}", "number": "CAST({0} AS DOUBLE) AS {0}", "integer": "CAST({0} AS DOUBLE) AS {0}"}
    if kind == "csv":
        casts["list"] = "CAST({0} AS VARCHAR[]) AS {0}"
    return f"SELECT {', '.join(casts.get(column.kind, '{0}').format(column.name) for column in columns)} FROM {reader}"


# A text time without a zone is refused: DuckDB would read it as its session's.
_TIME = (r"CASE WHEN regexp_full_match({0}, '-?\d+') THEN CAST({0} AS BIGINT) "
         r"WHEN NOT regexp_matches({0}, '(Z|[+-]\d\d:?\d\d|[+-]\d\d)$') THEN error('time ' || {0} || ' has no timezone; expected for example 2026-03-02T08:00:00Z') "
         "ELSE epoch_ms(CAST({0} AS TIMESTAMPTZ)) END AS {0}")
