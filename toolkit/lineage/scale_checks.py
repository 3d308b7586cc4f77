"""One look at each table before counting: sizes, what is logged, and what would make a count wrong (refused, as the reference does)."""

from __future__ import annotations

from typing import Any

from toolkit.lineage.scale_measures import Engine
from toolkit.tables import TableError

KEYS = {"prompts": "prompt_id", "retrievals": "retrieval_id", "actions": "action_id"}
_OWNERS = "count(user_id) AS users, count(session_id) AS sessions"
_WEIGHTS = ("count(sampling_weight) AS weights, "
            "coalesce(count_if(sampling_weight IS NOT NULL AND NOT (sampling_weight > 0 AND sampling_weight < 1e300)), 0) AS bad_weights")
# DuckDB's count_if of no rows is null, Spark's is 0.
LOOKS = {
    "prompts": f"count(prompt_id) AS ids, {_OWNERS}, {_WEIGHTS}, count(entry_point) AS entries",
    "retrievals": f"count(retrieval_id) AS ids, {_OWNERS}, {_WEIGHTS}, count(returned_asset_ids) AS lists",
    "actions": "count(action_id) AS ids, min(CASE WHEN actor NOT IN ('user', 'agent') THEN actor END) AS other_actor",
    "judgments": "count(retrieval_id) AS by_id, coalesce(count_if(grade IS NULL OR NOT (grade >= 0 AND grade < 1e300)), 0) AS bad_grades",
    "executions": "count(retrieval_id) AS ids",
}
Look = dict[str, dict[str, Any]]


def look_at(engine: Engine, given: set[str]) -> Look:
    """What each table holds, after refusing what cannot be counted.

    Repeated action ids are not looked for: no flag counts an action twice (only ``positions`` would).

    Returns
    -------
    dict
        Table -> counts: ``rows`` and those of ``LOOKS``; tables that are not logged have 0 rows.

    Raises
    ------
    TableError, ValueError
        Null or repeated ids, unknown actors, weights or grades that are no such numbers, contradictory judgments.
    """
    look = {name: engine.frame(f"SELECT count(*) AS rows, {text} FROM {name}").iloc[0].to_dict() for name, text in LOOKS.items()}
    for name, key in KEYS.items():
        missing = int(look[name]["rows"] - look[name]["ids"])
        if missing:
            raise TableError(f"{name}: {key} is null in {missing} rows; drop the rows or give them ids")
        if look[name].get("bad_weights"):
            raise ValueError(f"{name}: sampling_weight: expected finite weights above 0, each 1 / the probability of being labelled")
    other = look["actions"]["other_actor"]
    if isinstance(other, str):
        raise ValueError(f"actions: actor {other!r}; expected 'user', 'agent' or null")
    _check_repeated(engine, "prompts", "drop the repeated rows")
    if "retrievals" in given:  # folded executions are unique
        _check_repeated(engine, "retrievals", "give the table as executions, which are folded")
    if look["judgments"]["rows"]:
        _check_judgments(engine, look["judgments"])
    return look


def _check_repeated(engine: Engine, name: str, advice: str) -> None:
    key = KEYS[name]
    repeated = engine.frame(f"SELECT {key} AS id, count(*) AS times FROM {name} GROUP BY {key} HAVING count(*) > 1 LIMIT 1")
    if len(repeated):
        raise TableError(f"{name}: {key} {repeated['id'].iloc[0]!r} appears {repeated['times'].iloc[0]} times; {advice}")


def _check_judgments(engine: Engine, look: dict[str, Any]) -> None:
    if look["bad_grades"]:
        raise ValueError(f"judgments: {int(look['bad_grades'])} grades are not finite numbers >= 0")
    key = "retrieval_id" if look["by_id"] else "query"
    clash = engine.frame(f"SELECT {key} AS owner, asset_id FROM judgments WHERE {key} IS NOT NULL "
                         f"GROUP BY {key}, asset_id HAVING count(DISTINCT grade) > 1 LIMIT 1")
    if len(clash):
        raise ValueError(f"judgments: {key} {clash['owner'].iloc[0]!r}, asset {clash['asset_id'].iloc[0]!r} has two different grades; keep one")


def sizes_of(look: Look, given: set[str]) -> dict[str, int]:
    """Rows of each table that was given; retrievals are those after folding."""
    return {name: int(look[name]["rows"]) for name in sorted(given | {"retrievals"})}
