"""What an index holds in each field: coverage, distinct values, the commonest value, term frequencies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from toolkit.search.bm25 import idf
from toolkit.search.elasticsearch import ElasticsearchEngine
from toolkit.search.elasticsearch_requests import Failure
from toolkit.search.embedded import EmbeddedEngine

#: Terms counted in one request to Elasticsearch.
TERMS_PER_REQUEST = 500


def field_statistics(engine: EmbeddedEngine | ElasticsearchEngine, fields: Sequence[str]) -> pd.DataFrame:
    """One row a field: field, products, coverage, distinct_values, top_value, top_value_share.

    coverage is the share of products with a value; top_value_share the share *of those* that have the
    commonest value. Embedded: values are compared by their analysed words, in any order.
    Elasticsearch: by the field's ``.keyword`` part (values longer than it keeps are each counted as
    distinct; distinct counts above 40,000 are the server's estimate).

    Raises
    ------
    ValueError
        For another kind of engine.
    ConnectionError
        If the server does not answer.
    """
    if isinstance(engine, EmbeddedEngine):
        rows = [_embedded_row(engine, name) for name in fields]
    elif isinstance(engine, ElasticsearchEngine):
        rows = _server_rows(engine, list(fields))
    else:
        raise ValueError(f"field_statistics: got {type(engine).__name__}; expected an EmbeddedEngine or ElasticsearchEngine")
    return pd.DataFrame(rows, columns=["field", "products", "coverage", "distinct_values", "top_value", "top_value_share"])


def query_idf(engine: EmbeddedEngine | ElasticsearchEngine, fields: Sequence[str], terms: Sequence[str],
              documents: dict[str, int]) -> pd.DataFrame:
    """IDF of query terms in each field: field, term, df, idf; only terms that the field holds (df > 0).

    Parameters
    ----------
    terms : sequence of str
        Analysed, distinct.
    documents : dict of str to int
        Products with a value, per field.

    Notes
    -----
    ``idf = ln(1 + (n - df + 0.5) / (df + 0.5))``, as scoring uses it. Fuzzy neighbours of a term are not counted.
    """
    if isinstance(engine, EmbeddedEngine):
        rows = [(name, term, engine.document_frequency(term, name)) for name in fields for term in terms]
    else:
        rows = [row for name in fields for row in _server_frequencies(engine, name, list(terms))]
    table = pd.DataFrame(rows, columns=["field", "term", "df"]).query("df > 0").reset_index(drop=True)
    table["idf"] = [float(idf(int(row.df), max(documents[row.field], int(row.df)))) for row in table.itertuples()]
    return table


def _embedded_row(engine: EmbeddedEngine, name: str) -> tuple:
    """Values as bags of words: a product's value is the sum of hashes of its (term, occurrences)."""
    index, f = engine.index, engine.index.field_ids[name]
    part = slice(index.ptr[f, 0], index.ptr[f, -1])
    docs, tf = index.docs[part], index.tf[part].astype(np.uint64)
    term = np.repeat(np.arange(len(index.vocabulary), dtype=np.uint64), np.diff(index.ptr[f]))
    mixed = pd.util.hash_array(term * np.uint64(1 << 20) + tf)
    value = np.zeros(len(index.product_ids), np.uint64)
    np.add.at(value, docs, mixed)
    filled = np.unique(docs)
    found, first, counts = np.unique(value[filled], return_index=True, return_counts=True)
    if not len(found):
        return name, len(index.product_ids), 0.0, 0, None, np.nan
    top = int(np.argmax(counts))
    words = term[docs == filled[first[top]]].astype(int)
    return (name, len(index.product_ids), len(filled) / len(index.product_ids), len(found),
            " ".join(index.vocabulary[w] for w in words[:12]), counts[top] / len(filled))


def _server_rows(engine: ElasticsearchEngine, fields: list[str]) -> list[tuple]:
    """One aggregation per field."""
    rows = []
    for name in fields:
        answer = _aggregate(engine, {
            "filled": {"filter": {"exists": {"field": name}}}, "kept": {"filter": {"exists": {"field": f"{name}.keyword"}}},
            "distinct": {"cardinality": {"field": f"{name}.keyword", "precision_threshold": 40_000}},
            "top": {"terms": {"field": f"{name}.keyword", "size": 1}}})
        total, found = answer["hits"]["total"]["value"], answer["aggregations"]
        filled = found["filled"]["doc_count"]
        top = (found["top"]["buckets"] or [{"key": None, "doc_count": 0}])[0]
        distinct = found["distinct"]["value"] + filled - found["kept"]["doc_count"]
        rows.append((name, total, filled / max(total, 1), distinct, top["key"], top["doc_count"] / filled if filled else np.nan))
    return rows


def _server_frequencies(engine: ElasticsearchEngine, name: str, terms: list[str]) -> list[tuple[str, str, int]]:
    """Document frequencies by filters over the analysed field."""
    rows = []
    for start in range(0, len(terms), TERMS_PER_REQUEST):
        part = terms[start:start + TERMS_PER_REQUEST]
        filters = {str(i): {"term": {name: term}} for i, term in enumerate(part)}
        buckets = _aggregate(engine, {"df": {"filters": {"filters": filters}}})["aggregations"]["df"]["buckets"]
        rows += [(name, term, buckets[str(i)]["doc_count"]) for i, term in enumerate(part)]
    return rows


def _aggregate(engine: ElasticsearchEngine, aggregations: dict) -> dict:
    answer = engine.connection.call(lambda client: client.search(index=engine.index, size=0, track_total_hits=True, aggs=aggregations))
    if isinstance(answer, Failure):
        raise ConnectionError(f"Elasticsearch index {engine.index!r}: {answer.reason}")
    return answer
