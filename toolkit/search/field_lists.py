"""Per-field lists: what every weight vector is evaluated from, without another search."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.search.config import MultiMatch
from toolkit.search.elasticsearch_failures import Failure
from toolkit.search.elasticsearch_fields import ListAnswer, Scores, scores_table, single_field
from toolkit.search.field_scores import FieldScores
from toolkit.search.protocol import SearchEngine
from toolkit.search.query_table import check_queries


@dataclass(frozen=True)
class FieldLists:
    """For each query and field, the best products by that field alone, at weight 1.

    With ``best_fields`` and no tie breaker the score is ``max_f w_f s_f(d)``. A product of the true
    top k has its score from some field f, and is then in f's own top k: were k products before it in
    f's list (score descending, then id), each would be before it in the whole ranking as well. So these
    lists decide the top k for *all* positive weights. A product that another field's list lacks may
    be taken as not matching that field: its score can only become smaller, and no product of the true top
    k is touched. A weight of 0 still matches with score 0.0: such products fill a page that the
    positive fields leave short, in the order of their ids; that is what ``first_matches`` is for.

    Attributes
    ----------
    table : DataFrame
        query_id, field, product_id, rank (from 1, score descending then id), score (the float32 score at
        weight 1, in float64); ordered by query, field, rank.
    field_scores : FieldScores
        Scores of *all* matching fields for every product in any of a query's lists. With a tie breaker or
        ``most_fields`` they give exact scores of the listed products, and the last score of each
        incomplete list bounds the score of any other product.
    first_matches : DataFrame
        query_id, field, product_id: where a list is incomplete, the first ``depth`` matching products in
        the order of their ids.
    coverage : DataFrame
        query_id, field, status (ok, zero_results, failed), reason, listed (length of the list), complete
        (no product matches beyond the list).
    fields : tuple of str
    query_ids : tuple of str
        All queries asked, in their order.
    depth : int
        Length at which lists were cut.
    config : MultiMatch
        Operator, fuzziness, prefix and expansions in force; its weights and tie breaker played no part.
    engine : str
        Which engine answered, in which state.
    searches : int
        Searches it cost.

    Notes
    -----
    Elasticsearch multiplies the weight into each term's score before rounding to float32, so a score at
    weight w equals ``w * score`` only up to a few units in the last place (exactly for powers of two).
    Products closer than that can change places: whoever evaluates the lists must count them.
    """

    table: pd.DataFrame
    field_scores: FieldScores
    first_matches: pd.DataFrame
    coverage: pd.DataFrame
    fields: tuple[str, ...]
    query_ids: tuple[str, ...]
    depth: int
    config: MultiMatch
    engine: str
    searches: int

    @classmethod
    def from_engine(cls, engine: SearchEngine, queries: pd.DataFrame, config: MultiMatch, depth: int = 10, *,
                    first_matches: bool = True, progress: bool = True) -> FieldLists:
        """Fetch the lists: one single-field search per query and field on Elasticsearch (with dfs one more per query).

        Parameters
        ----------
        engine : EmbeddedEngine or ElasticsearchEngine
        queries : DataFrame
            query_id, query.
        config : MultiMatch
            Its fields are listed; its operator and fuzziness decide what matches.
        depth : int
            The deepest top that will be asked for; one more shows ties across the cut.
        first_matches : bool
            Also fetch what a weight of 0 needs. On Elasticsearch it is an aggregation over all
            matches in the same search; leave it out if no weight will be 0.
        progress : bool

        Raises
        ------
        TableError, ValueError
            As :meth:`SearchEngine.run`. A query that fails is a status in ``coverage``.
        """
        check_queries(queries, depth)
        fetch = _from_elasticsearch if hasattr(engine, "field_list") else _from_embedded
        answers, scores, name, searches = fetch(engine, queries, config, depth, first_matches, progress)
        ids = queries["query_id"].tolist()
        return cls(_list_table(ids, answers), FieldScores(scores, config, name), _first_table(ids, answers, depth),
                   _coverage(ids, answers, depth), tuple(config.fields), tuple(ids), depth, config, name, searches)

    def to_frame(self) -> pd.DataFrame:
        """The lists."""
        return self.table

    @property
    def failed(self) -> tuple[str, ...]:
        """Queries of which some list is missing: no weight vector can be evaluated for them."""
        return tuple(self.coverage.loc[self.coverage["status"] == "failed", "query_id"].unique())

    def summary(self) -> str:
        """The lists in words."""
        complete = int(self.coverage["complete"].sum())
        return (f"top {self.depth} of {len(self.fields)} fields for {len(self.query_ids):,} queries from {self.engine}: "
                f"{len(self.table):,} rows, {complete:,} of {len(self.coverage):,} lists complete, {len(self.failed)} queries "
                f"failed; {self.searches:,} searches")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.table.head(10).to_html(index=False)}"


Answers = dict[str, list[ListAnswer]]
"""Field -> one answer per query."""


def _from_elasticsearch(engine, queries: pd.DataFrame, config: MultiMatch, depth: int, first: bool,
                        progress: bool) -> tuple[Answers, pd.DataFrame, str, int]:
    name = engine.identify(config)
    answers = {field: engine.field_list(queries, field, config, depth, first_matches=first, progress=progress)
               for field in config.fields}
    searches = len(config.fields) * len(queries)
    if engine.connection.dfs:  # one more search per query: see elasticsearch_fields.field_list
        union = _list_table(queries["query_id"].tolist(), answers)
        return answers, engine.field_scores(queries, config, union, progress=progress).table, name, searches + len(queries)
    rows: dict[tuple[str, str, str], float] = {}
    for found in answers.values():
        for query_id, answer in zip(queries["query_id"], found, strict=True):
            rows |= {(query_id, product_id, field): score for product_id, field, score in answer.scores}
    scores: Scores = [(*key, score) for key, score in rows.items()]
    return answers, scores_table(scores), name, searches


def _from_embedded(engine, queries: pd.DataFrame, config: MultiMatch, depth: int, first: bool,
                   progress: bool) -> tuple[Answers, pd.DataFrame, str, int]:
    answers, pairs, runs = {}, [], 0
    for field in tqdm(config.fields, desc="field lists", unit="field", disable=not progress):
        run = engine.run(queries, single_field(config, field), depth)
        # At weight 0 every match scores 0.0, and ids decide alone.
        matches = engine.run(queries, single_field(config, field).with_fields(**{field: 0.0}), depth) if first else None
        answers[field] = _run_answers(run, matches)
        pairs.append(run.rankings[["query_id", "product_id"]])
        runs += 1 + first
    union = pd.concat(pairs, ignore_index=True).drop_duplicates()
    scores = engine.field_scores(queries, config, union)
    return answers, scores.table, run.engine, runs * len(queries)


def _run_answers(run, matches) -> list[ListAnswer]:
    lists = dict(list(run.rankings.groupby("query_id", sort=False)))
    first = {} if matches is None else dict(list(matches.rankings.groupby("query_id", sort=False)["product_id"]))
    empty = run.rankings.iloc[:0]
    answers = []
    for row in run.status.itertuples():
        found = lists.get(row.query_id, empty)
        hits = (found["product_id"].tolist(), found["score"].to_numpy(np.float32), int(row.total_hits))
        answers.append(ListAnswer(hits, [], list(first.get(row.query_id, ()))))
    return answers


def _list_table(query_ids: Sequence[str], answers: Answers) -> pd.DataFrame:
    parts = []
    for i, query_id in enumerate(query_ids):
        for field, found in answers.items():
            if not isinstance(found[i].hits, Failure):
                ids, scores, _ = found[i].hits
                parts.append((np.repeat(query_id, len(ids)), np.repeat(field, len(ids)), ids, np.arange(1, len(ids) + 1), scores))
    query, field, product, rank, score = (np.concatenate(column) for column in zip(*parts)) if parts else ([],) * 5
    return pd.DataFrame({"query_id": pd.array(query, dtype="str"), "field": pd.array(field, dtype="str"),
                         "product_id": pd.array(product, dtype="str"), "rank": np.asarray(rank, np.int64),
                         "score": np.asarray(score, np.float64)})


def _complete(answer: ListAnswer, depth: int) -> bool:
    if isinstance(answer.hits, Failure):
        return False
    ids, _, total = answer.hits
    return len(ids) < depth or total == len(ids)


def _first_table(query_ids: Sequence[str], answers: Answers, depth: int) -> pd.DataFrame:
    rows = [(query_id, field, product_id) for i, query_id in enumerate(query_ids) for field, found in answers.items()
            if not _complete(found[i], depth) for product_id in found[i].first]
    return pd.DataFrame(rows, columns=["query_id", "field", "product_id"]).astype("str")


def _coverage(query_ids: Sequence[str], answers: Answers, depth: int) -> pd.DataFrame:
    rows = []
    for i, query_id in enumerate(query_ids):
        for field, found in answers.items():
            hits = found[i].hits
            failed = isinstance(hits, Failure)
            listed = 0 if failed else len(hits[0])
            rows.append((query_id, field, "failed" if failed else "ok" if listed else "zero_results",
                         hits.reason if failed else None, listed, _complete(found[i], depth)))
    columns = ["query_id", "field", "status", "reason", "listed", "complete"]
    return pd.DataFrame(rows, columns=columns).astype(
        {"query_id": "str", "field": "str", "status": "str", "reason": "str", "listed": "int64", "complete": "bool"})
