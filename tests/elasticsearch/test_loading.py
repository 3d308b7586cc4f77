"""Bulk loading over a scripted server: busy documents are sent again, refused ones reported once each."""

from __future__ import annotations

import pytest

from toolkit.search.elasticsearch_index import LoadError, _bulk, _create, index_settings, load_index

DOCUMENTS = [("a", {"product_id": "a"}), ("b", {"product_id": "b"}), ("c", {"product_id": "c"})]


def bulk(*statuses: int):
    """A bulk answer with these statuses."""
    items = [{"index": {"status": code, **({"error": {"type": "t", "reason": f"r{code}"}} if code >= 300 else {})}} for code in statuses]
    return lambda handler, lines: handler.reply(200, {"items": items, "errors": True})


def test_only_the_busy_document_is_sent_again(server, engine) -> None:
    sent = []

    def noting(step):
        return lambda handler, lines: (sent.append([line["index"]["_id"] for line in lines[::2]]), step(handler, lines))

    server.steps = [noting(bulk(201, 429, 400)), noting(bulk(201))]
    assert _bulk(engine.connection, DOCUMENTS) == [("c", 400, "t: r400")]
    assert sent == [["a", "b", "c"], ["b"]]


def test_documents_that_stay_busy_are_refused_in_the_end(server, engine) -> None:
    server.steps = [bulk(201, 503, 400), bulk(503)]
    assert _bulk(engine.connection, DOCUMENTS) == [("c", 400, "t: r400"), ("b", 503, "t: r503")]


def test_one_document_that_spoils_a_request_is_found(server, engine) -> None:
    def refuse_b(handler, lines):
        ids = [line["index"]["_id"] for line in lines[::2]]
        handler.reply(400, {"error": {"type": "t", "reason": "bad"}}) if "b" in ids else bulk(*[201] * len(ids))(handler, lines)

    server.steps = [refuse_b]
    assert [(name, status) for name, status, _ in _bulk(engine.connection, DOCUMENTS)] == [("b", 400)]


def test_a_lost_server_refuses_every_document_by_name(server, engine, script) -> None:
    server.steps = [script.status(503)]
    assert [name for name, _, _ in _bulk(engine.connection, DOCUMENTS)] == ["a", "b", "c"]


def test_an_index_that_cannot_be_made_is_an_error(server, engine, script, products) -> None:
    server.steps = [script.status(503)]
    with pytest.raises(LoadError, match="cannot create the index: HTTP 503.*3 attempts"):
        load_index(engine.connection, products, progress=False)


def test_an_index_made_by_an_attempt_whose_answer_was_lost_is_taken(server, engine) -> None:
    made = []

    def lose_the_answer(handler, lines):
        made.append(lines[0]["mappings"]["_meta"])
        handler.reset()

    def exists(handler, lines):
        handler.reply(400, {"error": {"type": "resource_already_exists_exception", "reason": "x"}, "status": 400})

    server.steps = [lose_the_answer, exists, lambda handler, lines: handler.reply(200, {"shop": {"mappings": {"_meta": made[0]}}})]
    _create(engine.connection, index_settings(["title"]))
    server.steps = [exists, lambda handler, lines: handler.reply(200, {"shop": {"mappings": {"_meta": {"load": "another"}}}})]
    with pytest.raises(LoadError, match="already_exists.*replace=True"):
        _create(engine.connection, index_settings(["title"]))
