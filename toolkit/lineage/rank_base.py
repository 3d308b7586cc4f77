"""Rank reconciliation (ours): the logged position against the index in the returned list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.coded import encode
from toolkit.lineage.results import card
from toolkit.lineage.tables import Log, column, is_list

# Name -> logged position expected for an index that starts at 0.
BASES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "index + 1": lambda index: index + 1,
    "index": lambda index: index,
    "max(1, index)": lambda index: np.maximum(1, index),
}
MIN_PERIOD = 5  # pairs a period needs before a switch is believed
MIN_GAIN = 3  # more pairs a switch must explain than one base for the whole log


@dataclass(frozen=True)
class RankReconciliation:
    """How logged positions relate to list positions.

    Attributes
    ----------
    table : DataFrame
        period, start, end, base, agree, n, definition; two periods where the base changes.
    pairs : DataFrame
        action_id, time, retrieval_id, position (logged), list_index (from 0), and one boolean per base.
    switch : Timestamp or None
        Time of the first pair logged in the second base.
    duplicates : DataFrame
        retrieval_id, asset_id, times: assets that a returned list holds more than once (the first place counts).
    off_list : int
        Positions logged for an asset that its source did not return.
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    switch: pd.Timestamp | None
    duplicates: pd.DataFrame
    off_list: int

    def to_frame(self) -> pd.DataFrame:
        """The periods."""
        return self.table

    def summary(self) -> str:
        """Base and switch in words."""
        parts = [f"{row.base} for {row.agree} of {row.n}" + (f" from {row.start:%Y-%m-%d %H:%M}" if self.switch is not None else "")
                 for row in self.table.itertuples()]
        return ("logged position = " + "; then ".join(parts) if parts else "no logged position can be compared") + (
            f"; {self.off_list} off the list; {len(self.duplicates)} assets repeated in a list")

    def _repr_html_(self) -> str:
        return card("Rank reconciliation", self.summary(), self.table)


def reconcile_ranks(log: Log) -> RankReconciliation:
    """Find the base of the logged positions, the time it changed, and repeated assets.

    A change is reported when two periods explain at least ``MIN_GAIN`` pairs more than any one base.
    """
    log = Log.of(log)
    coded = encode(log)
    logged = pd.to_numeric(column(log.actions, "position"), errors="coerce")
    item = logged.notna().to_numpy() & (coded.consumed >= 0) & (coded.source >= 0)
    use = item & (coded.position > 0)
    times = pd.to_datetime(column(log.actions, "time"), utc=True)
    pairs = pd.DataFrame({"action_id": log.actions["action_id"].to_numpy()[use], "time": times.array[use],
                          "retrieval_id": column(log.actions, "source_retrieval_id").to_numpy()[use],
                          "position": logged.to_numpy()[use], "list_index": coded.position[use] - 1})
    pairs = pairs.sort_values("time", kind="stable", ignore_index=True)
    for name, expected in BASES.items():
        pairs[name] = expected(pairs["list_index"].to_numpy()) == pairs["position"].to_numpy()
    table, switch = _periods(pairs)
    return RankReconciliation(table, pairs, switch, _duplicates(log), int((coded.in_list[item] == 0).sum()))


def _periods(pairs: pd.DataFrame) -> tuple[pd.DataFrame, pd.Timestamp | None]:
    """One period, or two where that explains clearly more pairs."""
    if pairs.empty:
        return pd.DataFrame(columns=["period", "start", "end", "base", "agree", "n", "definition"]), None
    names = list(BASES)
    agree = pairs[names].to_numpy(dtype=np.int64)
    before = np.vstack([np.zeros(len(names), dtype=np.int64), agree.cumsum(axis=0)])
    after = before[-1] - before
    total = before.max(axis=1) + after.max(axis=1)
    allowed, pause = _allowed(pairs)
    total = np.where(allowed, total, -1)
    cut = int(np.where(total == total.max(), pause, -1).argmax())  # of equal cuts the one at the longest pause
    if total[cut] < before[-1].max() + MIN_GAIN or before[cut].argmax() == after[cut].argmax():
        return pd.DataFrame([_period(1, pairs, agree, names)]), None
    rows = [_period(1, pairs[:cut], agree[:cut], names), _period(2, pairs[cut:], agree[cut:], names)]
    return pd.DataFrame(rows), pairs["time"].iloc[cut]


def _allowed(pairs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Where a switch may be (between different known times, enough pairs on both sides) and the pause there; shape (pairs + 1,)."""
    n = len(pairs)
    pause = np.zeros(n + 1)
    pause[1:n] = pairs["time"].diff().dt.total_seconds().fillna(0).to_numpy()[1:]
    allowed = pause > 0
    allowed[:MIN_PERIOD] = False
    allowed[max(n - MIN_PERIOD + 1, 0):] = False
    return allowed, pause


def _period(number: int, pairs: pd.DataFrame, agree: np.ndarray, names: list[str]) -> dict[str, object]:
    """Best base of one period; the plainer of two that explain the same."""
    base = names[int(agree.sum(axis=0).argmax())]
    return {"period": number, "start": pairs["time"].iloc[0], "end": pairs["time"].iloc[-1], "base": base,
            "agree": int(agree.sum(axis=0).max()), "n": len(pairs), "definition": "pairs whose logged position follows the base / pairs found in their list"}


def _duplicates(log: Log) -> pd.DataFrame:
    """Assets that one returned list holds more than once."""
    rows = [(owner, asset, items.count(asset)) for owner, value in zip(log.retrievals["retrieval_id"], column(log.retrievals, "returned_asset_ids"))
            if is_list(value) and len(set(items := list(value))) < len(items) for asset in dict.fromkeys(items) if items.count(asset) > 1]
    return pd.DataFrame(rows, columns=["retrieval_id", "asset_id", "times"])
