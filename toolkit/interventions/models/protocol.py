"""What a model is asked, what it answers, and the three ways a call fails."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class RerankRequest:
    """One query with its numbered candidates.

    Attributes
    ----------
    query_id, query : str
    product_ids : tuple of str
        Candidates in the engine's order. Never shown to a model: it sees numbers.
    texts : tuple of str
        What the model sees of each candidate (untrusted).
    """

    query_id: str
    query: str
    product_ids: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def key(self) -> str:
        """Identity of the question: a hash over query and candidates with their texts, in order."""
        return _hash("rerank", self.query, *self.product_ids, *self.texts)


@dataclass(frozen=True)
class RewriteRequest:
    """One query to rewrite."""

    query_id: str
    query: str

    @property
    def key(self) -> str:
        """Identity of the question."""
        return _hash("rewrite", self.query)


def _hash(*parts: str) -> str:
    """SHA-256 over length-prefixed parts (so that no two part lists collide)."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


@dataclass(frozen=True)
class Reply:
    """A model's answer with the bookkeeping of its call.

    Attributes
    ----------
    content : object
        Rerank: candidate numbers (a list, or text that holds them). Rewrite: the new query text.
    seconds : float
        Wall time of the call, retries included.
    prompt_tokens, completion_tokens : int
        As the endpoint reported them; 0 for models without tokens.
    attempts : int
        Tries, 1 if the first succeeded.
    note : str
        The model's own explanation, if it gave one.
    model : str
        The model snapshot that says it answered.
    """

    content: object
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 1
    note: str = ""
    model: str = ""


class ModelFailure(Exception):
    """A call without a usable answer; ``status`` names the status it becomes."""

    status = "INTERNAL_ERROR"

    def __init__(self, reason: str, *, attempts: int = 1) -> None:
        super().__init__(reason)
        self.attempts = attempts


class ModelTimeout(ModelFailure):
    """No complete answer within the limit."""

    status = "TIMEOUT"


class ModelTransportError(ModelFailure):
    """No connection, a broken connection, or an HTTP error status."""

    status = "TRANSPORT_ERROR"


class ModelInvalidResponse(ModelFailure):
    """An answer that does not have the agreed form."""

    status = "INVALID_RESPONSE"


class ModelDisabled(ModelFailure):
    """The model refuses to be asked: its switch is off or its budget is spent."""

    status = "DISABLED"


@runtime_checkable
class RerankModel(Protocol):
    """A model that orders numbered candidates.

    It may also have ``prepare(requests)``: called with the next requests before they are asked one by one, so
    that work they share is done together. It answers nothing, and a model must not need it.
    """

    model_id: str
    concurrency: int

    def rerank(self, request: RerankRequest) -> Reply:
        """Answer with candidate numbers from 1, best first; raise a ModelFailure otherwise."""
        ...


@runtime_checkable
class RewriteModel(Protocol):
    """A model that rewrites queries."""

    model_id: str
    concurrency: int

    def rewrite(self, request: RewriteRequest) -> Reply:
        """Answer with the new query text (the same text where nothing should change)."""
        ...
