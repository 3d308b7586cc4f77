"""Draw what users and the agent do with retrievals: the true flags, and the actions that show them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolkit.lineage.simulation import World
from toolkit.lineage.simulation_world import AGENT_ROLES, GOALS, SECOND, USES, Drawn, ids, times

LATER_AGENT_USE, FOLLOW_UPS = 0.05, 0.2  # events that are noise to every metric


def draw_outcomes(world: World, drawn: Drawn, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], pd.DataFrame, np.ndarray, np.ndarray]:
    """True flags per retrieval, the actions, ``retry_of`` per retrieval (-1 none), and whether anything was displayed."""
    n, full = len(drawn.good), drawn.r_size > 0
    agent = full & np.isin(drawn.r_role.astype(str), AGENT_ROLES) & (rng.random(n) < world.agent_use)
    hidden = agent & (drawn.r_role == "generation_reference")
    displayed = full & ~hidden & (rng.random(n) < world.display)
    best = np.where(drawn.good, drawn.hit, 0)  # the agent takes the relevant asset if there is one
    seen = np.where(best < world.shown, best, 0)  # the user can take it only from what was shown
    used = displayed & (rng.random(n) < np.where(drawn.good, world.use, world.masking))
    goal = (used | agent) & (rng.random(n) < world.goal)
    goal_at = np.where(used, seen, best)
    wrong = displayed & ~drawn.good & ~used & (rng.random(n) < world.wrong)
    corrected = (used | agent) & (rng.random(n) < world.correction)
    retry_of = _draw_retries(world, drawn, used, rng)
    other = _draw_other(world, drawn, rng)
    flags = _true_flags(world, drawn, displayed, used, agent, goal, goal_at, wrong, corrected, retry_of, other)
    actions = _actions(world, drawn, rng, used=used, seen=seen, agent=agent, best=best, goal=goal, goal_at=goal_at, wrong=wrong,
                       corrected=corrected, other=other)
    return flags, actions, retry_of, displayed


def _draw_retries(world: World, drawn: Drawn, used: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The retrieval whose need each one repeats: the previous one of its session, if that was not used."""
    n = len(used)
    retry_of = np.full(n, -1)
    follows = (drawn.r_session[1:] == drawn.r_session[:-1]) & ~used[:-1] & (rng.random(max(n - 1, 0)) < world.retry)
    rows = np.flatnonzero(follows)
    retry_of[rows + 1] = rows
    return retry_of


def _draw_other(world: World, drawn: Drawn, rng: np.random.Generator) -> np.ndarray:
    """Retrievals whose asset should have been used where the agent took one of the previous retrieval's."""
    n = len(drawn.good)
    other = np.zeros(n, dtype=bool)
    both = (drawn.r_size[1:] > 0) & (drawn.r_size[:-1] > 0) & (drawn.r_session[1:] == drawn.r_session[:-1])
    other[1:] = both & (rng.random(max(n - 1, 0)) < world.other)
    return other


def _true_flags(world: World, drawn: Drawn, displayed: np.ndarray, used: np.ndarray, agent: np.ndarray, goal: np.ndarray,
                goal_at: np.ndarray, wrong: np.ndarray, corrected: np.ndarray, retry_of: np.ndarray, other: np.ndarray) -> dict[str, np.ndarray]:
    """The flags of Layers 2 and 3 from what was drawn: an export is active use too, if its asset was displayed."""
    retried = np.zeros(len(used), dtype=bool)
    retried[retry_of[retry_of >= 0]] = True
    supplier = np.flatnonzero(other) - 1  # its asset was used instead; within one request that is agent use
    same = supplier[drawn.r_prompt[supplier] == drawn.r_prompt[supplier + 1]]
    agent_use = agent.copy()
    agent_use[same] = True
    return {"active_use": used | (goal & displayed & (goal_at < world.shown)), "agent_use": agent_use, "said_wrong": wrong,
            "retried": retried, "used_other": other, "corrected": corrected, "goal": goal}


def _actions(world: World, drawn: Drawn, rng: np.random.Generator, **what: np.ndarray) -> pd.DataFrame:
    """The events of a full log, in order of time; ``what`` as for :func:`_pieces`."""
    pieces = _pieces(world, drawn, rng, **what)
    merged = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    session, when = _place_in_time(world, drawn, merged, rng)
    order = np.argsort(when, kind="stable")
    outside = merged["request"] < 0
    request = np.where(outside, None, ids("q", merged["request"]))
    request[outside] = ids("later", np.flatnonzero(outside))
    table = pd.DataFrame({
        "time": times(when), "session_id": ids("s", session), "user_id": ids("u", drawn.s_user[session]), "request_id": request,
        "actor": merged["actor"], "action": merged["action"], "consumed_asset_id": ids("a", merged["asset"]),
        "source_retrieval_id": ids("r", merged["source"]), "expected_retrieval_id": ids("r", merged["expected"]),
        "position": np.where(merged["asset"] >= 0, merged["at"] + 1.0, np.nan)}).iloc[order].reset_index(drop=True)
    table.insert(0, "action_id", ids("e", np.arange(len(order))))
    return table


def _pieces(world: World, drawn: Drawn, rng: np.random.Generator, *, used: np.ndarray, seen: np.ndarray, agent: np.ndarray, best: np.ndarray,
            goal: np.ndarray, goal_at: np.ndarray, wrong: np.ndarray, corrected: np.ndarray, other: np.ndarray) -> list[dict[str, np.ndarray]]:
    """Events by kind. The flags say of which retrievals; ``seen``, ``best`` and ``goal_at`` at which index the asset stands."""
    twice = used & (rng.random(len(used)) < world.double)
    later = agent & (rng.random(len(used)) < LATER_AGENT_USE)
    use_rows, goal_rows, other_rows = np.flatnonzero(used), np.flatnonzero(goal), np.flatnonzero(other)
    return [
        _piece(drawn, use_rows, "user", USES[rng.integers(0, 3, len(use_rows))], at=seen[use_rows]),
        _piece(drawn, np.flatnonzero(twice), "user", "select", at=seen[twice]),
        _piece(drawn, goal_rows, "user", GOALS[rng.integers(0, 3, len(goal_rows))], at=goal_at[goal_rows]),
        _piece(drawn, np.flatnonzero(agent), "agent", "place", at=best[agent], request=drawn.r_prompt[agent]),
        # The agent takes up an asset again in a later request: use of the asset, but no ACR.
        _piece(drawn, np.flatnonzero(later), "agent", "place", at=best[later]),
        _piece(drawn, other_rows - 1, "agent", "place", at=np.zeros(len(other_rows), dtype=int), request=drawn.r_prompt[other_rows],
               expected=other_rows),
        _piece(drawn, np.flatnonzero(wrong), "user", "reject_result"),
        _piece(drawn, np.flatnonzero(corrected), "user", "correct_output"),
        _piece(drawn, np.flatnonzero(rng.random(len(used)) < FOLLOW_UPS), "user", "follow_up", source=False)]


def _piece(drawn: Drawn, rows: np.ndarray, actor: str, action: object, *, at: np.ndarray | None = None, request: np.ndarray | None = None,
           expected: np.ndarray | None = None, source: bool = True) -> dict[str, np.ndarray]:
    """Events of one kind about the retrievals ``rows``; ``at`` is the index of the asset used, if any."""
    n = len(rows)
    none = np.full(n, -1)
    return {"row": rows, "actor": np.full(n, actor, dtype=object), "action": np.broadcast_to(np.asarray(action, dtype=object), n).copy(),
            "asset": none if at is None else drawn.lists[rows, at], "at": none if at is None else at,
            "request": none if request is None else request, "expected": none if expected is None else expected,
            "source": rows if source else none}


def _place_in_time(world: World, drawn: Drawn, merged: dict[str, np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Session and time of each event: soon after its retrieval, or (user events) in the user's next session."""
    row, m = merged["row"], len(merged["row"])
    session = drawn.r_session[row]
    delay = 1 + rng.exponential(world.delay_minutes * 60, m).astype(np.int64)
    delay = np.where(merged["request"] >= 0, 1 + rng.integers(0, 10, m), delay)
    when = drawn.r_time[row] + delay * SECOND
    following = np.minimum(session + 1, len(drawn.s_user) - 1)
    has_next = (following > session) & (drawn.s_user[following] == drawn.s_user[session])
    moves = has_next & (merged["actor"] == "user") & (merged["source"] >= 0) & (rng.random(m) < world.later_session)
    # An event of a later session comes after that session began.
    moved = np.maximum(drawn.s_time[following] + delay * SECOND, when)
    return np.where(moves, following, session), np.where(moves, moved, when)
