"""Exercises of notebook 02: what reranking can and cannot save."""

from __future__ import annotations

from toolkit.diagnosis import FailureDiagnosis, Headroom, MissingReasons
from toolkit.exercises.base import Feedback, check_choice, check_number


def check_saved_by(answer: object, diagnosis: FailureDiagnosis, depth: int) -> Feedback:
    """How many failing queries a perfect reranker that reads ``depth`` products could save (a count)."""
    ranks = diagnosis.failing["first_rank"]
    return check_number(answer, int((ranks <= depth).sum()),
                        hint="Count the rows of diagnosis.failing whose first_rank is at most that depth; an empty rank is not.",
                        praise="That is a ceiling: a real reranker has to recognise the product as relevant first.")


def check_depth_for(answer: object, headroom: Headroom, share: float) -> Feedback:
    """The smallest tried depth whose perfect reordering reaches ``share`` of the gain that perfect retrieval has (a depth, or 0 for none)."""
    return check_number(answer, depth_for(headroom, share), tolerance=0,
                        hint="Take headroom.means of 'all queries'; divide each reorder gain by the retrieve gain; 0 if none reaches it.",
                        praise="Every product more costs the reranker time on every query; the curve says where that stops paying.")


def depth_for(headroom: Headroom, share: float) -> int:
    """See :func:`check_depth_for`."""
    means = headroom.means[headroom.means["bucket"] == "all queries"]
    whole = means.loc[means["action"] == "retrieve", "gain"].iloc[0]
    enough = means[(means["action"] == "reorder") & (means["gain"] >= share * whole)]
    return int(enough["depth"].min()) if len(enough) else 0


def check_main_reason(answer: object, reasons: MissingReasons, bucket: str) -> Feedback:
    """The most frequent reason in one bucket (a reason's name; "none" for an empty bucket)."""
    found = reasons.queries.loc[reasons.queries["bucket"] == bucket, "reason"].value_counts()
    return check_choice(answer, found.index[0] if len(found) else "none",
                        hint=f"reasons.counts() has one column a bucket; look at {bucket!r} (no such column: 'none').",
                        praise="What the words of the query never meet, no order of results can bring up.")
