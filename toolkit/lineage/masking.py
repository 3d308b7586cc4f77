"""Masking: retrieval gets worse, the model covers for it, and session metrics notice nothing (ours)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from toolkit.lineage.definitions import GOAL_ACTIONS, ActiveUse, GoodRetrieval
from toolkit.lineage.layer1 import good_retrievals
from toolkit.lineage.matrix import OUTCOME_TEXT, reading_rows
from toolkit.lineage.simulation import World, simulate
from toolkit.lineage.tables import Log

QUALITIES = (1.0, 0.8, 0.6, 0.4, 0.2)
SESSION_GOAL, SESSION_USE = "sessions with a goal", "sessions with a use"
GOOD, MASKED = "good retrieval rate", "masked failure"


def masking_curve(covered: float, *, qualities: Sequence[float] = QUALITIES, world: World | None = None, seed: int = 0) -> pd.DataFrame:
    """What session metrics and Layer 1 say while true retrieval quality falls.

    Parameters
    ----------
    covered : float
        How well the model covers for bad retrievals, from 0 (users of bad retrievals use nothing, and complain at the world's rate) to 1
        (they use as much as of good ones, and none complains).
    qualities : sequence of float
        Shares of retrievals that are truly good, where they return anything.
    world : World, optional
        Everything else; default a world without misrouted prompts whose assets only users use, as they see them.
    seed : int
        The same for each quality, so that the points differ by quality and not by luck.

    Returns
    -------
    DataFrame
        quality, metric, value, n, definition: two session metrics (which need no lineage), the good-retrieval rate and the masked
        failures (which need judgments and lineage).

    Raises
    ------
    ValueError
        If ``covered`` is not between 0 and 1.
    """
    if not 0 <= covered <= 1:
        raise ValueError(f"masking_curve: covered {covered!r}; expected a share from 0 to 1")
    base = World(users=60, misroute=0.0, role_mix={"find": 0.6, "browse": 0.4}) if world is None else world
    base = replace(base, masking=covered * base.use, wrong=(1 - covered) * base.wrong)
    tables = [_measured(simulate(replace(base, quality=quality), seed=seed).log).assign(quality=quality) for quality in qualities]
    return pd.concat(tables, ignore_index=True)[["quality", "metric", "value", "n", "definition"]]


def _measured(log: Log) -> pd.DataFrame:
    """The four metrics on one log."""
    use, good = ActiveUse(), GoodRetrieval()
    sessions = pd.unique(log.prompts["session_id"])
    by_user = log.actions[log.actions["actor"] == "user"]
    found = [(metric, float(pd.Series(sessions).isin(by_user.loc[by_user["action"].isin(names), "session_id"]).mean()), len(sessions),
              f"sessions with a user's {', '.join(names)} / sessions; no join to a retrieval")
             for metric, names in ((SESSION_GOAL, GOAL_ACTIONS), (SESSION_USE, use.actions))]
    verdict, rows = good_retrievals(log, good), reading_rows(log, good, use)
    judged = int(verdict.known.sum())
    found.append((GOOD, float(verdict.certain[verdict.known].mean()), judged, f"good retrievals / retrievals with a Layer 1 verdict; {good}"))
    found.append((MASKED, float((rows["cell"] == "masked failure").sum() / judged), judged,
                  f"bad retrievals with outcome good / retrievals with a Layer 1 verdict; {OUTCOME_TEXT}; {use}"))
    return pd.DataFrame(found, columns=["metric", "value", "n", "definition"])
