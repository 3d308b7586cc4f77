"""Which retrievals may have been the source of an action whose source was not logged."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolkit.lineage.coded import Coded, encode
from toolkit.lineage.tables import Log, column

MAX_PAIRS = 5_000_000  # above this, candidates are not enumerated: every retrieval stays possible


class TooManyPairs(Exception):
    """More pairs than are worth enumerating; callers fall back to wider bounds."""


def candidate_pairs(log: Log, actions: np.ndarray, *, consumes: bool, assumptions: tuple = ()) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (action row, retrieval row) that the log and the assumptions do not exclude.

    A retrieval stays possible when its returned list holds the consumed asset, when its list is not
    logged or may have been cut, or when the consumed asset is not logged.

    Parameters
    ----------
    actions : ndarray of int
        Rows of actions without a logged source.
    consumes : bool
        Whether the action must use an asset of the list.

    Raises
    ------
    TooManyPairs
        Above ``MAX_PAIRS``.
    """
    coded = encode(log)
    open_rows = np.flatnonzero(~coded.returned.known | coded.cut) if consumes else np.arange(coded.n)
    wild = actions[(coded.consumed[actions] < 0) | (not consumes)]
    named = actions[(coded.consumed[actions] >= 0) & consumes]
    pieces = [_cross(wild, np.arange(coded.n)), _cross(named, open_rows), _by_asset(coded, named)]
    pair_action = np.concatenate([piece[0] for piece in pieces])
    pair_row = np.concatenate([piece[1] for piece in pieces])
    for assumption in assumptions:
        allows = getattr(assumption, "allows", None)
        if allows is not None:
            keep = allows(log, pair_action, pair_row)
            pair_action, pair_row = pair_action[keep], pair_row[keep]
    return pair_action, pair_row


def _cross(actions: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of two sets."""
    if len(actions) * len(rows) > MAX_PAIRS:
        raise TooManyPairs(f"{len(actions):,} actions without a source and {len(rows):,} retrievals")
    return np.repeat(actions, len(rows)), np.tile(rows, len(actions))


def _by_asset(coded: Coded, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of actions with the complete lists that hold their consumed asset."""
    rows, assets = coded.listed.row, coded.listed.asset
    whole = ~coded.cut[rows] if len(rows) else np.zeros(0, dtype=bool)
    rows, assets = rows[whole], assets[whole]
    order = np.argsort(assets, kind="stable")
    rows, assets = rows[order], assets[order]
    start = np.searchsorted(assets, coded.consumed[actions], side="left")
    stop = np.searchsorted(assets, coded.consumed[actions], side="right")
    counts = stop - start
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(actions, counts), rows[np.repeat(start, counts) + within]


def codes(log: Log, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes of one column on retrievals and actions together; -1 for null."""
    cached = log._cache.get(("codes", name))
    if cached is None:
        ours, theirs = column(log.retrievals, name), column(log.actions, name)
        both = pd.factorize(np.concatenate([ours.to_numpy(dtype=object), theirs.to_numpy(dtype=object)]))[0]
        cached = log._cache[("codes", name)] = (both[:len(ours)], both[len(ours):])
    return cached


def compatible(log: Log, name: str, pair_action: np.ndarray, pair_row: np.ndarray) -> np.ndarray:
    """Pairs whose values of a column are equal, or not both logged."""
    ours, theirs = codes(log, name)
    left, right = ours[pair_row], theirs[pair_action]
    return (left < 0) | (right < 0) | (left == right)
