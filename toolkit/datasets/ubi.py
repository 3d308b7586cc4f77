"""User Behavior Insights logs (UBI 1.0 to 1.3): ``ubi_queries`` and ``ubi_events``.

What UBI says and where it goes: query row -> retrieval, event -> action, ``query_id`` -> the link between
them. Role, actor, request and display have no home in UBI and are null.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from toolkit.datasets.executions import EXECUTIONS, fold
from toolkit.datasets.log_files import Record, read_records
from toolkit.datasets.log_tables import LogTables, build, empty, id_text
from toolkit.datasets.report import ReadError, ReadReport
from toolkit.datasets.text import as_text
from toolkit.datasets.textified import plain
from toolkit.tables import ACTIONS, PROMPTS

HIT_IDS = ("query_response_hit_ids", "query_response_object_ids", "query_response_objects_ids")
QUERY_KEYS = {"user_query", "query_response_id", "query_attributes", "object_id_field", *HIT_IDS}
ACTION_EXTRA = {"producer": "text", "query": "text", "source_resolves": "boolean", "object_id_field": "text", "message": "text"}


def read_ubi(paths: str | Path | Sequence[str | Path]) -> LogTables:
    """Read UBI queries and events from JSON lines, OpenSearch bulk pairs, search responses, TSV or CSV.

    Parameters
    ----------
    paths : path or sequence of paths
        One file with both kinds of records or several; gzip and zip are opened, a folder stands for
        its files. A record's kind is told by its index name, else by its keys.

    Returns
    -------
    LogTables
        prompts : no rows (UBI has queries, no prompts).

        retrievals : one row per ``query_id`` (``query_response_id`` where there is none), in order of first
        appearance. ``time`` is the earliest execution's, ``query`` the first text (empty text is null),
        ``returned_asset_ids`` the first non-empty list in time order; an empty list means that lists were
        logged and all were empty, null that none was logged. ``user_id`` is user_id, else client_id.
        Further columns: ``producer`` (application), ``query_response_id`` (of the chosen list),
        ``executions`` (query rows of this id), ``list_calls`` and ``empty_list_calls`` (searches, and those without
        any result: executions with one text at most 0.5 s apart are one search, because facet calls
        return no list), ``texts`` and ``lists`` (distinct ones; above 1 an id was reused), ``list_cut``.

        actions : one row per event. ``action`` is action_name as logged; ``consumed_asset_id`` the event's
        object (``object.object_id``, else ``data.object_id``), whatever the action, impressions
        included; ``source_retrieval_id`` the event's query_id as logged, also where no query row has it
        (``source_resolves`` says so; a query_response_id is replaced by its query id);
        ``position`` the ordinal as logged, from 0 or 1; ``session_id`` from the top
        level or ``event_attributes``. Further columns: ``producer``, ``query`` (user_query), ``object_id_field``,
        ``message``.

        executions : one row per query row: retrieval_id, query_response_id, producer, time, user_id,
        session_id, query, returned_asset_ids, list_cut.

    Raises
    ------
    ReadError
        If there is no file or no UBI record in it.

    Notes
    -----
    The report counts records: kept = retrievals + actions; folded = further executions of an id and
    records logged twice (the same document id, or identical where there is none).
    Source: the UBI specification (o19s/ubi, schema 1.0 to 1.3) and OpenSearch's plugin.
    """
    report = ReadReport(_name(paths))
    queries, events = _sort_out(read_records(paths, report, QUERY_KEYS | {"action_name", "event_attributes"}), report)
    if not queries and not events:
        raise ReadError(f"{report.source}: no UBI record found; expected objects with action_name (events) or user_query or "
                        f"{HIT_IDS[0]} (queries)")
    executions = build(EXECUTIONS, _executions(queries, report), report)
    retrievals = fold(executions, report)
    actions = build(ACTIONS, _actions(events, executions, report), report, ACTION_EXTRA)
    _note_events(actions, retrievals, report)
    report.kept = len(retrievals) + len(actions)
    return LogTables(empty(PROMPTS, report), retrievals, actions, report.check(), executions)


def _name(paths: str | Path | Sequence[str | Path]) -> str:
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    return ", ".join(Path(path).name for path in given)


def _sort_out(records: Iterator[Record], report: ReadReport) -> tuple[list[Record], list[Record]]:
    """Query and event records; records logged twice are folded, others set aside."""
    queries: list[Record] = []
    events: list[Record] = []
    seen: set = set()
    for record in records:
        report.read += 1
        kind = _kind(record)
        if kind is None:
            report.note("set_aside", "neither a UBI query nor an event", row=record.row, value=str(record.data)[:80])
            continue
        key = (kind, record.id or hashlib.sha256(repr(record.data).encode()).digest())
        if key in seen:
            report.note("folded", f"{kind} logged twice ({'same document id' if record.id else 'identical record'})", row=record.row)
            continue
        seen.add(key)
        (queries if kind == "query" else events).append(record)
    return queries, events


def _kind(record: Record) -> str | None:
    """``query`` or ``event``, by index name, else by keys."""
    name = (record.index or "").casefold()
    if "event" in name or "quer" in name:
        return "event" if "event" in name else "query"
    if "action_name" in record.data:
        return "event"
    found = _query_part(record.data)
    return "query" if QUERY_KEYS & found.keys() else None


def _query_part(data: Mapping) -> Mapping:
    """The UBI part of a query record: itself, ``ext.ubi`` of an OpenSearch request, ``params`` of a Solr one."""
    for inner in ((data.get("ext") or {}).get("ubi") if isinstance(data.get("ext"), dict) else None, data.get("params")):
        if isinstance(inner, dict) and ("query_id" in inner or "user_query" in inner):
            return inner
    return data


def _executions(queries: Sequence[Record], report: ReadReport) -> Iterator[dict]:
    """One mapping per query record; records without any id are set aside."""
    for record in queries:
        data = _query_part(record.data)
        response = data["query_response"] if isinstance(data.get("query_response"), dict) else {}
        response_id = id_text(data.get("query_response_id", response.get("query_response_id")))
        retrieval_id = id_text(data.get("query_id")) or response_id
        if retrieval_id is None:
            report.note("set_aside", "query row without query_id", row=record.row)
            continue
        ids, cut = _hit_ids({**response, **data}, record, report)
        yield {"retrieval_id": retrieval_id, "query_response_id": response_id, "producer": id_text(data.get("application")),
               "time": data.get("timestamp"), "user_id": id_text(data.get("user_id")) or id_text(data.get("client_id")),
               "session_id": _session(data), "query": _user_query(data, record, report), "returned_asset_ids": ids, "list_cut": cut}


def _hit_ids(data: Mapping, record: Record, report: ReadReport) -> tuple[list[str] | None, bool]:
    """The returned list under any of its three names, and whether an export cut it off."""
    for name in HIT_IDS:
        value, cut = plain(data.get(name))
        if isinstance(value, (list, tuple)):
            if name != HIT_IDS[0]:
                report.note("noted", f"returned list read from {name}", row=record.row)
            ids = [id_text(part) for part in value]
            if None in ids:
                report.note("noted", "null in a returned list (left out)", row=record.row)
            return [part for part in ids if part is not None], cut or record.cut
    return None, record.cut


def _user_query(data: Mapping, record: Record, report: ReadReport) -> str | None:
    value = data.get("user_query")
    if isinstance(value, dict):
        value = value.get("user_query", value.get("query", value))
    text = as_text(value)
    if text == "":
        report.note("noted", "query row with an empty text (null in the table)", row=record.row)
    return text or None


def _session(data: Mapping) -> str | None:
    """session_id at the top level, in the attributes, or one level deeper."""
    found = id_text(data.get("session_id"))
    for name in ("event_attributes", "query_attributes"):
        inner = plain(data.get(name))[0]
        if found is None and isinstance(inner, dict):
            found = id_text(inner.get("session_id"))
            for part in inner.values():
                found = found or (id_text(part.get("session_id")) if isinstance(part, dict) else None)
    return found


def _actions(events: Sequence[Record], executions: pd.DataFrame, report: ReadReport) -> Iterator[dict]:
    """One mapping per event."""
    known = set(executions["retrieval_id"])
    responses = dict(zip(executions["query_response_id"], executions["retrieval_id"]))
    taken: set[str] = set()
    for number, record in enumerate(events):
        data = record.data
        attributes = plain(data.get("event_attributes"))[0]
        if not isinstance(attributes, dict):
            report.note("noted", "event without attributes (null)", row=record.row)
            attributes = {}
        source = id_text(data.get("query_id"))
        if source is None:
            report.note("noted", "event without query_id", row=record.row)
        elif source not in known and source in responses:
            source = responses[source]
            report.note("noted", "event whose query_id is a query_response_id (replaced)", row=record.row)
        asset, field = _object(attributes)
        action = as_text(data.get("action_name"))
        if not action:
            report.note("noted", "event without action_name", row=record.row)
        yield {"action_id": _unique(record.id or f"event-{number}", taken), "time": data.get("timestamp"), "session_id": _session(data),
               "user_id": id_text(data.get("user_id")) or id_text(data.get("client_id")), "action": action or None,
               "consumed_asset_id": asset, "source_retrieval_id": source, "position": _ordinal(attributes, record, report),
               "producer": id_text(data.get("application")), "query": as_text(data.get("user_query")) or None,
               "source_resolves": source in known, "object_id_field": field, "message": as_text(data.get("message"))}


def _unique(name: str, taken: set[str]) -> str:
    """The name, numbered if another file already used it."""
    made, count = name, 1
    while made in taken:
        count += 1
        made = f"{name}#{count}"
    taken.add(made)
    return made


def _object(attributes: Mapping) -> tuple[str | None, str | None]:
    """Id and id field of the event's object, under ``object`` or (some emitters) ``data``."""
    for name in ("object", "data"):
        part = attributes.get(name)
        if isinstance(part, dict) and id_text(part.get("object_id")) is not None:
            return id_text(part["object_id"]), as_text(part.get("object_id_field"))
    return None, None


def _ordinal(attributes: Mapping, record: Record, report: ReadReport) -> float | None:
    position = attributes.get("position")
    value = position.get("ordinal") if isinstance(position, dict) else position
    try:
        return None if value is None or isinstance(value, (bool, dict, list)) else float(value)
    except ValueError:
        report.note("noted", "position is not a number (null in the table)", row=record.row, value=value)
        return None


def _note_events(actions: pd.DataFrame, retrievals: pd.DataFrame, report: ReadReport) -> None:
    """Note events whose query row is missing, and events before their query."""
    missing = actions["source_retrieval_id"].notna() & ~actions["source_resolves"].fillna(False).astype(bool)
    if missing.any():
        report.note("noted", "event whose query_id has no query row", count=int(missing.sum()), value=actions.loc[missing, "source_retrieval_id"].iloc[0])
    if retrievals.empty or actions.empty:
        return
    started = actions["source_retrieval_id"].map(retrievals.set_index("retrieval_id")["time"])
    early = actions["time"] < started
    if early.any():
        ahead = (started - actions["time"])[early].dt.total_seconds()
        report.note("noted", f"event before its query (by {ahead.min():.1f} to {ahead.max():.1f} s)", count=int(early.sum()),
                    value=actions.loc[early, "action_id"].iloc[0])
