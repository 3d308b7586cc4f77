"""Elasticsearch ``_rank_eval``: ratings of a request, hits and ratings of a response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from toolkit.datasets.report import ReadReport
from toolkit.datasets.text import as_text

_TEXT_KEYS = ("query_string", "query", "q", "user_query", "keywords", "text")


def is_request(data: object) -> bool:
    """Does the JSON have ``requests`` with ``ratings``?"""
    return isinstance(data, dict) and isinstance(data.get("requests"), list)


def is_response(data: object) -> bool:
    """Does the JSON have ``details`` per query?"""
    return isinstance(data, dict) and isinstance(_body(data).get("details"), dict)


def _body(data: Mapping) -> Mapping:
    inner = data.get("rank_eval")
    return inner if isinstance(inner, dict) else data


def read_request(data: Mapping, report: ReadReport) -> pd.DataFrame:
    """Raw judgments: row (running number), query_id, query (where the request shows it), product_id, grade."""
    rows = []
    for request in data["requests"]:
        query_id = as_text(request.get("id"))
        ratings = request.get("ratings") or []
        if not ratings:
            report.note("noted", "query without ratings", value=query_id)
        for rating in ratings:
            report.read += 1
            rows.append((report.read, query_id, _query_text(request), as_text(rating.get("_id")), as_text(rating.get("rating"))))
    return pd.DataFrame(rows, columns=["row", "query_id", "query", "product_id", "grade"])


def _query_text(request: Mapping) -> str | None:
    """The user's text: a template's parameter, or the only text of the query clause."""
    params = request.get("params") or {}
    for key in _TEXT_KEYS:
        if isinstance(params.get(key), str):
            return params[key]
    texts = set(_texts((request.get("request") or {}).get("query")))
    return texts.pop() if len(texts) == 1 else None


def _texts(clause: object) -> Iterator[str]:
    """Query texts of ``multi_match``, ``match`` and ``query_string`` clauses inside a query."""
    if isinstance(clause, list):
        for part in clause:
            yield from _texts(part)
    if not isinstance(clause, dict):
        return
    for name, body in clause.items():
        if name in ("multi_match", "query_string", "simple_query_string", "combined_fields") and isinstance(body, dict):
            if isinstance(body.get("query"), str):
                yield body["query"]
        elif name in ("match", "match_phrase") and isinstance(body, dict):
            for value in body.values():
                text = value.get("query") if isinstance(value, dict) else value
                if isinstance(text, str):
                    yield text
        else:
            yield from _texts(body)


def _hits(data: Mapping) -> Iterator[tuple[str, int, Mapping]]:
    """Query id, position (from 1) and entry of every hit."""
    for query_id, detail in _body(data)["details"].items():
        for position, entry in enumerate(detail.get("hits") or [], 1):
            yield query_id, position, entry


def read_rated_hits(data: Mapping, report: ReadReport) -> pd.DataFrame:
    """Raw judgments of a response: rated hits only, so the judged products that were not found are missing."""
    rows = []
    for query_id, _, entry in _hits(data):
        if entry.get("rating") is None:
            report.note("noted", "hit without a rating: unjudged, not a judgment row", value=(query_id, _id(entry)))
        else:
            report.read += 1
            rows.append((report.read, query_id, _id(entry), as_text(entry["rating"])))
    report.note("noted", "a response holds the ratings of returned hits only; read the request for all judgments")
    return pd.DataFrame(rows, columns=["row", "query_id", "product_id", "grade"])


def _id(entry: Mapping) -> str | None:
    return as_text((entry.get("hit") or {}).get("_id"))


def read_hits(data: Mapping, report: ReadReport) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Raw rankings (row, query_id, product_id, rank, score) and the status of every query."""
    rows = []
    for query_id, position, entry in _hits(data):
        report.read += 1
        rows.append((report.read, query_id, _id(entry), str(position), as_text((entry.get("hit") or {}).get("_score"))))
    failures = _body(data).get("failures") or {}
    status = [(query, "ok" if detail.get("hits") else "zero_results", None) for query, detail in _body(data)["details"].items() if query not in failures]
    status += [(query, "failed", as_text(reason.get("error", reason) if isinstance(reason, dict) else reason)) for query, reason in failures.items()]
    for query_id in failures:
        report.note("noted", "query failed (see status)", value=query_id)
    return (pd.DataFrame(rows, columns=["row", "query_id", "product_id", "rank", "score"]),
            pd.DataFrame(status, columns=["query_id", "status", "reason"]))
