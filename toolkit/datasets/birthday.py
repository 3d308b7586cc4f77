"""A log small enough to read: one birthday invitation, made on Monday and exported on Thursday.

Five retrievals that come to five different ends, which is why session metrics misread four of them:
a good template whose generated text had to be corrected, a wrong picture that the agent covered for,
an empty result, its successful retry, and a browse that nothing is known about.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from toolkit.tables import ACTIONS, LINEAGE_JUDGMENTS, PROMPTS, RETRIEVALS, check

USER = "mia"
MONDAY, THURSDAY = "2026-06-01", "2026-06-04"

# prompt_id, session_id, clock, text, in_scope, n_intents, goal_met
_PROMPTS = (
    ("p1", "monday", "10:00:00", "Make an invitation for Leo's sixth birthday", True, 1, True),
    ("p2", "monday", "10:02:00", "Put a dinosaur on it", True, 1, False),
    ("p3", "monday", "10:05:00", "Give it a background with rockets and planets", True, 1, False),
    ("p4", "monday", "10:06:00", "Then just a starry sky", True, 1, True),
    ("p5", "monday", "10:09:00", "Make the date larger", False, 0, True),
    ("p6", "thursday", "18:00:00", "Show me thank-you cards", True, 1, False),
)
# retrieval_id, prompt_id, session_id, clock, query, role, returned (with grades), displayed, retry_of
_RETRIEVALS = (
    ("r1", "p1", "monday", "10:00:05", "birthday invitation child", "find",
     {"tpl-elegant": 0, "tpl-wedding": 0, "tpl-cake": 2, "tpl-balloons": 3, "tpl-party-hats": 2, "tpl-office": 0},
     ["tpl-balloons", "tpl-cake", "tpl-party-hats"], None),
    ("r2", "p2", "monday", "10:02:04", "dinosaur drawing", "generation_reference",
     {"art-crocodile": 1, "art-dragon": 1, "art-lizard": 0}, [], None),
    ("r3", "p3", "monday", "10:05:03", "background rockets planets", "find", {}, [], None),
    ("r4", "p4", "monday", "10:06:03", "starry sky background", "find",
     {"bg-night-sky": 3, "bg-milky-way": 2, "bg-sunset": 0, "bg-stars-gold": 1}, ["bg-night-sky", "bg-milky-way"], "r3"),
    ("r5", "p6", "thursday", "18:00:03", "thank you card", "browse",
     {"tpl-thanks-leaf": 3, "tpl-thanks-plain": 2, "tpl-thanks-gold": 2}, ["tpl-thanks-leaf", "tpl-thanks-plain", "tpl-thanks-gold"], None),
)
# action_id, session_id, clock, actor, action, consumed_asset_id, source_retrieval_id, placed_id, request_id, position
_ACTIONS = (
    ("e1", "monday", "10:00:40", "user", "select", "tpl-balloons", "r1", None, "ui-1", 4),
    ("e2", "monday", "10:00:55", "user", "place", "tpl-balloons", "r1", "copy-1", "ui-2", 4),
    ("e3", "monday", "10:02:08", "agent", "place", "art-crocodile", "r2", "copy-2", "q2", 1),
    ("e4", "monday", "10:06:50", "user", "place", "bg-night-sky", "r4", "copy-3", "ui-3", 1),
    ("e5", "monday", "10:09:20", "user", "correct_output", None, "r1", None, "ui-4", None),
    ("e6", "thursday", "18:04:00", "user", "export", "tpl-balloons", None, "copy-1", "ui-5", None),
    ("e7", "thursday", "18:04:00", "user", "export", "art-crocodile", None, "copy-2", "ui-5", None),
    ("e8", "thursday", "18:04:00", "user", "export", "bg-night-sky", None, "copy-3", "ui-5", None),
)


@dataclass(frozen=True)
class Birthday:
    """The example's canonical tables, as the product's clients logged them.

    Attributes
    ----------
    prompts, retrievals, actions, judgments : DataFrame
        The export names the placed copies (``placed_id``) and no source: its source was written at placement.
    """

    prompts: pd.DataFrame
    retrievals: pd.DataFrame
    actions: pd.DataFrame
    judgments: pd.DataFrame


def load_birthday() -> Birthday:
    """The birthday invitation, from Monday's first prompt to Thursday's export.

    Returns
    -------
    Birthday
        6 prompts, 5 retrievals, 8 actions (one export of three assets has three rows), 16 judgments with grades from 0 to 3.
    """
    prompts = _table(_PROMPTS, ["prompt_id", "session_id", "clock", "text", "in_scope", "n_intents", "goal_met"]).assign(entry_point="chat")
    retrievals = _table(_RETRIEVALS, ["retrieval_id", "prompt_id", "session_id", "clock", "query", "role", "graded", "displayed_asset_ids", "retry_of"])
    retrievals["request_id"] = "q" + retrievals["prompt_id"].str[1:]
    retrievals["returned_asset_ids"] = [list(graded) for graded in retrievals["graded"]]
    retrievals["displayed"] = [bool(shown) for shown in retrievals["displayed_asset_ids"]]
    judgments = pd.DataFrame([(row.retrieval_id, asset, float(grade)) for row in retrievals.itertuples() for asset, grade in row.graded.items()],
                             columns=["retrieval_id", "asset_id", "grade"])
    actions = _table(_ACTIONS, ["action_id", "session_id", "clock", "actor", "action", "consumed_asset_id", "source_retrieval_id", "placed_id",
                                "request_id", "position"]).assign(expected_retrieval_id=None)
    return Birthday(check(prompts, PROMPTS), check(retrievals.drop(columns="graded"), RETRIEVALS), check(actions, ACTIONS),
                    check(judgments, LINEAGE_JUDGMENTS))


def _table(rows: tuple, names: list[str]) -> pd.DataFrame:
    """Rows as a table whose ``clock`` became a ``time`` in UTC on the session's day."""
    frame = pd.DataFrame(rows, columns=names)
    days = frame["session_id"].map({"monday": MONDAY, "thursday": THURSDAY})
    frame.insert(names.index("clock"), "time", pd.to_datetime(days + " " + frame["clock"], utc=True))
    return frame.drop(columns="clock").assign(user_id=USER)
