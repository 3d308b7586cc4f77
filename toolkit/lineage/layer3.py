"""Layer 3, goals: export, share and download joined to the retrieval that supplied the asset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.coded import encode, three_valued
from toolkit.lineage.definitions import GOAL_ACTIONS
from toolkit.lineage.evidence import ActionRule, action_evidence
from toolkit.lineage.layer2 import clusters_of
from toolkit.lineage.layer0 import masked
from toolkit.lineage.results import Rates, card, rates_by
from toolkit.lineage.tables import Log, column

PRODUCT_HEALTH = "product health, not a retrieval signal: no join to the retrieval that supplied the asset"


def goal_flags(log: Log) -> pd.DataFrame:
    """One row per retrieval: did a user's export, share or download use an asset it returned, in whatever session?

    Returns
    -------
    DataFrame
        retrieval_id, role, one boolean per goal action, ``goal`` (any of them), ``goal_met`` (label of its prompt, nullable).
    """
    flags = pd.DataFrame({"retrieval_id": log.retrievals["retrieval_id"].to_numpy(), "role": column(log.retrievals, "role").to_numpy()})
    for name in GOAL_ACTIONS:
        flags[name] = action_evidence(log, ActionRule((name,), actor=1), bounds=False).observed
    flags["goal"] = flags[list(GOAL_ACTIONS)].any(axis=1)
    labels = pd.Series(three_valued(column(log.prompts, "goal_met")), index=log.prompts["prompt_id"].to_numpy(dtype=object))
    found = column(log.retrievals, "prompt_id").map(labels).fillna(-1).to_numpy(dtype=np.int8)
    flags["goal_met"] = masked(found == 1, found >= 0)
    return flags


def goal_definitions() -> dict[str, str]:
    """Definitions of the Layer 3 rates."""
    texts = {"goal by lineage": f"retrievals whose asset a user took to {', '.join(GOAL_ACTIONS)} / retrievals",
             "goal met (label)": "retrievals whose prompt's goal a judge or person called met / retrievals with such a label"}
    return texts | {f"{name} by lineage": f"retrievals whose asset a user took to {name} / retrievals" for name in GOAL_ACTIONS}


def goals(log: Log, *, cluster: str | None = "auto") -> Rates:
    """Layer 3 rates by lineage, per role and pooled, with the labelled goal where there is one."""
    log = Log.of(log)
    flags = goal_flags(log)
    named = pd.DataFrame({"goal by lineage": flags["goal"], "goal met (label)": flags["goal_met"]}
                         | {f"{name} by lineage": flags[name] for name in GOAL_ACTIONS})
    table = rates_by(named, goal_definitions(), flags["role"], clusters=clusters_of(log.retrievals, cluster))
    lost = int((column(log.actions, "action").isin(GOAL_ACTIONS) & column(log.actions, "source_retrieval_id").isna()).sum())
    notes = (f"{lost} goal actions name no source retrieval and count for none; see bounds.",) if lost else ()
    return Rates(table, "Layer 3, goals by lineage", notes, flags)


def health_definitions() -> dict[str, str]:
    """Definitions of the product health shares."""
    return {f"sessions with {name}": f"sessions with {name} / sessions; {PRODUCT_HEALTH}" for name in GOAL_ACTIONS}


def product_health(log: Log) -> Rates:
    """Shares of sessions with an export, share or download. Without the lineage join, so labelled as product health."""
    log = Log.of(log)
    sessions = column(log.actions, "session_id")
    parts = [column(frame, "session_id") for frame in (log.prompts, log.retrievals, log.actions)]
    known = pd.unique(pd.concat(parts, ignore_index=True).dropna())
    flags = pd.DataFrame({f"sessions with {name}": np.isin(known, sessions[log.actions["action"] == name].dropna().unique()) for name in GOAL_ACTIONS})
    return Rates(rates_by(flags, health_definitions(), None, pooled="all sessions"), "Product health", (f"This is {PRODUCT_HEALTH}.",))


@dataclass(frozen=True)
class ConsumedPositions:
    """Where in the returned list (not in what was displayed) the used assets stood.

    Attributes
    ----------
    table : DataFrame
        action_id, action, actor, retrieval_id, role, position (from 1; null where not found).
    off_list : int
        Uses of an asset that its logged source did not return.
    no_list : int
        Uses whose source is not in the log or has no list.
    """

    table: pd.DataFrame
    off_list: int
    no_list: int

    def to_frame(self) -> pd.DataFrame:
        """One row per use with a logged source and asset."""
        return self.table

    def summary(self) -> str:
        """Positions in words."""
        found = self.table["position"].dropna()
        if found.empty:
            return f"no used asset was found in its source's list; {self.off_list} off the list, {self.no_list} without a list"
        return (f"{len(found)} of {len(self.table)} used assets found in their source's returned list; median position {found.median():g}, "
                f"{100 * (found == 1).mean():.1f} % first; {self.off_list} off the list, {self.no_list} without a list")

    def _repr_html_(self) -> str:
        return card("Position of the consumed asset in the returned list", self.summary(), self.table)


def consumed_positions(log: Log) -> ConsumedPositions:
    """Position of each consumed asset in the list its logged source returned; the first where a list repeats it."""
    log = Log.of(log)
    coded = encode(log)
    actions = log.actions
    used = (coded.consumed >= 0) & column(actions, "source_retrieval_id").notna().to_numpy()
    source = coded.source[used]
    role = column(log.retrievals, "role").to_numpy(dtype=object)
    roles = np.where(source >= 0, role[np.maximum(source, 0)], None) if coded.n else np.full(len(source), None)
    position = pd.array(coded.position[used], dtype="Int64")
    position[coded.position[used] == 0] = pd.NA
    table = pd.DataFrame({"action_id": actions["action_id"].to_numpy()[used], "action": actions["action"].to_numpy()[used],
                          "actor": column(actions, "actor").to_numpy()[used],
                          "retrieval_id": column(actions, "source_retrieval_id").to_numpy()[used], "role": roles, "position": position})
    return ConsumedPositions(table, int((coded.in_list[used] == 0).sum()), int((coded.in_list[used] < 0).sum()))
