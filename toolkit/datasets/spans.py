"""Spans of agent traces to log tables: what is common to OpenInference and OTLP."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolkit.datasets.log_tables import LogTables, build, empty, id_text
from toolkit.datasets.report import ReadReport
from toolkit.datasets.text import as_text
from toolkit.datasets.textified import plain
from toolkit.tables import ACTIONS, PROMPTS, RETRIEVALS

_DOCUMENT = re.compile(r"(?:^|\.)retrieval\.documents\.(\d+)(?:\.(.+))?$")
_ID_FIELDS = ("document.id", "id")
_LINKS = ("ubi.query_id", "query_id", "metadata.query_id", "metadata.ubi_query_id")
_ROLES = ("retrieval.role", "lara.role", "metadata.role")
RETRIEVAL_EXTRA = {"producer": "text", "span_name": "text", "query_id": "text", "list_cut": "boolean"}
PROMPT_EXTRA = {"producer": "text", "request_id": "text"}


@dataclass(frozen=True)
class Span:
    """One span with flat attributes (dotted keys); times as logged."""

    row: int
    span_id: str | None
    trace_id: str | None
    parent_id: str | None
    name: str | None
    start: object
    end: object
    attributes: Mapping[str, object]
    cut: bool = False

    @property
    def kind(self) -> str:
        """OpenInference kind, upper case; empty where unknown."""
        return str(self.attributes.get("openinference.span.kind") or "").upper()

    def text(self, *names: str) -> str | None:
        """The first of these attributes that is there, as text."""
        return next((as_text(self.attributes[name]) for name in names if self.attributes.get(name) not in (None, "")), None)


def flatten(value: object, prefix: str = "") -> dict[str, object]:
    """Nested mappings and lists to dotted keys; nulls are left out, empty lists and lists of scalars kept."""
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, (list, tuple)) and any(isinstance(part, (Mapping, list, tuple)) for part in value):
        parts = enumerate(value)
    else:
        return {} if value is None else {prefix: value}
    flat: dict[str, object] = {}
    for key, part in parts:
        flat |= flatten(part, f"{prefix}.{key}" if prefix else str(key))
    return flat


def documents(span: Span, report: ReadReport) -> tuple[list[str] | None, bool]:
    """The span's returned ids in numeric order of their index, and whether the list was cut off.

    None means that no list was logged. Flattened attributes cannot say "empty": then an
    ``output.value`` that is an empty list does.
    """
    attributes, cut = dict(span.attributes), span.cut
    whole, cut_here = plain(attributes.get("retrieval.documents"))
    if isinstance(whole, (list, tuple)):
        del attributes["retrieval.documents"]
        cut |= cut_here
        if not whole:
            return [], cut
        parts = [part if isinstance(part, Mapping) else {"id": part} for part in (plain(item)[0] for item in whole)]
        attributes |= flatten(parts, "retrieval.documents")
    found: dict[int, dict[str, object]] = {}
    for key, value in attributes.items():
        match = _DOCUMENT.search(key)
        if match:
            found.setdefault(int(match[1]), {})[match[2] or "id"] = value
    if not found:
        output = plain(attributes.get("output.value"))[0]
        return ([] if output == [] or output == {"documents": []} else None), cut
    return _ordered_ids(span, found, report), cut


def _ordered_ids(span: Span, found: Mapping[int, Mapping[str, object]], report: ReadReport) -> list[str]:
    indices = sorted(found)
    if indices != list(range(len(indices))):
        report.note("noted", "document indices have gaps (kept in numeric order)", row=span.row, value=indices[:12])
    ids = []
    for index in indices:
        value = next((id_text(found[index][name]) for name in _ID_FIELDS if id_text(found[index].get(name)) is not None), None)
        if value is None:
            # A stand-in keeps the list's length and positions and equals no other id.
            report.note("noted", "returned document without an id (a stand-in is put in its place)", row=span.row)
            value = f"{span.span_id}#{index}"
        ids.append(value)
    return ids


def tables_of(spans: Iterable[Span], report: ReadReport) -> LogTables:
    """Prompts (root spans) and retrievals (retriever spans) of traces.

    Every span counts as read. Spans exported again and retriever spans inside a retriever span that has
    its own list are folded; spans of other kinds are set aside.
    """
    by_id = _unique(spans, report)
    lists = {span_id: documents(span, report) for span_id, span in by_id.items() if _is_retriever(span)}
    context = _Context(by_id, _roots(by_id, report))
    wrappers = {above.span_id for span_id, (ids, _) in lists.items() if ids is not None for above in context.above(by_id[span_id])}
    prompts, retrievals = [], []
    for span in by_id.values():
        if span.span_id in lists:
            reason = _carried_by_another(span, lists, context, wrappers)
            if reason is None:
                retrievals.append(_retrieval(span, lists[span.span_id], context, report))
            else:
                report.note("folded", reason, row=span.row, value=span.span_id)
        elif context.roots.get(span.trace_id) is span:
            prompts.append(_prompt(span, context))
        else:
            report.note("set_aside", f"span of kind {span.kind or 'unknown'}: neither a prompt nor a returned list", row=span.row, value=span.name)
    report.kept += len(prompts) + len(retrievals)
    return LogTables(build(PROMPTS, prompts, report, PROMPT_EXTRA), build(RETRIEVALS, retrievals, report, RETRIEVAL_EXTRA),
                     empty(ACTIONS, report), report.check())


def _carried_by_another(span: Span, lists: Mapping[str, tuple], context: _Context, wrappers: set[str]) -> str | None:
    """Of nested retriever spans the outermost with a list is the retrieval; why this one is not, or None."""
    if any(lists.get(above.span_id, (None, False))[0] is not None for above in context.above(span)):
        return "retriever span inside a retriever span that has its list"
    if lists[span.span_id][0] is None and span.span_id in wrappers:
        return "retriever span without a list around one that has it"
    return None


def _is_retriever(span: Span) -> bool:
    return span.kind == "RETRIEVER" or any(_DOCUMENT.search(key) or key == "retrieval.documents" for key in span.attributes)


def _unique(spans: Iterable[Span], report: ReadReport) -> dict[str, Span]:
    """Spans by id; of a span exported again the richest stays, among equals the last."""
    by_id: dict[str, Span] = {}
    for span in spans:
        report.read += 1
        if span.span_id is None:
            report.note("set_aside", "span without a span id", row=span.row, value=span.name)
            continue
        before = by_id.get(span.span_id)
        if before is not None:
            report.note("folded", "span exported again (the richest is kept)", row=span.row, value=span.span_id)
        if before is None or _richness(span) >= _richness(before):
            by_id[span.span_id] = span
    return by_id


def _richness(span: Span) -> tuple[bool, int]:
    return span.end is not None, len(span.attributes)


def _roots(by_id: Mapping[str, Span], report: ReadReport) -> dict[str | None, Span]:
    """Trace id -> its root span; traces whose root is not in the log have none."""
    roots: dict[str | None, Span] = {}
    for span in by_id.values():
        if span.parent_id is None:
            if span.trace_id in roots:
                report.note("noted", "second root span in a trace (the first is its prompt)", row=span.row, value=span.span_id)
            roots.setdefault(span.trace_id, span)
        elif span.parent_id not in by_id:
            report.note("noted", "orphan span: its parent is not in the log", row=span.row, value=span.span_id)
    return roots


class _Context:
    """What a span inherits: ancestors, the trace's root, session and user."""

    def __init__(self, by_id: Mapping[str, Span], roots: Mapping[str | None, Span]) -> None:
        self.by_id, self.roots = by_id, roots
        self.of_trace: dict[tuple[str | None, str], set[str]] = {}
        for span in by_id.values():
            for name in ("session.id", "user.id"):
                if span.text(name):
                    self.of_trace.setdefault((span.trace_id, name), set()).add(span.text(name))

    def above(self, span: Span) -> list[Span]:
        """Ancestors from the parent up; a cycle ends the walk."""
        chain: list[Span] = []
        seen = {span.span_id}
        while span.parent_id in self.by_id and span.parent_id not in seen:
            span = self.by_id[span.parent_id]
            seen.add(span.span_id)
            chain.append(span)
        return chain

    def inherited(self, span: Span, name: str) -> str | None:
        """The attribute of the span, its nearest ancestor, or the only value in its trace."""
        for near in (span, *self.above(span)):
            if near.text(name):
                return near.text(name)
        values = self.of_trace.get((span.trace_id, name), set())
        return next(iter(values)) if len(values) == 1 else None


def _retrieval(span: Span, listed: tuple[list[str] | None, bool], context: _Context, report: ReadReport) -> dict:
    root = context.roots.get(span.trace_id)
    if listed[0] is None:
        report.note("noted", "retriever span without a list (unknown, not empty)", row=span.row, value=span.span_id)
    return {"retrieval_id": span.span_id, "request_id": span.trace_id, "time": span.start, "query": _query(span),
            "prompt_id": root.span_id if root is not None and not _is_retriever(root) else None,
            "session_id": context.inherited(span, "session.id"), "user_id": context.inherited(span, "user.id"),
            "role": span.text(*_ROLES), "returned_asset_ids": listed[0], "list_cut": listed[1], "span_name": span.name,
            "producer": span.text("service.name"), "query_id": next((id_text(span.attributes[n]) for n in _LINKS if n in span.attributes), None)}


def _query(span: Span) -> str | None:
    """The input as text; of a JSON object its query."""
    text = span.text("input.value", "retrieval.query", "query")
    value = plain(text)[0]
    if isinstance(value, Mapping):
        return next((value[name] for name in ("query", "input", "question", "search_query") if isinstance(value.get(name), str)), text)
    return text


def _prompt(span: Span, context: _Context) -> dict:
    return {"prompt_id": span.span_id, "request_id": span.trace_id, "time": span.start, "text": span.text("input.value"),
            "session_id": context.inherited(span, "session.id"), "user_id": context.inherited(span, "user.id"),
            "entry_point": span.text("metadata.entry_point", "entry_point"), "producer": span.text("service.name")}
