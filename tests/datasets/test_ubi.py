"""read_ubi: every form and dialect, and the reference log's figures."""

import gzip
import json
import zipfile

import pandas as pd
import pytest

from toolkit.datasets import ReadError, read_ubi
from toolkit.tables import ACTIONS, PROMPTS, RETRIEVALS, check

QUERY = {"application": "shop", "query_id": "q1", "query_response_id": "r1", "client_id": "c", "user_query": "red shoes",
         "query_response_hit_ids": ["a", "b"], "timestamp": "2025-01-24T07:31:30.699Z"}
EVENT = {"application": "shop", "action_name": "click", "query_id": "q1", "client_id": "c", "session_id": "s1", "user_query": "red shoes",
         "timestamp": "2025-01-24T07:31:31.000Z", "event_attributes": {"object": {"object_id": "b", "object_id_field": "sku"}, "position": {"ordinal": 1}}}


@pytest.fixture
def read(tmp_path):
    """Write records (dicts) or raw content and read them as UBI."""

    def run(content, name="log.ndjson"):
        path = tmp_path / name
        if isinstance(content, list):
            content = "\n".join(json.dumps(record) for record in content) + "\n"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        tables = read_ubi(path)
        for frame, schema in zip(tables, (PROMPTS, RETRIEVALS, ACTIONS)):
            check(frame, schema)
            assert [column.name for column in schema.columns] == list(frame)[:len(schema.columns)]
        assert tables.retrievals["retrieval_id"].is_unique
        assert tables.actions["action_id"].is_unique
        tables.report.check()
        return tables

    return run


def query(**changes):
    return {**QUERY, **changes}


def event(**changes):
    return {**EVENT, **changes}


def test_one_query_and_one_event(read):
    tables = read([QUERY, EVENT])
    retrieval, action = tables.retrievals.iloc[0], tables.actions.iloc[0]
    assert (retrieval["retrieval_id"], retrieval["query"], retrieval["user_id"], retrieval["producer"]) == ("q1", "red shoes", "c", "shop")
    assert retrieval["returned_asset_ids"] == ["a", "b"]
    assert (action["action"], action["consumed_asset_id"], action["source_retrieval_id"], action["session_id"]) == ("click", "b", "q1", "s1")
    assert action["position"] == 1
    assert action["source_resolves"]
    assert tables.prompts.empty
    for name in ("role", "displayed", "request_id", "prompt_id", "retry_of", "session_id"):
        assert pd.isna(retrieval[name])
    assert pd.isna(action["actor"])
    assert (tables.report.read, tables.report.kept) == (2, 2)


def bulk(*pairs):
    return "".join(json.dumps({verb: {"_index": index, "_id": identity}}) + "\n" + json.dumps(record) + "\n" for verb, index, identity, record in pairs)


PAIRS = (("index", "ubi_queries", "x", QUERY), ("create", "ubi_events", "y", EVENT))


@pytest.mark.parametrize("form", ["ndjson", "bulk", "gzip", "zip of tsv", "tsv with index", "search response", "elasticdump", "list", "parquet", "csv"])
def test_forms(read, tmp_path, form):
    lines = [json.dumps(QUERY), json.dumps(EVENT)]
    name = "log"
    if form == "ndjson":
        content = "\n".join(lines)
    elif form == "bulk":
        content = bulk(*PAIRS)
    elif form == "gzip":
        content = gzip.compress(bulk(*PAIRS).encode())
    elif form == "zip of tsv":
        with zipfile.ZipFile(tmp_path / "log.zip", "w") as archive:
            archive.writestr("ubi_queries.tsv", json.dumps({"index": {"_index": "ubi_queries", "_id": "x"}}) + "\t" + lines[0] + "\n")
            archive.writestr("ubi_events.tsv", "y\t" + lines[1] + "\n")
        content, name = (tmp_path / "log.zip").read_bytes(), "log.zip"
    elif form == "tsv with index":
        content = f"ubi_queries\t{lines[0]}\nubi_events\t{lines[1]}\n"
    elif form in ("search response", "elasticdump", "list"):
        docs = [{"_index": index, "_id": identity, "_source": record} for _, index, identity, record in PAIRS]
        content = {"search response": json.dumps({"hits": {"hits": docs}}), "elasticdump": "\n".join(map(json.dumps, docs)),
                   "list": json.dumps([QUERY, EVENT])}[form]
    elif form == "parquet":
        pd.DataFrame([QUERY]).to_parquet(tmp_path / "q.parquet")
        pd.DataFrame([{**EVENT, "event_attributes": json.dumps(EVENT["event_attributes"])}]).to_parquet(tmp_path / "e.parquet")
        tables = read_ubi([tmp_path / "q.parquet", tmp_path / "e.parquet"])
    else:
        pd.DataFrame([{**QUERY, "query_response_hit_ids": str(QUERY["query_response_hit_ids"])}]).to_csv(tmp_path / "q.csv", index=False)
        pd.DataFrame([{**EVENT, "event_attributes": str(EVENT["event_attributes"])}]).to_csv(tmp_path / "e.csv", index=False)
        tables = read_ubi([tmp_path / "q.csv", tmp_path / "e.csv"])
    if form not in ("parquet", "csv"):
        tables = read(content, name)
    assert tables.retrievals.loc[0, "returned_asset_ids"] == ["a", "b"]
    assert tables.actions.loc[0, ["consumed_asset_id", "source_retrieval_id", "position"]].tolist() == ["b", "q1", 1.0]
    assert tables.report.kept == 2


@pytest.mark.parametrize("name", ["query_response_hit_ids", "query_response_object_ids", "query_response_objects_ids"])
@pytest.mark.parametrize("nested", [False, True])
def test_the_three_names_of_the_returned_list(read, name, nested):
    record = query()
    del record["query_response_hit_ids"]
    record |= {"query_response": {name: [7, "007"]}} if nested else {name: [7, "007"]}
    assert read([record]).retrievals.loc[0, "returned_asset_ids"] == ["7", "007"]


def test_facet_calls_are_not_empty_results(read):
    tables = read([query(query_response_id="r0", query_response_hit_ids=[]), query(timestamp="2025-01-24T07:31:30.705Z"),
                   query(query_response_id="r2", query_response_hit_ids=[]),
                   query(query_id="q2", query_response_hit_ids=[]),
                   query(query_id="q3", query_response_hit_ids=None)])
    table = tables.retrievals.set_index("retrieval_id")
    assert table.loc["q1", "returned_asset_ids"] == ["a", "b"]
    assert table.loc["q1", ["executions", "list_calls", "empty_list_calls"]].tolist() == [3, 1, 0]
    assert table.loc["q2", "returned_asset_ids"] == []
    assert table.loc["q2", ["list_calls", "empty_list_calls"]].tolist() == [1, 1]
    assert table.loc["q3", "returned_asset_ids"] is None
    assert (tables.report.read, tables.report.kept, tables.report.folded) == (5, 3, 2)
    assert len(tables.executions) == 5


def test_an_id_reused_for_a_second_text(read):
    tables = read([query(), query(user_query="blue shoes", query_response_id="r9", query_response_hit_ids=["z"], timestamp="2025-01-24T08:00:00Z")])
    row = tables.retrievals.iloc[0]
    assert row["query"] == "red shoes"
    assert row["returned_asset_ids"] == ["a", "b"]
    assert row[["texts", "lists", "list_calls"]].tolist() == [2, 2, 2]
    assert tables.report.count("noted", "several texts") == 1
    assert tables.executions["query"].tolist() == ["red shoes", "blue shoes"]


def test_an_unlogged_execution_is_not_an_empty_one(read):
    tables = read([query(query_response_hit_ids=[]), query(query_response_id="r2", query_response_hit_ids=None)])
    assert tables.retrievals.loc[0, "returned_asset_ids"] is None
    assert tables.retrievals.loc[0, ["list_calls", "empty_list_calls"]].tolist() == [1, 0]


def test_nulls_stay_nulls(read):
    tables = read([query(user_query=""), event(query_id=None), event(event_attributes=None, user_id="", session_id=None)])
    assert pd.isna(tables.retrievals.loc[0, "query"])
    assert pd.isna(tables.actions.loc[0, "source_retrieval_id"])
    assert pd.isna(tables.actions.loc[1, "consumed_asset_id"])
    assert tables.actions["user_id"].tolist() == ["c", "c"]
    report = tables.report
    assert [report.count("noted", why) for why in ("empty text", "without query_id", "without attributes")] == [1, 1, 1]


def test_time_dialects_meet(read):
    times = ["2025-01-24T07:31:30.699Z", "2025-01-24T07:31:30.699+0000", 1737703890699, "1737703890699", "2025-01-24T08:31:30.699+01:00",
             1737703890.699, 1737703890699000, 1737703890699000000, "2025-01-24 07:31:30.699"]
    tables = read([event(timestamp=time, message=str(n)) for n, time in enumerate(times)])
    assert tables.actions["time"].nunique() == 1
    assert str(tables.actions["time"].dtype) == "datetime64[ns, UTC]"
    assert tables.report.count("noted", "without a time zone") == 1


def test_an_unreadable_time_keeps_the_row(read):
    tables = read([event(timestamp="yesterday")])
    assert tables.actions["time"].isna().all()
    assert tables.report.count("noted", "unreadable") == 1


def test_events_before_their_query_are_told(read):
    tables = read([query(timestamp="2025-01-24T07:31:44Z"), EVENT])
    assert tables.report.count("noted", "event before its query (by 13.0 to 13.0 s)") == 1


def test_int_and_string_ids_meet(read):
    tables = read([query(query_id=7, query_response_hit_ids=[1, 2]),
                   event(query_id="7", event_attributes={"object": {"object_id": 2}, "session_id": 5}, session_id=None)])
    action = tables.actions.iloc[0]
    assert (action["source_retrieval_id"], action["consumed_asset_id"], action["session_id"]) == ("7", "2", "5")
    assert action["source_resolves"]
    assert tables.retrievals.loc[0, "returned_asset_ids"] == ["1", "2"]


@pytest.mark.parametrize("attributes", [{"session_id": "s9"}, {"object": {"session_id": "s9"}}])
def test_a_nested_session(read, attributes):
    assert read([event(session_id=None, event_attributes=attributes)]).actions.loc[0, "session_id"] == "s9"


def test_the_object_under_data(read):
    assert read([event(event_attributes={"data": {"object_id": "b"}})]).actions.loc[0, "consumed_asset_id"] == "b"


def test_an_action_logged_twice(read):
    same = read([QUERY, EVENT, EVENT])
    assert (len(same.actions), same.report.folded) == (1, 1)
    same_id = read(bulk(PAIRS[0], PAIRS[1], PAIRS[1]))
    assert (len(same_id.actions), same_id.report.folded) == (1, 1)
    other_ids = read(bulk(PAIRS[0], PAIRS[1], ("index", "ubi_events", "z", EVENT)))
    assert (len(other_ids.actions), other_ids.report.folded) == (2, 0)


def test_an_event_that_names_the_response(read):
    tables = read([QUERY, event(query_id="r1")])
    assert tables.actions.loc[0, "source_retrieval_id"] == "q1"
    assert tables.report.count("noted", "query_response_id (replaced)") == 1


def test_actions_on_items_in_no_list_and_without_query_rows_are_kept(read):
    tables = read([QUERY, event(event_attributes={"object": {"object_id": "zz"}}), event(query_id="gone")])
    assert tables.actions["consumed_asset_id"].tolist() == ["zz", "b"]
    assert tables.actions["source_resolves"].tolist() == [True, False]
    assert tables.actions["source_retrieval_id"].tolist() == ["q1", "gone"]


def test_duplicates_in_a_list_are_kept_as_logged(read):
    assert read([query(query_response_hit_ids=["a", "b", "a"])]).retrievals.loc[0, "returned_asset_ids"] == ["a", "b", "a"]


def test_textified_cells(read):
    header = "query_id,user_query,client_id,timestamp,query_response_hit_ids\n"
    tables = read(header + "q1,shoes,None,1737703890699,\"['a', 'b']\"\n"
                  "q2,mugs,c,1737703890699,\"['a', 'b', 'c\"\nq3,cups,c,1737703890699,None\n", "ubi_queries.csv")
    table = tables.retrievals.set_index("retrieval_id")
    assert table["returned_asset_ids"].tolist() == [["a", "b"], ["a", "b"], None]
    assert table["list_cut"].tolist() == [False, True, False]
    assert pd.isna(table.loc["q1", "user_id"])


def test_what_is_no_record_is_set_aside(read):
    tables = read(json.dumps(QUERY) + "\nnot json\n" + json.dumps({"index": {"_index": "ubi_events"}}) + "\n" + json.dumps({"x": 1, "y": 2})
                  + "\n" + json.dumps({"delete": {"_id": "1"}}) + "\n" + json.dumps({"index": {"_index": "ubi_events"}}) + "\n")
    report = tables.report
    assert report.count("set_aside", "not a JSON object") == 1
    assert report.count("set_aside", "without a document") == 1
    assert report.read == report.kept + report.set_aside == 4


def test_nothing_of_a_json_list_vanishes(read):
    tables = read("[" + json.dumps(QUERY)[:-1] + ', "client_id": "d"}, 5]', "log.json")
    assert tables.retrievals.loc[0, "user_id"] == "d"
    assert tables.report.count("noted", "key repeated") == 1
    assert tables.report.count("set_aside", "not a JSON object") == 1


@pytest.mark.parametrize("start", [b"PAR1", b"PK\x03\x04", b"\x1f\x8b"])
def test_damaged_containers_say_so(read, start):
    with pytest.raises(ReadError, match="damaged"):
        read(start + b" no longer")


def test_files_without_ubi_records(read):
    with pytest.raises(ReadError, match="no UBI record"):
        read('{"a": 1}\n{"b": 2}\n')
    with pytest.raises(ReadError, match="no such file"):
        read_ubi("nowhere.ndjson")


@pytest.mark.reference
def test_specification_samples(reference_data):
    tables = read_ubi(sorted((reference_data / "ubi").glob("*.json")))
    assert set(tables.retrievals["query"]) == {"Toner", "RAM memory"}
    assert tables.actions["action"].tolist() == ["page_exit"]


@pytest.fixture(scope="module")
def tables(reference_data):
    """The three-producer reference log."""
    return read_ubi(reference_data / "ubi" / "ubi_queries_events.ndjson.gz")


@pytest.mark.reference
class TestReferenceLog:
    """The reading-level figures of the three-producer log."""

    def test_sizes(self, tables):
        assert (len(tables.executions), len(tables.actions)) == (473, 3448)
        assert tables.executions["producer"].value_counts().to_dict() == {"Chorus": 273, "esci_ubi_sample": 200}
        assert set(tables.actions["producer"]) == {"Chorus", "esci_ubi_sample", "ubi-demo"}
        assert tables.retrievals["producer"].value_counts().to_dict() == {"esci_ubi_sample": 200, "Chorus": 84}
        assert tables.retrievals.loc[tables.retrievals["producer"] == "esci_ubi_sample", "returned_asset_ids"].isna().all()
        report = tables.report.check()
        assert (report.read, report.kept, report.folded, report.set_aside) == (3921, 3732, 189, 0)

    def test_resolution(self, tables):
        actions = tables.actions
        assert round(actions["source_resolves"].mean(), 3) == 0.726
        chorus = actions[actions["producer"] == "Chorus"]
        assert (int(chorus["source_resolves"].sum()), len(chorus)) == (1442, 1959)

    def test_items_in_their_own_lists(self, tables):
        lists = tables.executions.dropna(subset="returned_asset_ids").groupby("retrieval_id")["returned_asset_ids"].sum()
        chorus = tables.actions[(tables.actions["producer"] == "Chorus") & tables.actions["consumed_asset_id"].notna()]
        found = [asset in lists.get(source, ()) for asset, source in zip(chorus["consumed_asset_id"], chorus["source_retrieval_id"])]
        assert (sum(found), len(found)) == (1296, 1453)

    def test_empties(self, tables):
        calls = tables.executions[tables.executions["producer"] == "Chorus"]["returned_asset_ids"]
        assert (int((calls.str.len() == 0).sum()), len(calls)) == (192, 273)
        ids = tables.retrievals[tables.retrievals["producer"] == "Chorus"]
        assert (int(ids["empty_list_calls"].sum()), int(ids["list_calls"].sum())) == (10, 91)
        assert (int((ids["returned_asset_ids"].str.len() == 0).sum()), len(ids)) == (6, 84)

    def test_nulls(self, tables):
        assert int(tables.actions["source_retrieval_id"].isna().sum()) == 2
        assert int(tables.executions["query"].isna().sum()) == 6
        assert tables.report.count("noted", "without attributes") == 506

    def test_events_before_their_query(self, tables):
        started = tables.actions["source_retrieval_id"].map(tables.retrievals.set_index("retrieval_id")["time"])
        ahead = (started - tables.actions["time"]).dt.total_seconds()
        assert int((ahead > 0).sum()) == 125
        assert 0.3 <= ahead[ahead > 0].min() <= ahead.max() <= 13.2

    def test_rank_base_switches(self, tables):
        """Logged ordinal against the index in the retrieval's lists, before and after 2025-02-05."""
        lists = {name: list(group) for name, group in tables.executions[tables.executions["returned_asset_ids"].str.len() > 0]
                 .groupby("retrieval_id")["returned_asset_ids"]}
        chorus = tables.actions[(tables.actions["producer"] == "Chorus") & tables.actions["position"].notna()]
        hits = [(time, position, next((items.index(asset) for items in lists.get(source, []) if asset in items), None))
                for time, position, asset, source in zip(chorus["time"], chorus["position"], chorus["consumed_asset_id"], chorus["source_retrieval_id"])]
        switch = pd.Timestamp("2025-02-05", tz="UTC")
        before = [(position, index) for time, position, index in hits if index is not None and time < switch]
        after = [(position, index) for time, position, index in hits if index is not None and time >= switch]
        assert (sum(position == index + 1 for position, index in before), len(before)) == (770, 771)
        assert (sum(position == max(1, index) for position, index in after), len(after)) == (525, 525)

    def test_add_to_cart_beside_each_click(self, tables):
        chorus = tables.actions[tables.actions["producer"] == "Chorus"]
        counts = chorus["action"].value_counts()
        assert (counts["click"], counts["add_to_cart"]) == (227, 227)
        clicks = chorus[chorus["action"] == "click"]
        assert len(clicks[["source_retrieval_id", "consumed_asset_id"]].drop_duplicates()) == 130
