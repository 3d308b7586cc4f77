"""The tables of one interaction log, and what was read to make them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

import pandas as pd

from toolkit.datasets.report import ReadReport
from toolkit.datasets.times import parse_times
from toolkit.tables import Schema, check


@dataclass(frozen=True)
class LogTables:
    """Prompts, retrievals and actions of a log; unpacks as these three.

    Attributes
    ----------
    prompts, retrievals, actions : DataFrame
        Canonical tables (``toolkit.tables``) with further columns that their reader documents. Every
        column of the schema is there; what the log does not say is null.
    report : ReadReport
        What happened to every record.
    executions : DataFrame or None
        One row per logged execution of a retrieval, where a log has several per id (facet and page
        calls): retrieval_id, time, query, returned_asset_ids and more.
    """

    prompts: pd.DataFrame
    retrievals: pd.DataFrame
    actions: pd.DataFrame
    report: ReadReport
    executions: pd.DataFrame | None = None

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter((self.prompts, self.retrievals, self.actions))

    def summary(self) -> str:
        """Sizes in one sentence."""
        return (f"{len(self.prompts)} prompts, {len(self.retrievals)} retrievals, {len(self.actions)} actions. "
                f"{self.report.summary()}")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.report.to_frame().to_html(index=False)}"


def id_text(value: object) -> str | None:
    """An id as text: ``7`` and ``7.0`` are ``"7"``, ``"007"`` stays, ``""`` and null are null."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, (float, Decimal)) and value == value and abs(value) != float("inf") and value == int(value):
        return str(int(value))
    return value if isinstance(value, str) else str(value)


def build(schema: Schema, rows: Iterable[Mapping[str, object]], report: ReadReport, extra: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Rows to a table that has every column of its schema, with its dtypes, and ``extra`` ones.

    Parameters
    ----------
    schema : Schema
    rows : iterable of mappings
        Absent keys are null.
    report : ReadReport
        Told about unreadable times.
    extra : mapping of str to str, optional
        Further column -> kind (as in :class:`toolkit.tables.Column`).

    Returns
    -------
    DataFrame
    """
    rows = list(rows)
    kinds = {**{column.name: column.kind for column in schema.columns}, **(extra or {})}
    made = {}
    for name, kind in kinds.items():
        made[name] = typed([row.get(name) for row in rows], kind, report, f"{schema.name}.{name}")
    return check(pd.DataFrame(made), schema)


def typed(values: list, kind: str, report: ReadReport, name: str) -> pd.Series:
    """A column of one kind; null where a value is absent."""
    if kind == "time":
        return parse_times(values, report, name)
    if kind == "list":
        return pd.Series(values, dtype=object)
    if kind == "boolean":
        return pd.Series(values, dtype="boolean")
    if kind == "integer":
        return pd.Series(values, dtype="Int64")
    if kind == "number":
        return pd.Series(values, dtype="float64")
    return pd.Series(values, dtype="str")


def empty(schema: Schema, report: ReadReport) -> pd.DataFrame:
    """A table of the schema without rows."""
    return build(schema, [], report)

