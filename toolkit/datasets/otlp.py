"""OTLP JSON traces (``resourceSpans``), with 64-bit integers as strings or numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from toolkit.datasets.log_files import Record, read_records
from toolkit.datasets.log_tables import LogTables, id_text
from toolkit.datasets.openinference import NO_PARENT
from toolkit.datasets.report import ReadError, ReadReport
from toolkit.datasets.spans import Span, flatten, tables_of
from toolkit.datasets.text import as_text


def read_otlp(paths: str | Path | Sequence[str | Path]) -> LogTables:
    """Read OTLP JSON whose spans follow OpenInference as prompts and retrievals.

    Parameters
    ----------
    paths : path or sequence of paths
        A JSON document or JSON lines, each with ``resourceSpans``; in gzip or zip too.

    Returns
    -------
    LogTables
        As of :func:`toolkit.datasets.read_openinference`. Nanoseconds stay exact, whether they are
        logged as strings or numbers, and so do integer ids.

    Raises
    ------
    ReadError
        If there are no ``resourceSpans``.

    Notes
    -----
    Source: OpenTelemetry protocol specification, JSON Protobuf encoding.
    """
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    report = ReadReport(", ".join(Path(path).name for path in given))
    records = list(read_records(given, report))
    if not any("resourceSpans" in record.data or "resource_spans" in record.data for record in records):
        raise ReadError(f"{report.source}: no resourceSpans found; expected OTLP JSON (flat spans are for read_openinference)")
    return tables_of((span for record in records for span in _spans(record)), report)


def _get(data: Mapping, name: str) -> object:
    """A field by its JSON name (``traceId``) or its protobuf name (``trace_id``)."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return data.get(name, data.get(snake))


def _spans(record: Record) -> Iterator[Span]:
    for resource_spans in _get(record.data, "resourceSpans") or []:
        resource = attributes_of((resource_spans.get("resource") or {}).get("attributes"))
        for scope in _get(resource_spans, "scopeSpans") or _get(resource_spans, "instrumentationLibrarySpans") or []:
            for span in scope.get("spans") or []:
                parent = id_text(_get(span, "parentSpanId"))
                yield Span(record.row, id_text(_get(span, "spanId")), id_text(_get(span, "traceId")), None if parent in NO_PARENT else parent,
                           as_text(span.get("name")), _get(span, "startTimeUnixNano"), _get(span, "endTimeUnixNano"),
                           {**resource, **attributes_of(span.get("attributes"))})


def attributes_of(pairs: object) -> dict[str, object]:
    """A list of OTLP key-value pairs as flat attributes."""
    flat: dict[str, object] = {}
    for pair in pairs or []:
        flat |= flatten(any_value(pair.get("value")), str(pair.get("key")))
    return flat


def any_value(value: object) -> object:
    """An OTLP AnyValue as a Python value; integers never pass through a float."""
    if not isinstance(value, Mapping) or not value:
        return None
    kind, content = next(iter(value.items()))
    if kind in ("intValue", "int_value"):
        return int(content)
    if kind in ("doubleValue", "double_value"):
        return float(content)
    if kind in ("arrayValue", "array_value"):
        return [any_value(part) for part in content.get("values") or []]
    if kind in ("kvlistValue", "kvlist_value"):
        return {str(part.get("key")): any_value(part.get("value")) for part in content.get("values") or []}
    return content
