"""What became of each intervention: one closed set of statuses for rewrites, one for reranks.

The two machines share no field: a rewrite that fails and a rerank that fails in the same search
are two facts. ``failure`` and ``fallback`` are derived from the status and never stored.
Source: the search lab's status design (``relevance.md`` names it), with ``INTERNAL_ERROR`` for ours.
"""

from __future__ import annotations

from enum import Enum


class RewriteStatus(str, Enum):
    """What became of one query's rewrite."""

    APPLIED = "APPLIED"  # the engine reads other terms in the text that was searched than in the one typed
    NO_CHANGE = "NO_CHANGE"  # the same text, one with the same terms (case, spaces), or the guard refused the answer
    NOT_REQUESTED = "NOT_REQUESTED"  # this query was not selected, so no model was asked
    DISABLED = "DISABLED"  # the switch is off, or the budget is spent
    TIMEOUT = "TIMEOUT"  # no answer within the limit; a later answer is thrown away
    TRANSPORT_ERROR = "TRANSPORT_ERROR"  # no connection, a reset, or an HTTP error status
    INVALID_RESPONSE = "INVALID_RESPONSE"  # an answer that does not have the agreed form

    @property
    def failure(self) -> bool:
        """True where a model was asked and gave no usable answer."""
        return self.value in _FAILURES

    @property
    def fallback(self) -> bool:
        """True where the unmodified search was served because the intervention could not act."""
        return self.failure or self is RewriteStatus.DISABLED


class RerankStatus(str, Enum):
    """What became of one query's rerank."""

    APPLIED = "APPLIED"  # the served order really differs from the engine's
    NO_CHANGE = "NO_CHANGE"  # the model answered with the order it was given
    NOT_REQUESTED = "NOT_REQUESTED"  # fewer than two candidates, or the query was not selected
    DISABLED = "DISABLED"  # the switch is off, or the budget is spent
    TIMEOUT = "TIMEOUT"  # no answer within the limit; a later answer is thrown away
    TRANSPORT_ERROR = "TRANSPORT_ERROR"  # no connection, a reset, or an HTTP error status
    INVALID_RESPONSE = "INVALID_RESPONSE"  # an answer without any number of a candidate
    INTERNAL_ERROR = "INTERNAL_ERROR"  # our fault: the merge did not give a permutation, or our code failed

    @property
    def failure(self) -> bool:
        """True where a model was asked and its answer could not be served."""
        return self.value in _FAILURES

    @property
    def fallback(self) -> bool:
        """True where the unmodified ranking was served because the intervention could not act."""
        return self.failure or self is RerankStatus.DISABLED


_FAILURES = frozenset({"TIMEOUT", "TRANSPORT_ERROR", "INVALID_RESPONSE", "INTERNAL_ERROR"})
