"""What a reader did with its rows: nothing is lost silently."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

import pandas as pd


@dataclass
class ReadReport:
    """Counts of rows read, kept, folded, repaired and set aside, with reasons and samples.

    ``read == kept + folded + set_aside`` always holds; a repaired row is kept. ``folded`` rows carry
    nothing new (an exact duplicate, a second execution of one id).

    Parameters
    ----------
    source : str
        File or object that was read.
    """

    source: str
    read: int = 0
    kept: int = 0
    _events: dict[tuple[str, str], list] = field(default_factory=dict, repr=False)

    SAMPLES = 5  # rows shown per reason

    def note(self, action: str, reason: str, *, row: int | None = None, value: object = None, count: int = 1) -> None:
        """Record that ``count`` rows were ``folded``, ``repaired`` or ``set_aside``, or ``noted`` for a reason."""
        if action not in ("folded", "repaired", "set_aside", "noted"):
            raise ValueError(f"ReadReport.note: action {action!r}; expected folded, repaired, set_aside or noted")
        entry = self._events.setdefault((action, reason), [0, []])
        entry[0] += count
        if len(entry[1]) < self.SAMPLES and (row is not None or value is not None):
            entry[1].append((row, value))

    def count(self, action: str) -> int:
        """Number of rows with this action, over all reasons."""
        return sum(entry[0] for (found, _), entry in self._events.items() if found == action)

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
        lines += [f"  {r.action}: {r.reason} ({r.rows} rows; {r.samples})" for r in self.to_frame().itertuples()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.to_frame().to_html(index=False)}"
