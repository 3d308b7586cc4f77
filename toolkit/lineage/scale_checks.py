"""What would make a count wrong is refused before counting, as the reference refuses it."""

from __future__ import annotations

from toolkit.lineage.scale_measures import Engine
from toolkit.tables import TableError

KEYS = {"prompts": "prompt_id", "retrievals": "retrieval_id", "actions": "action_id"}


def check_views(engine: Engine, given: set[str]) -> None:
    """Ids neither null nor repeated, known actors, finite weights, judgments without contradiction.

    Repeated action ids are not looked for: no flag counts an action twice (only ``positions`` would).

    Raises
    ------
    TableError, ValueError
    """
    for name, key in KEYS.items():
        rows = engine.frame(f"SELECT count(*) AS rows, count({key}) AS ids FROM {name}").iloc[0]
        if rows["rows"] != rows["ids"]:
            raise TableError(f"{name}: {key} is null in {int(rows['rows'] - rows['ids'])} rows; drop the rows or give them ids")
    for name in ("prompts", "retrievals"):
        repeated = engine.frame(f"SELECT {KEYS[name]} AS id, count(*) AS times FROM {name} GROUP BY {KEYS[name]} HAVING count(*) > 1 LIMIT 1")
        if len(repeated):
            advice = "give the table as executions, which are folded" if name == "retrievals" else "drop the repeated rows"
            raise TableError(f"{name}: {KEYS[name]} {repeated['id'].iloc[0]!r} appears {repeated['times'].iloc[0]} times; {advice}")
    _check_actors(engine)
    for name in ("prompts", "retrievals"):
        bad = engine.frame(f"SELECT count(*) AS bad FROM {name} WHERE sampling_weight IS NOT NULL AND NOT (sampling_weight > 0 AND sampling_weight < 1e300)")
        if bad["bad"].iloc[0]:
            raise ValueError(f"{name}: sampling_weight: expected finite weights above 0, each 1 / the probability of being labelled")
    if "judgments" in given:
        _check_judgments(engine)


def _check_actors(engine: Engine) -> None:
    other = engine.frame("SELECT min(actor) AS actor FROM actions WHERE actor IS NOT NULL AND actor NOT IN ('user', 'agent')")["actor"].iloc[0]
    if isinstance(other, str):
        raise ValueError(f"actions: actor {other!r}; expected 'user', 'agent' or null")


def _check_judgments(engine: Engine) -> None:
    bad = engine.frame("SELECT count(*) AS bad FROM judgments WHERE grade IS NULL OR NOT (grade >= 0 AND grade < 1e300)")["bad"].iloc[0]
    if bad:
        raise ValueError(f"judgments: {bad} grades are not finite numbers >= 0")
    both = engine.frame("SELECT count(*) AS n, count(retrieval_id) AS ids FROM judgments").iloc[0]
    key = "retrieval_id" if both["ids"] else "query"
    clash = engine.frame(f"SELECT {key} AS owner, asset_id, count(DISTINCT grade) AS grades FROM judgments WHERE {key} IS NOT NULL "
                         f"GROUP BY {key}, asset_id HAVING count(DISTINCT grade) > 1 LIMIT 1")
    if len(clash):
        raise ValueError(f"judgments: {key} {clash['owner'].iloc[0]!r}, asset {clash['asset_id'].iloc[0]!r} has two different grades; keep one")


def sizes_of(engine: Engine, given: set[str]) -> dict[str, int]:
    """Rows of each table that was given; retrievals are those after folding."""
    names = sorted(given | {"retrievals"})
    return {name: int(engine.frame(f"SELECT count(*) AS n FROM {name}")["n"].iloc[0]) for name in names}
