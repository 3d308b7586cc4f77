"""Log tables that are canonical already (Parquet, CSV, JSON lines), and the join of traces with events."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from toolkit.datasets.log_files import read_records
from toolkit.datasets.log_tables import LogTables, build, empty, id_text
from toolkit.datasets.report import ReadError, ReadReport
from toolkit.datasets.text import as_text
from toolkit.datasets.textified import plain
from toolkit.tables import ACTIONS, PROMPTS, RETRIEVALS, Schema

SCHEMAS = {"prompts": PROMPTS, "retrievals": RETRIEVALS, "actions": ACTIONS}
_WORDS = {"true": True, "1": True, "t": True, "yes": True, "false": False, "0": False, "f": False, "no": False}


def read_log(folder: str | Path | Mapping[str, str | Path]) -> LogTables:
    """Read canonical log tables.

    Parameters
    ----------
    folder : path, or mapping of str to path
        A folder with ``prompts``, ``retrievals`` and ``actions`` files (``.parquet``, ``.csv``, ``.tsv``, ``.jsonl``;
        gzipped too), or the path of each table. A missing table is empty.

    Returns
    -------
    LogTables
        Columns as in ``toolkit.tables``; further columns of the files are kept as they are. Cells
        that went through a text column are read for what they stood for (``'None'``, Python lists;
        a list cut off by the export keeps its whole leading elements and sets ``list_cut``).

    Raises
    ------
    ReadError
        If there is no table at all, or one lacks its id column.
    """
    paths = {name: Path(path) for name, path in folder.items()} if isinstance(folder, Mapping) else _find(Path(folder))
    unknown = set(paths) - set(SCHEMAS)
    if unknown or not paths:
        raise ReadError(f"read_log: {sorted(unknown) or 'no table'} in {folder}; expected files named prompts, retrievals and actions")
    report = ReadReport(", ".join(path.name for path in paths.values()))
    tables = {name: _read(paths[name], schema, report) if name in paths else empty(schema, report) for name, schema in SCHEMAS.items()}
    return LogTables(tables["prompts"], tables["retrievals"], tables["actions"], report.check())


def _find(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise ReadError(f"read_log: {folder} is not a folder; give a folder with prompts, retrievals and actions files")
    found: dict[str, Path] = {}
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        name = path.name.split(".")[0]
        if name in SCHEMAS and path.name.split(".")[-1] in ("parquet", "csv", "tsv", "jsonl", "ndjson", "json", "gz"):
            if name in found:
                raise ReadError(f"read_log: two files for {name}: {found[name].name} and {path.name}; keep one")
            found[name] = path
    return found


def _read(path: Path, schema: Schema, report: ReadReport) -> pd.DataFrame:
    """One table; rows without an id are set aside, identical rows folded, others of one id set aside."""
    key = schema.columns[0].name
    kinds = {column.name: column.kind for column in schema.columns}
    rows, seen, extra = [], {}, {}
    for record in read_records(path, report, kinds):
        report.read += 1
        row = {name: _value(value, kinds.get(name, "other"), record.row, name, report) for name, value in record.data.items()}
        if record.cut or row.pop("_cut", False):
            row["list_cut"] = True
        if key not in row or row[key] is None:
            report.note("set_aside", f"{schema.name}: no {key}", row=record.row)
        elif row[key] in seen:
            same = seen[row[key]] == row
            report.note("folded" if same else "set_aside", f"{schema.name}: {key} {'logged twice' if same else 'again with other values (the first is kept)'}",
                        row=record.row, value=row[key])
        else:
            seen[row[key]] = row
            rows.append(row)
            extra |= dict.fromkeys(name for name in row if name not in kinds)
    report.kept += len(rows)
    if "list_cut" in extra:
        rows = [{"list_cut": False, **row} for row in rows]
    table = build(schema, rows, report)
    return table.assign(**{name: pd.Series([row.get(name) for row in rows], dtype="boolean" if name == "list_cut" else None) for name in extra})


def _value(value: object, kind: str, row: int, name: str, report: ReadReport) -> object:
    """One cell by its column's kind; what cannot be read becomes null and is noted."""
    if kind in ("id", "text"):
        return id_text(value) if kind == "id" or name.endswith("_id") else as_text(value)
    value = plain(value)[0]
    if value is None or kind in ("time", "other"):
        return value
    try:
        if kind == "list":
            return [text for text in (id_text(part) for part in value) if text is not None] if not isinstance(value, str) else _refuse()
        if kind == "boolean":
            return _WORDS[str(value).casefold().removesuffix(".0")]
        return float(value) if kind == "number" else int(float(value))
    except (KeyError, ValueError, TypeError):
        report.note("noted", f"{name} is no {kind} (null in the table)", row=row, value=value)
        return None


def _refuse() -> list[str]:
    raise ValueError("a text is no list")


def join_traces_and_events(traces: LogTables, events: LogTables) -> LogTables:
    """Retrievals from traces, actions from events: traces know what was returned, events what was used.

    Parameters
    ----------
    traces : LogTables
        For example from :func:`toolkit.datasets.read_openinference`.
    events : LogTables
        For example from :func:`toolkit.datasets.read_ubi`.

    Returns
    -------
    LogTables
        prompts and retrievals of the traces, with the events' own retrievals appended where no trace
        has them; actions of both. An action's logged source is matched, in this order, to a
        retrieval id, to a shared ``query_id`` of a span, to a request (trace) with one retrieval, or to
        the only retrieval of the request whose list has the consumed asset. ``logged_source_id`` keeps what was
        logged, ``source_matched_by`` says how (null: not matched); an ambiguous one has no source.

    Notes
    -----
    The report counts rows of both inputs: an event's retrieval that a trace has too is folded (the
    trace's row stays, nulls are filled from it). No time is used for matching.
    """
    report = ReadReport(f"{traces.report.source} joined with {events.report.source}")
    report.read = sum(len(frame) for tables in (traces, events) for frame in tables)
    match = _Matcher(traces.retrievals)
    own = events.retrievals.assign(_to=[match.by_id(value)[0] for value in events.retrievals["retrieval_id"]])
    shared = own[own["_to"].notna()]
    if len(shared):
        report.note("folded", "retrieval of the events that a trace has too", count=len(shared), value=shared["retrieval_id"].iloc[0])
    retrievals = _append(_filled(traces.retrievals, shared), own[own["_to"].isna()].drop(columns="_to"))
    actions = _append(traces.actions, _matched(events.actions, match, set(retrievals["retrieval_id"]), report))
    prompts = _append(traces.prompts, events.prompts)
    report.kept = len(prompts) + len(retrievals) + len(actions)
    return LogTables(prompts, retrievals, actions, report.check(), events.executions)


class _Matcher:
    """Finds the trace's retrieval for an id that an event logged."""

    def __init__(self, retrievals: pd.DataFrame) -> None:
        self.ids = set(retrievals["retrieval_id"])
        self.lists = dict(zip(retrievals["retrieval_id"], retrievals["returned_asset_ids"]))
        self.groups: list[tuple[str, dict[str, list[str]]]] = []
        for name in ("query_id", "request_id"):
            if name in retrievals:
                known = retrievals[retrievals[name].notna()]
                self.groups.append((name, known.groupby(name)["retrieval_id"].agg(list).to_dict()))

    def by_id(self, logged: str, asset: str | None = None) -> tuple[str | None, str | None]:
        """(retrieval_id, how), or (None, ``ambiguous``), or (None, None)."""
        if logged in self.ids:
            return logged, "retrieval_id"
        for name, group in self.groups:
            found = group.get(logged, [])
            if len(found) == 1:
                return found[0], name
            if found:
                holding = [one for one in found if asset is not None and asset in (self.lists[one] if isinstance(self.lists[one], list) else ())]
                return (holding[0], f"{name} and asset") if len(holding) == 1 else (None, "ambiguous")
        return None, None


def _matched(actions: pd.DataFrame, match: _Matcher, known: set[str], report: ReadReport) -> pd.DataFrame:
    """The events' actions with their sources replaced by the traces' retrieval ids."""
    sources, hows = [], []
    for logged, asset in zip(actions["source_retrieval_id"], actions["consumed_asset_id"]):
        found, how = (None, None) if pd.isna(logged) else match.by_id(logged, None if pd.isna(asset) else asset)
        if how is None and not pd.isna(logged):
            found, how = logged, "retrieval_id" if logged in known else None
        sources.append(found)
        hows.append(None if how == "ambiguous" else how)
        if how == "ambiguous":
            report.note("noted", "action whose source is one of several retrievals of a request (no source)", value=logged)
        elif how is None and found is not None:
            report.note("noted", "action whose source is in neither log", value=logged)
    return actions.assign(logged_source_id=actions["source_retrieval_id"], source_matched_by=pd.Series(hows, dtype="str", index=actions.index),
                          source_retrieval_id=pd.Series(sources, dtype="str", index=actions.index),
                          source_resolves=pd.Series([how is not None for how in hows], dtype="boolean", index=actions.index))


def _filled(retrievals: pd.DataFrame, shared: pd.DataFrame) -> pd.DataFrame:
    """Nulls of the traces' rows filled from the events' rows of the same retrieval."""
    if not len(shared):
        return retrievals
    retrievals = retrievals.copy()
    other = shared.drop_duplicates("_to").set_index("_to")
    for name in ("returned_asset_ids", "query", "session_id", "user_id", "time"):
        missing = retrievals[name].isna() & retrievals["retrieval_id"].isin(other.index)
        if missing.any():
            retrievals.loc[missing, name] = retrievals.loc[missing, "retrieval_id"].map(other[name])
    return retrievals


def _append(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Rows of both; columns of either; ids of the second that the first has are numbered."""
    if not len(second) or not len(first):
        kept, other = (first, second) if len(first) else (second, first)
        return kept.reindex(columns=[*kept.columns, *(name for name in other.columns if name not in kept.columns)]).reset_index(drop=True)
    key = first.columns[0]
    clash = second[key].isin(first[key])
    second = second.assign(**{key: second[key].where(~clash, second[key] + "#events")})
    return pd.concat([first, second], ignore_index=True)
