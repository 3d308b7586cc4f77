"""The engine without a server, with Elasticsearch's scores to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.search.analysis import Analyzer
from toolkit.search.config import MultiMatch
from toolkit.search.explain import Explanation
from toolkit.search.explain_embedded import field_explanations
from toolkit.search.field_scores import FieldScores
from toolkit.search.index import Index, build_index
from toolkit.search.kernels import Scratch, field_values, score, top
from toolkit.search.plan import Planner, QueryPlan
from toolkit.search.protocol import SearchRun
from toolkit.search.query_table import check_config, check_queries
from toolkit.search.storage import load_index, save_index
from toolkit.search.trace import trace
from toolkit.tables import RANKINGS, check


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

    def save(self, folder: str | Path) -> Path:
        """Write the index into a folder (``.npy`` arrays and a manifest with hashes); returns the folder."""
        return save_index(self.index, folder)

    @classmethod
    def load(cls, folder: str | Path, *, verify: bool = True) -> EmbeddedEngine:
        """Open a saved index, memory-mapped.

        Parameters
        ----------
        folder : path
        verify : bool
            Compare every file with its hash first.

        Raises
        ------
        IndexFileError
            If a file is missing or damaged, or made by another format or analysis.
        """
        return cls(load_index(folder, verify=verify))

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
        return self.plan_fields(text, config, [self._field(name) for name in config.fields])

    def plan_fields(self, text: str, config: MultiMatch, fields: Sequence[int]) -> QueryPlan:
        """The plan over fields given by index position; weights and tie breaker play no part."""
        return self._planner.plan(self.analyze(text), config, fields)

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
        check_queries(queries, depth)
        self.check_fields(config)
        scratch = Scratch.of(len(self.product_ids))
        hits, totals, doubtful = [], [], []
        for text in tqdm(queries["query"], desc="search", unit="query", disable=not progress):
            plan = self.plan(text, config)
            docs, scores = score(self.index, plan, field_weights(self.index, plan, config), tie_of(config), scratch)
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

    def explain(self, query_text: str, product_id: str, config: MultiMatch) -> Explanation:
        """Why one product got its score for one query text.

        Parameters
        ----------
        query_text : str
        product_id : str
        config : MultiMatch

        Returns
        -------
        Explanation
            Its score is the search's to the last bit; ``matched`` is False for a product that is no hit.

        Raises
        ------
        ValueError
            For an unindexed product or field.
        """
        doc = self._position(product_id)
        tokens, plan = self.analyze(query_text), self.plan(query_text, config)
        weights = field_weights(self.index, plan, config)
        found = trace(self.index, plan, weights, tie_of(config), doc)
        nodes = [self._planner.node(token, config) for token in tokens]
        matched = not np.isnan(found.score)
        return Explanation(
            query_text, product_id, config, found.score if matched else 0.0, matched,
            field_explanations(self.index, plan, found, weights, doc, tokens, nodes), str(self), tuple(tokens))

    def field_scores(self, queries: pd.DataFrame, config: MultiMatch, rankings: pd.DataFrame) -> FieldScores:
        """Unboosted score of each matching field for the (query, product) pairs of rankings.

        Parameters
        ----------
        queries : DataFrame
            query_id, query; may hold more queries than the rankings.
        config : MultiMatch
            Weights and tie breaker play no part.
        rankings : DataFrame
            query_id and product_id of the wanted pairs; repeats are taken once.

        Returns
        -------
        FieldScores

        Raises
        ------
        ValueError
            For a query or product that is not known, naming it.
        """
        check_queries(queries)
        check(rankings, RANKINGS, columns=["query_id", "product_id"], source="rankings")
        texts = dict(zip(queries["query_id"], queries["query"], strict=True))
        scratch = Scratch.of(len(self.product_ids))
        names = np.array(self.fields, object)
        parts = []
        for query_id, group in rankings.groupby("query_id", sort=False):
            if query_id not in texts:
                raise ValueError(f"rankings: query_id {query_id!r} is not among the {len(texts)} queries; pass its text too")
            docs = np.array([self._position(name) for name in dict.fromkeys(group["product_id"])], np.int32)
            plan = self.plan(texts[query_id], config)
            values = field_values(self.index, plan, docs, scratch)
            row, column = np.nonzero(~np.isnan(values))
            fields = names[[field.field for field in plan.fields]]
            parts.append((np.full(len(row), query_id, object), self.product_ids[docs[row]], fields[column], values[row, column]))
        return FieldScores(_field_table(parts), config, str(self))

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

    def _position(self, product_id: str) -> int:
        if product_id not in self.index.positions:
            raise ValueError(f"product_id {product_id!r} is not in the index of {len(self.product_ids):,} products")
        return self.index.positions[product_id]

    def check_fields(self, config: MultiMatch) -> None:
        """Raise a ValueError for a field that is not indexed, a TypeError for what is no configuration."""
        check_config(config)
        for name in config.fields:
            self._field(name)

    def __str__(self) -> str:
        return f"embedded engine ({len(self.product_ids):,} products, index {self.fingerprint[:12]})"

    def __repr__(self) -> str:
        return f"<EmbeddedEngine: {len(self.product_ids):,} products, fields {list(self.fields)}, {len(self.vocabulary):,} terms>"


def field_weights(index: Index, plan: QueryPlan, config: MultiMatch) -> np.ndarray:
    """Float32 weight of each field of a plan."""
    return np.array([config.fields[index.fields[field.field]] for field in plan.fields], np.float32)


def tie_of(config: MultiMatch) -> float:
    """The tie breaker as the engine uses it: rounded to float32."""
    return float(np.float32(config.tie))


def _status(ids: pd.Series, totals: list[int], doubtful: list[bool]) -> pd.DataFrame:
    return pd.DataFrame({
        "query_id": ids,
        "status": pd.array(["ok" if total else "zero_results" for total in totals], dtype="str"),
        "reason": pd.array([None] * len(ids), dtype="str"),
        "total_hits": pd.array(totals, dtype="Int64"),
        "irreproducible": pd.array(doubtful, dtype="boolean"),
    })


def _field_table(parts: list[tuple[np.ndarray, ...]]) -> pd.DataFrame:
    """Long table of field scores from one part a query."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.empty(0, object)] * 4
    ids, products, fields, scores = columns
    return pd.DataFrame({
        "query_id": pd.array(ids, dtype="str"), "product_id": pd.array(products, dtype="str"),
        "field": pd.array(fields, dtype="str"), "score": scores.astype(np.float64)})
