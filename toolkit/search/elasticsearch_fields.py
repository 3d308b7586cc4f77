"""Scores of single fields from Elasticsearch, through named queries that come with every hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.search.config import MultiMatch
from toolkit.search.elasticsearch_failures import Failure
from toolkit.search.elasticsearch_requests import Connection
from toolkit.search.elasticsearch_search import Hits, read_hits, search_body

PAGE = 1_000
"""Products asked for in one search of :func:`field_scores`."""

Scores = list[tuple[str, str, str, float]]
"""Rows (query_id, product_id, field, score)."""


def single_field(config: MultiMatch, name: str) -> MultiMatch:
    """The configuration reduced to one field at weight 1: its score is the field's unboosted score."""
    return MultiMatch({name: 1.0}, operator=config.operator, fuzziness=config.fuzziness,
                      prefix_length=config.prefix_length, max_expansions=config.max_expansions)


def named_query(config: MultiMatch, name: str, text: str) -> dict:
    """One field's query under the field's name, so that its score comes with each hit."""
    query = single_field(config, name).to_query(text)
    query["multi_match"]["_name"] = name
    return query


def field_scores(connection: Connection, texts: Sequence[tuple[str, str, list[str]]], config: MultiMatch, id_field: str,
                 progress: bool = False) -> Scores:
    """Unboosted field scores of chosen products: one search per query and thousand products.

    Parameters
    ----------
    connection : Connection
    texts : sequence of (query_id, query text, product ids)
    config : MultiMatch
    id_field : str
    progress : bool

    Raises
    ------
    ConnectionError
        If a query has no answer: a missing row means that a field does not match.
    ValueError
        For a product that is not in the index.
    """
    pages = [(query_id, text, ids[start:start + PAGE]) for query_id, text, ids in texts for start in range(0, len(ids), PAGE)]
    bodies = [_scores_body(text, ids, config, id_field) for _, text, ids in pages]
    rows: Scores = []
    for position, answer in connection.searches(bodies, progress=progress, label="field scores", named_scores=True):
        query_id = pages[position][0]
        if isinstance(answer, Failure):
            raise ConnectionError(f"field scores of query {query_id!r}: {answer.reason}")
        hits = answer["hits"]["hits"]
        if len(hits) < len(pages[position][2]):
            unknown = set(pages[position][2]) - {hit["sort"][0] for hit in hits}
            raise ValueError(f"product_id {min(unknown)!r} is not in index {connection.index!r} ({len(unknown)} such for query {query_id!r})")
        for hit in hits:
            rows += [(query_id, hit["sort"][0], name, score) for name, score in hit.get("matched_queries", {}).items()]
    return rows


def _scores_body(text: str, ids: list[str], config: MultiMatch, id_field: str) -> dict:
    query = {"bool": {"filter": [{"terms": {id_field: ids}}], "should": [named_query(config, name, text) for name in config.fields]}}
    return {"query": query, "size": len(ids), "sort": [{id_field: "asc"}], "_source": False, "track_total_hits": False}


@dataclass(frozen=True)
class ListAnswer:
    """One field's list for one query.

    Attributes
    ----------
    hits : Hits or Failure
    scores : list of (product_id, field, score)
        Scores of all fields for the listed products (with dfs, of the list's own field).
    first : list of str
        The first matching products in the order of their ids.
    """

    hits: Hits | Failure
    scores: list[tuple[str, str, float]]
    first: list[str]


def field_list(connection: Connection, texts: Sequence[str], name: str, config: MultiMatch, depth: int, id_field: str, *,
               first_matches: bool = True, progress: bool = False) -> list[ListAnswer]:
    """The top of one field for every query, with the other fields' scores: one search per query.

    The other fields are named queries in a post filter that lets everything pass: they are scored
    for the returned hits only and change neither scores nor order. With ``connection.dfs`` they are
    left out, because a post filter's terms are not among the statistics collected from all shards.
    """
    others = [] if connection.dfs else [other for other in config.fields if other != name]
    bodies = [_list_body(text, name, others, config, depth, id_field, first_matches) for text in texts]
    answers = connection.searches(bodies, progress=progress, label=f"list of {name}", named_scores=True)
    return [_list_answer(answer, name) for _, answer in answers]


def _list_body(text: str, name: str, others: Sequence[str], config: MultiMatch, depth: int, id_field: str, first_matches: bool) -> dict:
    body = search_body(single_field(config, name).to_query(text), depth, id_field)
    if others:
        named = [named_query(config, other, text) for other in others]
        body["post_filter"] = {"bool": {"must": [{"match_all": {}}], "should": named}}
    if first_matches:
        body["aggs"] = {"first": {"terms": {"field": id_field, "size": depth, "order": {"_key": "asc"}}}}
    return body


def _list_answer(answer: dict | Failure, name: str) -> ListAnswer:
    hits = answer if isinstance(answer, Failure) else read_hits(answer)
    if isinstance(hits, Failure):
        return ListAnswer(hits, [], [])
    ids, own, _ = hits
    scores = [(product_id, name, float(score)) for product_id, score in zip(ids, own, strict=True)]
    for product_id, hit in zip(ids, answer["hits"]["hits"], strict=True):
        scores += [(product_id, other, float(np.float32(score))) for other, score in hit.get("matched_queries", {}).items()]
    return ListAnswer(hits, scores, [bucket["key"] for bucket in answer.get("aggregations", {}).get("first", {}).get("buckets", [])])


def scores_table(rows: Scores) -> pd.DataFrame:
    """Rows as the table of FieldScores: float32 values in float64, strings as strings."""
    table = pd.DataFrame(rows, columns=["query_id", "product_id", "field", "score"])
    table = table.astype({"query_id": "str", "product_id": "str", "field": "str"})
    return table.assign(score=table["score"].astype(np.float32).astype(np.float64))
