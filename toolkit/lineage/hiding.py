"""A log with fields taken away: what would the metrics say, had they not been logged? (ours)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from toolkit.lineage.tables import LINKS, Log, empty_prompts

# What a classic search log (UBI) has no home for.
NOT_IN_SEARCH_LOGS = ("prompts", "retrievals.prompt_id", "retrievals.role", "retrievals.request_id", "retrievals.displayed",
                      "retrievals.displayed_asset_ids", "retrievals.retry_of", "actions.actor", "actions.request_id", "actions.expected_retrieval_id")
_TABLES = ("prompts", "retrievals", "actions")
_KEYS = ("prompts.prompt_id", "retrievals.retrieval_id", "actions.action_id", "actions.action")


def hide_fields(log: Log, fields: Sequence[str]) -> Log:
    """The same log without some of its fields.

    Parameters
    ----------
    log : Log
    fields : sequence of str
        ``table.column``, for example ``actions.source_retrieval_id``; ``prompts`` or ``judgments`` for a whole table. A field that
        the log does not have is no error: it is not there already.

    Returns
    -------
    Log
        Hidden columns are null on every row; a hidden link column is declared as not recorded, so that its nulls mean "unknown".

    Raises
    ------
    ValueError
        For an unknown table, or a column without which a row is no row.
    """
    tables: dict[str, pd.DataFrame | None] = {name: getattr(log, name) for name in (*_TABLES, "judgments", "executions")}
    links = frozenset(name for name in LINKS if log.link_recorded(name))
    for field in fields:
        table, _, name = field.partition(".")
        if table not in (*_TABLES, "judgments") or field in _KEYS or (not name and table in ("retrievals", "actions")):
            raise ValueError(f"hide_fields: {field!r}; expected 'prompts', 'judgments' or table.column of {_TABLES}, other than {_KEYS}")
        if not name:
            tables[table] = empty_prompts() if table == "prompts" else None
            continue
        tables[table] = _without(tables[table], name)
        if table == "retrievals":  # else what the folded row lost would still stand in its executions
            tables["executions"] = _without(tables["executions"], name)
        links -= {name}
    return replace(log, links=links, **tables)


def _without(frame: pd.DataFrame | None, name: str) -> pd.DataFrame | None:
    """The table with one column null, of the same type where that can be null."""
    if frame is None or name not in frame.columns:
        return frame
    values = frame[name].astype("boolean") if frame[name].dtype == bool else frame[name]
    return frame.assign(**{name: values.mask(np.ones(len(frame), dtype=bool))})
