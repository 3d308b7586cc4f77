"""Exercises of notebook 06: masked, abandoned only by session, and the gap of a log."""

from __future__ import annotations

from toolkit.exercises.base import Feedback, check_choice, check_number, check_set
from toolkit.lineage.gap import AttributionGap
from toolkit.lineage.matrix import CrossReading


def check_masked(answer: object, reading: CrossReading) -> Feedback:
    """The retrieval of the birthday invitation whose failure is masked (a retrieval_id)."""
    rows = reading.rows
    return check_choice(answer, rows.loc[rows["cell"] == "masked failure", "retrieval_id"].iloc[0],
                        hint="reading.rows has one row a retrieval: Layer 1 must be bad and the outcome good.",
                        praise="The user got an invitation with a crocodile on it. No session metric will ever say that the dinosaur was not found.")


def check_only_lineage(answer: object, gap: AttributionGap) -> Feedback:
    """The retrievals that lineage credits and the session rule does not (a set of retrieval_ids)."""
    rows = gap.retrievals
    return check_set(answer, set(rows.loc[rows["by_lineage"] & ~rows["by_rule"], "retrieval_id"]),
                     hint="gap.retrievals has by_rule and by_lineage for each retrieval.",
                     praise="Their session ended without an export, so a session rule calls it abandoned; the export came three days later.")


def check_gap(answer: object, gap: AttributionGap) -> Feedback:
    """By how many percentage points the session rule credits more retrievals than lineage does (a number, within 0.1)."""
    return check_number(answer, 100 * (gap.rule_rate - gap.lineage_rate), tolerance=0.1,
                        hint="gap.rule_rate and gap.lineage_rate are shares of the same retrievals; a percentage point is a hundredth.",
                        praise="Same retrievals, same outcomes: the difference is the rule alone, and gap.table says what it is made of.")
