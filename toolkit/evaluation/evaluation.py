"""What an evaluation found: values per query, means with their n, and the definitions of both."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.evaluation.gains import Gains
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Pool

UNJUDGED_SENTENCES = {
    "zero": "unjudged products count as irrelevant",
    "condensed": "unjudged products are taken out and the rest moves up",
    "bounds": "unjudged products count as irrelevant in value; low and high are bounds over all their gradings",
}


@dataclass(frozen=True)
class Evaluation:
    """Per-query values of one ranker, their means, and everything needed to compare them.

    Attributes
    ----------
    values : DataFrame
        query_id, metric, value (null where undefined or failed), and with ``unjudged="bounds"`` low, high.
    means : DataFrame
        One row a metric: metric, mean, n (queries in the mean), undefined (left out by definition),
        failed (left out, no answer), missing and zero_results (in the mean with 0), tie_worst and
        tie_best (mean over the worst and best orders of tied products), ties_across_cut,
        tie_dependent (queries whose value depends on a tie), and with bounds low, high.
    queries : DataFrame
        query_id, state (ok, zero_results, missing, failed), reason, judgments, returned.
    definitions : dict of str to str
        Metric -> its definition in a sentence.
    settings : dict
        gains, relevant_grade, unjudged, unseen.
    notes : dict
        duplicates (repeated products dropped), repeated_judgments, off_judgments (queries of the
        rankings outside the evaluation), rank_conflicts.
    """

    values: pd.DataFrame
    means: pd.DataFrame
    queries: pd.DataFrame
    definitions: Mapping[str, str]
    settings: Mapping[str, object]
    notes: Mapping[str, object]

    @classmethod
    def build(cls, columns: Mapping[str, Mapping], measures: tuple[Measure, ...], pool: Pool, state: pd.DataFrame, *,
              gains: Gains, relevant_grade: float, unjudged: str, unseen: int) -> Evaluation:
        """Assemble the tables from arrays of shape (Q,) per metric."""
        ids = pool.judged.query_ids
        bounds = unjudged == "bounds"
        frames = [pd.DataFrame({"query_id": ids, "metric": name, "value": c["value"],
                                **({"low": c["low"], "high": c["high"]} if bounds else {})}) for name, c in columns.items()]
        rows = [_mean_row(name, c, state, bounds) for name, c in columns.items()]
        return cls(
            values=pd.concat(frames, ignore_index=True), means=pd.DataFrame(rows), queries=state,
            definitions={str(m): m.definition(gains, relevant_grade) for m in measures},
            settings={"gains": gains, "relevant_grade": relevant_grade, "unjudged": unjudged, "unseen": unseen},
            notes={"duplicates": pool.duplicates, "repeated_judgments": pool.judged.folded,
                   "off_judgments": pool.off_judgments, "rank_conflicts": pool.rank_conflicts})

    def to_frame(self) -> pd.DataFrame:
        """query_id, metric, value (and low, high where bounds were asked for)."""
        return self.values

    @property
    def table(self) -> pd.DataFrame:
        """The means."""
        return self.means

    def mean(self, metric: str) -> float:
        """Mean of one metric over the queries where it is defined."""
        found = self.means.loc[self.means["metric"] == metric, "mean"]
        if found.empty:
            raise KeyError(f"metric {metric!r} was not evaluated; evaluated: {list(self.means['metric'])}")
        return float(found.iloc[0])

    def summary(self) -> str:
        """Means with their n, what was left out, and the policies, in words."""
        shown = "; ".join(f"{r.metric} {r.mean:.4f} (n = {r.n}" + (f", {r.undefined} undefined" if r.undefined else "")
                          + (f", ties alone allow {r.tie_worst:.4f} to {r.tie_best:.4f}" if r.tie_dependent else "")
                          + (f", unjudged products allow {r.low:.4f} to {r.high:.4f}" if "low" in self.means else "") + ")"
                          for r in self.means.itertuples())
        counts = self.queries["state"].value_counts()
        told = [f"{counts[name]} {words}" for name, words in (("missing", "missing from the run (scored 0)"), ("zero_results", "without results (scored 0)"),
                                                              ("failed", "failed (left out)")) if name in counts]
        told += [f"{self.notes[name]} {words}" for name, words in (("duplicates", "repeated products dropped"),
                                                                   ("repeated_judgments", "repeated judgments folded")) if self.notes[name]]
        if self.notes["off_judgments"]:
            told.append(f"{len(self.notes['off_judgments'])} searched queries outside the evaluation")
        return (f"{len(self.queries)} queries: {shown}." + (f" Of the queries and rows: {', '.join(told)}." if told else "")
                + f" Gains {self.settings['gains']}; relevant from grade {self.settings['relevant_grade']:g}; "
                  f"{UNJUDGED_SENTENCES[self.settings['unjudged']]}; ties by product_id.")

    def __repr__(self) -> str:
        return f"Evaluation: {self.summary()}"

    def _repr_html_(self) -> str:
        definitions = "".join(f"<li>{html.escape(text)}</li>" for text in self.definitions.values())
        table = self.means.to_html(index=False, float_format=lambda v: f"{v:.4f}", escape=True, border=0)
        return f"<p>{html.escape(self.summary())}</p>{table}<details><summary>Definitions</summary><ul>{definitions}</ul></details>"


def _mean_row(name: str, column: Mapping, state: pd.DataFrame, bounds: bool) -> dict[str, object]:
    """One row of the means table."""
    value = column["value"]
    defined = ~np.isnan(value)
    count = state["state"].to_numpy()
    row = {
        "metric": name, "mean": mean(value[defined]), "n": int(defined.sum()),
        "undefined": int((~defined & (count != "failed")).sum()), "failed": int((count == "failed").sum()),
        "missing": int((defined & (count == "missing")).sum()), "zero_results": int((defined & (count == "zero_results")).sum()),
        "tie_worst": mean(column["worst"][defined]), "tie_best": mean(column["best"][defined]),
        "ties_across_cut": column["ties_across_cut"], "tie_dependent": int((column["best"][defined] - column["worst"][defined] > 1e-12).sum()),
    }
    return row | ({"low": mean(column["low"][defined]), "high": mean(column["high"][defined])} if bounds else {})


def mean(values: np.ndarray) -> float:
    """Mean that does not depend on the order of its values (exactly rounded sum); NaN of nothing."""
    return math.fsum(values) / len(values) if len(values) else math.nan
