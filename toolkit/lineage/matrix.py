"""Layer 1 read against Layers 2 and 3 (ours): the masked failure is visible only here.

A bad retrieval for which the model covered looks like success to every session metric. Only the
judged quality of the list against what came of it shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.coded import encode
from toolkit.lineage.definitions import ActiveUse, GoodRetrieval
from toolkit.lineage.intervals import rate
from toolkit.lineage.judges import JudgeError, correct_judge_error, judge_error
from toolkit.lineage.layer1 import good_retrievals, verdict_weights
from toolkit.lineage.layer2 import clusters_of, outcome_flags
from toolkit.lineage.layer3 import goal_flags
from toolkit.lineage.results import POOLED, card, percent
from toolkit.lineage.tables import Log

OUTCOMES = ("good", "bad", "unobserved")
CELLS = {
    ("good", "good"): "healthy",
    ("good", "bad"): "generation or hand-off failure",
    ("good", "unobserved"): "unobserved, retrieval good",
    ("bad", "good"): "masked failure",
    ("bad", "bad"): "visible retrieval failure",
    ("bad", "unobserved"): "unobserved, retrieval bad",
}
OUTCOME_TEXT = ("outcome bad = a failure signal or a corrected output; good = use or goal by lineage and nothing bad; "
                "unobserved = none of these")


@dataclass(frozen=True)
class CrossReading:
    """Shares of the six cells among retrievals with a Layer 1 verdict.

    Attributes
    ----------
    table : DataFrame
        role, layer1, outcome, cell, share, ci_low, ci_high, n, count, method; with a double-judged sample also corrected,
        corrected_low, corrected_high.
    rows : DataFrame
        retrieval_id, role, layer1 (good, bad, null without a verdict), outcome, cell, weight, empty (the list is, so no judge was needed).
    definition : str
    error : JudgeError or None
    """

    table: pd.DataFrame
    rows: pd.DataFrame
    definition: str
    error: JudgeError | None = None

    def to_frame(self) -> pd.DataFrame:
        """The cells."""
        return self.table

    def share(self, cell: str, role: str = POOLED) -> float:
        """Share of one cell."""
        row = self.table[(self.table["cell"] == cell) & (self.table["role"] == role)]
        if row.empty:
            raise KeyError(f"{cell!r} for {role!r}; cells are {list(CELLS.values())}, roles {sorted(self.table['role'].unique())}")
        return float(row["share"].iloc[0])

    def summary(self) -> str:
        """The masked failures in words, with coverage."""
        row = self.table[(self.table["cell"] == "masked failure") & (self.table["role"] == POOLED)].iloc[0]
        text = (f"Masked failures: {percent(row.share)} [{percent(row.ci_low)}, {percent(row.ci_high)}] of retrievals, from {row.n} with a "
                f"Layer 1 verdict of {len(self.rows)}.")
        if self.error is not None:
            text += f" Corrected for the judge's errors: {percent(row.corrected)} [{percent(row.corrected_low)}, {percent(row.corrected_high)}] ({self.error})."
        return f"{text} {self.definition}."

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return card("Layer 1 against outcomes", self.summary(), self.table)


def cross_reading(log: Log, good: GoodRetrieval | None = None, use: ActiveUse | None = None, *, double_judged: pd.DataFrame | None = None,
                  cluster: str | None = None, method: str = "auto") -> CrossReading:
    """The matrix of retrieval quality and outcome, pooled and per role; over all retrievals with a Layer 1 verdict.

    Parameters
    ----------
    log : Log
        ``sampling_weight`` of its retrievals is 1 / the probability of being judged, where Layer 1 was judged on a sample.
    good, use : GoodRetrieval, ActiveUse, optional
    double_judged : DataFrame, optional
        judge_good, reference_good of retrievals judged twice: cells are then also given corrected for the judge's errors, which are
        assumed alike in every outcome column.
    cluster : {None, "auto", "user_id", "session_id"}
        Default rows: they are what was sampled for judging.
    method : str
        As in :func:`toolkit.lineage.intervals.rate`.
    """
    log, good, use = Log.of(log), good or GoodRetrieval(), use or ActiveUse()
    rows = reading_rows(log, good, use)
    error = None if double_judged is None else judge_error(double_judged)
    clusters, weighted = clusters_of(log.retrievals, cluster), verdict_weights(log) is not None
    names = rows["role"].astype("str").fillna("unknown").to_numpy()
    tables = [_cells(rows[mask], name, weighted, None if clusters is None else clusters[mask], method, error)
              for name, mask in [(POOLED, np.ones(len(rows), dtype=bool)), *((role, names == role) for role in sorted(set(names)))]]
    return CrossReading(pd.concat(tables, ignore_index=True), rows, f"{good}; {OUTCOME_TEXT}; {use}", error)


def reading_rows(log: Log, good: GoodRetrieval, use: ActiveUse) -> pd.DataFrame:
    """Layer 1 verdict and outcome of each retrieval."""
    flags, goal = outcome_flags(log, use), goal_flags(log)["goal"].to_numpy()
    bad = (flags["failure"] | flags["corrected"]).to_numpy()
    outcome = np.select([bad, flags["positive"].to_numpy() | goal], ["bad", "good"], default="unobserved").astype(object)
    verdict = good_retrievals(log, good)
    layer1 = np.select([verdict.certain, ~verdict.possible], ["good", "bad"], default=None).astype(object)
    weights, returned = verdict_weights(log), encode(log).returned
    cell = [CELLS.get((left, right)) for left, right in zip(layer1, outcome)]
    return pd.DataFrame({"retrieval_id": flags["retrieval_id"], "role": flags["role"], "layer1": layer1, "outcome": outcome, "cell": cell,
                         "weight": 1.0 if weights is None else weights, "empty": returned.known & (returned.size == 0)})


def _cells(rows: pd.DataFrame, role: str, weighted: bool, clusters: np.ndarray | None, method: str, error: JudgeError | None) -> pd.DataFrame:
    """The six cells of one role."""
    judged = rows["layer1"].notna().to_numpy()
    inside = rows[judged]
    weights = inside["weight"].to_numpy(dtype=np.float64)
    found = []
    for (layer1, outcome), cell in CELLS.items():
        share = rate((inside["cell"] == cell).to_numpy(), weights=weights if weighted else None,
                     clusters=None if clusters is None else clusters[judged], method=method)
        found.append({"role": role, "layer1": layer1, "outcome": outcome, "cell": cell, "share": share.value, "ci_low": share.low,
                      "ci_high": share.high, "n": share.n, "count": share.count, "method": share.method})
    table = pd.DataFrame(found)
    return table if error is None else table.join(_corrected(rows, inside, weights, error))


def _corrected(rows: pd.DataFrame, inside: pd.DataFrame, weights: np.ndarray, error: JudgeError) -> pd.DataFrame:
    """Cells corrected within each outcome column, times the column's share of all retrievals (known without judging).

    An empty list is bad without a judge: it is not corrected.
    """
    made = {}
    for outcome in OUTCOMES:
        own = rows["outcome"] == outcome
        empty, rest = (float((own & (rows["empty"] == flag)).mean()) if len(rows) else float("nan") for flag in (True, False))
        mask = ((inside["outcome"] == outcome) & ~inside["empty"]).to_numpy()
        w = weights[mask]
        total = w.sum()
        bad = float(w @ (inside["layer1"][mask] == "bad") / total) if total else float("nan")
        part = correct_judge_error(bad, float(total**2 / (w @ w)) if total else 0.0, error)
        value = part.value if rest else 0.0
        made["bad", outcome] = (empty + rest * value, empty + rest * part.low, empty + rest * part.high)
        made["good", outcome] = (rest * (1 - value), rest * (1 - part.high), rest * (1 - part.low))
    return pd.DataFrame([made[key] for key in CELLS], columns=["corrected", "corrected_low", "corrected_high"])
