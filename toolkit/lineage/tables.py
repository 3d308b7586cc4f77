"""The log bundle: prompts, retrievals, actions and judgments, with what is known about their gaps.

A log may be incomplete in any optional column; that is no error, it makes metrics intervals
(:mod:`toolkit.lineage.bounding`). An error is only what would make a count wrong: a repeated
retrieval id, a naive timestamp, an id that is not a string.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from toolkit.tables import (ACTIONS, LINEAGE_JUDGMENTS, PROMPTS, RETRIEVALS, Schema, TableError, check)

ROLES = ("find", "browse", "operate_on", "generation_reference", "task_step", "context_dependent")
# Where these are recorded at all, a null says "there is none"; elsewhere null is unknown.
LINKS = ("retry_of", "expected_retrieval_id")


@dataclass(frozen=True)
class Log:
    """The canonical tables of one log, and what is declared about how it was recorded. Its tables are not to be changed.

    Parameters
    ----------
    prompts, retrievals, actions : DataFrame
        As in :mod:`toolkit.tables`; one row per prompt, retrieval and action.
    judgments : DataFrame, optional
        ``retrieval_id`` or ``query``, ``asset_id``, ``grade``.
    list_limit : int, optional
        Returned lists of at least this length may have been cut: an asset absent from one is unknown, not absent. A boolean
        column ``list_cut`` of the retrievals says the same of single lists.
    links : set of str, optional
        Link columns (``retry_of``, ``expected_retrieval_id``) in which a null says "there is none"; in the others null is
        "unknown". None: those columns that hold any value.
    recorded_actions : set of str, optional
        The only action names the product logs; None: every kind would have been logged.
    executions : DataFrame, optional
        retrieval_id, returned_asset_ids (and time) of every execution of the retrievals: an asset of any of an id's lists counts
        as returned by it. Without it, the retrieval's own list is all there is.

    Raises
    ------
    TableError
        On a missing required column, an id that is null or not a string, a repeated id, or a naive time.
    """

    prompts: pd.DataFrame
    retrievals: pd.DataFrame
    actions: pd.DataFrame
    judgments: pd.DataFrame | None = None
    list_limit: int | None = None
    links: frozenset[str] | None = None
    recorded_actions: frozenset[str] | None = None
    executions: pd.DataFrame | None = field(default=None, repr=False)
    _cache: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for frame, schema, key in ((self.prompts, PROMPTS, "prompt_id"), (self.retrievals, RETRIEVALS, "retrieval_id"),
                                   (self.actions, ACTIONS, "action_id")):
            check(frame, schema)
            _check_unique(frame[key], schema, key)
            _check_time(frame, schema)
            _check_references(frame, schema)
        if self.executions is not None:
            _check_references(check(self.executions, RETRIEVALS), RETRIEVALS)
        if self.judgments is not None:
            check(self.judgments, LINEAGE_JUDGMENTS)
            if not {"retrieval_id", "query"} & set(self.judgments.columns):
                raise TableError(f"lineage_judgments: got {list(self.judgments.columns)}; expected retrieval_id or query "
                                 "to say what was judged")
        unknown = set(self.links or ()) - set(LINKS)
        if unknown:
            raise TableError(f"Log: links names {sorted(unknown)}; expected some of {LINKS}")

    @classmethod
    def of(cls, source: Any, *, judgments: pd.DataFrame | None = None, **declarations: Any) -> Log:
        """A Log from anything with ``.prompts``, ``.retrievals``, ``.actions`` (and ``.executions``); a Log is returned as it is."""
        if isinstance(source, cls):
            return source if judgments is None and not declarations else replace(
                source, judgments=source.judgments if judgments is None else judgments, **declarations)
        judgments = getattr(source, "judgments", None) if judgments is None else judgments
        declarations.setdefault("executions", getattr(source, "executions", None))
        try:
            return cls(source.prompts, source.retrievals, source.actions, judgments, **declarations)
        except AttributeError as error:
            raise TableError(f"Log.of: got {type(source).__name__}; expected an object with prompts, retrievals and "
                             f"actions tables ({error})") from error

    def only(self, **values: str) -> Log:
        """The rows whose columns have these values, for example ``log.only(producer="Chorus")``.

        A table without the column stays whole. Raises TableError where no table has it.
        """
        names = ("prompts", "retrievals", "actions", "executions")
        tables = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        for key, value in values.items():
            if not any(key in frame.columns for frame in tables.values()):
                raise TableError(f"Log.only: no table has a column {key!r}; columns of retrievals: {list(self.retrievals.columns)}")
            tables = {name: frame[(frame[key] == value).fillna(False)] if key in frame.columns else frame for name, frame in tables.items()}
        return replace(self, **tables)

    def link_recorded(self, name: str) -> bool:
        """Whether a null in this link column means "there is none" (else it means "unknown")."""
        if self.links is not None:
            return name in self.links
        frame = self.retrievals if name == "retry_of" else self.actions
        return name in frame.columns and bool(frame[name].notna().any())

    def records(self, action: str) -> bool:
        """Whether an action of this name would have been logged."""
        return self.recorded_actions is None or action in self.recorded_actions

    def summary(self) -> str:
        """Sizes in one sentence."""
        judged = "no judgments" if self.judgments is None else f"{len(self.judgments):,} judgments"
        return (f"{len(self.prompts):,} prompts, {len(self.retrievals):,} retrievals, {len(self.actions):,} actions, {judged}")

    def __repr__(self) -> str:
        return f"Log({self.summary()})"


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column, or nulls of the frame's length where the log does not have it."""
    if name in frame.columns:
        return frame[name]
    return pd.Series([None] * len(frame), index=frame.index, dtype=object, name=name)


def empty_prompts() -> pd.DataFrame:
    """A prompts table without rows, for logs that know only retrievals (classic search logs)."""
    return pd.DataFrame({"prompt_id": pd.Series([], dtype="str")})


@dataclass(frozen=True)
class Folded:
    """Retrievals with one row per id, and what was folded.

    Attributes
    ----------
    table : DataFrame
        Retrievals: the first non-empty list, the earliest time and the first text of each id.
    counts : DataFrame
        retrieval_id, executions, empty_executions, texts, lists (distinct non-empty lists).
    """

    table: pd.DataFrame
    counts: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """The folded retrievals."""
        return self.table

    def summary(self) -> str:
        """What was folded, in words."""
        counts = self.counts
        return (f"{int(counts['executions'].sum()):,} executions folded to {len(counts):,} retrievals; "
                f"{int((counts['texts'] > 1).sum())} ids with more than one text, "
                f"{int((counts['lists'] > 1).sum())} with more than one list")


def fold_executions(executions: pd.DataFrame) -> Folded:
    """One row per retrieval_id from a table that has one row per execution (facet, page, retry calls).

    A facet call returns no list: that is not an empty result. So an id is empty only when all of its executions are known to
    have returned nothing, and its list is unknown when one of them did not log its list and no other returned anything.
    """
    check(executions, RETRIEVALS)
    lists = column(executions, "returned_asset_ids")
    sizes = list_sizes(lists)
    order = pd.DataFrame({"id": executions["retrieval_id"].to_numpy(), "size": sizes.to_numpy(), "row": range(len(sizes))})
    if "time" in executions.columns:
        order["time"] = executions["time"].to_numpy()
        order = order.sort_values("time", kind="stable")
    order["rank"] = np.where(order["size"] > 0, 0, np.where(order["size"].isna(), 1, 2))  # an unlogged list may hold something
    best = order.sort_values("rank", kind="stable").drop_duplicates("id").sort_values("row")["row"].to_numpy()
    table = executions.iloc[best].copy()
    first = executions.iloc[order["row"].to_numpy()].groupby("retrieval_id", sort=False)
    for name in ("time", "query"):
        if name in executions.columns:
            table[name] = table["retrieval_id"].map(first[name].first())
    return Folded(table.reset_index(drop=True), _fold_counts(executions, lists, sizes))


def _fold_counts(executions: pd.DataFrame, lists: pd.Series, sizes: pd.Series) -> pd.DataFrame:
    """Executions, empty executions, distinct texts and distinct non-empty lists per retrieval_id."""
    keys = lists.map(lambda items: "\x1f".join(map(str, items)) if is_list(items) and len(items) else None)
    frame = pd.DataFrame({"retrieval_id": executions["retrieval_id"].to_numpy(), "empty": (sizes == 0).to_numpy(),
                          "text": column(executions, "query").to_numpy(), "key": keys.to_numpy()})
    return frame.groupby("retrieval_id", sort=False).agg(
        executions=("empty", "size"), empty_executions=("empty", "sum"), texts=("text", "nunique"),
        lists=("key", "nunique")).reset_index()


def is_list(value: object) -> bool:
    """Whether a cell holds a list of ids (not a null, not one string)."""
    return hasattr(value, "__len__") and not isinstance(value, str)


def list_sizes(lists: pd.Series) -> pd.Series:
    """Length of each list; null where the list is unknown."""
    return pd.Series([len(value) if is_list(value) else None for value in lists], index=lists.index, dtype="float64")


def fill_sessions(log: Log) -> Log:
    """Give a retrieval without a session the session of the actions that carry its id, where it is one only.

    Classic search logs (UBI) write the session on events, not on queries.
    """
    known = log.actions.dropna(subset=[name for name in ("source_retrieval_id", "session_id") if name in log.actions])
    if not {"source_retrieval_id", "session_id"} <= set(known.columns):
        return log
    sessions = known.groupby("source_retrieval_id")["session_id"].agg(["nunique", "first"])
    single = sessions.loc[sessions["nunique"] == 1, "first"]
    retrievals = log.retrievals.copy()
    own = column(retrievals, "session_id").astype("str")
    retrievals["session_id"] = own.where(own.notna(), retrievals["retrieval_id"].map(single).astype("str"))
    return replace(log, retrievals=retrievals)


def _check_unique(values: pd.Series, schema: Schema, key: str) -> None:
    """Rates are over ids: a repeated id would count twice."""
    repeated = values[values.duplicated()]
    if len(repeated):
        advice = "fold executions with fold_executions" if key == "retrieval_id" else "drop the repeated rows"
        raise TableError(f"{schema.name}: {key} {repeated.iloc[0]!r} appears more than once ({len(repeated)} repeated rows); {advice}")


def _check_references(frame: pd.DataFrame, schema: Schema) -> None:
    """Ids that point elsewhere, and lists of ids: what is no string would silently miss its string twin. Nulls are just not logged."""
    for part in schema.columns:
        if part.name not in frame.columns or not (part.kind == "list" or part.name.endswith("_id") or part.name in LINKS):
            continue
        values = frame[part.name].dropna()
        if part.kind == "list":
            text = next((value for value in values if isinstance(value, str)), None)
            if text is not None:
                raise TableError(f"{schema.name}: {part.name} holds the text {text[:60]!r}; expected lists of ids; "
                                 "read exported tables with toolkit.datasets.read_log")
            values = chain.from_iterable(value for value in values if is_list(value))
        elif isinstance(values.dtype, pd.StringDtype):
            continue
        bad = next((value for value in values if not isinstance(value, str) and value is not None and value == value), None)
        if bad is not None:
            raise TableError(f"{schema.name}: {part.name} holds {type(bad).__name__} {bad!r}; expected strings, as ids are everywhere "
                             "('007' is not '7'); convert once and knowingly")


def _check_time(frame: pd.DataFrame, schema: Schema) -> None:
    """Times are timezone-aware, else one machine's local hours are read as another's."""
    if "time" not in frame.columns or not len(frame) or frame["time"].isna().all():
        return
    if not isinstance(frame["time"].dtype, pd.DatetimeTZDtype):
        raise TableError(f"{schema.name}: time has dtype {frame['time'].dtype}; expected timezone-aware UTC, "
                         "for example pd.to_datetime(times, utc=True)")
