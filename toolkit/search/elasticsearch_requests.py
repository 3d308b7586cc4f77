"""Requests to an Elasticsearch that may be slow, busy or gone: retries, back-off, one answer per search."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from elastic_transport import ApiError, TransportError
from tqdm.auto import tqdm

from toolkit.search.elasticsearch_failures import SPLIT_STATUS, Failure, failure_of, whole_answers

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

API_KEY = "ELASTICSEARCH_API_KEY"
"""Environment variable that holds the API key; credentials come from nowhere else."""

T = TypeVar("T")


@dataclass(frozen=True)
class Retry:
    """How often and how patiently a request is repeated.

    Parameters
    ----------
    attempts : int
        Attempts in all, at least 1.
    first_wait, longest_wait : float
        Wait before the second attempt [s], and the cap of the doubling waits [s].
    """

    attempts: int = 5
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.first_wait < 0 or self.longest_wait < 0:
            raise ValueError(f"{self}: expected attempts >= 1 and waits >= 0 seconds")

    def wait(self, attempt: int, asked: float = 0.0) -> None:
        """Sleep after the failed attempt number ``attempt`` (from 0); ``asked`` is the server's Retry-After [s]."""
        backoff = min(self.longest_wait, self.first_wait * 2.0**attempt)
        # The jitter keeps clients that failed together from coming back together.
        time.sleep(max(min(asked, self.longest_wait), backoff * random.uniform(0.5, 1.0)))


def connect(address: str | Sequence[str] | Elasticsearch) -> Elasticsearch:
    """The official client for an address; a client is taken as it is.

    Parameters
    ----------
    address : str, sequence of str, or elasticsearch.Elasticsearch
        One URL, the URLs of several nodes, or a configured client. The API key of a URL comes from
        the environment variable ``ELASTICSEARCH_API_KEY``.

    Raises
    ------
    ValueError
        If a URL carries a user or password: it would appear in logs and notebooks.
    """
    from elasticsearch import Elasticsearch

    if isinstance(address, Elasticsearch):
        return address
    urls = [address] if isinstance(address, str) else list(address)
    for url in urls:
        if urlsplit(url).username or urlsplit(url).password:
            raise ValueError(f"an Elasticsearch address must not carry credentials; set the environment variable {API_KEY}")
    return Elasticsearch(urls, api_key=os.environ.get(API_KEY) or None)


@dataclass
class Connection:
    """A client and one index, with the patience to use them.

    Parameters
    ----------
    client : elasticsearch.Elasticsearch
    index : str
    timeout : float
        Longest wait for one answer [s].
    retry : Retry
    batch_size : int
        Searches in one ``_msearch``.
    dfs : bool
        Collect term statistics over all shards first (``dfs_query_then_fetch``): scores of an
        index with several shards are then those of one shard, for a second round trip.
    """

    client: Elasticsearch
    index: str
    timeout: float = 30.0
    retry: Retry = field(default_factory=Retry)
    batch_size: int = 100
    dfs: bool = False

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.timeout <= 0:
            raise ValueError(f"batch_size {self.batch_size} and timeout {self.timeout}: expected at least 1 and more than 0 s")
        # One place decides about repeating: the client's own retries have no back-off.
        self.client = self.client.options(max_retries=0, request_timeout=self.timeout)

    def call(self, request: Callable[[Elasticsearch], T]) -> T | Failure:
        """The answer of one request, repeated while the failure may pass."""
        for attempt in range(self.retry.attempts):
            if attempt:
                self.retry.wait(attempt - 1, failure.asked)
            try:
                return request(self.client)
            except (TransportError, ApiError) as error:
                failure = failure_of(error, self.timeout)
            if not failure.retryable:
                return failure
        return failure.after(self.retry.attempts)

    def searches(self, bodies: Sequence[dict], *, progress: bool = False, label: str = "Elasticsearch",
                 named_scores: bool = False) -> Iterator[tuple[int, dict | Failure]]:
        """Send searches in batches; yield (position, answer) in order, as soon as a batch is complete.

        Parameters
        ----------
        bodies : sequence of dict
            Search request bodies.
        progress : bool
            Show a bar over the searches.
        label : str
            Its name.
        named_scores : bool
            Ask for the score of every named query with each hit.

        Yields
        ------
        tuple of int and (dict or Failure)
            An answer is whole: no shard failed and no time limit cut it.
        """
        # While the server is down, further batches are tried once: a dead server costs one back-off, not one a batch.
        down = False
        with tqdm(total=len(bodies), desc=label, unit="search", disable=not progress) as bar:
            for start in range(0, len(bodies), self.batch_size):
                batch = bodies[start:start + self.batch_size]
                answers = self._batch(batch, 1 if down else self.retry.attempts, named_scores)
                down = all(isinstance(answer, Failure) and answer.retryable for answer in answers)
                bar.update(len(batch))
                yield from enumerate(answers, start)

    def _batch(self, bodies: Sequence[dict], attempts: int, named_scores: bool) -> list[dict | Failure]:
        answers: list[dict | Failure] = [Failure("not sent")] * len(bodies)
        pending = list(range(len(bodies)))
        for attempt in range(attempts):
            if attempt:
                self.retry.wait(attempt - 1, max(answers[i].asked for i in pending))
            for i, answer in zip(pending, self._send([bodies[i] for i in pending], named_scores), strict=True):
                answers[i] = answer
            pending = [i for i in pending if isinstance(answers[i], Failure) and answers[i].retryable]
            if not pending:
                break
        for i in pending:
            answers[i] = answers[i].after(attempts)
        return answers

    def _send(self, bodies: Sequence[dict], named_scores: bool) -> list[dict | Failure]:
        # Several copies of a shard may differ in deleted documents, and so in scores: one preference keeps to the same copies.
        header = {"allow_partial_search_results": False, "preference": "search-relevance-toolkit",
                  "search_type": "dfs_query_then_fetch" if self.dfs else "query_then_fetch"}
        lines = [line for body in bodies for line in (header, body)]
        try:
            answer = self.client.msearch(index=self.index, searches=lines, include_named_queries_score=named_scores or None)
        except (TransportError, ApiError) as error:
            failure = failure_of(error, self.timeout)
            if failure.status in SPLIT_STATUS and len(bodies) > 1:
                half = len(bodies) // 2
                return self._send(bodies[:half], named_scores) + self._send(bodies[half:], named_scores)
            return [failure] * len(bodies)
        return whole_answers(answer.body, len(bodies))
