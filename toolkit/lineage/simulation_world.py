"""Draw what happens: users, prompts, retrievals with true relevance, uses and failures; and the full log of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.simulation import Truth, World
from toolkit.lineage.tables import LINKS, Log

START = np.datetime64("2026-03-02T08:00:00", "ns")
SECOND = np.timedelta64(1, "s")
RELEVANT, GOOD_DEPTH = 3.0, 5
AGENT_ROLES = ("operate_on", "generation_reference", "task_step")
USES, GOALS = np.array(["select", "edit", "place"], dtype=object), np.array(["export", "share", "download"], dtype=object)


@dataclass
class Drawn:
    """Arrays of one world: per session (s_), prompt (p_), retrieval (r_) and action (rows of ``acts``)."""

    s_user: np.ndarray
    s_time: np.ndarray
    p_session: np.ndarray
    p_time: np.ndarray
    p_scope: np.ndarray
    p_intents: np.ndarray
    p_retrieved: np.ndarray
    r_prompt: np.ndarray
    r_session: np.ndarray
    r_time: np.ndarray
    r_role: np.ndarray
    lists: np.ndarray
    r_size: np.ndarray
    good: np.ndarray
    hit: np.ndarray


def draw_world(world: World, seed: int) -> tuple[Log, Truth]:
    """The full log and the truth of one world."""
    from toolkit.lineage.simulation_outcomes import draw_outcomes

    rng = np.random.default_rng(seed)
    drawn = _draw_retrievals(world, rng)
    flags, actions, retry_of, displayed = draw_outcomes(world, drawn, rng)
    judged = rng.random(len(drawn.good)) < world.judged
    retrievals = _retrieval_table(world, drawn, retry_of, displayed, judged)
    prompts = _prompt_table(drawn, flags["goal"])
    judgments = _judgments(world, drawn, judged, rng)
    log = Log(prompts, retrievals, actions, judgments, links=frozenset(LINKS))
    return log, _truth(drawn, flags, retrievals, actions, prompts)


def ids(prefix: str, codes: np.ndarray) -> np.ndarray:
    """String ids of integer codes; negative codes give None."""
    return np.array([None if code < 0 else f"{prefix}{code}" for code in codes.tolist()], dtype=object)


def times(values: np.ndarray) -> pd.DatetimeIndex:
    """Timezone-aware UTC."""
    return pd.DatetimeIndex(values).tz_localize("UTC")


def _draw_retrievals(world: World, rng: np.random.Generator) -> Drawn:
    """Sessions, prompts, routing, returned lists and true relevance."""
    per_user = 1 + rng.poisson(world.sessions - 1, world.users)
    s_user = np.repeat(np.arange(world.users), per_user)
    day = np.arange(len(s_user)) - np.repeat(np.cumsum(per_user) - per_user, per_user)
    s_time = START + (day * 86_400 + rng.integers(0, 36_000, len(s_user))) * SECOND
    per_session = 1 + rng.poisson(world.prompts - 1, len(s_user))
    p_session = np.repeat(np.arange(len(s_user)), per_session)
    turn = np.arange(len(p_session)) - np.repeat(np.cumsum(per_session) - per_session, per_session)
    p_time = s_time[p_session] + turn * 120 * SECOND
    p_scope = rng.random(len(p_session)) < world.in_scope
    p_intents = 1 + (rng.random(len(p_session)) < world.multi_intent)
    chance = np.where(p_scope, 1 - world.missed, world.misroute)
    p_retrieved = rng.random(len(p_session)) < chance
    count = np.where(p_retrieved, np.where(p_scope, p_intents, 1), 0)
    r_prompt = np.repeat(np.arange(len(p_session)), count)
    nth = np.arange(len(r_prompt)) - np.repeat(np.cumsum(count) - count, count)
    names = list(world.role_mix)
    shares = np.array([world.role_mix[name] for name in names], dtype=np.float64)
    r_role = np.array(names, dtype=object)[rng.choice(len(names), len(r_prompt), p=shares / shares.sum())]
    r_session = p_session[r_prompt]
    lists, size, good, hit = _draw_lists(world, r_session, rng)
    return Drawn(s_user, s_time, p_session, p_time, p_scope, p_intents, p_retrieved, r_prompt, r_session,
                 p_time[r_prompt] + (2 + 5 * nth) * SECOND, r_role, lists, size, good, hit)


def _draw_lists(world: World, r_session: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Distinct assets per list (an arithmetic walk modulo a prime), whether good, and where the relevant asset stands."""
    n, prime = len(r_session), next_prime(world.assets)
    start, step = rng.integers(0, prime, n), rng.integers(1, prime, n)
    size = np.where(rng.random(n) < world.empty, 0, world.list_length)
    good = rng.random(n) < world.quality
    hit = rng.integers(0, min(GOOD_DEPTH, world.list_length), n)
    repeats = np.zeros(n, dtype=bool)
    repeats[1:] = (rng.random(max(n - 1, 0)) < world.repeat) & (r_session[1:] == r_session[:-1])
    leader = np.maximum.accumulate(np.where(repeats, 0, np.arange(n))) if n else np.arange(0)
    lists = (start[:, None] + step[:, None] * np.arange(world.list_length)) % prime
    size = size[leader]
    return lists[leader], size, good[leader] & (size > 0), hit[leader]


def next_prime(number: int) -> int:
    """Smallest prime >= number."""
    while number < 2 or any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
        number += 1
    return number


def _asset_lists(lists: np.ndarray, size: np.ndarray) -> list[list[str]]:
    """Lists of asset ids, each cut to its size."""
    return [[f"a{asset}" for asset in row[:length]] for row, length in zip(lists.tolist(), size.tolist())]


def _retrieval_table(world: World, drawn: Drawn, retry_of: np.ndarray, displayed: np.ndarray, judged: np.ndarray) -> pd.DataFrame:
    """Retrievals as a full log has them."""
    n = len(drawn.good)
    returned = _asset_lists(drawn.lists, drawn.r_size)
    table = pd.DataFrame({
        "retrieval_id": ids("r", np.arange(n)), "prompt_id": ids("p", drawn.r_prompt), "request_id": ids("q", drawn.r_prompt),
        "session_id": ids("s", drawn.r_session), "user_id": ids("u", drawn.s_user[drawn.r_session]), "time": times(drawn.r_time),
        "query": ids("need ", drawn.lists[:, 0]), "role": drawn.r_role, "displayed": displayed, "retry_of": ids("r", retry_of)})
    table["returned_asset_ids"] = pd.Series(returned, index=table.index, dtype=object)
    shown = [row[:world.shown] if flag else [] for row, flag in zip(returned, displayed)]
    table["displayed_asset_ids"] = pd.Series(shown, index=table.index, dtype=object)
    if world.judged < 1:
        table["sampling_weight"] = np.where(judged, 1 / max(world.judged, 1e-9), np.nan)
    return table


def _prompt_table(drawn: Drawn, goal: np.ndarray) -> pd.DataFrame:
    """Prompts with their labels."""
    n = len(drawn.p_session)
    met = np.bincount(drawn.r_prompt, goal, minlength=n) > 0
    return pd.DataFrame({
        "prompt_id": ids("p", np.arange(n)), "session_id": ids("s", drawn.p_session), "user_id": ids("u", drawn.s_user[drawn.p_session]),
        "time": times(drawn.p_time), "entry_point": np.where(drawn.p_session % 3 == 0, "library", "chat").astype(object),
        "in_scope": drawn.p_scope, "n_intents": drawn.p_intents, "goal_met": met})


def _judgments(world: World, drawn: Drawn, judged: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Grades of all returned assets of judged retrievals; a wrong verdict hides the relevant asset or invents one at the top."""
    n = len(drawn.good)
    wrong = rng.random(n) < world.judge_error
    said_good = np.where(wrong, ~drawn.good, drawn.good) & (drawn.r_size > 0)
    grade = rng.integers(0, 2, drawn.lists.shape).astype(np.float64)
    at = np.where(drawn.good, drawn.hit, 0)
    rows = np.flatnonzero(said_good)
    grade[rows, at[rows]] = RELEVANT
    keep = (np.arange(drawn.lists.shape[1]) < drawn.r_size[:, None]) & judged[:, None]
    row, position = np.nonzero(keep)
    return pd.DataFrame({"retrieval_id": ids("r", row), "asset_id": ids("a", drawn.lists[row, position]), "grade": grade[row, position]})


def _truth(drawn: Drawn, flags: dict[str, np.ndarray], retrievals: pd.DataFrame, actions: pd.DataFrame, prompts: pd.DataFrame) -> Truth:
    """The truth tables, from what was drawn and not from the log."""
    positive = flags["active_use"] | flags["agent_use"]
    failure = flags["said_wrong"] | flags["retried"] | flags["used_other"]
    table = pd.DataFrame({"retrieval_id": retrievals["retrieval_id"], "role": drawn.r_role, "good": drawn.good, "empty": drawn.r_size == 0,
                          **flags, "positive": positive, "failure": failure, "both": positive & failure, "no_failure": ~failure,
                          "unobserved": ~positive & ~failure,
                          "masked": ~drawn.good & (positive | flags["goal"]) & ~failure & ~flags["corrected"]})
    kept = actions[["action_id", "action", "actor", "source_retrieval_id", "consumed_asset_id", "session_id"]].copy()
    labelled = prompts[["prompt_id", "in_scope", "n_intents"]].assign(retrieved=drawn.p_retrieved)
    return Truth(table, kept, labelled)
