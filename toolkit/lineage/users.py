"""Heavy steps of attribution as pure functions ``pyarrow.Table -> pyarrow.Table`` for a set of whole users.

All rows of a user (or session: ``key``) are in one table; which users share a table, and in which order, changes nothing. So
the same function runs on one machine over pieces (:func:`run_by_user`) and on a cluster
(:func:`toolkit.lineage.spark.by_user`). Times are integer milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from toolkit.lineage.inherit import inherit_sources

if TYPE_CHECKING:
    import pyarrow as pa

Step = Callable[["pa.Table"], "pa.Table"]
TOUCH, OUTCOME = "touch", "outcome"
RULES = ("first_touch", "last_touch", "any_touch", "time_window")


def credit_touches(table: pa.Table, rule: str = "last_touch", window_ms: int = 1_800_000) -> pa.Table:
    """Credits of the outcomes of whole users by a session rule.

    Parameters
    ----------
    table : pyarrow.Table
        ``key`` (user or session, string), ``kind`` ("touch" or "outcome"), ``id`` (retrieval_id or action_id) and ``time_ms``
        (int64). Rows with a null key are credited nothing; with a null time only ``any_touch`` credits them.
    rule : {"first_touch", "last_touch", "any_touch", "time_window"}
        As in :data:`toolkit.lineage.attribution.RULES`.
    window_ms : int
        Length of the time window.

    Returns
    -------
    pyarrow.Table
        action_id, retrieval_id: one row per credit. Of touches at one time the last by retrieval_id counts as the later.
    """
    if rule not in RULES:
        raise ValueError(f"credit_touches: rule {rule!r}; expected one of {RULES}")
    key, touch, ids, when, timed = _columns(table)
    if rule == "any_touch":
        return _credits(ids, *_all_pairs(key, touch))
    keep = np.flatnonzero(timed)
    order = keep[np.lexsort((~touch[keep], when[keep], key[keep]))]  # at one time the touch comes before the outcome
    key, touch, when = key[order], touch[order], when[order]
    found = _first(key, touch) if rule == "first_touch" else np.maximum.accumulate(np.where(touch, np.arange(len(key)), -1))
    hit = ~touch & (found >= 0)
    hit[hit] = key[found[hit]] == key[hit]
    if rule == "time_window":
        hit[hit] = when[hit] - when[found[hit]] <= window_ms
    return _credits(ids, order[hit], order[found[hit]])


def _columns(table: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Codes of the keys, whether a touch, ids, times, whether timed: rows with a key, ordered by id so that ties have one order."""
    import pyarrow.compute as pc

    table = table.filter(pc.is_valid(table["key"])).sort_by("id").combine_chunks()
    key = pc.rank(table["key"], tiebreaker="dense") if len(table) else np.empty(0)
    timed = pc.is_valid(table["time_ms"])
    return (np.asarray(key, dtype=np.int64), np.asarray(pc.equal(table["kind"], TOUCH)), table["id"],
            np.asarray(pc.fill_null(table["time_ms"], 0), dtype=np.int64), np.asarray(timed))


def _first(key: np.ndarray, touch: np.ndarray) -> np.ndarray:
    """Row of the first touch of each row's key if it is not later, else -1; rows are in order of key and time."""
    starts = np.flatnonzero(touch)
    _, first = np.unique(key[starts], return_index=True)
    of_key = np.full(int(key.max(initial=-1)) + 1, -1)
    of_key[key[starts[first]]] = starts[first]
    found = of_key[key]
    return np.where(found <= np.arange(len(key)), found, -1)


def _all_pairs(key: np.ndarray, touch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each outcome with every touch of its key."""
    outcomes, touches = np.flatnonzero(~touch), np.flatnonzero(touch)
    touches = touches[np.argsort(key[touches], kind="stable")]
    low, high = (np.searchsorted(key[touches], key[outcomes], side=side) for side in ("left", "right"))
    counts = high - low
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(outcomes, counts), touches[np.repeat(low, counts) + within]


def _credits(ids: pa.ChunkedArray, outcomes: np.ndarray, touches: np.ndarray) -> pa.Table:
    import pyarrow as pa

    return pa.table({"action_id": ids.take(pa.array(outcomes)), "retrieval_id": ids.take(pa.array(touches))},
                    schema=pa.schema({"action_id": pa.string(), "retrieval_id": pa.string()}))


def inherit_user_sources(table: pa.Table) -> pa.Table:
    """Sources of actions on placed copies, for whole users: chains of copies stay within a user's actions.

    Parameters
    ----------
    table : pyarrow.Table
        Actions as for :func:`toolkit.lineage.inherit_sources`; other columns are left out.

    Returns
    -------
    pyarrow.Table
        action_id, source_retrieval_id (filled where a placement gives it), problem (null, "broken chain", "cycle" or
        "overwrite"), in the order of the input.
    """
    import pyarrow as pa

    names = ["action_id", "action", "placed_id", "consumed_asset_id", "source_retrieval_id"]
    found = inherit_sources(table.select([name for name in names if name in table.column_names]).to_pandas())
    problem = found.table["action_id"].map(found.problems.set_index("action_id")["problem"])
    source = found.table["source_retrieval_id"]
    return pa.table({"action_id": pa.array(found.table["action_id"], pa.string(), from_pandas=True),
                     "source_retrieval_id": pa.array(source.astype(object), pa.string(), from_pandas=True),
                     "problem": pa.array(problem.astype(object), pa.string(), from_pandas=True)})


def whole_users(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[pa.Table]:
    """Pieces that hold whole users, from batches in order of the key; a user larger than a batch gets a piece of its own."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        last = batch.column(key)[-1]
        cut = _start_of(batch.column(key), last)
        if cut:
            yield pa.Table.from_batches([*held, batch.slice(0, cut)])
            held = [batch.slice(cut)]
        elif held and held[-1].column(key)[-1] != last:
            yield pa.Table.from_batches(held)
            held = [batch]
        else:
            held.append(batch)
    if held:
        yield pa.Table.from_batches(held)


def _start_of(keys: pa.Array, last: pa.Scalar) -> int:
    """First row of the last key of an ordered column."""
    import pyarrow.compute as pc

    same = pc.fill_null(pc.equal(keys, last), False) if last.is_valid else pc.is_null(keys)
    return int(pc.index(same, True).as_py())


def run_by_user(batches: Iterable[pa.RecordBatch], step: Step, key: str) -> Iterator[pa.Table]:
    """A step over the pieces of a stream in order of its key: memory is that of one piece."""
    for piece in whole_users(batches, key):
        yield step(piece)
