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
        score depends on its JVM's start; see ``toolkit/search/SCORING.md``).
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

    def counts(self) -> dict[str, int]:
        """Number of queries per status, and of irreproducible ones."""
        found = self.status["status"].value_counts()
        return {
            "queries": len(self.status),
            **{name: int(found.get(name, 0)) for name in ("ok", "zero_results", "failed")},
            "irreproducible": int(self.status["irreproducible"].fillna(False).astype(bool).sum()),
        }

    def summary(self) -> str:
        """The run in one sentence."""
        n = self.counts()
        return (f"{n['queries']} queries at depth {self.depth} on {self.engine}: {n['ok']} ok, "
                f"{n['zero_results']} without results, {n['failed']} failed; {n['irreproducible']} whose "
                f"Elasticsearch scores are not reproducible. {self.config}")

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
