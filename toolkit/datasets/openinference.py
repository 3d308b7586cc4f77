"""OpenInference spans: flattened or nested attributes, as JSON lines, Parquet or a text export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolkit.datasets.log_files import Record, read_records
from toolkit.datasets.log_tables import LogTables, id_text
from toolkit.datasets.report import ReadError, ReadReport
from toolkit.datasets.spans import Span, flatten, tables_of
from toolkit.datasets.text import as_text
from toolkit.datasets.textified import plain

_SPAN_ID = ("context.span_id", "span_id", "spanId")
_TRACE_ID = ("context.trace_id", "trace_id", "traceId")
_PARENT_ID = ("parent_id", "parent_span_id", "parentSpanId", "context.parent_id")
_START = ("start_time", "startTime", "start_time_unix_nano", "startTimeUnixNano")
_END = ("end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano")
_CONTAINERS = ("attributes", "context", "metadata", "resource")
NO_PARENT = {"", "0", "0" * 16, "0x" + "0" * 16}


def read_openinference(paths: str | Path | Sequence[str | Path]) -> LogTables:
    """Read OpenInference spans as prompts and retrievals.

    Parameters
    ----------
    paths : path or sequence of paths
        JSON lines, a JSON list, Parquet (for example a Phoenix export) or CSV; in gzip or zip too.
        Attributes may be flat (``retrieval.documents.0.document.id``), nested, or texts that hold JSON or
        Python literals (``'None'``, cut-off lists).

    Returns
    -------
    LogTables
        prompts : one row per trace: its root span, unless that is a retriever (prompt_id = span id, text =
        ``input.value``); further columns ``request_id`` (trace id), ``producer``.

        retrievals : one row per retriever span: retrieval_id = span id, request_id = trace id, prompt_id = the
        trace's root, returned ids in numeric order of their index (``10`` after ``2``), role from
        ``retrieval.role``, ``lara.role`` or metadata, session and user from the span, its ancestors
        or its trace. A list that was not logged is null; an explicit empty one is empty. Further columns:
        ``query_id`` (a shared id such as ``ubi.query_id``), ``span_name``, ``producer``, ``list_cut``.

        actions : no rows (traces do not know what the user did; see
        :func:`toolkit.datasets.join_traces_and_events`).

    Raises
    ------
    ReadError
        If there is no span in the files.

    Notes
    -----
    Source: OpenInference semantic conventions (Arize).
    """
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    report = ReadReport(", ".join(Path(path).name for path in given))
    records = list(read_records(given, report, (*_SPAN_ID, *_TRACE_ID, *_PARENT_ID, "attributes")))
    if not any(_first(flatten(_open(record.data)[0]), _SPAN_ID) is not None for record in records):
        raise ReadError(f"{report.source}: no span found; expected one of {_SPAN_ID} in each record"
                        + ("; this is OTLP JSON, use read_otlp" if any("resourceSpans" in record.data for record in records) else ""))
    return tables_of((span_of(record) for record in records), report)


def _open(data: Mapping) -> tuple[dict, bool]:
    """The record with its text containers read, and whether one of them was cut off."""
    cut = False
    opened = {}
    for key, value in data.items():
        if isinstance(value, str) and (key in _CONTAINERS or key.startswith("attributes.") and value[:1] in "[{"):
            value, cut_here = plain(value)
            cut |= cut_here
        opened[key] = value
    return opened, cut


def span_of(record: Record) -> Span:
    """A record of any of the shapes as a span."""
    opened, cut = _open(record.data)
    flat = flatten(opened)
    attributes = {key.removeprefix("attributes."): value for key, value in flat.items()}
    inner = plain(attributes.get("metadata"))[0]
    if isinstance(inner, Mapping):
        attributes |= flatten(inner, "metadata")
    if "openinference.span.kind" not in attributes and "span_kind" in attributes:
        attributes["openinference.span.kind"] = attributes["span_kind"]
    parent = id_text(_first(flat, _PARENT_ID))
    return Span(record.row, id_text(_first(flat, _SPAN_ID)), id_text(_first(flat, _TRACE_ID)),
                None if parent in NO_PARENT else parent, as_text(flat.get("name")), _first(flat, _START), _first(flat, _END),
                attributes, cut or record.cut)


def _first(flat: Mapping[str, object], names: Sequence[str]) -> object:
    return next((flat[name] for name in names if flat.get(name) not in (None, "None")), None)
