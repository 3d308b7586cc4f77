"""Ask a model many questions: in order, several at once where it allows, each with one outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from toolkit.interventions.models.protocol import ModelFailure, ModelTimeout, Reply, RerankRequest, RewriteRequest

Request = TypeVar("Request", RerankRequest, RewriteRequest)
BLOCK = 128  # requests prepared together: enough to share the work, few enough to show progress


def ask_all(
    requests: Sequence[Request], call: Callable[[Request], Reply], *, prepare: Callable[[Sequence[Request]], None] | None = None,
    concurrency: int = 1, timeout: float | None = None, progress: bool = True, title: str = "asking",
) -> Iterator[tuple[Request, Reply | ModelFailure]]:
    """Yield each request with its reply or its failure, in the order given.

    Parameters
    ----------
    requests : sequence
    call : callable
        A model's ``rerank`` or ``rewrite``.
    prepare : callable, optional
        A model's ``prepare``, called with up to ``BLOCK`` of the next requests before the first of them is asked.
    concurrency : int
        Calls under way at once.
    timeout : float or None
        Seconds after which an answer no longer counts: a late answer is thrown away and the
        outcome is a timeout.
    progress : bool
    title : str
        Label of the progress bar.
    """
    from tqdm.auto import tqdm

    def one(request: Request) -> Reply | ModelFailure:
        start = time.monotonic()
        try:
            reply = call(request)
        except ModelFailure as failure:
            return failure
        except Exception as error:  # a model's own fault must not end the search
            return ModelFailure(f"{type(error).__name__}: {error}")
        if timeout is not None and max(time.monotonic() - start, reply.seconds) > timeout:  # a replay keeps its own time
            return ModelTimeout(f"the answer came after {timeout:g} s and was thrown away")
        return reply

    bar = tqdm(total=len(requests), desc=title, disable=not progress, leave=False)
    with bar:
        if concurrency == 1:
            for at, request in enumerate(requests):
                if prepare and at % BLOCK == 0:
                    _try(prepare, requests[at : at + BLOCK])
                yield request, one(request)
                bar.update()
            return
        pool = ThreadPoolExecutor(concurrency)
        try:
            futures = [pool.submit(one, request) for request in requests]
            for request, future in zip(requests, futures):
                yield request, future.result()
                bar.update()
        finally:  # an interruption sends nothing more; calls under way end by their own deadline
            pool.shutdown(wait=False, cancel_futures=True)


def _try(prepare: Callable[[Sequence[Request]], None], requests: Sequence[Request]) -> None:
    """Prepare a block; what fails here fails again in the call it concerns, which then has the reason."""
    try:
        prepare(requests)
    except Exception:
        pass
