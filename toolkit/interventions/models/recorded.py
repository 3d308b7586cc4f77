"""Record a model's calls in a run file, resume from it, and replay it offline.

A run file is JSON Lines: one object a call with the question's key, the answer or the failure, and
its bookkeeping. It is appended to and flushed call by call, so an interrupted run keeps what it has.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import asdict
from pathlib import Path

from toolkit.interventions.models.protocol import (
    ModelDisabled,
    ModelFailure,
    ModelInvalidResponse,
    ModelTimeout,
    ModelTransportError,
    Reply,
    RerankModel,
    RerankRequest,
    RewriteModel,
    RewriteRequest,
)

_FAILURES = {kind.status: kind for kind in (ModelTimeout, ModelTransportError, ModelInvalidResponse, ModelDisabled)}


def read_run_file(path: Path | str) -> dict[str, dict]:
    """The last entry of each question's key in a run file.

    Raises
    ------
    ValueError
        Naming the line that is no JSON object. A torn last line (a crash while writing) is dropped.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    entries: dict[str, dict] = {}
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            entries[entry["key"]] = entry
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) and not line.endswith("\n"):
                break
            raise ValueError(f"{path} line {number}: not an entry of a run file ({error}); remove the line") from error
    return entries


def _key(request: RerankRequest | RewriteRequest, run: int) -> str:
    """Key of a question in a run: the question's own in the first, marked in the second."""
    return request.key if run == 1 else f"{request.key}/{run}"


def _answer(entry: dict) -> Reply:
    """The reply of an entry, or its failure raised again."""
    if entry["status"] != "OK":
        kind = _FAILURES.get(entry["status"], ModelFailure)
        raise kind(entry["reason"], attempts=entry.get("attempts", 1))
    return Reply(**entry["reply"])


class RecordedModel:
    """Replays a run file: every experiment is repeatable offline.

    Parameters
    ----------
    path : path
        A run file written by :class:`RecordingModel`.

    Notes
    -----
    A question that was never recorded is a ``TRANSPORT_ERROR`` whose reason says so: the replay
    never invents an answer.
    """

    concurrency = 1

    def __init__(self, path: Path | str) -> None:
        self._entries = read_run_file(path)
        models = {entry["model_id"] for entry in self._entries.values()}
        self.model_id, self._run = f"recorded:{'+'.join(sorted(models))}", 1

    def second_run(self) -> RecordedModel:
        """The replay of the second run of the same questions.

        Raises
        ------
        ValueError
            If the file holds no second run: noise cannot be measured from one.
        """
        if not any(key.endswith("/2") for key in self._entries):
            raise ValueError("RecordedModel: the run file holds one run of its questions, so a second run would only repeat it; "
                             "record with run_intervention(..., rerun=True), or leave out rerun")
        other = copy(self)
        other._run = 2
        return other

    def _replay(self, request: RerankRequest | RewriteRequest) -> Reply:
        key = _key(request, self._run)
        if key not in self._entries:
            raise ModelTransportError(f"query {request.query_id!r}: this question is not in the recording")
        return _answer(self._entries[key])

    rerank = _replay
    rewrite = _replay


class RecordingModel:
    """Asks a model and appends each call to a run file; questions already answered there are not asked again.

    Parameters
    ----------
    model : RerankModel or RewriteModel
        The model to ask.
    path : path
        The run file; created if absent, resumed if present. Recorded failures are asked again.

    Raises
    ------
    ValueError
        If the file was recorded with another model: mixing them would compare two models as one.
    """

    def __init__(self, model: RerankModel | RewriteModel, path: Path | str) -> None:
        self._model, self._path, self._lock = model, Path(path), threading.Lock()
        self.model_id, self.concurrency, self._run = model.model_id, model.concurrency, 1
        self._entries = read_run_file(self._path) if self._path.exists() else {}
        self._drop_torn_line()
        foreign = {entry["model_id"] for entry in self._entries.values()} - {self.model_id}
        if foreign:
            raise ValueError(f"{path} was recorded with {sorted(foreign)}, not {self.model_id!r}; use another file")

    def second_run(self) -> RecordingModel:
        """The same recording, asking every question a second time: for the noise between two runs."""
        other = copy(self)
        other._run = 2
        return other

    def _drop_torn_line(self) -> None:
        """Cut what a crash left behind the last newline, so that the next entry starts on its own line."""
        if self._path.exists():
            data = self._path.read_bytes()
            if data and not data.endswith(b"\n"):
                self._path.write_bytes(data[: data.rfind(b"\n") + 1])

    def prepare(self, requests: Sequence[RerankRequest]) -> None:
        """As the model's own ``prepare``, for the questions that are not answered in the file."""
        todo = [request for request in requests if self._entries.get(_key(request, self._run), {}).get("status") != "OK"]
        if todo and hasattr(self._model, "prepare"):
            self._model.prepare(todo)

    def rerank(self, request: RerankRequest) -> Reply:
        """As the model's own ``rerank``."""
        return self._ask(request, self._model.rerank)

    def rewrite(self, request: RewriteRequest) -> Reply:
        """As the model's own ``rewrite``."""
        return self._ask(request, self._model.rewrite)

    def _ask(self, request: RerankRequest | RewriteRequest, call: Callable[..., Reply]) -> Reply:
        entry = self._entries.get(_key(request, self._run))
        if entry and entry["status"] == "OK":
            return _answer(entry)
        try:
            reply = call(request)
        except ModelFailure as failure:
            self._append(request, {"status": failure.status, "reason": str(failure), "attempts": failure.attempts})
            raise
        self._append(request, {"status": "OK", "reply": asdict(reply)})
        return reply

    def _append(self, request: RerankRequest | RewriteRequest, outcome: dict) -> None:
        entry = {"key": _key(request, self._run), "query_id": request.query_id, "query": request.query, "model_id": self.model_id, **outcome}
        with self._lock:
            self._entries[entry["key"]] = entry
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
