"""Any HTTP endpoint that speaks the chat-completions form.

The key comes from the environment only and is never printed or recorded: where an endpoint echoes
it, ``[key]`` stands in its place. Each call has one deadline for everything it does, name look-up
and retries included: an endpoint that drips bytes cannot pass it.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

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
MAX_ERROR_BYTES = 2**12  # read of the body of an error status: enough for a reason
MIN_KEY_LENGTH = 8  # a shorter "key", such as "none", is a placeholder; hiding it would change answers
RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


class _Answer(NamedTuple):
    """One HTTP response: its status, the start of its body or all of it, and the seconds it asks to wait before the next try."""

    status: int
    data: bytes
    wait: float


class OpenAICompatibleModel:
    """A chat-completions endpoint as a rerank and rewrite model.

    Parameters
    ----------
    base_url : str
        For example ``https://host/v1``; ``/chat/completions`` is added. Redirects are not followed.
    model : str
        The model snapshot to ask for; the snapshot that answers is recorded.
    api_key_variable : str
        Name of the environment variable that holds the key; unset means no key is sent.
    temperature : float
    timeout : float
        Seconds for one question, retries included.
    retries : int
        Further tries after connection errors and statuses 408, 429 and 5xx, with exponential back-off,
        or after the seconds of a ``Retry-After``.
    concurrency : int
        Questions under way at once.
    token_budget : int or None
        Tokens (prompt and completion) after which no further question is sent; each unsent
        question becomes ``DISABLED`` with the reason. Questions under way are finished, so up to
        ``concurrency`` answers may come on top of the budget. Tokens the endpoint does not report are not counted.
    prompts : Prompts

    Raises
    ------
    ValueError
        If ``base_url`` is no http or https address, or a number is out of range.
    """

    def __init__(
        self, base_url: str, model: str, *, api_key_variable: str = "OPENAI_API_KEY", temperature: float = 0.0,
        timeout: float = 30.0, retries: int = 2, concurrency: int = 4, token_budget: int | None = None,
        prompts: Prompts = Prompts(),
    ) -> None:
        import httpx

        _check(base_url, timeout, retries, concurrency)
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._model, self._temperature, self._prompts = model, temperature, prompts
        self._timeout, self._retries = timeout, retries
        self.concurrency = concurrency
        self._budget, self._spent, self._lock = token_budget, 0, threading.Lock()
        self._key_variable = api_key_variable
        self._client = httpx.Client(limits=httpx.Limits(max_connections=None))  # an abandoned call must not block the next
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
            wait = 0.0
            try:
                answer = self._within(deadline, lambda: self._post(body, deadline))
            except ModelTransportError as error:
                failure: ModelFailure = error
            except ModelFailure as error:
                error.attempts = attempt
                raise
            else:
                if answer.status == 200:
                    return self._reply(answer.data, time.monotonic() - start, attempt)
                failure = ModelTransportError(f"HTTP {answer.status}: {answer.data[:200].decode('utf-8', 'replace')}")
                wait = answer.wait
                if answer.status not in RETRY_STATUSES:
                    raise failure
            failure.attempts = attempt
            if attempt > self._retries or time.monotonic() + wait >= deadline:
                raise failure
            pause = max(wait, min(0.25 * 2 ** (attempt - 1), 8.0) * random.uniform(0.5, 1.0))
            if time.monotonic() + pause >= deadline:
                raise ModelTimeout(f"no answer within {self._timeout:g} s; last: {failure}", attempts=attempt)
            time.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _within(self, deadline: float, call: Callable[[], _Answer]) -> _Answer:
        """The call's answer, or a timeout at the deadline.

        The HTTP client's own limit holds for each read: name look-up and headers that come byte by byte escape it.
        So the call has a thread that is left behind; it stops at its own next limit, and nobody hears its answer.
        """
        done: list[_Answer | BaseException] = []

        def run() -> None:
            try:
                done.append(call())
            except BaseException as error:
                done.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(_left(deadline))
        if not done:
            raise ModelTimeout(f"no answer within {self._timeout:g} s: the deadline passed before it was complete")
        if isinstance(done[0], BaseException):
            raise done[0]
        return done[0]

    def _post(self, body: dict[str, Any], deadline: float) -> _Answer:
        """One request and its answer, the key hidden in both the answer and any error."""
        import httpx

        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            with self._client.stream("POST", self._url, json=body, headers=headers, timeout=_left(deadline)) as response:
                limit = MAX_RESPONSE_BYTES if response.status_code == 200 else MAX_ERROR_BYTES
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > limit:
                        break
                if response.status_code == 200 and len(data) > limit:
                    raise ModelInvalidResponse(f"the answer is larger than {limit} bytes")
                if response.is_redirect:
                    data = bytearray(f"redirects to {response.headers['location']}; give that address as base_url".encode())
                return _Answer(response.status_code, _hide(key, bytes(data)), _seconds(response.headers.get("retry-after")))
        except httpx.TimeoutException as error:
            raise ModelTimeout(f"no answer within {self._timeout:g} s ({type(error).__name__})") from error
        except httpx.HTTPError as error:
            raise ModelTransportError(_hide(key, f"{type(error).__name__}: {error}".encode()).decode()) from None  # the cause may hold the key

    def _key(self) -> str:
        """The key, without the line break a file or shell may have left behind it."""
        key = os.environ.get(self._key_variable, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ModelDisabled(f"the key in {self._key_variable} holds characters that no HTTP header may have; set it again")
        return key

    def _reply(self, data: bytes, seconds: float, attempt: int) -> Reply:
        """The message of a chat completion; anything else is an invalid response, whose tokens count all the same."""
        try:
            answer = json.loads(data)
            prompt, completion = self._spend(answer.get("usage") if isinstance(answer, dict) else None)
            content = answer["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            raise ModelInvalidResponse(f"no choices[0].message.content in the answer ({type(error).__name__}: {error})", attempts=attempt) from error
        if not isinstance(content, str):
            raise ModelInvalidResponse(f"message content is {type(content).__name__}, expected text", attempts=attempt)
        return Reply(content, seconds, prompt, completion, attempt, model=str(answer.get("model") or self._model))

    def _spend(self, usage: object) -> tuple[int, int]:
        """Prompt and completion tokens as reported, counted against the budget; what is no count is 0."""
        reported = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
        prompt, completion = (int(value) if isinstance(value, (int, float)) and 0 <= value < 2**53 else 0 for value in reported)
        with self._lock:
            self._spent += prompt + completion
        return prompt, completion


def _check(base_url: str, timeout: float, retries: int, concurrency: int) -> None:
    """What can be said before anything is asked."""
    import httpx

    try:
        address = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ValueError(f"OpenAICompatibleModel: base_url {base_url!r} is no address ({error}); expected for example https://host/v1") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise ValueError(f"OpenAICompatibleModel: base_url {base_url!r} is no http or https address; expected for example https://host/v1")
    if timeout <= 0 or retries < 0 or concurrency < 1:
        raise ValueError(f"OpenAICompatibleModel: timeout {timeout}, retries {retries}, concurrency {concurrency}; expected more than 0, at least 0, at least 1")


def _hide(key: str, data: bytes) -> bytes:
    """The data with ``[key]`` in the key's place."""
    return data.replace(key.encode(), b"[key]") if len(key) >= MIN_KEY_LENGTH else data


def _seconds(retry_after: str | None) -> float:
    """Seconds of a ``Retry-After`` header; 0 where there is none or it is a date."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else 0.0


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
