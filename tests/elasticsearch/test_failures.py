"""Every way a request can fail, over real sockets: a status and a reason for each query, never an exception."""

from __future__ import annotations

import socket

import pandas as pd
import pytest

from toolkit.search import ElasticsearchEngine, MultiMatch, SearchWarning
from toolkit.search.elasticsearch import SearchInterrupted
from toolkit.search.elasticsearch_requests import API_KEY, Retry, connect

TITLE = MultiMatch({"title": 1})


def some_queries(n: int = 2) -> pd.DataFrame:
    return pd.DataFrame({"query_id": [f"q{i}" for i in range(n)], "query": [f"shoe {i}" for i in range(n)]})


def reasons(run) -> list:
    assert (run.status["status"] == "failed").all() and run.rankings.empty
    return run.status["reason"].tolist()


def test_busy_once_then_answered(server, engine, script) -> None:
    server.steps = [script.status(429), script.ok]
    run = engine.run(some_queries(), TITLE)
    assert run.status["status"].tolist() == ["ok", "ok"]
    assert run.rankings["score"].tolist() == [1.5, 1.5]
    assert server.searches() == 2


@pytest.mark.parametrize("code", [429, 502, 503, 504])
def test_always_unavailable_is_failed_after_the_attempts(server, engine, script, code) -> None:
    server.steps = [script.status(code)]
    found = reasons(engine.run(some_queries(), TITLE))
    assert all(str(code) in reason and "3 attempts" in reason and "come back later" in reason for reason in found)
    assert server.searches() == 3


def test_a_refusal_that_will_not_change_is_not_repeated(server, engine, script) -> None:
    server.steps = [script.status(403)]
    assert all("403" in reason for reason in reasons(engine.run(some_queries(), TITLE)))
    assert server.searches() == 1


def test_retry_after_is_waited_for_within_the_longest_wait(monkeypatch) -> None:
    slept = []
    monkeypatch.setattr("toolkit.search.elasticsearch_requests.time.sleep", slept.append)
    Retry(3, 0.5, 10).wait(0, asked=4)
    Retry(3, 0.5, 10).wait(0, asked=3600)
    Retry(9, 0.5, 10).wait(8)
    assert slept[:2] == [4, 10] and 5 <= slept[2] <= 10


def test_back_off_doubles(monkeypatch) -> None:
    slept = []
    monkeypatch.setattr("toolkit.search.elasticsearch_requests.time.sleep", slept.append)
    monkeypatch.setattr("toolkit.search.elasticsearch_requests.random.uniform", lambda low, high: high)
    for attempt in range(4):
        Retry(5, 0.5, 3.0).wait(attempt)
    assert slept == [0.5, 1.0, 2.0, 3.0]


def test_too_late(server, script) -> None:
    engine = ElasticsearchEngine(server.url, "shop", timeout=0.4, retry=Retry(3, 0.001))
    server.steps = [script.stall(0.8)]
    assert all("no answer within 0.4 s (after 3 attempts)" == reason for reason in reasons(engine.run(some_queries(), TITLE)))


def test_connection_reset_in_the_middle_of_an_answer(server, engine, script) -> None:
    server.steps = [script.reset]
    assert all("connection failed" in reason for reason in reasons(engine.run(some_queries(), TITLE)))
    server.steps = [script.reset, script.ok]
    assert engine.run(some_queries(), TITLE).counts()["ok"] == 2


def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    engine = ElasticsearchEngine(f"http://127.0.0.1:{port}", "shop", retry=Retry(2, 0.001))
    run = engine.run(some_queries(), TITLE)
    assert all("connection failed" in reason and "refused" in reason for reason in reasons(run))
    assert "unknown state" in run.engine
    with pytest.raises(ConnectionError, match="'shop'.*connection failed"):
        engine.state()


@pytest.mark.parametrize("content", [b"<html>502 from a proxy</html>", b'{"took": 3, "responses": [', b"[]", b"{}", b'{"responses": 7}'])
def test_an_answer_that_is_no_answer(server, engine, script, content) -> None:
    server.steps = [script.text(content)]
    assert all(reason for reason in reasons(engine.run(some_queries(), TITLE)))
    server.steps = [script.text(content), script.ok]
    assert engine.run(some_queries(), TITLE).counts()["ok"] == 2


def test_fewer_answers_than_searches_are_not_paired_by_guess(server, engine, script) -> None:
    server.steps = [script.items(script.hit())]
    assert all("1 of 2 answers" in reason for reason in reasons(engine.run(some_queries(), TITLE)))


def test_one_failed_item_does_not_touch_its_neighbour(server, engine, script) -> None:
    broken = {"error": {"type": "parse_exception", "reason": "odd query"}, "status": 400}
    server.steps = [script.items(script.hit(), broken)]
    run = engine.run(some_queries(), TITLE)
    assert run.status["status"].tolist() == ["ok", "failed"]
    assert "parse_exception: odd query" in run.status["reason"][1]
    assert server.searches() == 1
    with pytest.warns(SearchWarning, match="1 of 2 queries failed"):
        server.steps = [script.items(script.hit(), broken)]
        engine.search(some_queries(), TITLE)


def test_only_the_busy_item_is_sent_again(server, engine, script) -> None:
    busy = {"error": {"type": "rejected", "reason": "queue full"}, "status": 429}
    server.steps = [script.items(script.hit("a"), busy), script.items(script.hit("b"))]
    run = engine.run(some_queries(), TITLE)
    assert run.rankings["product_id"].tolist() == ["a", "b"]


def test_a_batch_refused_for_one_search_is_halved(server, engine, script) -> None:
    def refuse_shoe_1(handler, lines):
        queries = [body["query"]["multi_match"]["query"] for body in lines[1::2]]
        handler.reply(400, {"error": {"type": "x", "reason": "bad"}}) if "shoe 1" in queries else script.ok(handler, lines)

    server.steps = [refuse_shoe_1]
    engine.connection.batch_size = 8
    run = engine.run(some_queries(5), TITLE)
    assert run.status["status"].tolist() == ["ok", "failed", "ok", "ok", "ok"]


def test_a_partial_result_is_failed_not_ok(server, engine, script) -> None:
    lost = script.hit() | {"_shards": {"total": 2, "successful": 1, "failed": 1, "failures": [
        {"shard": 0, "reason": {"type": "node_disconnected", "reason": "gone"}}]}}
    unassigned = script.hit() | {"_shards": {"total": 2, "successful": 1, "failed": 0}}
    cut = script.hit() | {"timed_out": True}
    for part, word in ((lost, "1 of 2 shards failed: node_disconnected: gone"), (unassigned, "1 of 2 shards failed"), (cut, "ran out of time")):
        server.steps = [script.items(part)]
        assert word in reasons(engine.run(some_queries(1), TITLE))[0]
        server.steps = [script.items(part), script.ok]
        assert engine.run(some_queries(1), TITLE).counts()["ok"] == 1


def test_no_hits_is_not_a_failure(server, engine, script) -> None:
    nothing = script.hit() | {"hits": {"total": {"value": 0, "relation": "eq"}, "hits": []}}
    server.steps = [script.items(nothing, script.hit())]
    assert engine.run(some_queries(), TITLE).status["status"].tolist() == ["zero_results", "ok"]


def test_a_document_without_an_id_is_named(server, engine, script) -> None:
    nameless = script.hit()
    nameless["hits"]["hits"][0]["sort"] = [1.5, None]
    server.steps = [script.items(nameless)]
    assert "has no product id" in reasons(engine.run(some_queries(1), TITLE))[0]


def test_a_total_that_the_server_stopped_counting_is_unknown(server, engine, script) -> None:
    many = script.hit()
    many["hits"]["total"] = {"value": 10_000, "relation": "gte"}
    server.steps = [script.items(many)]
    assert engine.run(some_queries(1), TITLE).status["total_hits"].isna().all()


def test_a_dead_server_costs_one_back_off(server, engine, script) -> None:
    server.steps = [script.status(503)]
    reasons(engine.run(some_queries(20), TITLE))  # 10 batches
    assert server.searches() == 3 + 9
    server.steps = [script.ok]
    assert engine.run(some_queries(20), TITLE).counts()["ok"] == 20


def test_interrupted_and_resumed(server, engine, script) -> None:
    queries = some_queries(6)
    real, calls = engine.connection._send, []

    def send(bodies, named):
        calls.append(len(bodies))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(bodies, named)

    engine.connection._send = send
    with pytest.raises(SearchInterrupted) as stopped:
        engine.run(queries, TITLE)
    partial = stopped.value.run
    assert partial.status["status"].tolist() == ["ok"] * 2 + ["failed"] * 4
    assert "interrupted" in partial.status["reason"][5]
    engine.connection._send = real
    before = server.searches()
    whole = engine.run(queries, TITLE, resume=partial)
    assert whole.counts()["ok"] == 6 and server.searches() - before == 2
    assert whole.rankings.equals(engine.run(queries, TITLE).rankings)
    with pytest.raises(ValueError, match="resume is a run of"):
        engine.run(queries, TITLE, depth=11, resume=partial)


def test_the_api_key_comes_from_the_environment_and_is_not_shown(server, monkeypatch) -> None:
    monkeypatch.setenv(API_KEY, "c2VjcmV0OmtleQ==")
    engine = ElasticsearchEngine(server.url, "shop", retry=Retry(1))
    run = engine.run(some_queries(1), TITLE)
    assert all({name.lower(): value for name, value in headers.items()}.get("authorization") == "ApiKey c2VjcmV0OmtleQ=="
               for headers in server.headers)
    assert "c2VjcmV0" not in repr(engine) + repr(engine.connection) + repr(run) + run.summary()


def test_credentials_in_an_address_are_refused_without_repeating_them() -> None:
    with pytest.raises(ValueError, match=API_KEY) as refused:
        connect("https://elastic:hunter2@example.org:9200")
    assert "hunter2" not in str(refused.value)


def test_an_unknown_field_is_an_error_of_the_caller(engine) -> None:
    with pytest.raises(ValueError, match=r"'titel' is not a text field of index 'shop'.*\['title'\]"):
        engine.run(some_queries(), MultiMatch({"titel": 1}))


def test_what_is_no_configuration_is_an_error_of_the_caller(engine) -> None:
    with pytest.raises(TypeError, match="expected a MultiMatch"):
        engine.run(some_queries(), {"title": 1})
