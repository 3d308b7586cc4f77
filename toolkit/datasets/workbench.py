"""OpenSearch Search Relevance Workbench: judgment lists (ratings are strings) and stored result lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from toolkit.datasets.report import ReadError, ReadReport
from toolkit.datasets.text import as_text


def _documents(data: object) -> Iterator[Mapping]:
    """The stored documents: the JSON itself, a list of them, or the hits of a search response."""
    if isinstance(data, list):
        for part in data:
            yield from _documents(part)
    elif isinstance(data, dict):
        hits = data.get("hits")
        if isinstance(hits, dict):
            for hit in hits.get("hits") or []:
                yield hit.get("_source") or {}
        else:
            yield data.get("_source") if isinstance(data.get("_source"), dict) else data


def is_judgment_list(data: object) -> bool:
    """Does any document have ``judgmentRatings``?"""
    return any(isinstance(document.get("judgmentRatings"), list) for document in _documents(data) if isinstance(document, dict))


def is_result_list(data: object) -> bool:
    """Does any document have result snapshots, or a search text with document ids?"""
    return any(_lists(document) for document in _documents(data) if isinstance(document, dict))


def read_ratings(data: object, report: ReadReport) -> pd.DataFrame:
    """Raw judgments: row (running number), query (the list's key is the text), product_id, grade."""
    rows = []
    for document in _documents(data):
        for entry in document.get("judgmentRatings") or []:
            query = as_text(entry.get("query"))
            if entry.get("failures"):
                report.note("noted", "documents the judge failed to rate", count=len(entry["failures"]), value=query)
            for rating in entry.get("ratings") or []:
                report.read += 1
                rows.append((report.read, query, as_text(rating.get("docId")), as_text(rating.get("rating"))))
    return pd.DataFrame(rows, columns=["row", "query", "product_id", "grade"])


def _lists(document: Mapping) -> list[tuple[str, str, list]]:
    """(search configuration, query text, document ids) of one stored document."""
    if isinstance(document.get("documentIds"), list) and "searchText" in document:
        return [(as_text(document.get("searchConfigurationId")) or "", as_text(document["searchText"]), document["documentIds"])]
    found = []
    for result in document.get("results") or []:
        query = as_text(result.get("queryText", result.get("query_text"))) if isinstance(result, dict) else None
        for shot in (result.get("snapshots") or []) if isinstance(result, dict) else []:
            found.append((as_text(shot.get("searchConfigurationId")) or "", query, shot.get("docIds") or []))
    return found


def read_results(data: object, report: ReadReport, configuration: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Raw rankings (row, query, product_id, rank) of one search configuration, and each query's status.

    Raises
    ------
    ReadError
        If there are several configurations and none is chosen.
    """
    lists = [entry for document in _documents(data) for entry in _lists(document)]
    names = list(dict.fromkeys(name for name, _, _ in lists))
    if configuration is None and len(names) > 1 or configuration not in (None, *names):
        raise ReadError(f"{report.source}: results of search configurations {names}; choose one with configuration=")
    chosen = [(query, ids) for name, query, ids in lists if configuration in (None, name)]
    if len(chosen) < len(lists):
        report.note("noted", "result lists of other search configurations", count=len(lists) - len(chosen))
    rows = []
    for query, ids in chosen:
        for position, product in enumerate(ids, 1):
            report.read += 1
            rows.append((report.read, query, as_text(product), str(position)))
    status = pd.DataFrame([(query, "ok" if ids else "zero_results", None) for query, ids in chosen], columns=["query_id", "status", "reason"])
    return pd.DataFrame(rows, columns=["row", "query", "product_id", "rank"]), status.drop_duplicates("query_id")
