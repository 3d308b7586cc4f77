"""Rewrites: search reformulation on retrieval turns, downstream correction on the others; pooled they mislead.

A user who repeats a need after a retrieval says something about retrieval; one who corrects an output
made without retrieval does not. One pooled "rewrite rate" mixes the two in the product's proportions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.definitions import CORRECT, USER, time_span
from toolkit.lineage.layer0 import masked
from toolkit.lineage.layer2 import clusters_of
from toolkit.lineage.results import Rates, rates_by
from toolkit.lineage.tables import Log, column


@dataclass(frozen=True)
class Reformulation:
    """When a later retrieval of a session reformulates an earlier one.

    Where ``retry_of`` is recorded it decides; elsewhere the next query within ``window`` that shares at least
    ``overlap`` of the words (Jaccard). A keystroke prefix never counts: one text begins with the other and the next follows
    within ``keystroke_seconds``, or the shorter ends inside a word of the longer.
    """

    overlap: float = 0.3
    window: str = "10min"
    keystroke_seconds: float = 2.0

    def __post_init__(self) -> None:
        time_span(self.window, "Reformulation: window")

    def __str__(self) -> str:
        return (f"reformulation = retry_of where recorded, else the next query of the session within {self.window} with a word overlap >= "
                f"{self.overlap:g}; keystroke prefixes excluded")


def is_keystroke(first: str, second: str, seconds: float, rule: Reformulation) -> bool:
    """Whether two consecutive texts are one text being typed (or deleted)."""
    short, long = sorted((first.strip().lower(), second.strip().lower()), key=len)
    if not long.startswith(short) or short == long:
        return False
    return seconds <= rule.keystroke_seconds or not long[len(short):].startswith(" ")


def word_overlap(first: str, second: str) -> float:
    """Jaccard overlap of the words of two texts; 0 where both are empty."""
    left, right = set(first.lower().split()), set(second.lower().split())
    return len(left & right) / len(left | right) if left | right else 0.0


def reformulations(log: Log, rule: Reformulation | None = None) -> pd.DataFrame:
    """Pairs of consecutive retrievals of one session, and what the second is to the first.

    Returns
    -------
    DataFrame
        retrieval_id, next_id, query, next_query, seconds, kind ("reformulation", "keystroke", "same text" or "other").
        With recorded links also the pairs that ``retry_of`` names.
    """
    log, rule = Log.of(log), rule or Reformulation()
    names = ["retrieval_id", "session_id", "time", "query", "retry_of"]
    frame = pd.DataFrame({name: column(log.retrievals, name).to_numpy(dtype=object) for name in names})
    frame["time"] = pd.to_datetime(frame["time"], utc=True)
    linked = log.link_recorded("retry_of")
    if linked:
        pairs = frame.dropna(subset=["retry_of"]).merge(frame, left_on="retry_of", right_on="retrieval_id", suffixes=("_next", ""))
    else:
        ordered = frame.dropna(subset=["session_id"]).sort_values(["session_id", "time"], kind="stable")
        following = ordered.groupby("session_id", sort=False).shift(-1)
        pairs = ordered.join(following.drop(columns="retry_of").add_suffix("_next")).dropna(subset=["retrieval_id_next"])
    result = pd.DataFrame({"retrieval_id": pairs["retrieval_id"].to_numpy(), "next_id": pairs["retrieval_id_next"].to_numpy(),
                           "query": pairs["query"].to_numpy(), "next_query": pairs["query_next"].to_numpy(),
                           "seconds": (pd.to_datetime(pairs["time_next"]) - pd.to_datetime(pairs["time"])).dt.total_seconds().to_numpy()})
    result["kind"] = [_kind(row, linked, rule) for row in result.itertuples()]
    return result


def _kind(pair: object, linked: bool, rule: Reformulation) -> str:
    """What the second text of a pair is to the first."""
    first, second = (text if isinstance(text, str) else "" for text in (pair.query, pair.next_query))
    if first and second and is_keystroke(first, second, pair.seconds, rule):
        return "keystroke"
    if linked:
        return "reformulation"
    if first.strip().lower() == second.strip().lower():
        return "same text"
    near = pair.seconds <= pd.Timedelta(rule.window).total_seconds()
    return "reformulation" if near and word_overlap(first, second) >= rule.overlap else "other"


def rewrite_rates(log: Log, rule: Reformulation | None = None, *, cluster: str | None = "auto") -> Rates:
    """Search reformulation, downstream correction, and the pooled rate that hides the difference; by entry point.

    A turn is a prompt (where the log has no prompts, a retrieval). A turn with a retrieval is rewritten when one of its
    retrievals is reformulated in another turn; a turn without one, when the output that followed it was corrected
    (``correct_output`` by the user before the session's next prompt).
    """
    log, rule = Log.of(log), rule or Reformulation()
    turns = _turns(log)
    pairs = reformulations(log, rule)
    turn_of = pd.Series(turns.attrs["turn_of"], index=log.retrievals["retrieval_id"].to_numpy(dtype=object), dtype=object)
    pairs = pairs[(pairs["kind"] == "reformulation")]
    moved = pairs["retrieval_id"].map(turn_of).to_numpy(dtype=object) != pairs["next_id"].map(turn_of).to_numpy(dtype=object)
    again = turns["turn_id"].isin(pairs.loc[moved, "retrieval_id"].map(turn_of)).to_numpy()
    with_retrieval = turns["retrieved"].to_numpy(dtype=bool)
    corrected = turns["turn_id"].isin(_corrected_turns(log, turns)).to_numpy()
    flags = pd.DataFrame({"search reformulation rate": masked(again, with_retrieval),
                          "downstream correction rate": masked(corrected, ~with_retrieval),
                          "rewrite rate (pooled)": np.where(with_retrieval, again, corrected)})
    texts = {"search reformulation rate": f"retrieval turns that are reformulated / retrieval turns; {rule}",
             "downstream correction rate": "turns without a retrieval whose output the user corrected / turns without a retrieval",
             "rewrite rate (pooled)": "both, over all turns: mixes two things, shown only beside them"}
    entry = turns["entry_point"] if turns["entry_point"].notna().any() else None
    table = rates_by(flags, texts, entry, clusters=clusters_of(turns, cluster), pooled="all turns")
    return Rates(table, "Rewrites", (f"{rule}.", "The pooled rate mixes retrieval with generation."), flags.assign(turn_id=turns["turn_id"]))


def _turns(log: Log) -> pd.DataFrame:
    """Turns as turn_id, session_id, user_id, time, entry_point, retrieved; ``attrs["turn_of"]``: turn of each retrieval."""
    names = ["session_id", "user_id", "time", "entry_point"]
    if len(log.prompts):
        turn_of = column(log.retrievals, "prompt_id").to_numpy(dtype=object)
        frame, ids, retrieved = log.prompts, log.prompts["prompt_id"], log.prompts["prompt_id"].isin(column(log.retrievals, "prompt_id").dropna())
    else:
        turn_of = log.retrievals["retrieval_id"].to_numpy(dtype=object)
        frame, ids, retrieved = log.retrievals, log.retrievals["retrieval_id"], pd.Series(True, index=log.retrievals.index)
    turns = pd.DataFrame({"turn_id": ids.to_numpy(dtype=object), "retrieved": retrieved.to_numpy(dtype=bool)}
                         | {name: column(frame, name).array for name in names})
    turns.attrs["turn_of"] = turn_of
    return turns


def _corrected_turns(log: Log, turns: pd.DataFrame) -> np.ndarray:
    """Turns whose output was corrected before the session's next turn began; by time within the session."""
    actions = log.actions
    actor = column(actions, "actor")
    done = actions[(actions["action"] == CORRECT) & (actor.isna() | (actor == USER))]
    left = pd.DataFrame({"session_id": column(done, "session_id").to_numpy(dtype=object), "time": column(done, "time").array}).dropna()
    right = turns[["session_id", "time", "turn_id"]].dropna()
    if left.empty or right.empty:
        return np.array([], dtype=object)
    left["session_id"], right["session_id"] = left["session_id"].astype("str"), right["session_id"].astype("str")
    found = pd.merge_asof(left.sort_values("time"), right.sort_values("time"), on="time", by="session_id")
    return found["turn_id"].dropna().to_numpy(dtype=object)
