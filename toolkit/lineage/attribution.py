"""Credit for outcomes: by logged lineage, and by the session rules lineage is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.coded import encode
from toolkit.lineage.definitions import GOAL_ACTIONS, USER, action_names, time_span
from toolkit.lineage.results import card
from toolkit.lineage.tables import Log, column
from toolkit.tables import RETRIEVALS, check

RULES = {
    "lineage": "credit to the logged source_retrieval_id, in whatever session, if it is a retrieval of the log",
    "first_touch": "credit to the session's first retrieval before the outcome",
    "last_touch": "credit to the session's last retrieval before the outcome, by time",
    "any_touch": "credit to every retrieval of the outcome's session, in whatever order",
    "time_window": "credit to the user's (or session's) last retrieval at most the window before the outcome",
}


@dataclass(frozen=True)
class Attribution:
    """Outcomes and the retrievals a rule credits.

    Attributes
    ----------
    credits : DataFrame
        action_id, retrieval_id: one row per credit; an outcome without credit has none.
    outcomes : DataFrame
        action_id, session_id, user_id, time, consumed_asset_id, source_retrieval_id of every outcome.
    rule, definition : str
    """

    credits: pd.DataFrame
    outcomes: pd.DataFrame
    rule: str
    definition: str

    @property
    def table(self) -> pd.DataFrame:
        """The credits."""
        return self.credits

    def to_frame(self) -> pd.DataFrame:
        """The credits."""
        return self.credits

    def summary(self) -> str:
        """Counts in words."""
        done = self.credits["action_id"].nunique()
        return (f"{self.rule} ({self.definition}): {done} of {len(self.outcomes)} outcomes credited, "
                f"to {self.credits['retrieval_id'].nunique()} retrievals")

    def _repr_html_(self) -> str:
        return card(f"Attribution by {self.rule}", self.summary(), self.credits)


def attribute(log: Log, rule: str = "lineage", *, outcomes: Sequence[str] = GOAL_ACTIONS, window: str = "30min",
              touches: pd.DataFrame | None = None) -> Attribution:
    """Credit the outcomes of a log by one rule.

    Parameters
    ----------
    rule : str
        One of ``RULES``.
    outcomes : sequence of str
        Action names that are outcomes; an agent's own actions are none (an unlogged actor counts as the user).
    window : str
        Length of the time window, a pandas Timedelta text.
    touches : DataFrame, optional
        retrieval_id, time (session_id, user_id; where null, those of the retrieval): what a session rule sees. Default the
        retrievals; pass the unfolded executions where each execution is a touch of its own.
    """
    log = Log.of(log)
    if rule not in RULES:
        raise ValueError(f"attribute: rule {rule!r}; expected one of {sorted(RULES)}")
    time_span(window, "attribute: window")
    done = outcome_rows(log, outcomes)
    touches = _touches(log.retrievals, log.retrievals if touches is None else touches)
    if rule == "lineage":
        credits = done[done["source_retrieval_id"].isin(log.retrievals["retrieval_id"])]
        credits = credits[["action_id", "source_retrieval_id"]].set_axis(["action_id", "retrieval_id"], axis=1)
    elif rule == "any_touch":
        credits = done.dropna(subset=["session_id"]).merge(touches[["session_id", "retrieval_id"]].drop_duplicates(), on="session_id")
    else:
        credits = _nearest(done, touches, rule, window)
    definition = RULES[rule] + (f" ({window})" if rule == "time_window" else "")
    return Attribution(credits[["action_id", "retrieval_id"]].reset_index(drop=True), done, rule, definition)


def outcome_rows(log: Log, outcomes: Sequence[str] = GOAL_ACTIONS) -> pd.DataFrame:
    """The outcomes of a log: user actions of the named kinds, with every column attribution needs."""
    actions = log.actions
    keep = actions["action"].isin(action_names(outcomes, "outcomes")) & (column(actions, "actor").isna() | (column(actions, "actor") == USER))
    rows = actions[keep.to_numpy()]
    names = ["session_id", "user_id", "time", "consumed_asset_id", "source_retrieval_id"]
    return pd.DataFrame({"action_id": rows["action_id"].to_numpy()}
                        | {name: column(rows, name).array for name in names})


def _touches(retrievals: pd.DataFrame, touches: pd.DataFrame) -> pd.DataFrame:
    """retrieval_id, session_id, user_id, time of what a session rule sees."""
    check(touches, RETRIEVALS, source="touches")
    table = pd.DataFrame({"retrieval_id": touches["retrieval_id"].array, "time": column(touches, "time").array})
    for name in ("session_id", "user_id"):
        owner = pd.Series(column(retrievals, name).to_numpy(dtype=object), index=retrievals["retrieval_id"].to_numpy(dtype=object), dtype=object)
        own = pd.Series(column(touches, name).to_numpy(dtype=object), dtype=object)
        table[name] = own.where(own.notna(), table["retrieval_id"].map(owner))
    return table


def _nearest(done: pd.DataFrame, touches: pd.DataFrame, rule: str, window: str) -> pd.DataFrame:
    """First or last touch before each outcome; rows without a time or a key get no credit."""
    key = "user_id" if rule == "time_window" and touches["user_id"].notna().any() and done["user_id"].notna().any() else "session_id"
    left = done.dropna(subset=["time", key]).sort_values("time", kind="stable")
    right = touches.dropna(subset=["time", key])[[key, "time", "retrieval_id"]].sort_values("time", kind="stable")
    if left.empty or right.empty:
        return pd.DataFrame({"action_id": [], "retrieval_id": []}, dtype="str")
    if rule == "first_touch":
        first = right.drop_duplicates(key).rename(columns={"time": "touched"})
        found = left.merge(first, on=key)
        return found[found["touched"] <= found["time"]]
    right[key], left[key] = right[key].astype("str"), left[key].astype("str")
    limit = pd.Timedelta(window) if rule == "time_window" else None
    return pd.merge_asof(left, right, on="time", by=key, tolerance=limit).dropna(subset=["retrieval_id"])


def disagreements(log: Log, rule: str = "last_touch", **options: object) -> pd.DataFrame:
    """Outcomes with a logged source that the rule credits otherwise or not at all.

    Returns
    -------
    DataFrame
        action_id, source_retrieval_id (logged), retrieval_id (the rule's, null without credit).
    """
    found = attribute(log, rule, **options)
    both = found.outcomes.dropna(subset=["source_retrieval_id"]).merge(found.credits, on="action_id", how="left")
    return both.loc[(both["retrieval_id"] != both["source_retrieval_id"]).fillna(True), ["action_id", "source_retrieval_id", "retrieval_id"]]


def resolution(log: Log) -> pd.DataFrame:
    """How far actions can be joined to retrievals: shares with a source, a source in the log, an asset found in that source's list.

    Returns
    -------
    DataFrame
        step, count, n, value, definition.
    """
    log = Log.of(log)
    coded = encode(log)
    logged, found = coded.source != -1, coded.source >= 0
    item = coded.consumed >= 0
    steps = [("source logged", logged, np.ones(coded.m, dtype=bool), "actions with a source_retrieval_id / actions"),
             ("source resolves", found, np.ones(coded.m, dtype=bool), "actions whose source is a retrieval of the log / actions"),
             ("asset in its list", coded.in_list == 1, item, "actions whose asset is in their source's returned list / actions with an asset")]
    return pd.DataFrame([{"step": name, "count": int((flag & base).sum()), "n": int(base.sum()),
                          "value": float(flag[base].mean()) if base.any() else float("nan"), "definition": text} for name, flag, base, text in steps])
