"""The log bundle: checks, folding, inherited sources."""

from types import SimpleNamespace

import pandas as pd
import pytest

from toolkit.lineage import (Log, attribute, bounds, consumed_positions, empty_prompts, empty_results, fold_executions, goals, inherit_sources, outcomes,
                             quality, readiness, routing)
from toolkit.tables import TableError


def test_log_of_anything_with_the_three_tables(make_log):
    log = make_log([{"retrieval_id": "r"}], [{"action": "select"}])
    again = Log.of(SimpleNamespace(prompts=log.prompts, retrievals=log.retrievals, actions=log.actions))
    assert again.retrievals is log.retrievals and Log.of(log) is log
    assert Log.of(log, list_limit=3).list_limit == 3
    with pytest.raises(TableError, match="expected an object with prompts"):
        Log.of(3)


def test_naive_times_integer_ids_and_unknown_links_are_refused(make_log):
    log = make_log([{"retrieval_id": "r"}])
    naive = log.retrievals.assign(time=pd.Timestamp("2026-01-01"))
    with pytest.raises(TableError, match="timezone"):
        Log(log.prompts, naive, log.actions)
    with pytest.raises(TableError, match="strings"):
        Log(log.prompts, log.retrievals.assign(retrieval_id=[7]), log.actions)
    with pytest.raises(TableError, match="links"):
        make_log([{"retrieval_id": "r"}], links=frozenset({"nonsense"}))
    with pytest.raises(TableError, match="retrieval_id or query"):
        make_log([{"retrieval_id": "r"}], judgments=[{"asset_id": "a", "grade": 1}])


def test_an_incomplete_log_raises_nothing(make_log):
    for log in (make_log([{"retrieval_id": "r"}], [{"action": "select"}]), make_log([{"retrieval_id": "r"}]),
                Log(empty_prompts(), pd.DataFrame({"retrieval_id": pd.Series([], dtype="str")}),
                    pd.DataFrame({"action_id": pd.Series([], dtype="str"), "action": pd.Series([], dtype="str")}))):
        for metric in (outcomes, goals, quality, bounds, readiness, attribute):
            assert metric(log).summary()


def test_folding_keeps_the_list_the_first_text_and_the_counts():
    rows = pd.DataFrame({"retrieval_id": ["r", "r", "r", "s", "t", "t"], "query": ["old", "new", "old", "q", "q", "q"],
                         "time": pd.to_datetime([20, 30, 10, 5, 5, 6], unit="s", utc=True),
                         "returned_asset_ids": pd.Series([["a"], ["b"], [], [], [], None], dtype=object)})
    found = fold_executions(rows)
    table = found.table.set_index("retrieval_id")
    assert table.loc["r", "returned_asset_ids"] == ["a"] and table.loc["r", "query"] == "old"
    assert table.loc["r", "time"] == pd.Timestamp(10, unit="s", tz="UTC")
    assert table.loc["s", "returned_asset_ids"] == [] and table.loc["t", "returned_asset_ids"] is None
    counts = found.counts.set_index("retrieval_id").loc["r"]
    assert counts.tolist() == [3, 1, 2, 2]
    assert "1 ids with more than one text" in found.summary()


def test_assets_of_other_executions_count_as_returned(make_log):
    executions = pd.DataFrame({"retrieval_id": ["r", "r"], "returned_asset_ids": pd.Series([["a"], ["b"]], dtype=object)})
    action = {"actor": "user", "action": "select", "consumed_asset_id": "b", "source_retrieval_id": "r"}
    retrievals = [{"retrieval_id": "r", "returned_asset_ids": ["a"]}]
    assert outcomes(make_log(retrievals, [action])).value("GPR") == 0
    assert outcomes(make_log(retrievals, [action], executions=executions)).value("GPR") == 1


def test_only_selects_rows_where_a_column_says_so(make_log):
    log = make_log([{"retrieval_id": "r", "producer": "x"}, {"retrieval_id": "s", "producer": "y"}], [{"action": "select"}])
    assert log.only(producer="y").retrievals["retrieval_id"].tolist() == ["s"] and len(log.only(producer="y").actions) == 1
    with pytest.raises(TableError, match="producer"):
        make_log([{"retrieval_id": "r"}]).only(producer="x")


def chain(rows):
    """Actions of a placement chain."""
    names = ["action", "placed_id", "consumed_asset_id", "source_retrieval_id"]
    return pd.DataFrame([{"action_id": f"e{i}", **dict(zip(names, row))} for i, row in enumerate(rows)])


def test_later_actions_inherit_the_source_of_the_placement():
    found = inherit_sources(chain([
        ("place", "d1", "a", "r1"),      # a from r1 placed as d1
        ("place", "d2", "d1", None),     # a copy of the copy
        ("edit", "d1", None, None),
        ("export", "d2", None, None),
        ("export", None, None, None)]))  # nothing placed: nothing to inherit
    assert found.table["source_retrieval_id"].fillna("").tolist() == ["r1", "r1", "r1", "r1", ""]
    assert found.filled == 3 and found.problems.empty


def test_broken_chains_cycles_and_overwrites_are_reported():
    found = inherit_sources(chain([
        ("place", "d1", "a", "r1"),
        ("edit", "d1", None, "r9"),       # logged with another source: kept, reported
        ("export", "gone", None, None),   # placement not in the log
        ("place", "d3", "b", None),       # placed without a source
        ("export", "d3", None, None),
        ("place", "x", "y", None), ("place", "y", "x", None), ("export", "x", None, None)]))
    assert found.problems.set_index("action_id")["problem"].to_dict() == {
        "e1": "overwrite", "e2": "broken chain", "e3": "broken chain", "e4": "broken chain", "e5": "cycle", "e6": "cycle", "e7": "cycle"}
    assert found.table.loc[1, "source_retrieval_id"] == "r9" and found.filled == 0
    assert "3 broken chains, 3 cycles, 1 overwrites" in found.summary()


def test_inheriting_needs_no_placed_column():
    actions = chain([("export", None, "a", "r1")]).drop(columns="placed_id")
    assert inherit_sources(actions).table["source_retrieval_id"].tolist() == ["r1"]


@pytest.mark.parametrize(("retrieval", "action", "said"), [
    ({"returned_asset_ids": "a,b"}, {}, "text 'a,b'"), ({"returned_asset_ids": [1, 2]}, {}, "int 1"), ({"retry_of": 7}, {}, "7"),
    ({}, {"source_retrieval_id": 7}, "7"), ({}, {"consumed_asset_id": 3.0}, "3.0")])
def test_ids_that_would_silently_match_nothing_are_refused(make_log, retrieval, action, said):
    with pytest.raises(TableError, match=said):
        make_log([{"retrieval_id": "r", **retrieval}], [{"action": "select", **action}])


def test_a_null_in_a_list_takes_a_place_and_is_no_asset(make_log):
    rows = [{"retrieval_id": "r", "returned_asset_ids": ["a", "b"]}, {"retrieval_id": "s", "returned_asset_ids": [None, "a"]}]
    uses = [{"action": "select", "source_retrieval_id": source, "consumed_asset_id": asset} for source, asset in (("r", "b"), ("s", "a"), ("s", "b"))]
    assert consumed_positions(make_log(rows, uses)).table["position"].tolist() == [2, 2, pd.NA]
    assert consumed_positions(make_log([rows[0], {**rows[1], "returned_asset_ids": [None]}], uses)).off_list == 2


def test_executions_need_ids():
    for count in (fold_executions, empty_results):
        with pytest.raises(TableError, match="retrieval_id"):
            count(pd.DataFrame({"query": ["x"]}))


@pytest.mark.parametrize("value", ["no", 2])
def test_flags_are_true_false_or_null(make_log, value):
    with pytest.raises(ValueError, match="in_scope: value"):
        routing(make_log([{"retrieval_id": "r"}], prompts=[{"prompt_id": "p", "in_scope": value}]))
