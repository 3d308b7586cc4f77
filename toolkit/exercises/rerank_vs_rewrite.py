"""Exercises of notebook 05: whom an intervention helps, how far, and how sure one can be."""

from __future__ import annotations

from toolkit.exercises.base import Feedback, check_choice, check_number
from toolkit.interventions import Experiment, RewriteGuard


def check_helped_bucket(answer: object, experiment: Experiment, arm: str) -> Feedback:
    """The failure bucket whose mean gain under one arm is largest (a bucket's name)."""
    rows = experiment.buckets().query("arm == @arm and bucket != 'does not fail'")
    return check_choice(answer, rows.loc[rows["delta"].idxmax(), "bucket"],
                        hint=f"experiment.buckets() has one row an arm and bucket; keep {arm!r}, leave out 'does not fail', and look for the largest delta.",
                        praise="That is what the diagnosis said this kind of intervention could do.")


def check_share_of_promise(answer: object, experiment: Experiment, arm: str) -> Feedback:
    """Mean gain of a rerank over the gain of a perfect one at the same depth, over all queries (to two decimals)."""
    return check_number(answer, share_of_promise(experiment, arm), tolerance=0.006,
                        hint="Divide the arm's delta of ndcg@10 by the gain of 'all queries' in experiment.headroom.means for action 'reorder' at the arm's depth.",
                        praise="The rest of the ceiling is there for a better model; no model gets more.")


def share_of_promise(experiment: Experiment, arm: str) -> float:
    """See :func:`check_share_of_promise`."""
    means = experiment.headroom.means
    chosen = means[(means["bucket"] == "all queries") & (means["action"] == "reorder") & (means["depth"] == experiment.arms[arm].depth)]
    return float(experiment.arms[arm].comparison.row()["delta"] / chosen["gain"].iloc[0])


def check_unjudged_share(answer: object, experiment: Experiment, arm: str) -> Feedback:
    """The share of an arm's newcomers in the top 10 that nobody judged (to two decimals)."""
    share = experiment.unjudged_newcomers().set_index("arm").loc[arm, "share"]
    return check_number(answer, float(share), tolerance=0.006,
                        hint="unjudged_newcomers() of the experiment under sampled judgments counts, per arm, the products that came into the top 10 and those of them without a grade.",
                        praise="Each of them counts as irrelevant until somebody looks at it: judge these first.")


def check_rewrite_passes(answer: object, guard: RewriteGuard, typed: str) -> Feedback:
    """Another text for a query that the guard lets through."""
    hint = f"Write {typed!r} in other words; keep what it excludes, its numbers and its model names, and add no brand."
    if answer is None:
        return Feedback("open", hint)
    reasons = guard.reasons(typed, str(answer))
    if reasons:
        return Feedback("wrong", f"The guard refuses it: {'; '.join(reasons)}. {hint}")
    if guard.analyze(str(answer)) == guard.analyze(typed):
        return Feedback("wrong", f"These are the same search terms. {hint}")
    return Feedback("right", "The guard checks what must stay; whether the new words find more is the measurement's question.")
