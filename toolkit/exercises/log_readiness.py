"""Exercises of notebook 07: what a log gives, what comes first, what an assumption buys."""

from __future__ import annotations

from toolkit.exercises.base import Feedback, check_choice, check_number
from toolkit.lineage.audit import Readiness
from toolkit.lineage.bounding import Bounds


def check_incomplete(answer: object, audit: Readiness) -> Feedback:
    """How many audited metrics the log cannot compute exactly (a count: bounded or not computable)."""
    return check_number(answer, float((audit.metrics["status"] != "computable").sum()), tolerance=0,
                        hint="audit.metrics has one row a metric; count every status other than computable.",
                        praise="A dashboard would have shown a number for each of them.")


def check_next_field(answer: object, audit: Readiness) -> Feedback:
    """The field to log first (as table.column; "none" where nothing is missing)."""
    return check_choice(answer, audit.next_field or "none", hint="audit.fields is sorted: incomplete fields first, the most useful on top.",
                        praise="It completes the most metrics alone or, where none does, is needed by the most.")


def check_narrowing(answer: object, plain: Bounds, narrowed: Bounds, metric: str) -> Feedback:
    """By how many percentage points the assumptions narrow a metric's interval (a number, within 0.1)."""
    (low, high), (less, more) = plain.interval(metric), narrowed.interval(metric)
    return check_number(answer, 100 * ((high - low) - (more - less)), tolerance=0.1,
                        hint=f"Both results have .interval({metric!r}); compare the widths.",
                        praise="An assumption buys width with a claim that someone must defend; a logged field costs nothing of the kind.")
