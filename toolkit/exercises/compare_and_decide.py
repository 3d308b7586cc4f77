"""Exercises of notebook 04: what few queries can say, what it takes, what stands in the way."""

from __future__ import annotations

from toolkit.evaluation import Comparison, Verdict, queries_needed
from toolkit.exercises.base import Feedback, check_number, check_set


def check_fewest_changed(answer: object, alpha: float = 0.05) -> Feedback:
    """The fewest changed queries, all improving, that can give a two-sided sign-flip p of at most ``alpha`` (a count)."""
    return check_number(answer, float(fewest_changed(alpha)), tolerance=0,
                        hint="Every sign pattern is equally likely under no effect; the two extreme ones of 2^k give p = 2 / 2^k.",
                        praise="However large each gain is: five queries that all improve are no evidence at 0.05, in any data set.")


def fewest_changed(alpha: float) -> int:
    """See :func:`check_fewest_changed`."""
    from toolkit.evaluation import p_floor

    return next(k for k in range(1, 200) if p_floor(k) <= alpha)


def check_queries_needed(answer: object, comparison: Comparison, effect: float) -> Feedback:
    """Queries with which a true ``effect`` of the primary metric would be found with 80 % power (a count, within 1 %)."""
    expected = queries_needed(effect, comparison.row()["sd"], alpha=comparison.settings["alpha"], power=comparison.settings["power"])
    return check_number(answer, expected, tolerance=max(1.0, 0.01 * expected),
                        hint="toolkit.evaluation.queries_needed(delta, sd); the spread is comparison.row()['sd'].",
                        praise="Half the effect needs four times the queries: decide what is worth shipping before you count.")


def check_doubts(answer: object, made: Verdict) -> Feedback:
    """The names of the checks that keep the verdict from a decision (a set; empty where none does)."""
    expected = {check.name for check in made.checks if check.outcome in ("doubt", "unknown")}
    return check_set(answer, expected, hint="made.to_frame() has one row a check; look for the outcomes doubt and unknown.",
                     praise="Each names its own cure: judgments for holes, queries for power, a tie-break for ties.")
