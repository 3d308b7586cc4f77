"""read_openinference and read_otlp: shapes, indices, nesting, exact integers, text exports."""

import json

import pandas as pd
import pytest

from toolkit.datasets import ReadError, read_openinference, read_otlp
from toolkit.tables import ACTIONS, PROMPTS, RETRIEVALS, check

ROOT = {"name": "agent", "context": {"trace_id": "t1", "span_id": "root"}, "parent_id": None, "start_time": "2025-01-24T07:31:30Z",
        "end_time": "2025-01-24T07:31:39Z", "attributes": {"openinference.span.kind": "AGENT", "input.value": "find me red shoes", "session.id": "s1",
                                                             "user.id": "u1"}}


def retriever(span_id="ret", parent="root", ids=("a", "b"), **attributes):
    flat = {f"retrieval.documents.{i}.document.id": value for i, value in enumerate(ids)}
    return {"name": "search", "context": {"trace_id": "t1", "span_id": span_id}, "parent_id": parent, "start_time": "2025-01-24T07:31:31Z",
            "end_time": "2025-01-24T07:31:32Z", "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "red shoes", **flat, **attributes}}


@pytest.fixture
def read(tmp_path):
    def run(spans, name="spans.jsonl", reader=read_openinference):
        path = tmp_path / name
        path.write_text(spans if isinstance(spans, str) else "\n".join(map(json.dumps, spans)))
        tables = reader(path)
        for frame, schema in zip(tables, (PROMPTS, RETRIEVALS, ACTIONS)):
            check(frame, schema)
        assert tables.retrievals["retrieval_id"].is_unique
        tables.report.check()
        return tables

    return run


def only(tables):
    assert len(tables.retrievals) == 1
    return tables.retrievals.iloc[0]


def test_a_trace_becomes_a_prompt_and_a_retrieval(read):
    tables = read([ROOT, retriever()])
    prompt, retrieval = tables.prompts.iloc[0], only(tables)
    assert prompt[["prompt_id", "text", "session_id", "user_id"]].tolist() == ["root", "find me red shoes", "s1", "u1"]
    assert retrieval[["retrieval_id", "prompt_id", "request_id", "session_id", "user_id", "query"]].tolist() == ["ret", "root", "t1", "s1", "u1", "red shoes"]
    assert retrieval["returned_asset_ids"] == ["a", "b"]
    assert tables.actions.empty


def nested(ids):
    return {"openinference": {"span": {"kind": "RETRIEVER"}}, "input": {"value": "red shoes"},
            "retrieval": {"documents": [{"document": {"id": value, "content": "text"}} for value in ids]}}


@pytest.mark.parametrize("attributes", [
    nested(["a", "b"]),
    {"openinference.span.kind": "RETRIEVER", "input.value": "red shoes", "retrieval.documents": [{"document.id": "a"}, {"document.id": "b"}]},
    {"openinference.span.kind": "RETRIEVER", "input.value": "red shoes", "retrieval.documents": json.dumps([{"document": {"id": "a"}}, {"document": {"id": "b"}}])},
    {"openinference.span.kind": "RETRIEVER", "input.value": '{"query": "red shoes", "k": 5}', "retrieval.documents": "[{'document.id': 'a'}, {'document.id': 'b'}]"},
])
@pytest.mark.parametrize("as_text", [False, True])
def test_attribute_shapes(read, attributes, as_text):
    span = {**retriever(), "attributes": json.dumps(attributes) if as_text else attributes}
    row = only(read([ROOT, span]))
    assert row["returned_asset_ids"] == ["a", "b"]
    assert row["query"] == "red shoes"


def test_phoenix_like_parquet(tmp_path):
    frame = pd.DataFrame({
        "context.span_id": ["root", "ret"], "context.trace_id": ["t1", "t1"], "parent_id": [None, "root"], "name": ["agent", "search"],
        "span_kind": ["AGENT", "RETRIEVER"], "start_time": pd.to_datetime(["2025-01-24T07:31:30Z", "2025-01-24T07:31:31Z"]),
        "attributes.input.value": ["find me red shoes", "red shoes"], "attributes.session.id": ["s1", None],
        "attributes.retrieval.documents": [None, [{"document.id": "a", "document.score": 0.5}, {"document.id": "b", "document.score": 0.4}]]})
    frame.to_parquet(tmp_path / "spans.parquet")
    row = only(read_openinference(tmp_path / "spans.parquet"))
    assert row["returned_asset_ids"] == ["a", "b"]
    assert row["session_id"] == "s1"
    assert row["time"] == pd.Timestamp("2025-01-24T07:31:31Z")


def test_indices_are_numbers_not_texts_and_may_be_sparse(read):
    shuffled = {f"retrieval.documents.{i}.document.id": f"d{i}" for i in (10, 9, 2, 0, 11, 1)}
    tables = read([ROOT, retriever(ids=(), **shuffled)])
    assert only(tables)["returned_asset_ids"] == ["d0", "d1", "d2", "d9", "d10", "d11"]
    assert tables.report.count("noted", "indices have gaps") == 1


def test_int_ids_and_missing_ids(read):
    tables = read([ROOT, retriever(ids=(7, 9007199254740993, "007"), **{"retrieval.documents.3.document.content": "no id"})])
    assert only(tables)["returned_asset_ids"] == ["7", "9007199254740993", "007", "ret#3"]
    assert tables.report.count("noted", "without an id") == 1


def test_an_unlogged_list_is_unknown_and_a_logged_empty_one_is_empty(read):
    assert only(read([ROOT, retriever(ids=())]))["returned_asset_ids"] is None
    assert only(read([ROOT, retriever(ids=(), **{"retrieval.documents": []})]))["returned_asset_ids"] == []
    assert only(read([ROOT, retriever(ids=(), **{"output.value": "[]"})]))["returned_asset_ids"] == []


def test_order_in_the_file_does_not_matter(read):
    assert only(read([retriever(), ROOT]))["prompt_id"] == "root"


def test_orphans_keep_their_retrieval(read):
    tables = read([retriever(parent="lost")])
    row = only(tables)
    assert pd.isna(row["prompt_id"])
    assert row["request_id"] == "t1"
    assert tables.report.count("noted", "orphan") == 1


def test_a_cycle_of_parents_ends(read):
    tables = read([retriever("one", "two", ids=("a",)), {**ROOT, "context": {"trace_id": "t1", "span_id": "two"}, "parent_id": "one"}])
    assert len(tables.retrievals) == 1


def test_nested_retrievers_count_once(read):
    outer = read([ROOT, retriever("outer", ids=("a", "b")), retriever("inner", "outer", ids=("b", "a", "c"))])
    assert only(outer)["retrieval_id"] == "outer"
    assert outer.report.count("folded", "inside a retriever span") == 1
    inner = read([ROOT, retriever("outer", ids=()), retriever("inner", "outer", ids=("b",))])
    assert only(inner)["retrieval_id"] == "inner"
    assert only(inner)["session_id"] == "s1"


def test_a_span_exported_again_is_folded(read):
    early = {**retriever(ids=()), "end_time": None}
    for order in ([early, retriever()], [retriever(), early]):
        tables = read([ROOT, *order])
        assert only(tables)["returned_asset_ids"] == ["a", "b"]
        assert tables.report.folded == 1


def test_other_spans_are_set_aside_by_kind(read):
    llm = {"name": "llm", "context": {"trace_id": "t1", "span_id": "llm"}, "parent_id": "root", "attributes": {"openinference.span.kind": "LLM"}}
    tables = read([ROOT, retriever(), llm, {"name": "broken", "attributes": {}}])
    assert tables.report.count("set_aside", "kind LLM") == 1
    assert tables.report.count("set_aside", "without a span id") == 1
    assert (tables.report.read, tables.report.kept) == (4, 2)


def test_a_trace_that_is_only_a_retriever_has_no_prompt(read):
    tables = read([retriever(parent=None)])
    assert tables.prompts.empty
    assert pd.isna(only(tables)["prompt_id"])


def test_role_and_shared_id(read):
    row = only(read([ROOT, retriever(**{"lara.role": "find", "metadata": '{"ubi_query_id": "q1"}'})]))
    assert (row["role"], row["query_id"]) == ("find", "q1")


def test_text_export_with_none_and_cut_off_lists(read):
    documents = str({"openinference.span.kind": "RETRIEVER", "input.value": "x", "retrieval.documents": [{"document.id": "a"}, {"document.id": "b"}, {"document.id": "c"}]})
    rows = pd.DataFrame({"span_id": ["root", "r1", "r2"], "trace_id": "t1", "parent_id": ["None", "root", "root"], "name": "n", "start_time": "1737703890699",
                         "attributes": [str({"openinference.span.kind": "AGENT", "input.value": "None"}), documents, documents[:-15]]})
    tables = read(rows.to_csv(index=False), "spans.csv")
    table = tables.retrievals.set_index("retrieval_id")
    assert table["returned_asset_ids"].tolist() == [["a", "b", "c"], ["a", "b"]]
    assert table["list_cut"].tolist() == [False, True]
    assert len(tables.prompts) == 1


def otlp(int_form, start):
    def attribute(key, kind, value):
        return {"key": key, "value": {kind: value}}

    spans = [{"traceId": "t1", "spanId": "root", "name": "agent", "startTimeUnixNano": start, "parentSpanId": "",
              "attributes": [attribute("input.value", "stringValue", "find"), attribute("session.id", "stringValue", "s1")]},
             {"traceId": "t1", "spanId": "ret", "parentSpanId": "root", "name": "search", "startTimeUnixNano": start,
              "attributes": [attribute("openinference.span.kind", "stringValue", "RETRIEVER"),
                             attribute("retrieval.documents.10.document.id", "intValue", int_form(9007199254740993)),
                             attribute("retrieval.documents.2.document.id", "stringValue", "b"),
                             {"key": "retrieval.documents.0.document", "value": {"kvlistValue": {"values": [attribute("id", "stringValue", "a")]}}}]}]
    return {"resourceSpans": [{"resource": {"attributes": [attribute("service.name", "stringValue", "shop")]}, "scopeSpans": [{"spans": spans}]}]}


@pytest.mark.parametrize("int_form", [int, str])
@pytest.mark.parametrize("start", [1717527762025000001, "1717527762025000001"])
def test_otlp_integers_stay_exact(read, int_form, start):
    tables = read([otlp(int_form, start)], "traces.json", read_otlp)
    row = only(tables)
    assert row["returned_asset_ids"] == ["a", "b", "9007199254740993"]
    assert row["time"].value == 1717527762025000001
    assert row["producer"] == "shop"
    assert tables.prompts.loc[0, "session_id"] == "s1"


def test_otlp_time_in_scientific_notation_and_lines(read):
    text = json.dumps(otlp(int, 1)).replace('"startTimeUnixNano": 1,', '"startTimeUnixNano": 1.717527762025000001e18,')
    assert only(read(text + "\n" + '{"resourceSpans": []}', "traces.jsonl", read_otlp))["time"].value == 1717527762025000001


def test_the_wrong_reader_says_so(read):
    with pytest.raises(ReadError, match="use read_otlp"):
        read([otlp(int, 1)])
    with pytest.raises(ReadError, match="read_openinference"):
        read([ROOT], reader=read_otlp)
