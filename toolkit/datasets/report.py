"""What a reader did with its rows: nothing is lost silently."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd

ACTIONS = ("folded", "repaired", "set_aside", "noted")


class ReadError(ValueError):
    """A source cannot be read, or a strict reader met a row it would have set aside."""


class ReadWarning(UserWarning):
    """Rows of a source are not in the table that was read from it."""


@dataclass
class ReadReport:
    """Counts of rows read, kept, folded, repaired and set aside, with reasons and samples.

    ``read == kept + folded + set_aside`` always holds; a repaired row is kept. ``folded`` rows carry
    nothing new (an exact duplicate, a second execution of one id). ``noted`` entries count things a
    reader decided (a column's alias, a delimiter, comment lines); they are not rows of the table.

    Parameters
    ----------
    source : str
        File or object that was read.
    strict : bool
        Raise :class:`ReadError` at the first row that would be set aside.
    """

    source: str
    read: int = 0
    kept: int = 0
    strict: bool = False
    _events: dict[tuple[str, str], list] = field(default_factory=dict, repr=False)

    SAMPLES = 5  # rows shown per reason

    def note(self, action: str, reason: str, *, row: int | None = None, value: object = None, count: int = 1,
             advice: str = "correct or remove the row, or read with strict=False") -> None:
        """Record that ``count`` rows were ``folded``, ``repaired`` or ``set_aside``, or ``noted`` for a reason.

        Raises
        ------
        ReadError
            In a strict report, for ``set_aside``: names source, row, value and what to do.
        """
        if action not in ACTIONS:
            raise ValueError(f"ReadReport.note: action {action!r}; expected {', '.join(ACTIONS)}")
        if self.strict and action == "set_aside":
            where = self.source if row is None else f"{self.source} row {row}"
            raise ReadError(f"{where}: {reason}" + ("" if value is None else f", got {value!r}") + f"; {advice}")
        entry = self._events.setdefault((action, reason), [0, []])
        entry[0] += count
        if len(entry[1]) < self.SAMPLES and (row is not None or value is not None):
            entry[1].append((row, value))

    def count(self, action: str, reason: str | None = None) -> int:
        """Number of rows with this action, over all reasons or for those that contain ``reason``."""
        return sum(entry[0] for (found, why), entry in self._events.items()
                   if found == action and (reason is None or reason in why))

    @property
    def set_aside(self) -> int:
        """Rows that are in the source but not in the table."""
        return self.count("set_aside")

    @property
    def folded(self) -> int:
        """Rows that carried nothing new."""
        return self.count("folded")

    @property
    def repaired(self) -> int:
        """Rows that were changed to be kept."""
        return self.count("repaired")

    def check(self) -> ReadReport:
        """Raise AssertionError unless every row is accounted for."""
        if self.read != self.kept + self.folded + self.set_aside:
            raise AssertionError(f"{self.source}: read {self.read} != kept {self.kept} + folded {self.folded} + set aside {self.set_aside}")
        return self

    def warn(self) -> None:
        """Warn if rows were set aside: the bare table cannot show it."""
        if self.set_aside:
            reasons = "; ".join(f"{why} ({entry[0]})" for (action, why), entry in self._events.items() if action == "set_aside")
            warnings.warn(f"{self.summary()}: {reasons}. The report has samples.", ReadWarning, stacklevel=3)

    def to_frame(self) -> pd.DataFrame:
        """One row per (action, reason): action, reason, rows, samples."""
        rows = [(action, reason, entry[0], "; ".join(f"row {r}: {v!r}" if r is not None else repr(v) for r, v in entry[1]))
                for (action, reason), entry in self._events.items()]
        return pd.DataFrame(rows, columns=["action", "reason", "rows", "samples"])

    def summary(self) -> str:
        """The report in one sentence."""
        return (f"{self.source}: {self.read} rows read, {self.kept} kept ({self.repaired} of them repaired), "
                f"{self.folded} folded, {self.set_aside} set aside")

    def __str__(self) -> str:
        lines = [self.summary()]
        lines += [f"  {r.action}: {r.reason} ({r.rows})" + (f" [{r.samples}]" if r.samples else "")
                  for r in self.to_frame().itertuples()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.to_frame().to_html(index=False)}"


@dataclass(frozen=True)
class TableRead:
    """A table that was read, with the report of its rows; unpacks as ``table, report``.

    Attributes
    ----------
    table : DataFrame
        The canonical table (judgments or rankings).
    report : ReadReport
        What happened to every row of the source.
    queries : DataFrame or None
        query_id, query: where the source has query texts.
    status : DataFrame or None
        query_id, status (``ok``, ``zero_results``, ``failed``), reason: where the source tells.
    """

    table: pd.DataFrame
    report: ReadReport
    queries: pd.DataFrame | None = None
    status: pd.DataFrame | None = None

    def __iter__(self) -> Iterator[object]:
        return iter((self.table, self.report))

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def summary(self) -> str:
        """The report in one sentence."""
        return self.report.summary()

    def _repr_html_(self) -> str:
        return f"{self.report._repr_html_()}{self.table.head(10).to_html(index=False)}"
