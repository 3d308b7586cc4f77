"""What can go wrong between a request and a whole answer, each as one Failure with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elastic_transport import ApiError, ConnectionError, ConnectionTimeout, SerializationError

RETRY_STATUS = frozenset({429, 502, 503, 504})
"""HTTP statuses that a later attempt may not meet: too busy, a node gone, a proxy without its server."""

SPLIT_STATUS = frozenset({400, 413})
"""Statuses of a whole batch that one bad or large search may have caused: its halves are sent alone."""


@dataclass(frozen=True)
class Failure:
    """Why a request has no usable answer.

    Attributes
    ----------
    reason : str
    retryable : bool
        Whether a later attempt may succeed.
    status : int or None
        HTTP status, where there was one.
    asked : float
        Seconds that the server asked to wait.
    """

    reason: str
    retryable: bool = False
    status: int | None = None
    asked: float = 0.0

    def after(self, attempts: int) -> Failure:
        """The same failure, saying how often it was tried."""
        tried = f" (after {attempts} attempts)" if attempts > 1 else ""
        return Failure(self.reason + tried, self.retryable, self.status)


def failure_of(error: Exception, timeout: float | None = None) -> Failure:
    """What an exception of the client means, in one sentence without addresses or headers."""
    if isinstance(error, ConnectionTimeout):
        return Failure("no answer in time" if timeout is None else f"no answer within {timeout:g} s", retryable=True)
    if isinstance(error, ConnectionError):
        return Failure(f"connection failed: {_without_object(str(error.message))}", retryable=True)
    if isinstance(error, SerializationError):
        return Failure("the answer is not valid JSON (a proxy's page, or cut off)", retryable=True)
    if isinstance(error, ApiError):
        status = error.meta.status
        return Failure(f"HTTP {status}: {describe(error.body) or error.message}", status in RETRY_STATUS, status, _retry_after(error))
    return Failure(f"{type(error).__name__}: {error}")


def _without_object(message: str) -> str:
    """urllib3 puts the repr of its connection in front of the cause."""
    return message.rpartition(">: ")[2] or message


def _retry_after(error: ApiError) -> float:
    try:
        return max(0.0, float(error.meta.headers.get("retry-after", 0)))
    except ValueError:  # a date instead of seconds: the usual back-off must do
        return 0.0


def describe(body: Any) -> str:
    """Type and reason of an Elasticsearch error object, with its root cause where that says more."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return str(error)[:300] if error else ""
    text = f"{error.get('type')}: {error.get('reason')}"
    causes = error.get("root_cause") or [error.get("caused_by")]
    cause = causes[0] if causes and isinstance(causes[0], Mapping) else {}
    if cause.get("reason") and cause.get("reason") != error.get("reason"):
        text += f" ({cause.get('type')}: {cause['reason']})"
    return text[:500]


def whole_answers(body: Any, sent: int) -> list[dict | Failure]:
    """The items of one ``_msearch`` answer; what is not a whole result becomes a Failure."""
    items = body.get("responses") if isinstance(body, Mapping) else None
    if not isinstance(items, list) or len(items) != sent:
        found = f"{len(items)} of {sent} answers" if isinstance(items, list) else "no list of answers"
        return [Failure(f"the server returned {found}", retryable=True)] * sent
    return [_whole(item) for item in items]


def _whole(item: Any) -> dict | Failure:
    if not isinstance(item, Mapping) or ("error" not in item and not isinstance(item.get("hits"), Mapping)):
        return Failure("the server returned a search answer without hits", retryable=True)
    status = item.get("status", 200)
    if "error" in item:
        return Failure(f"HTTP {status}: {describe(item)}", status in RETRY_STATUS, status)
    shards = item.get("_shards") or {}
    if shards.get("failed", 0) or shards.get("successful", 0) < shards.get("total", 0):
        failures = shards.get("failures") or [{}]
        cause = describe(failures[0].get("reason")) or "no reason given"
        missing = shards.get("total", 0) - shards.get("successful", 0)
        return Failure(f"{missing or shards.get('failed')} of {shards.get('total')} shards failed: {cause}", retryable=True)
    if item.get("timed_out"):
        return Failure("the server ran out of time and returned part of the result", retryable=True)
    return dict(item)
