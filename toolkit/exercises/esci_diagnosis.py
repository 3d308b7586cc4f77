"""Exercises of notebook 01: what a mean hides, what judgments allow, who fails."""

from __future__ import annotations

import pandas as pd

from toolkit.diagnosis import FailureDiagnosis
from toolkit.evaluation import Evaluation
from toolkit.exercises.base import Feedback, check_choice, check_number


def check_mean_without_zeros(answer: object, scores: Evaluation, metric: str = "ndcg@10") -> Feedback:
    """The mean of ``metric`` over the queries where it is above 0 (to three decimals)."""
    values = scores.to_frame().query("metric == @metric")["value"]
    return check_number(answer, float(values[values > 0].mean()),
                        hint=f"Take scores.to_frame(), keep the rows of {metric} with value > 0, and average.",
                        praise="Two rankers with the same mean can fail very different queries: look at the zeros apart from the rest.")


def check_bound_width(answer: object, bounded: Evaluation, metric: str = "ndcg@10") -> Feedback:
    """How far the mean could move if the unjudged products were judged: high - low (to three decimals)."""
    row = bounded.means.set_index("metric").loc[metric]
    return check_number(answer, float(row["high"] - row["low"]),
                        hint="bounded.means has the columns low and high.",
                        praise="This is what the judgments leave open; no number of queries and no statistics can close it, only judging can.")


def check_worst_trait(answer: object, diagnosis: FailureDiagnosis, *, least: int = 5) -> Feedback:
    """The trait whose queries fail most often, among traits with at least ``least`` queries (a name)."""
    return check_choice(answer, worst_trait(diagnosis.by_trait(), least),
                        hint=f"Sort diagnosis.by_trait() by share; leave out rows with n < {least} and the two summary rows.",
                        praise="A share without its n and interval would have let a trait of two queries win.")


def worst_trait(table: pd.DataFrame, least: int) -> str:
    """Name of the trait with the largest share of failing queries; the first among equals."""
    traits = table[~table["trait"].isin(["no noise or negation", "all queries"]) & (table["n"] >= least)]
    return "none" if traits.empty else str(traits.sort_values("share", ascending=False, kind="stable")["trait"].iloc[0])
