"""A simulator with known truth: what was relevant, who used what, from where; and what logging loses of it.

The world is drawn once (:mod:`toolkit.lineage.simulation_world`) and gives the truth and a full log; logging faults
(:mod:`toolkit.lineage.simulation_faults`) are then drawn on a copy. So the same truth can be read through many logs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import pandas as pd

from toolkit.lineage.layer2 import METRICS
from toolkit.lineage.results import POOLED
from toolkit.lineage.tables import ROLES, Log

DEFAULT_MIX = dict(zip(ROLES, (0.3, 0.15, 0.1, 0.25, 0.15, 0.05)))


def _check_shares(knobs: object, names: tuple[str, ...]) -> None:
    """Every named knob is a probability."""
    for name in names:
        value = getattr(knobs, name)
        if not 0 <= value <= 1:
            raise ValueError(f"{type(knobs).__name__}: {name} {value!r}; expected a probability from 0 to 1")


@dataclass(frozen=True)
class World:
    """Knobs of what happens. Probabilities unless a unit is given.

    Parameters
    ----------
    users, sessions, prompts : number
        Users; mean sessions per user; mean prompts per session.
    assets, list_length, shown : int
        Catalogue size (raised to the next prime), assets returned, assets the agent lets through to the user.
    role_mix : mapping of str to float
        Shares of the roles.
    in_scope, missed, misroute, multi_intent : float
        Prompts for which retrieval is right; of those, without a retrieval; of the others, with one; prompts with two intents.
    quality, empty, repeat : float
        True relevance (a relevant asset is among the first 5); empty lists; lists equal to the session's previous one.
    agent_use, use, masking : float
        Agent uses an asset (where the role lets it); user uses a displayed asset of a good retrieval; of a bad one, because the
        model covered for it.
    display, wrong, retry, other, correction, goal : float
        Shown at all; user says wrong; need repeated; agent used another retrieval's asset; output corrected; asset exported.
    double, later_session, delay_minutes : float
        A use is logged as two events; use in a later session; mean delay otherwise.
    judged, judge_error : float
        Retrievals judged; verdicts that are wrong.
    """

    users: int = 20
    sessions: float = 2.0
    prompts: float = 3.0
    assets: int = 97
    list_length: int = 8
    shown: int = 5
    role_mix: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_MIX))
    in_scope: float = 0.85
    missed: float = 0.1
    misroute: float = 0.3
    multi_intent: float = 0.15
    quality: float = 0.7
    empty: float = 0.05
    repeat: float = 0.15
    agent_use: float = 0.6
    use: float = 0.5
    masking: float = 0.2
    display: float = 0.8
    wrong: float = 0.3
    retry: float = 0.3
    other: float = 0.05
    correction: float = 0.15
    goal: float = 0.5
    double: float = 0.3
    later_session: float = 0.2
    delay_minutes: float = 5.0
    judged: float = 1.0
    judge_error: float = 0.0

    def __post_init__(self) -> None:
        counts = ("users", "sessions", "prompts", "assets", "list_length", "shown", "role_mix", "delay_minutes")
        _check_shares(self, tuple(item.name for item in fields(self) if item.name not in counts))
        if min(self.users, self.sessions, self.prompts, self.list_length, self.shown) < 1:
            raise ValueError("World: users, sessions, prompts, list_length and shown must be at least 1")
        if self.assets < self.list_length:
            raise ValueError(f"World: assets {self.assets} is below list_length {self.list_length}; a list holds distinct assets")
        strange = set(self.role_mix) - set(ROLES)
        if strange or not sum(self.role_mix.values()) > 0:
            raise ValueError(f"World: role_mix {dict(self.role_mix)}; expected positive shares of {ROLES}")


@dataclass(frozen=True)
class Faults:
    """Knobs of what logging loses or changes; all probabilities are per row unless said otherwise.

    Parameters
    ----------
    source, consumed, actor, action_request, action_session, action_user : float
        Field of an action not logged.
    lists, display, role, retrieval_request, retrieval_session, retrieval_user, prompt, labels : float
        Field of a retrieval (``labels``: of a prompt) not logged.
    links : bool
        ``retry_of`` and ``expected_retrieval_id`` are not logged at all.
    truncate : int, optional
        Returned lists are cut to this length.
    duplicate : float
        Retrieval and action rows logged a second time (the retrieval's copy without its list).
    skew_seconds : float
        Standard deviation of a session's client clock.
    base_switch : float, optional
        Share of the log's time after which the logged position is the index from 0 instead of from 1.
    """

    source: float = 0.0
    consumed: float = 0.0
    actor: float = 0.0
    action_request: float = 0.0
    action_session: float = 0.0
    action_user: float = 0.0
    lists: float = 0.0
    display: float = 0.0
    role: float = 0.0
    retrieval_request: float = 0.0
    retrieval_session: float = 0.0
    retrieval_user: float = 0.0
    prompt: float = 0.0
    labels: float = 0.0
    links: bool = False
    truncate: int | None = None
    duplicate: float = 0.0
    skew_seconds: float = 0.0
    base_switch: float | None = None

    def __post_init__(self) -> None:
        other = ("links", "truncate", "skew_seconds", "base_switch")
        _check_shares(self, tuple(item.name for item in fields(self) if item.name not in other))
        if self.truncate is not None and self.truncate < 1:
            raise ValueError(f"Faults: truncate {self.truncate}; expected at least 1, or None")


@dataclass(frozen=True)
class Truth:
    """What really happened.

    Attributes
    ----------
    retrievals : DataFrame
        retrieval_id, role, and every flag of Layers 1-3 (good, empty, active_use, agent_use, said_wrong, retried, used_other,
        corrected, goal, positive, failure, both, no_failure, unobserved, masked).
    actions : DataFrame
        action_id, action, actor, source_retrieval_id, consumed_asset_id, session_id.
    prompts : DataFrame
        prompt_id, in_scope, n_intents, retrieved.
    """

    retrievals: pd.DataFrame
    actions: pd.DataFrame
    prompts: pd.DataFrame

    def rate(self, metric: str, role: str = POOLED) -> float:
        """True value of a metric (named as in :func:`toolkit.lineage.bounds`); NaN where its denominator is empty."""
        if metric not in TRUE_FLAGS and metric not in ROUTING:
            raise KeyError(f"Truth.rate: {metric!r}; expected one of {[*ROUTING, *TRUE_FLAGS]}")
        return self._rates.get((metric, role), float("nan"))

    @cached_property
    def _rates(self) -> dict[tuple[str, str], float]:
        """Every rate that has a denominator, by metric and role."""
        flags = self.retrievals[list(dict.fromkeys(TRUE_FLAGS.values()))].astype(np.float64)
        means = flags.groupby(self.retrievals["role"].to_numpy(dtype=object)).mean()
        if len(flags):
            means.loc[POOLED] = flags.mean()
        rates = {(metric, role): float(means.at[role, flag]) for metric, flag in TRUE_FLAGS.items() for role in means.index}
        for metric, select in ROUTING.items():
            inside, flag = select(self.prompts)
            rates[metric, POOLED] = float(flag[inside].mean())
        return rates


# Metric -> the truth's flag that it is the mean of.
TRUE_FLAGS = METRICS | {"goal by lineage": "goal", "good retrieval rate": "good", "empty-result rate": "empty", "masked failure": "masked"}
# Layer 0 metric -> its denominator and flag, from the truth's prompts.
ROUTING: dict[str, Callable[[pd.DataFrame], tuple[pd.Series, pd.Series]]] = {
    "retrieval rate": lambda prompts: (prompts["n_intents"] > 0, prompts["retrieved"]),
    "misroute rate": lambda prompts: (prompts["retrieved"], ~prompts["in_scope"]),
    "missed-retrieval rate": lambda prompts: (prompts["in_scope"], ~prompts["retrieved"]),
    "multi-intent share": lambda prompts: (prompts["n_intents"] > 0, prompts["n_intents"] >= 2),
}


@dataclass(frozen=True)
class Simulation:
    """A simulated log with its truth.

    Attributes
    ----------
    log : Log
        As logged, after the faults and after folding repeated rows.
    full : Log
        The same world, everything logged.
    truth : Truth
    executions, events : DataFrame
        Retrieval and action rows as logged, before folding.
    """

    log: Log
    full: Log
    truth: Truth
    executions: pd.DataFrame = field(repr=False)
    events: pd.DataFrame = field(repr=False)
    world: World = field(default_factory=World)
    faults: Faults = field(default_factory=Faults)

    def summary(self) -> str:
        """Sizes in words."""
        return f"simulated {self.full.summary()}; logged {self.log.summary()}"


def simulate(world: World | None = None, faults: Faults | None = None, *, seed: int = 0) -> Simulation:
    """Draw a world and the log of it.

    Parameters
    ----------
    world : World, optional
    faults : Faults, optional
        Default: none, the log is full.
    seed : int
        Same world, faults and seed give the same tables.
    """
    from toolkit.lineage.simulation_world import draw_world

    world = world or World()
    full, truth = draw_world(world, seed)
    base = Simulation(full, full, truth, full.retrievals, full.actions, world)
    return base if faults is None else relog(base, faults, seed=seed)


def relog(simulation: Simulation, faults: Faults, *, seed: int = 0) -> Simulation:
    """The same world read through other logging faults."""
    from toolkit.lineage.simulation_faults import apply_faults

    log, executions, events = apply_faults(simulation.full, faults, seed)
    return replace(simulation, log=log, executions=executions, events=events, faults=faults)
