"""Every rewrite status from a real endpoint over real sockets; search always answers with some text."""

import json

import pandas as pd
import pytest

import toolkit as tk
from toolkit.interventions import Rewrite, RewriteGuard, RewriteStatus
from toolkit.interventions.models import OpenAICompatibleModel, Reply

PRODUCTS = pd.DataFrame({"product_id": ["a", "b", "c"], "title": ["red sofa", "blue sofa without arms", "garden hose"], "brand": ["Acme", "Veltec", None]})
QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "query": ["settee", "hose"]})
CONFIG = tk.MultiMatch({"title": 1.0}, fuzziness=0)


@pytest.fixture(scope="module")
def engine():
    return tk.EmbeddedEngine.build(PRODUCTS, progress=False)


def model(url, **options):
    return OpenAICompatibleModel(url, "some-model", timeout=options.pop("timeout", 5.0), retries=0, **options)


def said(query):
    return json.dumps({"query": query})


def run(engine, model, queries=QUERIES, **options):
    return Rewrite(model, **options).apply(engine, queries, CONFIG, 10, progress=False)


def status(outcome, query_id="q1"):
    return outcome.to_frame().set_index("query_id").loc[query_id]


def found(outcome, query_id="q1"):
    return outcome.rankings.loc[outcome.rankings["query_id"] == query_id, "product_id"].tolist()


def test_applied_searches_the_new_text(engine, endpoint, behaviours):
    endpoint.behave = behaviours["answer_with"]("```json\n" + said("sofa") + "\n```")
    outcome = run(engine, model(endpoint.url), QUERIES.head(1))
    row = status(outcome)
    assert (row.status, row["query"], row.rewritten_query) == ("APPLIED", "settee", "sofa")
    assert found(outcome) == ["a", "b"]
    assert outcome.rankings["rank"].tolist() == [1, 2]


def test_no_change_for_identical_text(engine, endpoint, behaviours):
    endpoint.behave = behaviours["answer_with"](said("settee"))
    row = status(run(engine, model(endpoint.url)))
    assert (row.status, row.rewritten_query, row.reason) == ("NO_CHANGE", "settee", None)


@pytest.mark.parametrize("text", ["SETTEE", "  settee ", "settee!", "\tSettee\n"])
def test_a_text_in_which_the_engine_reads_the_same_terms_is_no_change(engine, text):
    class Same:
        model_id, concurrency = "same", 1

        def rewrite(self, request):
            return Reply(text)

    row = status(run(engine, Same(), QUERIES.head(1)))
    assert (row.status, row.rewritten_query, row.proposed_query) == ("NO_CHANGE", "settee", text) and "same terms" in row.reason
    assert Rewrite(Same()).propose(QUERIES.head(1), progress=False)["status"].tolist() == ["APPLIED"]  # no engine, no terms


def test_a_rewrite_longer_than_any_query_is_no_query(engine):
    class Endless:
        model_id, concurrency = "endless", 1

        def rewrite(self, request):
            return Reply("sofa " * 1000)

    row = status(run(engine, Endless(), QUERIES.head(1)))
    assert row.status == "INVALID_RESPONSE" and "5,000 characters" in row.reason


def test_the_guard_refuses_and_says_why_and_off_means_off(engine, endpoint, behaviours):
    queries = pd.DataFrame({"query_id": ["q1"], "query": ["sofa without arms"]})
    endpoint.behave = behaviours["answer_with"](said("veltec sofa"))
    guard = RewriteGuard.for_products(engine.analyze, PRODUCTS)
    row = status(run(engine, model(endpoint.url), queries, guard=guard))
    assert row.status == "NO_CHANGE" and row.rewritten_query == "sofa without arms" and row.proposed_query == "veltec sofa"
    assert "loses the negation 'without arms'" in row.reason and "invents the brand 'veltec'" in row.reason
    assert status(run(engine, model(endpoint.url), queries)).status == "APPLIED"


@pytest.mark.parametrize(("behaviour", "expected"), [
    (("raw", 500, b"broken"), "TRANSPORT_ERROR"),
    (("raw", 200, b'{"choices": [{"message": {}}]}'), "INVALID_RESPONSE"),
    (("raw", 200, b"not json"), "INVALID_RESPONSE"),
    (("answer_with", "sofa"), "INVALID_RESPONSE"),
    (("answer_with", '{"query": ""}'), "INVALID_RESPONSE"),
    (("answer_with", '{"text": "sofa"}'), "INVALID_RESPONSE"),
    (("answer_with", '{"query": ["sofa"]}'), "INVALID_RESPONSE"),
    (("slow", '{"query": "sofa"}', 3.0), "TIMEOUT"),
    (("drip", '{"query": "sofa"}', 0.02), "TIMEOUT"),
    (("reset",), "TRANSPORT_ERROR"),
])
def test_failures_search_the_text_as_typed_and_say_why(engine, endpoint, behaviours, behaviour, expected):
    name, *arguments = behaviour
    endpoint.behave = behaviours[name](*arguments) if arguments else behaviours[name]
    outcome = run(engine, model(endpoint.url, timeout=0.5 if expected == "TIMEOUT" else 5.0), QUERIES.tail(1))
    row = status(outcome, "q2")
    assert row.status == expected and row.reason and row.failure and row.fallback
    assert row.rewritten_query == "hose" and found(outcome, "q2") == ["c"]


def test_closed_port_disabled_and_not_requested(engine, endpoint, closed_port):
    assert status(run(engine, model(closed_port))).status == "TRANSPORT_ERROR"
    off = run(engine, model(endpoint.url), enabled=False)
    assert set(off.table["status"]) == {"DISABLED"} and found(off, "q2") == ["c"]
    chosen = run(engine, model(closed_port), select=lambda query: query == "settee")
    assert chosen.table.set_index("query_id")["status"].to_dict() == {"q1": "TRANSPORT_ERROR", "q2": "NOT_REQUESTED"}
    assert endpoint.requests == []


def test_a_late_answer_never_counts(engine):
    class Late:
        model_id, concurrency = "late", 1

        def rewrite(self, request):
            import time
            time.sleep(0.05)
            return Reply("sofa")

    row = status(run(engine, Late(), timeout=0.01))
    assert (row.status, row.rewritten_query) == ("TIMEOUT", "settee")


def test_a_failed_search_of_the_new_text_serves_the_old_one(engine, endpoint, behaviours):
    class Fragile:
        def run(self, queries, config, depth):
            done = engine.run(queries, config, depth)
            bad = queries["query"].eq("sofa").to_numpy()
            return type(done)(done.rankings[~done.rankings["query_id"].isin(queries["query_id"][bad])],
                              done.status.assign(status=done.status["status"].where(~bad, "failed"), reason=done.status["reason"].where(~bad, "HTTP 503")),
                              config, depth, done.engine)

    class Confused:
        model_id, concurrency = "confused", 1

        def rewrite(self, request):
            return Reply("sofa")

    outcome = run(Fragile(), Confused(), QUERIES.tail(1))
    row = status(outcome, "q2")
    assert row.status == "TRANSPORT_ERROR" and "HTTP 503" in row.reason and row.rewritten_query == "hose"
    assert found(outcome, "q2") == ["c"]


def test_every_rewrite_status_is_produced_here():
    assert {s.value for s in RewriteStatus} == {"APPLIED", "NO_CHANGE", "NOT_REQUESTED", "DISABLED", "TIMEOUT", "TRANSPORT_ERROR", "INVALID_RESPONSE"}
