"""What an intervention did to each query, and to all of them together."""

from __future__ import annotations

import html
from dataclasses import dataclass
from enum import Enum

import pandas as pd

from toolkit.interventions.models.protocol import ModelFailure, Reply


def outcome_row(query_id: str, status: Enum, reason: str | None = None, *, answer: Reply | ModelFailure | None = None, **numbers: object) -> dict:
    """One row of :attr:`Outcome.table`."""
    reply = answer if isinstance(answer, Reply) else Reply(None, attempts=getattr(answer, "attempts", 0))
    return {
        "query_id": query_id, "status": status.value, "reason": reason, **numbers,
        "seconds": reply.seconds, "prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens,
        "attempts": reply.attempts, "model": reply.model or None, "note": reply.note or None,
    }


@dataclass(frozen=True)
class Outcome:
    """Rankings after an intervention and what became of each query.

    Attributes
    ----------
    rankings : DataFrame
        query_id, product_id, rank, … of every query: search always answers.
    table : DataFrame
        One row a query: query_id, status, reason (null unless something went wrong, was refused or comes to the same terms),
        seconds, prompt_tokens, completion_tokens, attempts, model, note; a rerank adds candidates,
        named, ignored; a rewrite adds query, rewritten_query, proposed_query.
    statuses : type
        ``RerankStatus`` or ``RewriteStatus``: the closed set ``status`` is from.
    """

    rankings: pd.DataFrame
    table: pd.DataFrame
    statuses: type[Enum]

    def to_frame(self) -> pd.DataFrame:
        """One row a query, with ``failure`` and ``fallback`` derived from the status."""
        status = [self.statuses(value) for value in self.table["status"]]
        return self.table.assign(failure=[s.failure for s in status], fallback=[s.fallback for s in status])

    def counts(self) -> pd.Series:
        """Queries per status, every status listed, in the order of the enumeration."""
        return self.table["status"].value_counts().reindex([s.value for s in self.statuses], fill_value=0)

    def summary(self) -> str:
        """The counts in one sentence."""
        counts = self.counts()
        parts = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return f"{len(self.table)} queries: {parts or 'none'}; {int(self.to_frame()['fallback'].sum())} served unmodified as a fallback"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.counts().rename('queries').to_frame().to_html()}"
