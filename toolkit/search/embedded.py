"""The engine without a server, with Elasticsearch's scores to the last bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.search.analysis import Analyzer
from toolkit.search.config import MultiMatch
from toolkit.search.index import Index, build_index
from toolkit.search.kernels import Scratch, score, top
from toolkit.search.plan import Planner, QueryPlan
from toolkit.search.protocol import SearchRun
from toolkit.tables import QUERIES, TableError, check


class EmbeddedEngine:
    """Search a catalogue in this process, scored as Elasticsearch 9.2 scores it.

    Make one with :meth:`build` or :meth:`load`. The index never changes afterwards.

    Parameters
    ----------
    index : Index

    Notes
    -----
    Exact for ``MultiMatch`` queries on one shard without deleted copies; the rules, and the
    queries for which Elasticsearch disagrees with itself, are in ``toolkit/search/SCORING.md``.
    """

    name = "embedded"

    def __init__(self, index: Index) -> None:
        self.index = index
        self._analyzer = Analyzer()
        self._planner = Planner(index)

    @classmethod
    def build(cls, products: pd.DataFrame, fields: Sequence[str] | None = None, *, progress: bool = True) -> EmbeddedEngine:
        """Index a products table.

        Parameters
        ----------
        products : DataFrame
            product_id and text columns; cells are text, lists of text or null.
        fields : sequence of str, optional
            Columns to index. Default: every text column but product_id and locale.
        progress : bool
            Show a progress bar.

        Raises
        ------
        TableError
            For a repeated id or a cell that is not text, naming the row.
        """
        return cls(build_index(products, fields, progress=progress))

    @property
    def fields(self) -> tuple[str, ...]:
        """Indexed fields."""
        return self.index.fields

    @property
    def product_ids(self) -> np.ndarray:
        """Ids in tie-break order (UTF-8 bytes); a product's position points here."""
        return self.index.product_ids

    @property
    def fingerprint(self) -> str:
        """SHA-256 of analysis, fields, ids and text."""
        return self.index.fingerprint

    @property
    def vocabulary(self) -> list[str]:
        """All terms of all fields, sorted."""
        return self.index.vocabulary

    def analyze(self, text: str) -> list[str]:
        """The terms of a text, as Elasticsearch's ``_analyze`` gives them."""
        return self._analyzer.terms(text)

    def document_frequency(self, term: str, field: str) -> int:
        """Number of products that have the (analysed) term in the field; 0 for an unknown term."""
        at = self.index.term_ids.get(term)
        return 0 if at is None else self.index.document_frequency(at, self._field(field))

    def plan(self, text: str, config: MultiMatch) -> QueryPlan:
        """What the engine makes of one query text before it scores."""
        return self._planner.plan(self.analyze(text), config, [self._field(name) for name in config.fields])

    def run(self, queries: pd.DataFrame, config: MultiMatch, depth: int = 10, *, progress: bool = False) -> SearchRun:
        """Search all queries.

        Parameters
        ----------
        queries : DataFrame
            query_id and query, the text exactly as typed.
        config : MultiMatch
        depth : int
            Largest number of products a query returns.
        progress : bool
            Show a progress bar.

        Returns
        -------
        SearchRun

        Raises
        ------
        ValueError
            For an unindexed field or a depth below 1.
        TableError
            For null or repeated query ids, or a query that is not text.
        """
        _check_queries(queries, depth)
        self._check_fields(config)
        scratch = Scratch.of(len(self.product_ids))
        hits, totals, doubtful = [], [], []
        for text in tqdm(queries["query"], desc="search", unit="query", disable=not progress):
            plan = self.plan(text, config)
            docs, scores = score(self.index, plan, field_weights(self.index, plan, config), float(np.float32(config.tie)), scratch)
            hits.append(top(docs, scores, depth))
            totals.append(len(docs))
            doubtful.append(plan.irreproducible)
        ids = queries["query_id"].reset_index(drop=True)
        return SearchRun(self._rankings(ids, hits), _status(ids, totals, doubtful), config, depth, str(self))

    def search(self, queries: pd.DataFrame, config: MultiMatch, depth: int = 10, *, progress: bool = False) -> pd.DataFrame:
        """The rankings of :meth:`run`: query_id, product_id, rank (from 1), score."""
        run = self.run(queries, config, depth, progress=progress)
        run.warn()
        return run.rankings

    def _rankings(self, ids: pd.Series, hits: list[tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
        counts = np.array([len(docs) for docs, _ in hits], np.int64)
        docs = np.concatenate([docs for docs, _ in hits] or [np.empty(0, np.int32)])
        return pd.DataFrame({
            "query_id": ids.take(np.repeat(np.arange(len(ids)), counts)).reset_index(drop=True),
            "product_id": pd.array(self.product_ids[docs], dtype="str"),
            "rank": np.concatenate([np.arange(1, n + 1) for n in counts] or [np.empty(0, np.int64)]),
            "score": np.concatenate([scores for _, scores in hits] or [np.empty(0, np.float32)]).astype(np.float64),
        })

    def _field(self, name: str) -> int:
        if name not in self.index.field_ids:
            raise ValueError(f"field {name!r} is not indexed; indexed fields are {list(self.fields)}")
        return self.index.field_ids[name]

    def _check_fields(self, config: MultiMatch) -> None:
        for name in config.fields:
            self._field(name)

    def __str__(self) -> str:
        return f"embedded engine ({len(self.product_ids):,} products, index {self.fingerprint[:12]})"

    def __repr__(self) -> str:
        return f"<EmbeddedEngine: {len(self.product_ids):,} products, fields {list(self.fields)}, {len(self.vocabulary):,} terms>"


def field_weights(index: Index, plan: QueryPlan, config: MultiMatch) -> np.ndarray:
    """Float32 weight of each field of a plan."""
    return np.array([config.fields[index.fields[field.field]] for field in plan.fields], np.float32)


def _check_queries(queries: pd.DataFrame, depth: int) -> None:
    check(queries, QUERIES, source="queries")
    repeated = queries["query_id"].duplicated().to_numpy()
    if repeated.any():
        row = int(repeated.argmax())
        raise TableError(f"queries row {row}: query_id {queries['query_id'].iloc[row]!r} occurs more than once; keep one row a query")
    for row, text in enumerate(queries["query"]):
        if not isinstance(text, str):
            raise TableError(f"queries row {row}: query is {text!r}; expected text (an empty string finds nothing)")
    if isinstance(depth, bool) or not isinstance(depth, (int, np.integer)) or depth < 1:
        raise ValueError(f"depth is {depth!r}; expected an integer of at least 1")


def _status(ids: pd.Series, totals: list[int], doubtful: list[bool]) -> pd.DataFrame:
    return pd.DataFrame({
        "query_id": ids,
        "status": pd.array(["ok" if total else "zero_results" for total in totals], dtype="str"),
        "reason": pd.array([None] * len(ids), dtype="str"),
        "total_hits": pd.array(totals, dtype="Int64"),
        "irreproducible": pd.array(doubtful, dtype="boolean"),
    })
