"""Several logged executions of one retrieval id (facet, page and repeated calls) to one retrieval."""

from __future__ import annotations

import pandas as pd

from toolkit.datasets.log_tables import build
from toolkit.datasets.report import ReadReport
from toolkit.tables import RETRIEVALS, Column, Schema

# Calls of one query id at most this far apart and with one text are one search: its list and its facets.
SAME_SEARCH_SECONDS = 0.5
EXECUTIONS = Schema("executions", (
    Column("retrieval_id", "id", "the retrieval it belongs to"),
    Column("query_response_id", "text", "id of this response"),
    Column("producer", "text", "application that wrote it"),
    Column("time", "time", "when it ran"),
    Column("user_id", "text", "user or client"),
    Column("session_id", "text", "session, where the query row has one"),
    Column("query", "text", "query text"),
    Column("returned_asset_ids", "list", "what this call returned; null where not logged"),
    Column("list_cut", "boolean", "whether an export cut the list off"),
))
RETRIEVAL_EXTRA = {"producer": "text", "query_response_id": "text", "executions": "integer", "list_calls": "integer",
                   "empty_list_calls": "integer", "texts": "integer", "lists": "integer", "list_cut": "boolean"}


def fold(executions: pd.DataFrame, report: ReadReport) -> pd.DataFrame:
    """One row per retrieval_id (see :func:`toolkit.datasets.read_ubi` for its columns); further executions are folded.

    Parameters
    ----------
    executions : DataFrame
        As in ``EXECUTIONS``.
    report : ReadReport

    Returns
    -------
    DataFrame
        Retrievals in order of first appearance.
    """
    groups: dict[str, list] = {retrieval_id: [] for retrieval_id in executions["retrieval_id"].unique()}
    for call in executions.sort_values("time", kind="stable", na_position="last").itertuples(index=False):
        groups[call.retrieval_id].append(call)
    rows = [_folded(retrieval_id, calls, report) for retrieval_id, calls in groups.items()]
    if len(executions) > len(rows):
        report.note("folded", "further executions of a query id", count=len(executions) - len(rows))
    return build(RETRIEVALS, rows, report, RETRIEVAL_EXTRA)


def _folded(retrieval_id: str, calls: list, report: ReadReport) -> dict:
    """One retrieval from its executions in time order."""
    logged = [call for call in calls if call.returned_asset_ids is not None]
    filled = [call for call in logged if call.returned_asset_ids]
    # An unlogged list may have held something: then the id is not known to be empty.
    best = filled[0] if filled else calls[0] if len(logged) < len(calls) else logged[0]
    texts = list(dict.fromkeys(call.query for call in calls if pd.notna(call.query)))
    lists = {tuple(call.returned_asset_ids) for call in filled}
    for reason, found in (("texts", texts), ("non-empty lists", lists)):
        if len(found) > 1:
            report.note("noted", f"query id with several {reason} (the first is kept; all are in executions)", value=retrieval_id)
    list_calls, empty_calls = _list_calls(calls)
    return {"retrieval_id": retrieval_id, "producer": _first(calls, "producer"), "time": _first(calls, "time"), "user_id": _first(calls, "user_id"),
            "session_id": _first(calls, "session_id"), "query": texts[0] if texts else None,
            "returned_asset_ids": best.returned_asset_ids if filled or len(logged) == len(calls) else None,
            "list_cut": best.list_cut, "query_response_id": best.query_response_id, "executions": len(calls), "texts": len(texts),
            "lists": len(lists), "list_calls": list_calls if logged else None, "empty_list_calls": empty_calls if logged else None}


def _first(calls: list, name: str) -> object:
    return next((getattr(call, name) for call in calls if pd.notna(getattr(call, name))), None)


def _list_calls(calls: list) -> tuple[int, int]:
    """Searches among the executions of one id, and how many of them are known to have returned nothing.

    A search is a run of executions with one text, each at most ``SAME_SEARCH_SECONDS`` after the one before.
    """
    searches: list[list] = []
    for call in calls:
        before = searches[-1][-1] if searches else None
        gap = (call.time - before.time).total_seconds() if before is not None and pd.notna(call.time) and pd.notna(before.time) else 0.0
        if before is None or gap > SAME_SEARCH_SECONDS or _text(call) != _text(before):
            searches.append([])
        searches[-1].append(call)
    return len(searches), sum(all(call.returned_asset_ids == [] for call in search) for search in searches)


def _text(call: object) -> str | None:
    return None if pd.isna(call.query) else call.query
