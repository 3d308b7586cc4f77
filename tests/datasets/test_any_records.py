"""Readers of logs and rankings survive any JSON value in any field, and account for every record."""

import json
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.datasets import ReadError, ReadWarning, join_traces_and_events, read_judgments, read_log, read_openinference, read_otlp, read_rankings, read_ubi
from toolkit.tables import ACTIONS, PROMPTS, RETRIEVALS, check

SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(["", "None", "a", "007", "q1", "-1", "1e400", "['a', 'b", "{\"x\": 1}", "2025-01-01",
                                                                                     "2025-01-01T00:00:00Z", "1737703890699", "0x10", "\u2028", "é"]))
ANY = st.recursive(SCALAR, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["object_id", "session_id", "ordinal", "id", "0", "x"]), inner, max_size=3)),
                   max_leaves=5)
ID = st.one_of(st.sampled_from(["q1", "q2", "1"]), st.just(1), ANY)


def record(required, optional):
    return st.fixed_dictionaries(required, optional=optional)


UBI = st.one_of(
    record({"query_id": ID}, {name: ANY for name in ("user_query", "query_response_id", "query_response_hit_ids", "query_response_object_ids", "timestamp", "client_id",
                                                     "application", "query_response", "ext", "params", "query_attributes", "session_id")}),
    record({"action_name": ANY}, {"query_id": ID, **{name: ANY for name in ("event_attributes", "timestamp", "user_id", "client_id", "session_id", "application", "message")}}),
    record({"action_name": st.just("click"), "query_id": ID}, {"event_attributes": record({}, {"object": ANY, "data": ANY, "position": ANY, "session_id": ANY})}),
    ANY)
SPAN = st.one_of(
    record({"context": record({"span_id": ID}, {"trace_id": ID})}, {"parent_id": ID, "start_time": ANY, "end_time": ANY, "name": ANY, "attributes": st.one_of(ANY, record({}, {
        "openinference.span.kind": st.sampled_from(["RETRIEVER", "LLM", "AGENT"]), "input.value": ANY, "output.value": ANY, "retrieval.documents": ANY,
        "retrieval.documents.10.document.id": ID, "retrieval.documents.2.document.id": ID, "retrieval": ANY, "metadata": ANY, "session.id": ANY}))}),
    record({}, {"context.span_id": ID, "context.trace_id": ID, "parent_id": ID, "span_kind": ANY, "attributes.retrieval.documents": ANY}))


def write(tmp_path_factory, records, name="records.jsonl"):
    path = tmp_path_factory.mktemp("any") / name
    path.write_text("\n".join(json.dumps(one) for one in records), encoding="utf-8")
    return path


def assert_sound(tables):
    tables.report.check()
    for frame, schema in zip(tables, (PROMPTS, RETRIEVALS, ACTIONS)):
        check(frame, schema)
        assert frame[schema.columns[0].name].is_unique
    assert tables.report.kept == sum(map(len, tables))
    for items in tables.retrievals["returned_asset_ids"]:
        assert items is None or all(isinstance(item, str) for item in items)


@settings(max_examples=100, deadline=None)
@given(records=st.lists(UBI, min_size=1, max_size=6))
def test_ubi(tmp_path_factory, records):
    try:
        tables = read_ubi(write(tmp_path_factory, records))
    except ReadError as error:
        assert "no UBI record" in str(error)
        return
    assert_sound(tables)
    # Records that are bulk actions or no objects are counted by the file's reader; nothing is counted twice.
    assert tables.report.read == len(records)


@settings(max_examples=100, deadline=None)
@given(records=st.lists(SPAN, min_size=1, max_size=6))
def test_spans_and_their_join(tmp_path_factory, records):
    try:
        tables = read_openinference(write(tmp_path_factory, records))
    except ReadError as error:
        assert "no span found" in str(error)
        return
    assert_sound(tables)
    assert tables.report.read == len(records)
    events = read_ubi(write(tmp_path_factory, [{"query_id": "q1", "user_query": "x", "query_response_hit_ids": ["a"]}, {"action_name": "click", "query_id": "1"}]))
    joined = join_traces_and_events(tables, events)
    assert joined.report.kept == sum(map(len, joined))
    assert joined.retrievals["retrieval_id"].is_unique


OTLP_VALUE = st.one_of(st.fixed_dictionaries({"stringValue": st.text(max_size=3)}), st.fixed_dictionaries({"intValue": st.one_of(st.integers(), st.integers().map(str))}),
                       st.fixed_dictionaries({"arrayValue": st.fixed_dictionaries({"values": st.lists(st.fixed_dictionaries({"stringValue": st.just("a")}), max_size=2)})}), st.just({}), st.none())


@settings(max_examples=50, deadline=None)
@given(spans=st.lists(record({"spanId": ID}, {"traceId": ID, "parentSpanId": ID, "startTimeUnixNano": st.one_of(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1).map(str), st.none()), "attributes": st.lists(
        st.fixed_dictionaries({"key": st.sampled_from(["retrieval.documents.1.document.id", "retrieval.documents.10.document.id", "input.value", "session.id"]), "value": OTLP_VALUE}),
        max_size=4)}), max_size=4))
def test_otlp(tmp_path_factory, spans):
    path = write(tmp_path_factory, [{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}])
    tables = read_otlp(path)
    assert_sound(tables)
    assert tables.report.read == len(spans)


@settings(max_examples=50, deadline=None)
@given(records=st.lists(record({}, {"retrieval_id": ID, "returned_asset_ids": ANY, "time": ANY, "displayed": ANY, "query": ANY, "extra": ANY, "sampling_weight": ANY}), min_size=1, max_size=5))
def test_canonical(tmp_path_factory, records):
    tables = read_log({"retrievals": write(tmp_path_factory, records)})
    assert_sound(tables)
    assert tables.report.read == len(records)


ROW = record({"docid": SCALAR}, {"query": ANY, "query_id": ID, "rating": ANY, "rank": ANY, "score": ANY})


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("reader", [read_judgments, read_rankings])
@given(records=st.lists(ROW, min_size=1, max_size=6))
def test_json_rows(tmp_path_factory, reader, records):
    path = write(tmp_path_factory, records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        try:
            table, report = reader(path)
        except ReadError as error:
            assert "no column for" in str(error) or "columns" in str(error) or "form that holds" in str(error)
            return
    assert report.read == len(records)
    assert report.kept == len(table)


WORD = st.sampled_from(["1", "q", "0", "Q0", "d1", "d2", "-1", "3", "0.5", "nan", "#", "\t", '"', "x\u00a0y"])


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize(("reader", "first"), [(read_judgments, "q 0 d 1"), (read_rankings, "q Q0 d 1 0.5 tag")])
@given(lines=st.lists(st.lists(WORD, max_size=8).map(" ".join), max_size=8))
def test_trec_lines(tmp_path_factory, reader, first, lines):
    path = tmp_path_factory.mktemp("trec") / "file.txt"
    path.write_text("\n".join([first, *lines]), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        table, report = reader(path)
    content = [line for line in (first, *lines) if line.split() and not line.startswith("#")]
    assert report.read == len(content) == report.kept + report.folded + report.set_aside
    assert report.kept == len(table)
