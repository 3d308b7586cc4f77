"""Search on a real Elasticsearch, with a status for every query."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.search.config import MultiMatch
from toolkit.search.elasticsearch_index import IndexState, LoadReport, load_index, read_state
from toolkit.search.elasticsearch_requests import Connection, Failure, Retry, connect
from toolkit.search.elasticsearch_search import assemble, earlier_answers, read_hits, search_body
from toolkit.search.protocol import SearchRun, SearchWarning
from toolkit.search.query_table import check_queries

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

INTERRUPTED = Failure("not searched: the run was interrupted")


class SearchInterrupted(KeyboardInterrupt):
    """A run was interrupted; ``run`` holds what was finished. Give it as ``resume`` to go on."""

    def __init__(self, run: SearchRun) -> None:
        super().__init__(f"interrupted; {run.summary()}")
        self.run = run


class ElasticsearchEngine:
    """Searches of one Elasticsearch index.

    Parameters
    ----------
    address : str, sequence of str, or elasticsearch.Elasticsearch
        URL(s), or a configured client. An API key is read from ``ELASTICSEARCH_API_KEY`` only.
    index : str
        One index (or an alias of one) with a keyword field for the id.
    id_field : str
        Keyword field that holds the product id and breaks ties.
    timeout : float
        Longest wait for one answer [s].
    retry : Retry
        Attempts and back-off on 429, 502, 503, 504, time-outs and broken connections.
    batch_size : int
        Searches in one ``_msearch``.
    dfs : bool
        Term statistics over all shards (``dfs_query_then_fetch``).
    exact_totals : bool
        Count all hits. Otherwise the server may stop counting at 10,000, which lets it skip
        documents; total_hits is then null where it did.

    Notes
    -----
    Scores of an index with several shards differ from those of one shard: each shard has its own
    term statistics unless ``dfs`` is set. Updated documents count twice until a merge.
    """

    def __init__(self, address: str | Sequence[str] | Elasticsearch, index: str, *, id_field: str = "product_id",
                 timeout: float = 30.0, retry: Retry | None = None, batch_size: int = 100, dfs: bool = False,
                 exact_totals: bool = False) -> None:
        self.connection = Connection(connect(address), index, timeout, retry or Retry(), batch_size, dfs)
        self.index = index
        self.id_field = id_field
        self.exact_totals = exact_totals
        self.load_report: LoadReport | None = None

    @classmethod
    def from_products(cls, address: str | Sequence[str] | Elasticsearch, index: str, products: pd.DataFrame,
                      fields: Sequence[str] | None = None, *, shards: int = 1, replicas: int = 0, replace: bool = False,
                      dfs: bool = False, progress: bool = True) -> ElasticsearchEngine:
        """Create and load an index, and return its engine; parameters as in the constructor and :meth:`create_index`."""
        engine = cls(address, index, dfs=dfs)
        engine.create_index(products, fields, shards=shards, replicas=replicas, replace=replace, progress=progress)
        return engine

    def create_index(self, products: pd.DataFrame, fields: Sequence[str] | None = None, *, shards: int = 1,
                     replicas: int = 0, replace: bool = False, progress: bool = True) -> LoadReport:
        """Create the index with the toolkit's analyzer and load the products.

        Warns where the server refused documents; the returned report (also ``load_report``) names them.
        See :func:`toolkit.search.elasticsearch_index.load_index`.
        """
        self.load_report = load_index(self.connection, products, fields, shards=shards, replicas=replicas, replace=replace,
                                      progress=progress)
        if self.load_report.failed or self.load_report.loaded != self.load_report.sent:
            warnings.warn(self.load_report.summary(), SearchWarning, stacklevel=2)
        return self.load_report

    def state(self) -> IndexState:
        """What the index is now: version, fields, documents, fingerprint.

        Raises
        ------
        ConnectionError
            If the server does not say.
        """
        state = read_state(self.connection, self.id_field)
        if isinstance(state, Failure):
            raise ConnectionError(f"Elasticsearch index {self.index!r}: {state.reason}")
        return state

    @property
    def fields(self) -> tuple[str, ...]:
        """Text fields of the index."""
        return self.state().fields

    @property
    def fingerprint(self) -> str:
        """Hash that changes with every change of the index."""
        return self.state().fingerprint

    def run(self, queries: pd.DataFrame, config: MultiMatch, depth: int = 10, *, resume: SearchRun | None = None,
            progress: bool = False) -> SearchRun:
        """Search all queries.

        Parameters
        ----------
        queries : DataFrame
            query_id, query; the text is sent exactly as typed.
        config : MultiMatch
        depth : int
            Products returned per query.
        resume : SearchRun, optional
            An earlier run of the same queries, configuration, depth and index: only its failed queries are sent.
        progress : bool
            Show a progress bar.

        Returns
        -------
        SearchRun
            ``irreproducible`` is null: a server cannot tell (see the embedded engine).

        Raises
        ------
        ValueError
            If the index lacks a field of the configuration, or cannot break ties by id.
        SearchInterrupted
            On Ctrl-C, with the finished part.
        """
        check_queries(queries, depth)
        engine = self._identify(config)
        answers = earlier_answers(resume, queries, config, depth, engine, INTERRUPTED)
        texts = queries["query"].tolist()
        sent = [i for i, answer in enumerate(answers) if isinstance(answer, Failure)]
        bodies = [search_body(config.to_query(texts[i]), depth, self.id_field, self.exact_totals) for i in sent]
        try:
            for position, answer in self.connection.searches(bodies, progress=progress, label=self.index):
                answers[sent[position]] = answer if isinstance(answer, Failure) else read_hits(answer)
        except KeyboardInterrupt:
            raise SearchInterrupted(assemble(queries, answers, config, depth, engine)) from None
        return assemble(queries, answers, config, depth, engine)

    def search(self, queries: pd.DataFrame, config: MultiMatch, depth: int = 10, *, progress: bool = False) -> pd.DataFrame:
        """The rankings of :meth:`run`; warns where queries failed."""
        run = self.run(queries, config, depth, progress=progress)
        run.warn()
        return run.rankings

    def _identify(self, config: MultiMatch) -> str:
        """Name of the engine in the state it is in; refuses a configuration that the index cannot answer."""
        state = read_state(self.connection, self.id_field)
        if isinstance(state, Failure):
            return f"Elasticsearch, index {self.index!r} (unknown state: {state.reason})"
        unknown = [name for name in config.fields if name not in state.fields]
        if unknown:
            raise ValueError(f"field {unknown[0]!r} is not a text field of index {self.index!r}; its text fields are {list(state.fields)}")
        if not state.id_is_keyword:
            raise ValueError(f"index {self.index!r} has no keyword field {self.id_field!r} to break ties; name one with id_field")
        if not state.complete:
            warnings.warn(f"index {self.index!r} is incomplete: its load was interrupted; load it again", SearchWarning, stacklevel=3)
        shards = "1 shard" if state.shards == 1 else f"{state.shards} shards{', dfs' if self.connection.dfs else ''}"
        return (f"Elasticsearch {state.version}, index {self.index!r} ({state.documents:,} products, {shards}, "
                f"fingerprint {state.fingerprint})")

    def __repr__(self) -> str:
        return f"<ElasticsearchEngine: index {self.index!r}>"
