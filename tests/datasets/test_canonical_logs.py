"""Canonical log tables, and the join of traces with events."""

import json

import pandas as pd
import pytest

from toolkit.datasets import ReadError, join_traces_and_events, read_log, read_openinference, read_ubi
from toolkit.tables import ACTIONS, PROMPTS, RETRIEVALS, check


def write(folder, name, rows, form="jsonl"):
    frame = pd.DataFrame(rows)
    if form == "parquet":
        frame.to_parquet(folder / f"{name}.parquet")
    elif form == "csv":
        frame.to_csv(folder / f"{name}.csv", index=False)
    else:
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))


RETRIEVAL_ROWS = [{"retrieval_id": "r1", "session_id": "s", "time": "2025-01-01T00:00:00Z", "role": "find", "returned_asset_ids": ["a", "007"],
                   "displayed": True, "page": 1},
                  {"retrieval_id": "r2", "session_id": "s", "time": "2025-01-01T00:01:00Z", "role": "browse", "returned_asset_ids": [],
                   "displayed": None, "page": 2}]
ACTION_ROWS = [{"action_id": "x", "time": "2025-01-01T00:02:00Z", "action": "export", "consumed_asset_id": "007", "source_retrieval_id": "r1", "position": 1}]


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_forms(tmp_path, form):
    write(tmp_path, "retrievals", RETRIEVAL_ROWS, form)
    write(tmp_path, "actions", ACTION_ROWS, form)
    prompts, retrievals, actions = tables = read_log(tmp_path)
    check(prompts, PROMPTS), check(retrievals, RETRIEVALS), check(actions, ACTIONS)
    assert retrievals["returned_asset_ids"].tolist() == [["a", "007"], []]
    assert retrievals["displayed"].isna().tolist() == [False, True]
    assert retrievals["page"].astype(int).tolist() == [1, 2]
    assert actions.loc[0, "consumed_asset_id"] == "007"
    assert str(actions["time"].dtype) == "datetime64[ns, UTC]"
    assert prompts.empty
    assert (tables.report.read, tables.report.kept) == (3, 3)


def test_repeated_and_missing_ids(tmp_path):
    write(tmp_path, "actions", [*ACTION_ROWS, *ACTION_ROWS, {**ACTION_ROWS[0], "action": "share"}, {"action": "export"}])
    tables = read_log({"actions": tmp_path / "actions.jsonl"})
    assert len(tables.actions) == 1
    assert (tables.report.folded, tables.report.set_aside) == (1, 2)


def test_textified_tables(tmp_path):
    (tmp_path / "retrievals.csv").write_text("retrieval_id,session_id,returned_asset_ids,displayed\nr1,None,\"['a', 'b', 'c\",True\nr2,s,None,None\n")
    retrievals = read_log(tmp_path).retrievals
    assert retrievals["returned_asset_ids"].tolist() == [["a", "b"], None]
    assert retrievals["list_cut"].tolist() == [True, False]
    assert retrievals["session_id"].isna().tolist() == [True, False]
    assert retrievals["displayed"].isna().tolist() == [False, True]


def test_nothing_to_read(tmp_path):
    with pytest.raises(ReadError, match="expected files named"):
        read_log(tmp_path)
    write(tmp_path, "actions", ACTION_ROWS)
    write(tmp_path, "actions", ACTION_ROWS, "csv")
    with pytest.raises(ReadError, match="two files for actions"):
        read_log(tmp_path)


def span(span_id, trace, ids, parent=None, **attributes):
    return {"name": "search", "context": {"trace_id": trace, "span_id": span_id}, "parent_id": parent, "start_time": "2025-01-01T00:00:00Z",
            "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "q", **attributes,
                           **({"retrieval.documents": [{"document.id": i} for i in ids]} if ids is not None else {})}}


def event(query_id, asset, action="click"):
    return {"action_name": action, "query_id": query_id, "timestamp": "2025-01-01T00:01:00Z", "session_id": "s", "message": f"{query_id}{asset}",
            "event_attributes": {"object": {"object_id": asset}}}


@pytest.fixture
def joined(tmp_path):
    spans = [span("sp1", "t1", ["a", "b"], **{"ubi.query_id": "q1"}), span("sp2", "t2", ["c"]), span("sp3", "t3", ["d", "e"]), span("sp4", "t3", ["e", "f"]),
             span("sp5", "t5", None, **{"ubi.query_id": "q5"})]
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    ubi = [{"query_id": "q1", "user_query": "q", "query_response_hit_ids": ["a", "b"], "timestamp": "2025-01-01T00:00:00Z"},
           {"query_id": "q5", "user_query": "five", "query_response_hit_ids": ["z"], "timestamp": "2025-01-01T00:00:00Z"},
           {"query_id": "other", "user_query": "app", "query_response_hit_ids": ["y"], "timestamp": "2025-01-01T00:00:00Z"},
           event("q1", "b"), event("sp2", "c"), event("t2", "c"), event("t3", "d"), event("t3", "e"), event("other", "y"), event("gone", "x"), event(None, "x")]
    (tmp_path / "ubi.ndjson").write_text("\n".join(map(json.dumps, ubi)))
    return join_traces_and_events(read_openinference(tmp_path / "spans.jsonl"), read_ubi(tmp_path / "ubi.ndjson"))


def test_actions_find_their_retrieval_by_shared_ids(joined):
    actions = joined.actions.set_index(joined.actions["logged_source_id"].fillna("-") + joined.actions["consumed_asset_id"])
    assert actions["source_retrieval_id"].fillna("none").to_dict() == {
        "q1b": "sp1", "sp2c": "sp2", "t2c": "sp2", "t3d": "sp3", "t3e": "none", "othery": "other", "gonex": "gone", "-x": "none"}
    assert actions["source_matched_by"].fillna("none").to_dict() == {
        "q1b": "query_id", "sp2c": "retrieval_id", "t2c": "request_id", "t3d": "request_id and asset", "t3e": "none", "othery": "retrieval_id",
        "gonex": "none", "-x": "none"}
    assert joined.report.count("noted", "one of several retrievals") == 1
    assert joined.report.count("noted", "in neither log") == 1


def test_retrievals_of_the_traces_stay_and_are_filled(joined):
    table = joined.retrievals.set_index("retrieval_id")
    assert set(table.index) == {"sp1", "sp2", "sp3", "sp4", "sp5", "other"}
    assert table.loc["sp5", "returned_asset_ids"] == ["z"]
    assert joined.report.count("folded", "a trace has too") == 2
    check(joined.retrievals, RETRIEVALS)
    assert joined.report.read == joined.report.kept + joined.report.folded
