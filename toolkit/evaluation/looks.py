"""The holdout is looked at once per hypothesis: looks are recorded and shown."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd


@dataclass
class HoldoutLog:
    """Looks at holdout sets, in memory or in a JSON-lines file.

    Parameters
    ----------
    path : Path or str, optional
        File to append to and to read earlier looks from; None keeps them in memory.

    Notes
    -----
    A look is a hypothesis, a set of queries and the values seen. Seeing the same values again (a
    notebook run twice) is not a new look; new values for the same hypothesis are.
    """

    path: Path | str | None = None
    _rows: list[dict] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if self.path is not None and Path(self.path).exists():
            for number, line in enumerate(Path(self.path).read_text(encoding="utf-8").splitlines(), start=1):
                try:
                    self._rows.append(json.loads(line))
                except json.JSONDecodeError as error:
                    raise ValueError(f"{Path(self.path).name} line {number} is not JSON ({error.msg}); a look must not be lost: repair the line") from None

    def record(self, hypothesis: str, queries: str, values: str, n: int) -> Looks:
        """Record one look and return how many there were.

        Parameters
        ----------
        hypothesis : str
            What is being tested, in words.
        queries, values : str
            Fingerprints of the query set and of the values seen.
        n : int
            Number of queries.
        """
        if not hypothesis.strip():
            raise ValueError("hypothesis is empty; say what is tested, for example 'rerank top 50 beats the baseline'")
        row = {"hypothesis": hypothesis, "queries": queries, "values": values, "n": n, "time": datetime.now(UTC).isoformat(timespec="seconds")}
        if not any(all(seen[key] == row[key] for key in ("hypothesis", "queries", "values")) for seen in self._rows):
            if self.path is not None:
                with Path(self.path).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._rows.append(row)
        here = [seen for seen in self._rows if seen["queries"] == queries]
        same = sum(seen["hypothesis"] == hypothesis for seen in here)
        return Looks(hypothesis, same, len(here), len({seen["hypothesis"] for seen in here}))

    def to_frame(self) -> pd.DataFrame:
        """One row a look: hypothesis, queries, values, n, time."""
        return pd.DataFrame(self._rows, columns=["hypothesis", "queries", "values", "n", "time"])


@dataclass(frozen=True)
class Looks:
    """How often a holdout has been looked at.

    Attributes
    ----------
    hypothesis : str
    of_hypothesis : int
        Looks for this hypothesis, this one included.
    of_holdout, hypotheses : int
        All looks at these queries, and for how many hypotheses.
    """

    hypothesis: str
    of_hypothesis: int
    of_holdout: int
    hypotheses: int

    def summary(self) -> str:
        """The looks in a sentence."""
        return (f"look {self.of_hypothesis} at this holdout for '{self.hypothesis}'; looks in all: {self.of_holdout}, "
                f"hypotheses: {self.hypotheses}")
