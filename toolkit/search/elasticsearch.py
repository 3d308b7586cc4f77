"""Search on a real Elasticsearch, with a status for every query."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.search.config import MultiMatch
from toolkit.search.elasticsearch_explain import explain_product
from toolkit.search.elasticsearch_failures import Failure
from toolkit.search.elasticsearch_fields import ListAnswer, field_list, field_scores, scores_table
from toolkit.search.elasticsearch_index import LoadReport, load_index
from toolkit.search.elasticsearch_requests import Connection, Retry, connect
from toolkit.search.elasticsearch_search import assemble, earlier_answers, read_hits, search_body
from toolkit.search.elasticsearch_state import IndexState, read_state
from toolkit.search.explain import Explanation
from toolkit.search.field_scores import FieldScores
from toolkit.search.protocol import SearchRun, SearchWarning
from toolkit.search.query_table import check_config, check_queries
from toolkit.tables import RANKINGS, check

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
        engine = self.identify(config)
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

    def explain(self, query_text: str, product_id: str, config: MultiMatch) -> Explanation:
        """Why one product got its score, in the form of the embedded engine.

        Raises
        ------
        ValueError
            For a product or field that the index does not have.
        ConnectionError
            If the server does not answer.
        """
        return explain_product(self.connection, query_text, product_id, config, id_field=self.id_field, engine=self.identify(config))

    def field_scores(self, queries: pd.DataFrame, config: MultiMatch, rankings: pd.DataFrame, *, progress: bool = False) -> FieldScores:
        """Unboosted score of each matching field for the (query, product) pairs of rankings.

        One search per query (and thousand products): every field is a named query whose score comes
        with the hit. Parameters and errors as in the embedded engine; a query that the server does
        not answer raises a ConnectionError.
        """
        check_queries(queries)
        check(rankings, RANKINGS, columns=["query_id", "product_id"], source="rankings")
        texts = dict(zip(queries["query_id"], queries["query"], strict=True))
        wanted = []
        for query_id, group in rankings.groupby("query_id", sort=False):
            if query_id not in texts:
                raise ValueError(f"rankings: query_id {query_id!r} is not among the {len(texts)} queries; pass its text too")
            wanted.append((query_id, texts[query_id], list(dict.fromkeys(group["product_id"]))))
        engine = self.identify(config)
        return FieldScores(scores_table(field_scores(self.connection, wanted, config, self.id_field, progress)), config, engine)

    def analyze(self, text: str, field: str | None = None) -> list[str]:
        """The terms of a text as the index analyses it (by the named field, else by its first text field)."""
        name = field or self.fields[0]
        answer = self.connection.call(lambda client: client.indices.analyze(index=self.index, field=name, text=text))
        if isinstance(answer, Failure):
            raise ConnectionError(f"Elasticsearch index {self.index!r}: {answer.reason}")
        return [token["token"] for token in answer["tokens"]]

    def field_list(self, queries: pd.DataFrame, field: str, config: MultiMatch, depth: int, *, first_matches: bool = True,
                   progress: bool = False) -> list[ListAnswer]:
        """One field's top for each query, with the other fields' scores of its products: one search per query.

        Used by :class:`toolkit.search.FieldLists`.
        """
        check_queries(queries, depth)
        return field_list(self.connection, queries["query"].tolist(), field, config, depth, self.id_field,
                          first_matches=first_matches, progress=progress)

    def identify(self, config: MultiMatch) -> str:
        """Name of the engine in the state it is in; refuses a configuration that the index cannot answer."""
        check_config(config)
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
