"""Bounds: where a field is missing, a metric is an interval and not a guess.

Every rate here is a share of members that have a flag. A row's membership (for example its role) and its
flag may each be unknown. The worst and best case over all that is unknown contain the truth always, and
meet in one point when nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.assumptions import checked
from toolkit.lineage.coded import encode, three_valued
from toolkit.lineage.definitions import GOAL_ACTIONS, ActiveUse, GoodRetrieval
from toolkit.lineage.evidence import GOAL, Evidence, action_evidence
from toolkit.lineage.layer0 import DEFINITIONS
from toolkit.lineage.layer1 import Quality, good_retrievals
from toolkit.lineage.layer2 import METRICS, definitions, outcome_evidence
from toolkit.lineage.results import POOLED, card, percent
from toolkit.lineage.tables import ROLES, Log, column

COLUMNS = ["metric", "role", "low", "high", "observed", "width", "n", "assumptions", "definition"]


@dataclass(frozen=True)
class Share:
    """A share to bound: of the rows with ``member`` (1, 0, -1 unknown), those with the flag.

    ``low`` and ``high`` are the certain and the possible flags; rows in ``reach`` may be flagged too, but at most ``budget`` of
    them (None: all). ``complement`` asks for the share without the flag. The plain metric counts ``observed`` over members that
    are ``known`` (None: all).
    """

    member: np.ndarray
    low: np.ndarray
    high: np.ndarray
    observed: np.ndarray
    reach: np.ndarray | None = None
    budget: int | None = None
    complement: bool = False
    known: np.ndarray | None = None


def share_bounds(share: Share) -> tuple[float, float]:
    """Smallest and largest value of a share over everything unknown.

    Returns
    -------
    tuple of float
        Lower end: an unknown member joins when its flag can be false, since ``a / (b + 1) <= a / b``; upper end: when its flag can be
        true, since ``(a + 1) / (b + 1) >= a / b``; the budget goes to certain members first, since ``(a + 1) / b`` is larger still.
        (0, 1) where there is no member at all.
    """
    inside, unsure = share.member == 1, share.member < 0
    if not (inside | unsure).any():
        return 0.0, 1.0
    may_be_false = int((unsure & ~share.low).sum())
    base = int(inside.sum()) + may_be_false
    low = float((inside & share.low).sum() / base) if base else 1.0
    on_members, on_unsure = _spend(share, inside, unsure)
    joined = int((unsure & share.high).sum()) + on_unsure
    base = int(inside.sum()) + joined
    high = float(((inside & share.high).sum() + on_members + joined) / base) if base else 0.0
    return (1.0 - high, 1.0 - low) if share.complement else (low, high)


def _spend(share: Share, inside: np.ndarray, unsure: np.ndarray) -> tuple[int, int]:
    """How many members and unknown members the actions without a source can flag at most."""
    if share.reach is None:
        return 0, 0
    reach = share.reach & ~share.high
    left = int(reach.sum()) if share.budget is None else share.budget
    on_members = min(int((inside & reach).sum()), left)
    return on_members, min(int((unsure & reach).sum()), left - on_members)


@dataclass(frozen=True)
class Bounds:
    """Intervals of metrics over everything the log does not say.

    Attributes
    ----------
    table : DataFrame
        metric, role, low, high, observed (what the plain metric counts), width, n, assumptions, definition.
    """

    table: pd.DataFrame
    assumptions: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """The intervals."""
        return self.table

    def interval(self, metric: str, role: str = POOLED) -> tuple[float, float]:
        """One interval; raises KeyError naming the metrics there are."""
        row = self.table[(self.table["metric"] == metric) & (self.table["role"] == role)]
        if row.empty:
            raise KeyError(f"{metric!r} for {role!r}; there are {sorted(self.table['metric'].unique())} for {sorted(self.table['role'].unique())}")
        return float(row["low"].iloc[0]), float(row["high"].iloc[0])

    def summary(self) -> str:
        """The pooled intervals in words."""
        rows = self.table[self.table["role"] == POOLED]
        parts = [f"{row.metric} {percent(row.low)}" + ("" if row.width < 1e-12 else f" to {percent(row.high)}") for row in rows.itertuples()]
        given = "assuming " + "; ".join(self.assumptions) if self.assumptions else "without assumptions"
        return f"Bounds {given}: " + "; ".join(parts) + "."

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return card("Bounds", self.summary(), self.table)


def bounds(log: Log, use: ActiveUse | None = None, *, assumptions: Sequence = (), good: GoodRetrieval | None = None,
           roles: Sequence[str] | None = None) -> Bounds:
    """Bounds of every Layer 0-3 rate, pooled and per role.

    Parameters
    ----------
    log : Log
    use : ActiveUse, optional
    assumptions : sequence
        Objects of :mod:`toolkit.lineage.assumptions`; printed with the result.
    good : GoodRetrieval, optional
        When Layer 1 calls a retrieval good.
    roles : sequence of str, optional
        Default: the roles that occur in the log.

    Notes
    -----
    Layer 1 shares are over all retrievals here, also those that :func:`toolkit.lineage.quality` leaves out as misrouted: scope labels
    are mostly on a sample, and a retrieval of unknown scope would make every Layer 1 share unknown.
    """
    log, use, good, assumptions = Log.of(log), use or ActiveUse(), good or GoodRetrieval(), checked(assumptions)
    role = column(log.retrievals, "role")
    names = [name for name in ROLES if (role == name).any()] if roles is None else list(roles)
    members = {POOLED: np.ones(len(role), dtype=np.int8)}
    members |= {name: np.where(role.isna(), -1, role == name).astype(np.int8) for name in names}
    shares = [(metric, name, share) for metric, make in _retrieval_shares(log, use, assumptions, good).items()
              for name, member in members.items() for share in (make(member),)]
    shares += [(metric, POOLED, share) for metric, share in routing_shares(log).items()]
    texts = tuple(str(item) for item in assumptions)
    meaning = _definitions(use, good)
    rows = [_row(metric, name, share, texts) | {"definition": meaning[metric]} for metric, name, share in shares]
    return Bounds(pd.DataFrame(rows, columns=COLUMNS), texts)


def _definitions(use: ActiveUse, good: GoodRetrieval) -> dict[str, str]:
    """Definition of every bounded share."""
    return definitions(use) | DEFINITIONS | {
        "goal by lineage": f"retrievals whose asset a user took to {', '.join(GOAL_ACTIONS)} / retrievals",
        "good retrieval rate": f"good retrievals / retrievals, misrouted ones included; {good}",
        "empty-result rate": "retrievals with an empty returned list / retrievals, misrouted ones included",
        "masked failure": f"bad retrievals with use or a goal and nothing bad / retrievals; {good}; {use}"}


def _row(metric: str, role: str, share: Share, texts: tuple[str, ...]) -> dict[str, object]:
    """One row of the bounds table."""
    low, high = share_bounds(share)
    inside = (share.member == 1) & (True if share.known is None else share.known)
    value = float(share.observed[inside].mean()) if inside.any() else float("nan")
    value = 1.0 - value if share.complement else value
    return {"metric": metric, "role": role, "low": low, "high": high, "observed": value, "width": high - low, "n": int(inside.sum()),
            "assumptions": "; ".join(texts)}


def _retrieval_shares(log: Log, use: ActiveUse, assumptions: tuple, good: GoodRetrieval) -> dict[str, Callable[[np.ndarray], Share]]:
    """Metric -> function from a membership to the share to bound."""
    evidence = outcome_evidence(log, use, assumptions)
    evidence["goal"] = action_evidence(log, GOAL, assumptions)
    evidence["evidence"] = evidence["positive"] | evidence["failure"]
    complements = {"no_failure": "failure", "unobserved": "evidence"}
    shares = {metric: _from_evidence(evidence[complements.get(flag, flag)], flag in complements)
              for metric, flag in (METRICS | {"goal by lineage": "goal"}).items()}
    quality, returned = good_retrievals(log, good), encode(log).returned
    empty = returned.known & (returned.size == 0)
    shares["masked failure"] = _masked(evidence, quality)
    shares["good retrieval rate"] = _from_flags(quality.certain, quality.possible)
    shares["empty-result rate"] = _from_flags(empty, empty | ~returned.known)
    return shares


def _masked(found: dict[str, Evidence], quality: Quality) -> Callable[[np.ndarray], Share]:
    """Retrievals judged bad with use or a goal, and nothing bad (as in :mod:`toolkit.lineage.matrix`), over all retrievals."""
    good, bad = found["positive"] | found["goal"], found["failure"] | found["corrected"]
    certain = ~quality.possible & good.certain & ~(bad.possible | bad.reach)
    possible = ~quality.certain & (good.possible | good.reach) & ~bad.certain
    observed = ~quality.possible & good.observed & ~bad.observed
    return lambda member: Share(member, certain, possible, observed, known=quality.known)


def _from_evidence(found: Evidence, complement: bool) -> Callable[[np.ndarray], Share]:
    """Shares of a kind of evidence, or of its absence."""
    return lambda member: Share(member, found.certain, found.possible, found.observed, found.reach, found.budget, complement)


def _from_flags(certain: np.ndarray, possible: np.ndarray) -> Callable[[np.ndarray], Share]:
    """Shares of a three-valued flag."""
    return lambda member: Share(member, certain, possible, certain, known=certain | ~possible)


def routing_shares(log: Log) -> dict[str, Share]:
    """Layer 0 shares; a retrieval that names no prompt may belong to any prompt."""
    prompts = log.prompts
    linked = column(log.retrievals, "prompt_id")
    retrieved = prompts["prompt_id"].isin(linked.dropna()).to_numpy()
    loose = int(linked.isna().sum())
    scope = three_valued(column(prompts, "in_scope"))
    intents = pd.to_numeric(column(prompts, "n_intents"), errors="coerce").to_numpy(dtype=np.float64)
    several, everyone = intents >= 2, np.ones(len(prompts), dtype=np.int8)
    nothing = np.zeros(len(prompts), dtype=bool)
    maybe = np.where(retrieved, 1, -1 if loose else 0).astype(np.int8)
    return {
        "retrieval rate": Share(everyone, retrieved, retrieved, retrieved, ~nothing, loose),
        "misroute rate": Share(maybe, scope == 0, scope != 1, scope == 0, known=scope >= 0),
        "missed-retrieval rate": Share(scope, retrieved, retrieved, retrieved, ~nothing, loose, complement=True),
        "multi-intent share": Share(everyone, several, several | np.isnan(intents), several, known=~np.isnan(intents)),
    }
