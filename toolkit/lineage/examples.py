"""Logs to learn from: the birthday invitation, and a classic search log whose truth is known."""

from __future__ import annotations

from dataclasses import replace

from toolkit.datasets.birthday import load_birthday
from toolkit.lineage.definitions import CORRECT, REJECT, USE_LADDER
from toolkit.lineage.hiding import NOT_IN_SEARCH_LOGS, hide_fields
from toolkit.lineage.inherit import inherit_sources
from toolkit.lineage.simulation import Faults, World, simulate
from toolkit.lineage.tables import LINKS, Log

# What the simulator's actions are called in a shop's search log.
SHOP_ACTIONS = {"select": "click", "edit": "click", "place": "click", "export": "add_to_cart", "share": "add_to_cart", "download": "add_to_cart"}
_NOT_IN_SHOPS = (REJECT, CORRECT, "follow_up")


def birthday_log(*, inherit: bool = True) -> Log:
    """The birthday invitation as a complete log.

    Parameters
    ----------
    inherit : bool
        Give the exported copies the source written at their placement. False: the export as its client logged it, without a source.
    """
    tables = load_birthday()
    log = Log.of(tables, links=frozenset(LINKS), recorded_actions=frozenset({*USE_LADDER, REJECT, CORRECT}))
    return replace(log, actions=inherit_sources(log.actions).table) if inherit else log


def search_log(*, seed: int = 0, users: int = 60) -> Log:
    """A simulated search log of a shop: what UBI logs, with the gaps that UBI logs have.

    Parameters
    ----------
    seed, users : int

    Returns
    -------
    Log
        No prompts, roles, actors, requests or displays; clicks and add_to_carts; about a quarter of the sources and of the lists are
        not logged; 40 % of the retrievals have a second execution without a list (a facet call).
    """
    world = World(users=users, agent_use=0.0, other=0.0, misroute=0.0, judged=0.0)
    simulated = simulate(world, Faults(source=0.25, lists=0.25, duplicate=0.4), seed=seed)
    log = hide_fields(replace(simulated.log, executions=simulated.executions), (*NOT_IN_SEARCH_LOGS, "judgments"))
    actions = log.actions[~log.actions["action"].isin(_NOT_IN_SHOPS)].reset_index(drop=True)
    actions["action"] = actions["action"].map(SHOP_ACTIONS).astype(object)
    return replace(log, actions=actions, recorded_actions=frozenset(SHOP_ACTIONS.values()))
