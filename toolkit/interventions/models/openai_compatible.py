"""Any HTTP endpoint that speaks the chat-completions form.

The key comes from the environment only and is never printed or recorded. Each call has one
deadline for everything it does, retries included: an endpoint that drips bytes cannot pass it.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from typing import Any

from toolkit.interventions.models.protocol import (
    ModelDisabled,
    ModelFailure,
    ModelInvalidResponse,
    ModelTimeout,
    ModelTransportError,
    Reply,
    RerankRequest,
    RewriteRequest,
)
from toolkit.interventions.prompts import Prompts, one_line, rerank_message

MAX_RESPONSE_BYTES = 16 * 2**20
RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


class OpenAICompatibleModel:
    """A chat-completions endpoint as a rerank and rewrite model.

    Parameters
    ----------
    base_url : str
        For example ``https://host/v1``; ``/chat/completions`` is added.
    model : str
        The model snapshot to ask for; the snapshot that answers is recorded.
    api_key_variable : str
        Name of the environment variable that holds the key; unset means no key is sent.
    temperature : float
    timeout : float
        Seconds for one question, retries included.
    retries : int
        Further tries after connection errors and statuses 408, 429 and 5xx, with exponential back-off.
    concurrency : int
        Questions under way at once.
    token_budget : int or None
        Tokens (prompt and completion) after which no further question is sent; each unsent
        question becomes ``DISABLED`` with the reason. Questions under way are finished.
    prompts : Prompts
    """

    def __init__(
        self, base_url: str, model: str, *, api_key_variable: str = "OPENAI_API_KEY", temperature: float = 0.0,
        timeout: float = 30.0, retries: int = 2, concurrency: int = 4, token_budget: int | None = None,
        prompts: Prompts = Prompts(),
    ) -> None:
        import httpx

        self._url = base_url.rstrip("/") + "/chat/completions"
        self._model, self._temperature, self._prompts = model, temperature, prompts
        self._timeout, self._retries = timeout, retries
        self.concurrency = concurrency
        self._budget, self._spent, self._lock = token_budget, 0, threading.Lock()
        self._key_variable = api_key_variable
        self._client = httpx.Client(limits=httpx.Limits(max_connections=concurrency))
        self.model_id = f"{model}@t{temperature:g}#{prompts.hash}"

    @property
    def tokens_spent(self) -> int:
        """Tokens reported by the endpoint so far."""
        return self._spent

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def rerank(self, request: RerankRequest) -> Reply:
        """Candidate numbers as the endpoint wrote them (text; the merge reads it)."""
        return self._ask(self._prompts.rerank, rerank_message(request.query, request.texts))

    def rewrite(self, request: RewriteRequest) -> Reply:
        """The query text inside the endpoint's JSON answer."""
        reply = self._ask(self._prompts.rewrite, f"Query: {one_line(request.query)}")
        return Reply(_query_of(str(reply.content)), reply.seconds, reply.prompt_tokens, reply.completion_tokens,
                     reply.attempts, reply.note, reply.model)

    def _ask(self, system: str, user: str) -> Reply:
        """One question within its deadline; tries again where that may help."""
        if self._budget is not None and self._spent >= self._budget:
            raise ModelDisabled(f"token budget of {self._budget} is spent ({self._spent} used)")
        start = time.monotonic()
        deadline = start + self._timeout
        body = {"model": self._model, "temperature": self._temperature,
                "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}]}
        for attempt in range(1, self._retries + 2):
            try:
                status, data = self._post(body, deadline)
            except ModelTimeout as error:
                error.attempts = attempt
                raise
            except ModelTransportError as error:
                failure: ModelFailure = error
            else:
                if status == 200:
                    return self._reply(data, time.monotonic() - start, attempt)
                failure = ModelTransportError(f"HTTP {status}: {data[:200].decode('utf-8', 'replace')}")
                if status not in RETRY_STATUSES:
                    raise failure
            failure.attempts = attempt
            pause = min(0.25 * 2 ** (attempt - 1), 8.0) * random.uniform(0.5, 1.0)
            if attempt > self._retries:
                raise failure
            if time.monotonic() + pause >= deadline:
                raise ModelTimeout(f"no answer within {self._timeout:g} s; last: {failure}", attempts=attempt)
            time.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _post(self, body: dict[str, Any], deadline: float) -> tuple[int, bytes]:
        """Status and body of one request; every read gets only what is left of the deadline."""
        import httpx

        key = os.environ.get(self._key_variable)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            with self._client.stream("POST", self._url, json=body, headers=headers, timeout=_left(deadline)) as response:
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    _left(deadline)
                    if len(data) > MAX_RESPONSE_BYTES:
                        raise ModelInvalidResponse(f"the answer is larger than {MAX_RESPONSE_BYTES} bytes")
                return response.status_code, bytes(data)
        except httpx.TimeoutException as error:
            raise ModelTimeout(f"no answer within {self._timeout:g} s ({type(error).__name__})") from error
        except httpx.HTTPError as error:
            raise ModelTransportError(f"{type(error).__name__}: {error}") from error

    def _reply(self, data: bytes, seconds: float, attempt: int) -> Reply:
        """The message of a chat completion; anything else is an invalid response."""
        try:
            answer = json.loads(data)
            content = answer["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            raise ModelInvalidResponse(f"no choices[0].message.content in the answer ({type(error).__name__}: {error})", attempts=attempt) from error
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        prompt, completion = (int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
        with self._lock:
            self._spent += prompt + completion
        if not isinstance(content, str):
            raise ModelInvalidResponse(f"message content is {type(content).__name__}, expected text", attempts=attempt)
        return Reply(content, seconds, prompt, completion, attempt, model=str(answer.get("model") or self._model))


def _left(deadline: float) -> float:
    """Seconds left, never zero; past the deadline it is a timeout."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise ModelTimeout("the deadline passed before the answer was complete")
    return left


def _query_of(content: str) -> str:
    """The rewritten query in an endpoint's answer, with or without a code fence around the JSON."""
    start, end = content.find("{"), content.rfind("}")
    try:
        query = json.loads(content[start : end + 1])["query"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelInvalidResponse(f"no JSON object with a query in the answer ({content[:80]!r})") from error
    if not isinstance(query, str) or not query.strip():
        raise ModelInvalidResponse(f"the rewritten query is {query!r}, expected text")
    return query.strip()
