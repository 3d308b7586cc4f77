"""Readiness audit (ours): which metrics a log can give, which only as intervals, and which field would help most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from toolkit.lineage.bounding import bounds
from toolkit.lineage.coded import encode
from toolkit.lineage.definitions import CORRECT, GOAL_ACTIONS, REJECT, ActiveUse
from toolkit.lineage.needs import FIELD_ROWS, NEEDS
from toolkit.lineage.results import POOLED, card
from toolkit.lineage.tables import Log, column

STATUSES = {"computable": "every field it needs is logged on every row that matters",
            "bounded": "some rows miss a field: an interval narrower than [0, 1], or the rows that have it",
            "not computable": "a field it needs is missing: nothing can be said"}


@dataclass(frozen=True)
class Readiness:
    """What a log can give.

    Attributes
    ----------
    metrics : DataFrame
        metric, layer, status, low, high (where bounds exist), missing (fields, with the share of rows that have them).
    fields : DataFrame
        field, rows (that matter), share (that have it), needed_by (number of metrics), unlocks (metrics that it alone would
        complete), meaning. Best next field first.
    """

    metrics: pd.DataFrame
    fields: pd.DataFrame

    @property
    def table(self) -> pd.DataFrame:
        """The metrics."""
        return self.metrics

    def to_frame(self) -> pd.DataFrame:
        """The metrics."""
        return self.metrics

    @property
    def next_field(self) -> str | None:
        """The one field to log first; None where nothing is missing."""
        return None if self.fields.empty or self.fields["share"].iloc[0] >= 1 else str(self.fields["field"].iloc[0])

    def status(self, metric: str) -> str:
        """Status of one metric."""
        return str(self.metrics.set_index("metric").loc[metric, "status"])

    def summary(self) -> str:
        """Counts and the next field, in words."""
        counts = self.metrics["status"].value_counts()
        text = ", ".join(f"{int(counts.get(name, 0))} {name}" for name in STATUSES)
        if self.next_field is None:
            return f"{text}. Nothing is missing."
        best = self.fields.iloc[0]
        alone = f"it alone would complete {best.unlocks}" if best.unlocks else "it completes none alone"
        return (f"{text}. Log {best.field} first: {best.needed_by} metrics need it, {100 * best.share:.0f} % of {best.rows} rows have it; {alone}.")

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return card("Readiness: metrics", self.summary(), self.metrics) + card("Readiness: fields", "Best next field first.", self.fields)


def readiness(log: Log, use: ActiveUse | None = None) -> Readiness:
    """Audit a log, however incomplete; it raises no error for what is merely missing."""
    log, use = Log.of(log), use or ActiveUse()
    found = {name: _coverage(log, name, use) for name in FIELD_ROWS}
    intervals = _intervals(log, use)
    rows = []
    for metric, (layer, names) in NEEDS.items():
        gaps = [name for name in names if found[name][1] < 1]
        low, high = intervals.get(metric, (np.nan, np.nan))
        rows.append({"metric": metric, "layer": layer, "status": _status([found[name][1] for name in names], low, high), "low": low, "high": high,
                     "missing": ", ".join(f"{name} ({100 * found[name][1]:.0f} %)" for name in gaps)})
    return Readiness(pd.DataFrame(rows), _fields(found))


def _status(shares: list[float], low: float, high: float) -> str:
    """Computable with all fields; else bounded where an interval says something, or (no interval known) where rows remain."""
    if all(share >= 1 for share in shares):
        return "computable"
    if not np.isnan(low):
        return "bounded" if high - low < 1 - 1e-12 else "not computable"
    return "bounded" if all(share > 0 for share in shares) else "not computable"


def _intervals(log: Log, use: ActiveUse) -> dict[str, tuple[float, float]]:
    """Bounds of each metric, where kinds of action never seen count as not recorded."""
    seen = set(log.actions["action"].dropna())
    kinds = (set(use.actions), set(GOAL_ACTIONS), {REJECT}, {CORRECT})
    recorded = log.recorded_actions  # a kind never seen may never be logged
    recorded = frozenset().union(*(kind for kind in kinds if kind & seen)) if recorded is None else recorded
    table = bounds(replace(log, recorded_actions=recorded), use, roles=()).table
    table = table[table["role"] == POOLED]
    return {row.metric: (row.low, row.high) for row in table.itertuples()}


def _fields(found: dict[str, tuple[int, float]]) -> pd.DataFrame:
    """Fields with what they unlock, best next field first."""
    rows = []
    for name, (count, share) in found.items():
        needed = [metric for metric, (_, names) in NEEDS.items() if name in names]
        alone = [metric for metric in needed if share < 1 and all(found[other][1] >= 1 for other in NEEDS[metric][1] if other != name)]
        rows.append({"field": name, "rows": count, "share": share, "needed_by": len(needed), "unlocks": ", ".join(alone), "n_unlocks": len(alone),
                     "meaning": FIELD_ROWS[name]})
    frame = pd.DataFrame(rows)
    frame["complete"] = frame["share"] >= 1
    ordered = frame.sort_values(["complete", "n_unlocks", "needed_by", "share"], ascending=[True, False, False, True], kind="stable")
    return ordered.drop(columns=["complete", "n_unlocks"]).reset_index(drop=True)


def _coverage(log: Log, name: str, use: ActiveUse) -> tuple[int, float]:
    """Rows that matter for a field, and the share that has it (1 where no row matters)."""
    special: dict[str, Callable[[Log], tuple[int, float]]] = {
        "retrievals.retry_of": lambda log: (len(log.retrievals), float(log.link_recorded("retry_of"))),
        "actions.expected_retrieval_id": lambda log: (len(log.actions), float(log.link_recorded("expected_retrieval_id"))),
        "actions.action = reject_result": lambda log: _kind_seen(log, REJECT),
        "actions.action = correct_output": lambda log: _kind_seen(log, CORRECT),
        "judgments.grade": _judged,
        "prompts": lambda log: (len(log.prompts), float(len(log.prompts) > 0)),
        "actions of goals": lambda log: _any_seen(log, GOAL_ACTIONS),
        "actions of active use": lambda log: _any_seen(log, use.actions),
    }
    if name in special:
        return special[name](log)
    table, field = name.split(".")
    frame = getattr(log, table)
    rows = _rows_that_matter(log, frame, name, use)
    has = column(frame, field)[rows].notna()
    if field == "returned_asset_ids":
        has &= ~encode(log).cut
    if not len(frame):
        return 0, 0.0
    return int(rows.sum()), float(has.mean()) if rows.any() else 1.0


def _rows_that_matter(log: Log, frame: pd.DataFrame, name: str, use: ActiveUse) -> np.ndarray:
    """Source and asset matter on uses and goals, the actor and request of an action too; other fields on every row."""
    if frame is not log.actions or name in ("actions.time", "actions.session_id"):
        return np.ones(len(frame), dtype=bool)
    if name == "actions.position":
        return column(frame, "consumed_asset_id").notna().to_numpy()
    kinds = {*use.actions, *GOAL_ACTIONS}
    signals = {REJECT, CORRECT} if name != "actions.consumed_asset_id" else set()
    consumed = column(frame, "consumed_asset_id").notna().to_numpy()
    return frame["action"].isin(kinds | signals).to_numpy() | (consumed if name != "actions.consumed_asset_id" else False)


def _kind_seen(log: Log, action: str) -> tuple[int, float]:
    """Whether an action name is declared as recorded, or has been seen: a kind never seen may never be logged."""
    declared = log.recorded_actions is not None and action in log.recorded_actions
    return len(log.actions), float(declared or bool((log.actions["action"] == action).any()))


def _any_seen(log: Log, actions: tuple[str, ...]) -> tuple[int, float]:
    """Whether any of several kinds of action is declared or has been seen."""
    return len(log.actions), float(max(_kind_seen(log, name)[1] for name in actions))


def _judged(log: Log) -> tuple[int, float]:
    """Share of retrievals whose Layer 1 verdict the judgments settle (an empty or unlogged list needs none)."""
    from toolkit.lineage.layer1 import good_retrievals

    returned = encode(log).returned
    listed = returned.known & (returned.size > 0)
    if log.judgments is None or not len(log.judgments):
        return len(listed), 0.0
    return int(listed.sum()), float(good_retrievals(log).known[listed].mean()) if listed.any() else 0.0
