"""Exercises of notebook 03: what a weight can and cannot do."""

from __future__ import annotations

from toolkit.diagnosis import EquivalenceClasses, FieldReport, Tuning, WeightCurve
from toolkit.exercises.base import Feedback, check_choice, check_number, check_set


def check_same_ranking(answer: object, weights: dict[str, float]) -> Feedback:
    """Other weights with the same rankings for every query (a dict: field -> weight)."""
    hint = "Multiply every weight by the same positive number; a power of two even keeps every bit."
    if answer is None:
        return Feedback("open", hint)
    if not isinstance(answer, dict) or set(answer) != set(weights):
        return Feedback("wrong", f"expected a dict with the fields {sorted(weights)}. {hint}")
    ratios = {float(answer[name]) / weight for name, weight in weights.items() if weight}
    if max(ratios) - min(ratios) > 1e-9 * max(ratios) or min(ratios) <= 0:
        return Feedback("wrong", f"the weights are not one multiple of the old ones. {hint}")
    if abs(min(ratios) - 1) < 1e-9:
        return Feedback("wrong", f"these are the same numbers; give other ones. {hint}")
    return Feedback("right", "Only ratios count: five weights are four numbers, and a sweep need not search the fifth.")


def check_wasted(answer: object, classes: EquivalenceClasses) -> Feedback:
    """How many configurations repeat an earlier ranking (a count)."""
    return check_number(answer, len(classes.table) - classes.count, hint="All configurations minus the number of different rankings (classes.count).",
                        praise="Each of these was a full evaluation that could not have told anything new.")


def check_dead(answer: object, report: FieldReport) -> Feedback:
    """The fields whose verdict is dead (a set of names; an empty set if there is none)."""
    expected = {row.field for row in report.table.itertuples() if row.verdict.startswith("dead")}
    return check_set(answer, expected, hint="Look at the verdict column of report.table.",
                     praise="No weight can wake such a field; what fills it must be repaired.")


def check_headroom_of(answer: object, curve: WeightCurve) -> Feedback:
    """The most that any value of this one weight can add to the mean (a number, to 4 decimals)."""
    return check_number(answer, curve.best - curve.current_value, hint="The curve knows its best value and the value in force: best, current_value.",
                        praise="That is not an estimate: no value of this weight does better, so no sweep of it can.")


def check_decision(answer: object, tuning: Tuning) -> Feedback:
    """The verdict on the tuned weights (promote, block or insufficient_evidence)."""
    return check_choice(answer, tuning.verdict.decision, hint="tuning.verdict.decision, or read it off the card.",
                        praise="The holdout was looked at once, after the choice: that is what makes the number count.")
