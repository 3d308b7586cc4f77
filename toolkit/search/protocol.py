"""What every search engine of the toolkit offers, and what a search returns."""

from __future__ import annotations

import html
import warnings
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pandas as pd

from toolkit.search.config import MultiMatch


class SearchWarning(UserWarning):
    """Something about a search that its bare rankings do not show."""


@dataclass(frozen=True)
class SearchRun:
    """Rankings of many queries, with what happened to each query.

    Attributes
    ----------
    rankings : DataFrame
        query_id, product_id, rank (from 1), score; ordered by query (as given), then rank.
    status : DataFrame
        One row a query: query_id, status (``ok``, ``zero_results``, ``failed``), reason (null
        unless failed), total_hits (null where unknown), irreproducible (True where Elasticsearch's own
        score depends on its JVM's start, null where the engine cannot tell; see ``toolkit/search/SCORING.md``).
    config : MultiMatch
    depth : int
        Largest number of products returned per query.
    engine : str
        Which engine answered, with version and index fingerprint.
    """

    rankings: pd.DataFrame
    status: pd.DataFrame
    config: MultiMatch
    depth: int
    engine: str

    def to_frame(self) -> pd.DataFrame:
        """The rankings table."""
        return self.rankings

    def counts(self) -> dict[str, int | None]:
        """Number of queries per status, and of irreproducible ones (None where the engine cannot tell)."""
        found = self.status["status"].value_counts()
        doubtful = self.status["irreproducible"]
        return {
            "queries": len(self.status),
            **{name: int(found.get(name, 0)) for name in ("ok", "zero_results", "failed")},
            "irreproducible": None if doubtful.isna().all() and len(doubtful) else int(doubtful.fillna(False).astype(bool).sum()),
        }

    def summary(self) -> str:
        """The run in one sentence."""
        n = self.counts()
        doubtful = "how many" if n["irreproducible"] is None else str(n["irreproducible"])
        unknown = " is unknown here" if n["irreproducible"] is None else ""
        return (f"{n['queries']} queries at depth {self.depth} on {self.engine}: {n['ok']} ok, "
                f"{n['zero_results']} without results, {n['failed']} failed; {doubtful} have scores that "
                f"Elasticsearch does not reproduce after a restart{unknown}. {self.config}")

    def warn(self) -> None:
        """Warn about failed queries: a bare rankings table cannot tell them from zero results."""
        failed = self.status.loc[self.status["status"] == "failed"]
        if len(failed):
            first = failed.iloc[0]
            warnings.warn(
                f"{len(failed)} of {len(self.status)} queries failed (first: {first['query_id']!r}: {first['reason']}); "
                "use run() instead of search() and pass its status to evaluate()", SearchWarning, stacklevel=3)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.rankings.head(10).to_html(index=False)}"


@runtime_checkable
class SearchEngine(Protocol):
    """Two methods: ``run`` keeps what happened to each query, ``search`` returns its rankings."""

    def run(self, queries: pd.DataFrame, config: MultiMatch, depth: int = 10) -> SearchRun:
        """Search all queries; failures are statuses, never exceptions of single queries."""
        ...

    def search(self, queries: pd.DataFrame, config: MultiMatch, depth: int = 10) -> pd.DataFrame:
        """The rankings of :meth:`run`; warns where queries failed."""
        ...
