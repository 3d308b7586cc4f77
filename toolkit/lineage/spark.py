"""The same counts on Spark: the SQL text of the other engine, and whole-user steps in a few lines.

Optional: ``pip install 'search-relevance-toolkit[spark]'`` (PySpark 4, Java 17 or newer). The session is the
caller's; set ``spark.sql.session.timeZone`` to UTC and ``PYSPARK_PYTHON`` to the Python that has the toolkit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.lineage.definitions import GOAL_ACTIONS
from toolkit.lineage.scale import ScaleCounts, Settings, count_views, prepare
from toolkit.lineage.scale_gap import GapCounts, gap_of_views
from toolkit.lineage.scale_sources import SCHEMAS, canonical_select, find_tables, format_of
from toolkit.tables import Schema, TableError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

INSTALL = "pip install 'search-relevance-toolkit[spark]'"
SPELLED = {"text": "STRING", "list": "ARRAY<STRING>", "boolean": "BOOLEAN", "number": "DOUBLE"}
CREDITS = "action_id string, retrieval_id string"


def by_user(frame: DataFrame, step: Callable[[pa.Table], pa.Table], schema: str, *, key: str = "user_id", partitions: int | None = None) -> DataFrame:
    """Run a step of :mod:`toolkit.lineage.users` over a Spark DataFrame, whole users together.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    step : callable
        ``pyarrow.Table -> pyarrow.Table``; a partition's users at once.
    schema : str
        Columns of the result as Spark writes them, for example ``"action_id string, retrieval_id string"``.
    key : str
        Column that names the user.
    partitions : int, optional
        Default: the session's shuffle partitions; give more where a partition does not fit into a worker's memory.
    """
    spread = frame.repartition(partitions, key) if partitions else frame.repartition(key)
    return spread.mapInArrow(partial(_run, step), schema)


def _run(step: Callable[[pa.Table], pa.Table], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One partition: all of its batches are one table, since a user's rows may be in several."""
    import pyarrow as pa

    held = list(batches)
    if held:
        yield from step(pa.Table.from_batches(held)).to_batches()


class SparkEngine:
    """A Spark session as the engine of the counts; computed tables stay cached until the ``with`` block ends.

    Parameters
    ----------
    session : pyspark.sql.SparkSession

    Raises
    ------
    ImportError
        Without PySpark, with the install line.
    ValueError
        Where the session's time zone is not UTC.
    """

    millis = "unix_millis"

    def __init__(self, session: SparkSession) -> None:
        _require()
        zone = session.conf.get("spark.sql.session.timeZone")
        if zone not in ("UTC", "Etc/UTC", "Z", "GMT"):
            raise ValueError(f"spark.sql.session.timeZone is {zone!r}; set it to UTC, else times shift on their way through")
        self.session = session
        self._cached: list[DataFrame] = []

    def __enter__(self) -> SparkEngine:
        return self

    def __exit__(self, *_: object) -> None:
        for frame in self._cached:
            frame.unpersist()
        self._cached.clear()

    def load(self, name: str, path: str | None) -> None:
        """The view of one canonical table; without rows where the log has no such table."""
        schema = SCHEMAS[name]
        if path is None:
            self.view(name, canonical_select(schema, dict.fromkeys(schema.required, "null"), SPELLED, self.millis, "(SELECT 1) WHERE FALSE"))
            return
        if format_of(path) != "parquet":
            raise TableError(f"{name}: {Path(path).name}; on Spark expected Parquet (text formats guess types: convert them once with DuckDB)")
        source = self.session.read.parquet(path)
        source.createOrReplaceTempView(f"{name}_source")
        self.view(name, canonical_select(schema, _kinds(source, schema), SPELLED, self.millis, f"{name}_source"))

    def define(self, name: str, select: str) -> None:
        """Compute a table (when first used) and keep it."""
        self._cached.append(self.session.sql(select).cache())
        self._cached[-1].createOrReplaceTempView(name)

    def view(self, name: str, select: str) -> None:
        """Name a SELECT without computing it."""
        self.session.sql(select).createOrReplaceTempView(name)

    def drop(self, name: str) -> None:
        """Nothing yet: a table that reads this one may still be uncomputed; all are released at the end."""

    def frame(self, select: str) -> pd.DataFrame:
        """A small result."""
        rows = self.session.sql(select)
        return pd.DataFrame([row.asDict() for row in rows.collect()], columns=rows.columns)


def count_log_on_spark(session: SparkSession, source: str | Path | Mapping[str, str | Path], settings: Settings | None = None, *,
                       progress: bool = True) -> ScaleCounts:
    """Count all layers of a log of Parquet files on Spark: the tables of :func:`toolkit.lineage.count_log`.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
    source, settings, progress
        As for :func:`toolkit.lineage.count_log`.
    """
    with SparkEngine(session) as engine:
        return count_views(engine, _load(engine, source), settings or Settings(), progress=progress)


def count_gap_on_spark(session: SparkSession, source: str | Path | Mapping[str, str | Path], rule: str = "any_touch", *,
                       outcomes: Sequence[str] = GOAL_ACTIONS, window: str = "30min", partitions: int | None = None) -> GapCounts:
    """The attribution gap on Spark, as :func:`toolkit.lineage.count_gap`; credits are made by whole users on the workers."""
    with SparkEngine(session) as engine:
        prepare(engine, _load(engine, source))

        def credit(touches: str, step: Callable[[pa.Table], pa.Table]) -> None:
            by_user(session.sql(touches), step, CREDITS, key="key", partitions=partitions).createOrReplaceTempView("credits")

        return gap_of_views(engine, rule, outcomes, window, credit)


def _load(engine: SparkEngine, source: str | Path | Mapping[str, str | Path]) -> set[str]:
    """Views of all tables; returns the names of those that are logged."""
    paths = find_tables(source)
    for name in SCHEMAS:
        engine.load(name, paths.get(name))
    return set(paths)


def _kinds(source: DataFrame, schema: Schema) -> dict[str, str]:
    """Kind of each column that the schema knows; a column of the wrong type without any value is null."""
    from pyspark.sql import functions

    known = {column.name: column.kind for column in schema.columns}
    kinds = {name: _kind(kind) for name, kind in source.dtypes if name in known}
    odd = [name for name, kind in kinds.items() if kind in ("other", "milliseconds", "number") and known[name] != "number"]
    if odd:
        counts = source.agg(*(functions.count(name).alias(name) for name in odd)).first()
        kinds |= {name: "null" for name in odd if not counts[name]}
    return kinds


def _kind(name: str) -> str:
    """Kind of a Spark type."""
    plain = {"string": "text", "boolean": "boolean", "array<string>": "list", "timestamp": "time", "bigint": "milliseconds", "int": "milliseconds",
             "double": "number", "float": "number", "smallint": "number", "tinyint": "number"}
    if name in ("timestamp_ntz", "date"):
        return "naive (no timezone)"
    return "number" if name.startswith("decimal") else plain.get(name, "other")


def _require() -> None:
    """PySpark, or an error that says how to get it."""
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise ImportError(f"counting on Spark needs PySpark: {INSTALL}") from error
