"""The attribution gap: the same outcomes by a session rule and by lineage, and what the difference is made of (ours)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.attribution import RULES, Attribution, attribute
from toolkit.lineage.coded import encode
from toolkit.lineage.definitions import GOAL_ACTIONS
from toolkit.lineage.results import card, percent
from toolkit.lineage.tables import Log, column

# Why the rule credits a retrieval that lineage does not (counted up), in the order they are tried, and the reverse (counted down).
RULE_ONLY = {
    "empty credited": "the credited retrieval returned nothing",
    "repeated retrieval": "it returned an asset used in a credited outcome, but another retrieval supplied it",
    "source never logged": "no credited outcome has a source that is a retrieval of the log",
    "bystander": "it returned none of the assets used in the credited outcomes",
}
LINEAGE_ONLY = {
    "other session": "every outcome it supplied is in another session",
    "session not logged": "its session or its outcomes' session is not logged",
    "another retrieval credited": "an outcome in its own session went to another retrieval or to none",
}


@dataclass(frozen=True)
class AttributionGap:
    """Success per retrieval by a session rule and by lineage.

    Attributes
    ----------
    table : DataFrame
        cause, side ("rule only" or "lineage only"), retrievals, share (signed, of all retrievals), meaning.
        The shares add up to ``rule_rate - lineage_rate``.
    retrievals : DataFrame
        retrieval_id, by_rule, by_lineage, cause.
    rule_rate, lineage_rate : float
    n : int
        Retrievals.
    abandoned : int
        Retrieval sessions whose assets reached an outcome only in other sessions: abandonment to a session rule.
    repeated : int
        Outcomes whose asset had been returned by more than one retrieval of the same user before.
    rule : str
    """

    table: pd.DataFrame
    retrievals: pd.DataFrame
    rule_rate: float
    lineage_rate: float
    n: int
    abandoned: int
    repeated: int
    rule: str
    outcomes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """The decomposition."""
        return self.table

    def summary(self) -> str:
        """The gap in words."""
        causes = "; ".join(f"{row.cause} {row.share:+.3f} ({row.retrievals})" for row in self.table.itertuples() if row.retrievals)
        return (f"Of {self.n} retrievals, {percent(self.rule_rate)} succeed by {self.rule} ({RULES[self.rule]}) and "
                f"{percent(self.lineage_rate)} by lineage; outcome = {', '.join(self.outcomes)}. The gap: {causes or 'none'}. "
                f"{self.abandoned} {'session looks abandoned although its' if self.abandoned == 1 else 'sessions look abandoned although their'} "
                f"assets were used later; {self.repeated} outcome{'' if self.repeated == 1 else 's'} used an asset that several retrievals had returned.")

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return card("Attribution gap", self.summary(), self.table)


def attribution_gap(log: Log, rule: str = "any_touch", *, outcomes: Sequence[str] = GOAL_ACTIONS, window: str = "30min",
                    touches: pd.DataFrame | None = None) -> AttributionGap:
    """Compare a session rule with lineage, retrieval by retrieval.

    Parameters
    ----------
    rule : str
        A rule of :mod:`toolkit.lineage.attribution` other than ``lineage``.
    outcomes, window, touches
        As for :func:`~toolkit.lineage.attribution.attribute`.

    Notes
    -----
    ``rule_rate - lineage_rate = (rule only - lineage only) / n`` exactly, and each such retrieval has one cause.
    """
    log = Log.of(log)
    if rule == "lineage":
        raise ValueError(f"attribution_gap: rule 'lineage' is what rules are compared with; expected one of {sorted(set(RULES) - {'lineage'})}")
    ours = attribute(log, "lineage", outcomes=outcomes)
    theirs = attribute(log, rule, outcomes=outcomes, window=window, touches=touches)
    ids = log.retrievals["retrieval_id"]
    frame = pd.DataFrame({"retrieval_id": ids.to_numpy(), "by_rule": ids.isin(theirs.credits["retrieval_id"]).to_numpy(),
                          "by_lineage": ids.isin(ours.credits["retrieval_id"]).to_numpy()})
    frame["cause"] = _causes(log, frame, ours, theirs)
    n = len(frame)
    rows = []
    for side, sign, causes in (("rule only", 1, RULE_ONLY), ("lineage only", -1, LINEAGE_ONLY)):
        for cause, meaning in causes.items():
            count = int((frame["cause"] == cause).sum())
            rows.append({"cause": cause, "side": side, "retrievals": count, "share": sign * count / n if n else 0.0, "meaning": meaning})
    return AttributionGap(pd.DataFrame(rows), frame, *(float(frame[name].mean()) if n else float("nan") for name in ("by_rule", "by_lineage")),
                          n, _abandoned(log, ours), _returned_before(log, ours), rule, tuple(outcomes))


def _causes(log: Log, frame: pd.DataFrame, ours: Attribution, theirs: Attribution) -> np.ndarray:
    """Cause of each retrieval on which the two differ, None elsewhere."""
    coded = encode(log)
    index = pd.Index(frame["retrieval_id"].to_numpy(dtype=object))
    ids = log.retrievals["retrieval_id"]
    credits = theirs.credits.merge(theirs.outcomes, on="action_id")
    row = index.get_indexer(credits["retrieval_id"].to_numpy(dtype=object))
    asset = coded.names.get_indexer(credits["consumed_asset_id"].to_numpy(dtype=object))
    returned, resolves = (np.zeros(len(frame), dtype=bool) for _ in range(2))
    returned[row[coded.listed.find(row, asset.astype(np.int64)) > 0]] = True
    resolves[row[credits["source_retrieval_id"].isin(ids).to_numpy()]] = True
    more = frame["by_rule"].to_numpy() & ~frame["by_lineage"].to_numpy()
    less = ~frame["by_rule"].to_numpy() & frame["by_lineage"].to_numpy()
    same, lost = _sessions_of_supply(log, ours, index)
    empty = coded.returned.known & (coded.returned.size == 0)
    choices = {"empty credited": more & empty, "source never logged": more & ~resolves, "repeated retrieval": more & returned,
               "bystander": more, "another retrieval credited": less & same, "session not logged": less & lost, "other session": less}
    return np.select(list(choices.values()), list(choices), default=None).astype(object)


def _sessions_of_supply(log: Log, ours: Attribution, index: pd.Index) -> tuple[np.ndarray, np.ndarray]:
    """Per retrieval: it supplied an outcome in its own session; it supplied one where a session is not logged."""
    rows = index.get_indexer(ours.credits["retrieval_id"].to_numpy(dtype=object))
    where = ours.credits.merge(ours.outcomes[["action_id", "session_id"]], on="action_id")["session_id"].to_numpy(dtype=object)
    own = column(log.retrievals, "session_id").to_numpy(dtype=object)[rows]
    known = ~(pd.isna(where) | pd.isna(own))
    same, lost = (np.zeros(len(index), dtype=bool) for _ in range(2))
    same[rows[known & (where == own)]] = True
    lost[rows[~known]] = True
    return same, lost


def _abandoned(log: Log, ours: Attribution) -> int:
    """Sessions of supplying retrievals that themselves contain no outcome."""
    sessions = log.retrievals.set_index("retrieval_id").get("session_id")
    if sessions is None:
        return 0
    supplied = ours.credits["retrieval_id"].map(sessions).dropna()
    return int((~pd.Series(supplied.unique()).isin(ours.outcomes["session_id"].dropna())).sum())


def _returned_before(log: Log, ours: Attribution) -> int:
    """Outcomes whose asset stands in the lists of two or more retrievals of the same user (or session) up to then."""
    coded = encode(log)
    key = "user_id" if column(log.retrievals, "user_id").notna().any() else "session_id"
    pairs = pd.DataFrame({"asset": coded.names.to_numpy()[coded.returned.asset], key: column(log.retrievals, key).to_numpy(dtype=object)[coded.returned.row],
                          "ran": column(log.retrievals, "time").array[coded.returned.row]})
    found = ours.outcomes[["action_id", "consumed_asset_id", key, "time"]].merge(
        pairs.dropna(subset=[key]), left_on=["consumed_asset_id", key], right_on=["asset", key])
    earlier = found[(found["ran"] <= found["time"]) | found["ran"].isna() | found["time"].isna()] if len(found) else found
    return int((earlier.groupby("action_id").size() >= 2).sum())
