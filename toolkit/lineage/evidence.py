"""Evidence about a retrieval: one three-valued ``exists`` over actions per kind of evidence.

Every flag of Layers 2 and 3 is an :class:`Evidence`: ``observed`` is what the metrics count,
``certain`` and ``possible`` are what remains true in the worst and best case of the fields not logged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toolkit.lineage.candidates import TooManyPairs, candidate_pairs, compatible
from toolkit.lineage.coded import UNKNOWN, Coded, encode
from toolkit.lineage.definitions import CORRECT, GOAL_ACTIONS, REJECT, ActiveUse
from toolkit.lineage.tables import Log


@dataclass(frozen=True)
class ActionRule:
    """Which actions are evidence for their source retrieval.

    Parameters
    ----------
    actions : tuple of str
    actor : {1, 0}
        1 the user, 0 the agent.
    consumes : bool
        The action must use an asset of the retrieval's returned list.
    display : {None, "implied", "required"}
        Whether the asset must have been displayed, and what an unlogged display means to ``observed``.
    same_request : bool
        The action must be in the retrieval's own request.
    actor_implied : bool
        To ``observed``, an action without a logged actor is by ``actor``.
    """

    actions: tuple[str, ...] | None
    actor: int
    consumes: bool = True
    display: str | None = None
    same_request: bool = False
    actor_implied: bool = False


@dataclass(frozen=True)
class Evidence:
    """Flags per retrieval, each of shape (n,).

    Attributes
    ----------
    observed : ndarray of bool
        What the log shows; fields that are not logged prove nothing, except that a logged source supplied the asset.
    certain : ndarray of bool
        True whatever the missing fields hold.
    possible : ndarray of bool
        Not excluded, by actions whose source is logged.
    reach : ndarray of bool
        Not excluded, by actions whose source is not logged.
    budget : int
        How many such actions there are: each can be evidence for one retrieval only.
    """

    observed: np.ndarray
    certain: np.ndarray
    possible: np.ndarray
    reach: np.ndarray
    budget: int

    def __or__(self, other: Evidence) -> Evidence:
        return Evidence(self.observed | other.observed, self.certain | other.certain, self.possible | other.possible,
                        self.reach | other.reach, self.budget + other.budget)

    def __and__(self, other: Evidence) -> Evidence:
        """Both; its possible side has no budget (one action more may complete many pairs)."""
        possible = (self.possible | self.reach) & (other.possible | other.reach)
        return Evidence(self.observed & other.observed, self.certain & other.certain, possible, np.zeros_like(possible), 0)


ANY_ACTION = None
AGENT_USE = ActionRule(ANY_ACTION, actor=0, same_request=True)
SAID_WRONG = ActionRule((REJECT,), actor=1, consumes=False)
CORRECTED = ActionRule((CORRECT,), actor=1, consumes=False)
GOAL = ActionRule(GOAL_ACTIONS, actor=1)


def active_use_rule(use: ActiveUse) -> ActionRule:
    """The rule of a declared active use."""
    return ActionRule(use.actions, actor=1, display=use.display, actor_implied=use.actor == "implied")


def action_evidence(log: Log, rule: ActionRule, assumptions: tuple = (), *, bounds: bool = True) -> Evidence:
    """Evidence by actions: a retrieval has it when an action of the rule has it as source.

    Parameters
    ----------
    log : Log
    rule : ActionRule
    assumptions : tuple
        Objects of :mod:`toolkit.lineage.assumptions`, which narrow ``certain`` and ``reach``.
    bounds : bool
        False leaves out ``reach``, which only bounds need.
    """
    coded = encode(log)
    kind, unnamed = _kinds(coded, rule)
    logged = kind & (coded.source >= 0)
    observed = _flags(coded, logged & ~unnamed & _holds(coded, rule, observed=True))
    certain = _flags(coded, logged & ~unnamed & _holds(coded, rule, assumptions=assumptions))
    possible = _flags(coded, logged & _holds(coded, rule, unknown=True, assumptions=assumptions))
    nothing = np.zeros(coded.n, dtype=bool)
    if not bounds:
        return Evidence(observed, certain, possible, nothing, 0)
    if rule.actions is not None and not all(log.records(name) for name in rule.actions):
        return Evidence(observed, certain, ~nothing, nothing, 0)
    reach, budget = _reach(log, coded, rule, kind & (coded.source == UNKNOWN), assumptions)
    return Evidence(observed, certain, possible, reach, budget)


def _kinds(coded: Coded, rule: ActionRule) -> tuple[np.ndarray, np.ndarray]:
    """Actions that are, or (name not logged) may be, of the rule's kinds; and those of unlogged name."""
    unnamed = np.array([name is None for name in coded.action], dtype=bool)
    if rule.actions is None:
        return np.ones(coded.m, dtype=bool), np.zeros(coded.m, dtype=bool)
    return np.isin(coded.action.astype(str), rule.actions) | unnamed, unnamed


def _holds(coded: Coded, rule: ActionRule, *, observed: bool = False, unknown: bool = False, assumptions: tuple = ()) -> np.ndarray:
    """Whether an action with a logged source meets the rule; ``unknown`` is what an unlogged field counts as."""
    implied = any(getattr(item, "display_implied", False) for item in assumptions)
    trusted = any(getattr(item, "source_trusted", False) for item in assumptions)
    user = any(getattr(item, "null_actor_is_user", False) for item in assumptions)
    actor = np.where((coded.actor < 0) & user, 1, coded.actor)
    by = np.where(actor < 0, -1, actor == rule.actor)
    holds = _true(by, unknown or (observed and rule.actor_implied))
    if rule.consumes:
        holds &= (coded.consumed >= 0) | unknown
        holds &= _true(coded.in_list, unknown or ((observed or trusted) & (coded.consumed >= 0)))
    if rule.display is not None:
        holds &= _true(coded.was_shown, unknown or implied or (observed and rule.display == "implied"))
    if rule.same_request:
        holds &= _true(coded.same_request, unknown)
    return holds


def _true(values: np.ndarray, unknown: object) -> np.ndarray:
    """Three-valued to boolean."""
    return np.where(values < 0, unknown, values == 1).astype(bool)


def _flags(coded: Coded, actions: np.ndarray) -> np.ndarray:
    """One flag per retrieval: it is the source of at least one of these actions (not: how many)."""
    flags = np.zeros(coded.n, dtype=bool)
    flags[coded.source[actions]] = True
    return flags


def _reach(log: Log, coded: Coded, rule: ActionRule, actions: np.ndarray, assumptions: tuple) -> tuple[np.ndarray, int]:
    """Retrievals that actions without a logged source may be evidence for, and the number of such actions.

    On logs too large to enumerate the pairs, assumptions are left out: every displayed retrieval stays possible.
    """
    actor = coded.actor >= 0
    rows = np.flatnonzero(actions & ~(actor & (coded.actor != rule.actor)))
    try:
        pair_action, pair_row = candidate_pairs(log, rows, consumes=rule.consumes, assumptions=assumptions)
    except TooManyPairs:
        return (coded.displayed != 0) | (rule.display is None), len(rows)
    keep = np.ones(len(pair_row), dtype=bool)
    if rule.display is not None:
        keep &= coded.displayed[pair_row] != 0
        listed = coded.shown.find(pair_row, coded.consumed[pair_action]) > 0
        keep &= ~coded.shown.known[pair_row] | (coded.consumed[pair_action] < 0) | listed
    if rule.same_request:
        keep &= compatible(log, "request_id", pair_action, pair_row)
    reach = np.zeros(coded.n, dtype=bool)
    reach[pair_row[keep]] = True
    return reach, len(np.unique(pair_action[keep]))


def retried(log: Log) -> Evidence:
    """Another retrieval repeats this one's need (``retry_of``)."""
    coded = encode(log)
    return _linked(coded, coded.retry_of, np.ones(coded.n, dtype=bool), log.link_recorded("retry_of"))


def used_other(log: Log) -> Evidence:
    """The flow should have used this retrieval's asset and the agent used another's (``expected_retrieval_id``).

    An asset of the expected retrieval is no failure; where the source is not logged, it may have been one.
    """
    coded = encode(log)
    other = np.where(coded.expected == coded.source, UNKNOWN, coded.expected)
    return _linked(coded, other, coded.source != UNKNOWN, log.link_recorded("expected_retrieval_id"))


def _linked(coded: Coded, target: np.ndarray, sure: np.ndarray, recorded: bool) -> Evidence:
    """Evidence by a link column: certain where a ``sure`` row links; where the link is not recorded, possible everywhere."""
    flags, certain, nothing = (np.zeros(coded.n, dtype=bool) for _ in range(3))
    flags[target[target >= 0]] = True
    certain[target[(target >= 0) & sure]] = True
    if recorded:
        return Evidence(flags, certain, flags, nothing, 0)
    return Evidence(flags, certain, flags, ~nothing, int((target == UNKNOWN).sum()))
