"""What logging loses or changes of a full log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from toolkit.lineage.simulation import Faults
from toolkit.lineage.tables import LINKS, Log, fold_executions, is_list

# Knob -> (table, columns it empties).
LOSSES = {
    "source": ("actions", ("source_retrieval_id",)), "consumed": ("actions", ("consumed_asset_id",)), "actor": ("actions", ("actor",)),
    "action_request": ("actions", ("request_id",)), "action_session": ("actions", ("session_id",)), "action_user": ("actions", ("user_id",)),
    "lists": ("retrievals", ("returned_asset_ids",)), "display": ("retrievals", ("displayed", "displayed_asset_ids")),
    "role": ("retrievals", ("role",)), "retrieval_request": ("retrievals", ("request_id",)),
    "retrieval_session": ("retrievals", ("session_id",)), "retrieval_user": ("retrievals", ("user_id",)),
    "prompt": ("retrievals", ("prompt_id",)), "labels": ("prompts", ("in_scope", "n_intents", "goal_met")),
}


def apply_faults(full: Log, faults: Faults, seed: int) -> tuple[Log, pd.DataFrame, pd.DataFrame]:
    """The log after the faults (folded), and its retrieval and action rows before folding."""
    rng = np.random.default_rng([seed, 7])
    tables = {name: getattr(full, name).copy() for name in ("prompts", "retrievals", "actions")}
    for knob, (name, columns) in LOSSES.items():
        lost = rng.random(len(tables[name])) < getattr(faults, knob)
        for column in columns:
            tables[name][column] = _blank(tables[name][column], lost)
    _change_clock_and_base(tables["actions"], full, faults, rng)
    if faults.truncate is not None:
        lists = [value[:faults.truncate] if is_list(value) else value for value in tables["retrievals"]["returned_asset_ids"]]
        tables["retrievals"]["returned_asset_ids"] = pd.Series(lists, index=tables["retrievals"].index, dtype=object)
    if faults.links:
        tables["retrievals"] = tables["retrievals"].drop(columns="retry_of")
        tables["actions"] = tables["actions"].drop(columns="expected_retrieval_id")
    executions, events = _repeat_rows(tables["retrievals"], tables["actions"], faults.duplicate, rng)
    log = replace(full, prompts=tables["prompts"], retrievals=fold_executions(executions).table if faults.duplicate else executions,
                  actions=events.drop_duplicates("action_id"), list_limit=faults.truncate,
                  links=frozenset() if faults.links else frozenset(LINKS))
    return log, executions, events


def _blank(values: pd.Series, lost: np.ndarray) -> pd.Series:
    """The column with nulls at the lost rows; booleans become nullable."""
    if not lost.any():
        return values
    if values.dtype == bool:
        values = values.astype("boolean")
    return values.mask(lost)


def _change_clock_and_base(actions: pd.DataFrame, full: Log, faults: Faults, rng: np.random.Generator) -> None:
    """Shift each session's client clock; log positions from 0 after the switch. Changes ``actions`` in place."""
    if faults.skew_seconds and len(actions):
        codes = pd.factorize(full.actions["session_id"])[0]
        shift = rng.normal(0, faults.skew_seconds, codes.max() + 1)
        actions["time"] = actions["time"] + pd.to_timedelta(shift[codes], unit="s")
    if faults.base_switch is not None and len(actions):
        when = full.actions["time"]
        switch = when.min() + (when.max() - when.min()) * faults.base_switch
        actions["position"] = actions["position"] - (when >= switch).to_numpy()


def _repeat_rows(retrievals: pd.DataFrame, actions: pd.DataFrame, share: float, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows logged a second time: a retrieval's copy is a facet call, empty where lists are logged; an action's copy is the same."""
    if not share:
        return retrievals, actions
    copies = retrievals[rng.random(len(retrievals)) < share].copy()
    copies["returned_asset_ids"] = pd.Series([[] if is_list(value) else None for value in copies["returned_asset_ids"]], index=copies.index, dtype=object)
    again = actions[rng.random(len(actions)) < share]
    return pd.concat([retrievals, copies], ignore_index=True), pd.concat([actions, again], ignore_index=True)
