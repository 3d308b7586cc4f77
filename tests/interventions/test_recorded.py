"""Run files: resumable, replayable, and honest about what they do not hold."""

import json

import pytest

from toolkit.interventions import Prompts
from toolkit.interventions.asking import ask_all
from toolkit.interventions.models import OpenAICompatibleModel, RecordedModel, RecordingModel, Reply, RerankRequest, RewriteRequest
from toolkit.interventions.models.protocol import ModelTimeout, ModelTransportError
from toolkit.interventions.models.recorded import read_run_file

REQUEST = RerankRequest("q1", "red shoe", ("a", "b"), ("Shoe", "Red shoe \ud800"))


class Counting:
    """A model that counts its calls and fails where told."""

    model_id, concurrency = "counting", 1

    def __init__(self):
        self.calls, self.fail = 0, False

    def rerank(self, request):
        self.calls += 1
        if self.fail:
            raise ModelTimeout("no answer within 1 s", attempts=3)
        return Reply([2, 1], 0.5, 7, 2, 1, "why", "snapshot-1")

    def rewrite(self, request):
        self.calls += 1
        return Reply(request.query + "s")


def test_replay_gives_the_recorded_reply(tmp_path):
    path, inner = tmp_path / "runs" / "run.jsonl", Counting()
    reply = RecordingModel(inner, path).rerank(REQUEST)
    replay = RecordedModel(path)
    assert replay.rerank(REQUEST) == reply == Reply([2, 1], 0.5, 7, 2, 1, "why", "snapshot-1")
    assert inner.calls == 1 and replay.model_id == "recorded:counting"


def test_resume_asks_only_what_is_missing_or_failed(tmp_path):
    path, inner = tmp_path / "run.jsonl", Counting()
    other = RewriteRequest("q1", "red shoe")
    recording = RecordingModel(inner, path)
    inner.fail = True
    with pytest.raises(ModelTimeout):
        recording.rerank(REQUEST)
    recording.rewrite(other)
    inner.fail = False
    resumed = RecordingModel(inner, path)
    resumed.rerank(REQUEST), resumed.rewrite(other)
    assert inner.calls == 3
    assert RecordedModel(path).rerank(REQUEST).content == [2, 1]


def test_failures_are_replayed_too(tmp_path):
    inner = Counting()
    inner.fail = True
    with pytest.raises(ModelTimeout):
        RecordingModel(inner, tmp_path / "run.jsonl").rerank(REQUEST)
    with pytest.raises(ModelTimeout, match="within 1 s") as caught:
        RecordedModel(tmp_path / "run.jsonl").rerank(REQUEST)
    assert caught.value.attempts == 3


def test_an_unrecorded_question_is_a_failure_that_says_so(tmp_path):
    RecordingModel(Counting(), tmp_path / "run.jsonl").rerank(REQUEST)
    with pytest.raises(ModelTransportError, match="not in the recording"):
        RecordedModel(tmp_path / "run.jsonl").rerank(RerankRequest("q1", "red shoe", ("b", "a"), ("Red shoe", "Shoe")))


def test_a_torn_last_line_is_dropped_and_another_bad_line_is_named(tmp_path):
    path = tmp_path / "run.jsonl"
    RecordingModel(Counting(), path).rerank(REQUEST)
    whole = path.read_text()
    path.write_text(whole + whole[:40])
    assert len(read_run_file(path)) == 1
    RecordingModel(Counting(), path).rewrite(RewriteRequest("q1", "x"))
    assert len(read_run_file(path)) == 2
    path.write_text("{}\n" + whole)
    with pytest.raises(ValueError, match="line 1"):
        RecordedModel(path)


def test_another_model_may_not_continue_a_run(tmp_path):
    RecordingModel(Counting(), tmp_path / "run.jsonl").rerank(REQUEST)
    other = Counting()
    other.model_id = "other"
    with pytest.raises(ValueError, match="counting.*other"):
        RecordingModel(other, tmp_path / "run.jsonl")


def test_a_run_file_holds_what_makes_a_run_accountable_and_no_key(tmp_path, endpoint, behaviours, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "secret-value")
    endpoint.behave = behaviours["answer_with"]("[2, 1]")
    prompts = Prompts()
    with_endpoint = OpenAICompatibleModel(endpoint.url, "asked-for", temperature=0.3, api_key_variable="SOME_KEY", prompts=prompts)
    RecordingModel(with_endpoint, tmp_path / "run.jsonl").rerank(REQUEST)
    text = (tmp_path / "run.jsonl").read_text()
    entry = json.loads(text)
    assert entry["model_id"] == f"asked-for@t0.3#{prompts.hash}" and entry["reply"]["model"] == "snapshot-1"
    assert (entry["reply"]["prompt_tokens"], entry["reply"]["completion_tokens"], entry["reply"]["attempts"]) == (11, 3, 1)
    assert entry["reply"]["seconds"] > 0 and entry["query"] == "red shoe" and "secret" not in text
    assert endpoint.requests[0]["temperature"] == 0.3 and endpoint.requests[0]["model"] == "asked-for"


def test_an_answer_that_was_late_is_late_in_the_replay_too(tmp_path):
    RecordingModel(Counting(), tmp_path / "run.jsonl").rerank(REQUEST)  # took 0.5 s, it says
    for timeout, expected in ((0.4, ModelTimeout), (0.6, Reply)):
        (_, answer), = ask_all([REQUEST], RecordedModel(tmp_path / "run.jsonl").rerank, timeout=timeout, progress=False)
        assert isinstance(answer, expected)


def test_only_unanswered_questions_are_prepared(tmp_path):
    class Preparing(Counting):
        prepared = ()

        def prepare(self, requests):
            self.prepared = tuple(requests)

    other = RerankRequest("q2", "blue shoe", ("a", "b"), ("Shoe", "Blue shoe"))
    RecordingModel(Counting(), tmp_path / "run.jsonl").rerank(REQUEST)
    inner = Preparing()
    RecordingModel(inner, tmp_path / "run.jsonl").prepare([REQUEST, other])
    assert inner.prepared == (other,)


def test_a_second_run_asks_again_and_replays_beside_the_first(tmp_path):
    class Moody(Counting):
        def rerank(self, request):
            super().rerank(request)
            return Reply([self.calls])

    path, inner = tmp_path / "run.jsonl", Moody()
    recording = RecordingModel(inner, path)
    assert [recording.rerank(REQUEST).content, recording.second_run().rerank(REQUEST).content] == [[1], [2]]
    resumed, replay = RecordingModel(inner, path), RecordedModel(path)
    for model in (resumed, replay):
        assert [model.rerank(REQUEST).content, model.second_run().rerank(REQUEST).content] == [[1], [2]]
    assert inner.calls == 2
    once = tmp_path / "once.jsonl"
    RecordingModel(inner, once).rerank(REQUEST)
    with pytest.raises(ValueError, match="rerun=True"):
        RecordedModel(once).second_run()


def test_ctrl_c_keeps_what_is_answered_and_the_next_run_asks_the_rest(tmp_path):
    requests = [RerankRequest(f"q{i}", f"shoe {i}", ("a", "b"), ("A", "B")) for i in range(30)]
    for concurrency in (1, 4):
        path, inner = tmp_path / f"{concurrency}.jsonl", Counting()
        with pytest.raises(KeyboardInterrupt):
            for number, _ in enumerate(ask_all(requests, RecordingModel(inner, path).rerank, concurrency=concurrency, progress=False)):
                if number == 9:
                    raise KeyboardInterrupt
        finished = len(read_run_file(path))
        assert finished >= 10
        answers = list(ask_all(requests, RecordingModel(inner, path).rerank, concurrency=concurrency, progress=False))
        assert len(read_run_file(path)) == 30 and all(isinstance(answer, Reply) for _, answer in answers)
