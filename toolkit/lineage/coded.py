"""A log as integer codes: what every count of this room is made on.

Ids become row numbers and lists become (retrieval, asset, position) pairs, so that each flag of a
retrieval is one ``exists`` over actions: the same relational statement runs as SQL on larger logs.
Conditions on an action are three-valued: 1 true, 0 false, -1 the log does not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from toolkit.lineage.definitions import AGENT, USER
from toolkit.lineage.tables import Log, column, is_list

UNKNOWN, DANGLING = -1, -2  # a source that is not logged; a logged source that is no retrieval of this log


@dataclass(frozen=True)
class Pairs:
    """Lists of all retrievals: ``key`` = retrieval * assets + asset, sorted and unique, with the first position (from 1)."""

    key: np.ndarray
    position: np.ndarray
    known: np.ndarray
    size: np.ndarray
    assets: int

    @property
    def row(self) -> np.ndarray:
        """Retrieval of each pair."""
        return self.key // self.assets

    @property
    def asset(self) -> np.ndarray:
        """Asset of each pair."""
        return self.key % self.assets

    def find(self, rows: np.ndarray, assets: np.ndarray) -> np.ndarray:
        """Position of each asset in the list of each row, 0 where absent."""
        if not len(self.key):
            return np.zeros(len(rows), dtype=np.int64)
        wanted = rows * self.assets + assets
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where((self.key[at] == wanted) & (rows >= 0) & (assets >= 0), self.position[at], 0)


@dataclass(frozen=True)
class Coded:
    """Arrays over retrievals (length n) and actions (length m).

    Attributes
    ----------
    n, m : int
    returned, shown, listed : Pairs
        Returned and displayed lists; returned by any execution (the retrieval's own list decides the position).
    cut : ndarray of bool, shape (n,)
        The returned list may have been cut.
    displayed : ndarray of int8, shape (n,)
        1, 0 or -1 (not logged).
    source, expected : ndarray of int, shape (m,)
        Row of the retrieval, UNKNOWN (null) or DANGLING.
    consumed : ndarray of int, shape (m,)
        Asset code or -1.
    actor : ndarray of int8, shape (m,)
        1 user, 0 agent, -1 not logged.
    same_request, in_list, was_shown : ndarray of int8, shape (m,)
        Conditions on (action, its source); -1 where not known (also where the source is not).
    position : ndarray of int, shape (m,)
        Position of the consumed asset in its source's list, from 1; 0 where unknown or absent.
    action : ndarray of object, shape (m,)
    retry_of : ndarray of int, shape (n,)
    names : Index
        Asset id of each asset code.
    """

    n: int
    m: int
    returned: Pairs
    shown: Pairs
    listed: Pairs
    cut: np.ndarray
    displayed: np.ndarray
    source: np.ndarray
    expected: np.ndarray
    consumed: np.ndarray
    actor: np.ndarray
    same_request: np.ndarray
    in_list: np.ndarray
    was_shown: np.ndarray
    position: np.ndarray
    action: np.ndarray
    retry_of: np.ndarray
    names: pd.Index


def encode(log: Log) -> Coded:
    """Codes of a log, computed once per Log."""
    if "coded" not in log._cache:
        log._cache["coded"] = _encode(log)
    return log._cache["coded"]


def _encode(log: Log) -> Coded:
    retrievals, actions = log.retrievals, log.actions
    index = pd.Index(_objects(retrievals, "retrieval_id"))
    source = link(index, _objects(actions, "source_retrieval_id"))
    returned, shown, listed, consumed, names = _assets(log, index)
    cut = three_valued(column(retrievals, "list_cut")) == 1
    if log.list_limit is not None:
        cut |= returned.known & (returned.size >= log.list_limit)
    position = listed.find(source, consumed)
    actor = _actor(_objects(actions, "actor"))
    displayed = three_valued(column(retrievals, "displayed"))
    return Coded(
        n=len(index), m=len(actions), returned=returned, shown=shown, listed=listed, cut=cut, displayed=displayed, source=source,
        expected=link(index, _objects(actions, "expected_retrieval_id")), consumed=consumed, actor=actor,
        same_request=_same(_objects(retrievals, "request_id"), _objects(actions, "request_id"), source),
        in_list=_in_list(returned, cut, source, consumed, position),
        was_shown=_was_shown(displayed, shown, source, consumed), position=position,
        action=_objects(actions, "action"), retry_of=link(index, _objects(retrievals, "retry_of")), names=names)


def _objects(frame: pd.DataFrame, name: str) -> np.ndarray:
    """A column as an object array with None for every kind of null."""
    values = column(frame, name)
    array = values.to_numpy(dtype=object, copy=True)
    array[values.isna().to_numpy()] = None
    return array


def link(index: pd.Index, values: np.ndarray) -> np.ndarray:
    """Row of each id in ``index``; UNKNOWN for null, DANGLING for an id that is not there."""
    found = index.get_indexer(pd.Index(values, dtype=object)) if len(values) else np.empty(0, dtype=np.int64)
    null = np.array([value is None for value in values], dtype=bool)
    return np.where(null, UNKNOWN, np.where(found < 0, DANGLING, found)).astype(np.int64)


def three_valued(values: pd.Series) -> np.ndarray:
    """1, 0, or -1 for null, from a boolean column of any dtype; a text such as "no" is neither and raises."""
    null = values.isna().to_numpy()
    other = [value for value in values[~null].unique() if value not in (True, False)]
    if other:
        raise ValueError(f"{values.name}: value {other[0]!r}; expected True, False or null; convert the column first")
    return np.where(null, -1, values.where(~null, False).astype(bool).to_numpy()).astype(np.int8)


def _actor(names: np.ndarray) -> np.ndarray:
    """1 for the user, 0 for the agent, -1 for null; any other name is neither and raises."""
    codes = np.full(len(names), -1, dtype=np.int8)
    codes[names == USER] = 1
    codes[names == AGENT] = 0
    other = {name for name in names[codes < 0] if name is not None}
    if other:
        raise ValueError(f"actions: actor {sorted(other)[0]!r}; expected 'user', 'agent' or null")
    return codes


def _assets(log: Log, index: pd.Index) -> tuple[Pairs, Pairs, Pairs, np.ndarray, pd.Index]:
    """Returned, displayed and ever executed lists and the consumed assets, on one set of asset codes, and the codes' ids."""
    lists = [list(column(log.retrievals, name)) for name in ("returned_asset_ids", "displayed_asset_ids")]
    lists.append([] if log.executions is None else list(column(log.executions, "returned_asset_ids")))
    flat = [list(chain.from_iterable(value for value in values if is_list(value))) for values in lists]
    codes, names = pd.factorize(np.array([*flat[0], *flat[1], *flat[2], *_objects(log.actions, "consumed_asset_id")], dtype=object))
    cuts = np.cumsum([len(values) for values in flat])
    returned, shown, executed, consumed = np.split(codes.astype(np.int64), cuts)
    own = _pairs(lists[0], returned, len(names))
    listed = own if log.executions is None else _with_executions(own, _pairs(lists[2], executed, len(names)), log.executions, index)
    return own, _pairs(lists[1], shown, len(names)), listed, consumed, pd.Index(names, dtype=object)


def _with_executions(own: Pairs, executed: Pairs, executions: pd.DataFrame, index: pd.Index) -> Pairs:
    """The own lists and, after them, what other executions of the same id returned."""
    owner = index.get_indexer(_objects(executions, "retrieval_id"))[executed.row].astype(np.int64)
    key = np.concatenate([own.key, (owner * own.assets + executed.asset)[owner >= 0]])
    position = np.concatenate([own.position, executed.position[owner >= 0]])
    key, first = np.unique(key, return_index=True)
    return Pairs(key, position[first], own.known, own.size, own.assets)


def _pairs(lists: list, flat: np.ndarray, assets: int) -> Pairs:
    """Sorted unique pairs; the first position of an asset that a list holds twice."""
    known = np.array([is_list(value) for value in lists], dtype=bool)
    size = np.array([len(value) if is_list(value) else 0 for value in lists], dtype=np.int64)
    row = np.repeat(np.arange(len(lists)), size)
    position = np.arange(len(flat)) - np.repeat(np.cumsum(size) - size, size) + 1
    named = flat >= 0  # a null in a list takes a place and is no asset
    key, first = np.unique((row * max(assets, 1) + flat)[named], return_index=True)  # unique keeps the first occurrence
    return Pairs(key, position[named][first], known, size, max(assets, 1))


def _same(retrieval_values: np.ndarray, action_values: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Whether an action and its source carry the same value; -1 where either is null or the source unknown."""
    codes = pd.factorize(np.concatenate([retrieval_values, action_values]))[0]
    if not len(retrieval_values):
        return np.full(len(source), -1, dtype=np.int8)
    theirs, ours = codes[:len(retrieval_values)][np.maximum(source, 0)], codes[len(retrieval_values):]
    known = (source >= 0) & (ours >= 0) & (theirs >= 0)
    return np.where(known, ours == theirs, -1).astype(np.int8)


def _in_list(returned: Pairs, cut: np.ndarray, source: np.ndarray, consumed: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Whether the consumed asset is in its source's returned list."""
    safe = np.maximum(source, 0)
    if not len(cut):
        return np.full(len(source), -1, dtype=np.int8)
    sure = (source >= 0) & (consumed >= 0) & returned.known[safe]
    absent = sure & (position == 0) & ~cut[safe]
    return np.where(sure & (position > 0), 1, np.where(absent, 0, -1)).astype(np.int8)


def _was_shown(displayed: np.ndarray, shown: Pairs, source: np.ndarray, consumed: np.ndarray) -> np.ndarray:
    """Whether the consumed asset was displayed: no if nothing was; by the displayed list if there is one; else unknown."""
    if not len(displayed):
        return np.full(len(source), -1, dtype=np.int8)
    safe = np.maximum(source, 0)
    listed = shown.find(source, consumed) > 0
    by_list = np.where(consumed < 0, -1, listed)
    result = np.where(shown.known[safe], by_list, -1)
    result = np.where(displayed[safe] == 0, 0, result)
    return np.where(source >= 0, result, -1).astype(np.int8)
