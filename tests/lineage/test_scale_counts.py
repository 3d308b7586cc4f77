"""Counting in DuckDB gives the reference's tables."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from toolkit.lineage import (ActiveUse, Faults, GoodRetrieval, Log, World, attribution_gap, click_through, consumed_positions, cross_reading,
                             empty_prompts, empty_results, fold_executions, goals, outcomes, product_health, quality, resolution, routing,
                             sensitivity_to_definition, simulate)
from toolkit.lineage.scale import Settings, count_log
from toolkit.lineage.scale_gap import count_gap
from toolkit.lineage.scale_sources import write_log
from toolkit.lineage.simulation_faults import LOSSES
from toolkit.tables import TableError

IDS = ("user_id", "session_id", "retrieval_id", "source_retrieval_id", "expected_retrieval_id", "retry_of")


def sortable(log):
    """Ids renamed so that their order by name is their order in the log: resampling then draws the same."""
    tables = {}
    for name in ("prompts", "retrievals", "actions", "judgments"):
        frame = getattr(log, name).copy()
        for column in set(IDS) & set(frame):
            frame[column] = frame[column].map(lambda text: text if pd.isna(text) else f"{text[0]}{int(text[1:]):06d}")
        tables[name] = frame
    return replace(log, **tables)


def same(found, expected, *, intervals=True):
    columns = [name for name in expected.columns if intervals or not name.startswith("ci_")]
    assert_frame_equal(found[columns].reset_index(drop=True), expected[columns].reset_index(drop=True), check_dtype=False, rtol=1e-9, atol=1e-12)


def check_same(log, folder, settings=None, *, intervals=True):
    """Every table against its reference function."""
    settings = replace(settings or Settings(), list_limit=log.list_limit)
    found = count_log(write_log(log, folder), settings, progress=False)
    cluster = {"cluster": settings.cluster}
    same(found.routing.table, routing(log, **cluster).table, intervals=intervals)
    same(found.quality.table, quality(log, k=settings.k, good=settings.good, **cluster).table, intervals=intervals)
    same(found.click_through.table, click_through(log, **cluster).table, intervals=intervals)
    same(found.outcomes.table, outcomes(log, settings.use, **cluster).table, intervals=intervals)
    same(found.sensitivity.table, sensitivity_to_definition(log, use=settings.use, **cluster).table, intervals=intervals)
    same(found.goals.table, goals(log, **cluster).table, intervals=intervals)
    same(found.product_health.table, product_health(log).table, intervals=intervals)
    cells = cross_reading(log, settings.verdict, settings.use).table.rename(columns={"cell": "metric", "share": "value"})
    key = ["metric", "role", "value", "ci_low", "ci_high", "n", "count", "method"]
    same(found.cells.table[key].sort_values(["role", "metric"]), cells[key].sort_values(["role", "metric"]))
    check_positions(found.positions, log)
    return found


def check_positions(found, log):
    steps = resolution(log).set_index("step")["count"]
    assert found[["source_logged", "source_resolves", "asset_in_list"]].sum().tolist() == steps.tolist()
    positions = consumed_positions(log)
    assert (int(found["off_list"].sum()), int(found["no_list"].sum())) == (positions.off_list, positions.no_list)
    if log.executions is None:
        expected = positions.table.dropna(subset=["position"]).groupby("position").size()
        counted = found[found["position"] > 0].groupby("position")["uses"].sum()
        assert counted[counted > 0].to_dict() == expected.to_dict()


@pytest.mark.parametrize("faults", [
    Faults(),
    Faults(source=0.1, consumed=0.1, actor=0.1, lists=0.1, display=0.2, role=0.1, prompt=0.1, labels=0.2, action_request=0.1),
    Faults(truncate=3, links=True, duplicate=0.3, base_switch=0.5),
    Faults(**dict.fromkeys(LOSSES, 1.0)),
], ids=["full", "nulls", "truncated", "everything lost"])
def test_simulated_logs(tmp_path, faults):
    check_same(sortable(simulate(World(users=25), faults, seed=3).log), tmp_path)


@pytest.mark.parametrize("settings", [
    Settings(use=ActiveUse(("export", "select"), display="required", actor="implied"), k=3, cluster="session_id"),
    Settings(good=GoodRetrieval(grade=1, k=2), k=1, list_limit=8, cluster=None),
], ids=["required display", "rows as units"])
def test_other_definitions(tmp_path, settings):
    log = sortable(simulate(World(users=25, judged=0.5), Faults(display=0.3, actor=0.2), seed=5).log)
    # Rows as units are resampled in another order than the reference's.
    check_same(replace(log, list_limit=settings.list_limit), tmp_path, settings, intervals=settings.cluster is not None)


def test_many_users_get_linearised_intervals(tmp_path):
    found = check_same(sortable(simulate(World(users=500, judged=0.3), Faults(retrieval_user=0.1), seed=1).log), tmp_path)
    assert set(found.outcomes.table.loc[found.outcomes.table["role"] == "all roles", "method"]) == {"design"}
    assert set(found.quality.table.query("role == 'all roles'")["method"]) == {"design"}


WORD = st.sampled_from(["a", "b", "c", "d'e"])
LIST = st.none() | st.lists(WORD, max_size=4)
FLAG = st.none() | st.booleans()
ID = st.none() | st.sampled_from(["r0", "r1", "r2", "gone"])
RETRIEVAL = st.fixed_dictionaries({}, optional={
    "returned_asset_ids": LIST, "displayed_asset_ids": LIST, "displayed": FLAG, "role": st.sampled_from([None, "find", "browse"]), "retry_of": ID,
    "request_id": st.sampled_from([None, "q1", "q2"]), "prompt_id": st.sampled_from([None, "p0", "p1", "p9"]), "list_cut": FLAG,
    "session_id": st.sampled_from([None, "s1", "s2"]), "time": st.none() | st.integers(0, 10_000)})
ACTION = st.fixed_dictionaries({"action": st.sampled_from(["select", "export", "place", "reject_result", "correct_output", "impression"])}, optional={
    "actor": st.sampled_from([None, "user", "agent"]), "consumed_asset_id": st.none() | WORD, "source_retrieval_id": ID, "expected_retrieval_id": ID,
    "request_id": st.sampled_from([None, "q1", "q2"]), "session_id": st.sampled_from([None, "s1", "s2"]), "time": st.none() | st.integers(0, 10_000)})
PROMPT = st.fixed_dictionaries({}, optional={"in_scope": FLAG, "n_intents": st.sampled_from([None, 1, 2]), "goal_met": FLAG,
                                             "entry_point": st.sampled_from([None, "chat", "library"])})
GRADES = st.none() | st.dictionaries(st.tuples(st.sampled_from(["r0", "r1", "gone"]), WORD), st.integers(0, 3), max_size=8)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(retrievals=st.lists(RETRIEVAL, min_size=1, max_size=3), actions=st.lists(ACTION, min_size=1, max_size=6),
       prompts=st.lists(PROMPT, max_size=3), grades=GRADES)
def test_any_log_with_any_columns(make_log, tmp_path_factory, retrievals, actions, prompts, grades):
    judged = None if grades is None else [{"retrieval_id": owner, "asset_id": asset, "grade": float(grade)} for (owner, asset), grade in grades.items()]
    if judged is not None and not any(owner in ("r0", "r1")[:len(retrievals)] and retrievals[int(owner[1])].get("returned_asset_ids") for owner, _ in grades):
        judged = None  # the reference's evaluation refuses judgments that meet no returned list
    log = make_log([{"retrieval_id": f"r{at}", **row} for at, row in enumerate(retrievals)], actions,
                   [{"prompt_id": f"p{at}", **row} for at, row in enumerate(prompts)], judged)
    folder = tmp_path_factory.mktemp("any")
    check_same(log, folder, intervals=False)
    same_gap(log, folder, "any_touch")


def same_gap(log, folder, rule):
    found, expected = count_gap(folder, rule, progress=False), attribution_gap(log, rule)
    assert_frame_equal(found.table, expected.table, check_dtype=False)
    assert (found.n, found.abandoned, found.repeated) == (expected.n, expected.abandoned, expected.repeated)
    assert [found.rule_rate, found.lineage_rate] == pytest.approx([expected.rule_rate, expected.lineage_rate], abs=1e-12)


@pytest.mark.parametrize("rule", ["any_touch", "first_touch", "last_touch", "time_window"])
def test_attribution_gap(tmp_path, rule):
    faults = Faults(source=0.2, consumed=0.1, lists=0.1, retrieval_session=0.1, action_session=0.1, retrieval_user=0.1, action_user=0.1)
    for seed in range(2):
        log = simulate(World(users=25, later_session=0.4), faults, seed=seed).log
        write_log(log, tmp_path / str(seed))
        same_gap(log, tmp_path / str(seed), rule)


def test_repeated_executions_are_folded(tmp_path):
    simulation = simulate(World(users=20), Faults(duplicate=0.5, lists=0.2), seed=2)
    executions = simulation.executions.copy()
    executions["time"] = executions["time"] + pd.to_timedelta(np.arange(len(executions)), unit="ms")
    log = replace(simulation.log, retrievals=fold_executions(executions).table)
    folder = write_log(replace(log, executions=executions), tmp_path)
    (folder / "retrievals.parquet").unlink()
    found = count_log(folder, progress=False)
    same(found.outcomes.table, outcomes(log).table, intervals=False)
    same(found.quality.table, quality(log).table, intervals=False)
    assert found.sizes["retrievals"] == len(log.retrievals) < found.sizes["executions"]
    same(found.empty_results, empty_results(executions))


def test_an_unlogged_list_beside_an_empty_one_is_unknown(tmp_path):
    lists = {"mixed": [None, []], "empty": [[], []], "found": [None, ["a"]], "unlogged": [None, None]}
    rows = [(name, "text", at, found) for name, pair in lists.items() for at, found in enumerate(pair)]
    executions = pd.DataFrame(rows, columns=["retrieval_id", "query", "at", "returned_asset_ids"])
    executions["time"] = pd.Timestamp("2025-01-01", tz="UTC") + pd.to_timedelta(executions.pop("at"), unit="s")
    expected = empty_results(executions)
    assert expected[["empty", "n"]].values.tolist() == [[3, 4], [1, 2], [1, 2]]
    log = Log(empty_prompts(), fold_executions(executions).table, pd.DataFrame({"action_id": ["x"], "action": ["select"]}), executions=executions)
    (write_log(log, tmp_path) / "retrievals.parquet").unlink()
    same(count_log(tmp_path, progress=False).empty_results, expected)


def test_assets_of_other_executions_count_as_returned(make_log, tmp_path):
    executions = pd.DataFrame({"retrieval_id": ["r", "r"], "returned_asset_ids": pd.Series([["a"], ["b"]], dtype=object)})
    rows = [{"actor": "user", "action": "select", "consumed_asset_id": asset, "source_retrieval_id": "r"} for asset in ("b", "z")]
    log = make_log([{"retrieval_id": "r", "returned_asset_ids": ["a"]}], rows, executions=executions)
    found = check_same(log, tmp_path, intervals=False)
    assert found.outcomes.value("GPR") == 1
    assert found.positions.set_index("position")["uses"].to_dict() == {-1: 1, 0: 1}


def test_judgments_by_query_text(make_log, tmp_path):
    retrievals = [{"retrieval_id": f"r{at}", "query": "same", "returned_asset_ids": ["a", "b", "b", "c"]} for at in range(2)]
    judged = [{"query": "same", "asset_id": asset, "grade": grade} for asset, grade in (("b", 3.0), ("c", 2.0), ("x", 1.0))]
    check_same(make_log(retrievals, [{"action": "select"}], judgments=judged), tmp_path, Settings(k=2), intervals=False)


def test_json_lines_and_csv_are_read_like_parquet(tmp_path, make_log):
    log = make_log([{"retrieval_id": "007", "time": 5, "displayed": True, "returned_asset_ids": ["1", "x"], "sampling_weight": 2.0}],
                   [{"action": "export", "actor": "user", "consumed_asset_id": "1", "source_retrieval_id": "007", "time": 6}])
    expected = count_log(write_log(log, tmp_path / "parquet"), progress=False)
    (tmp_path / "json").mkdir()
    row = {"retrieval_id": "007", "time": "1970-01-01T02:00:05+02:00", "displayed": True, "returned_asset_ids": [1, "x"], "sampling_weight": 2, "more": {}}
    action = {"action_id": 3, "action": "export", "actor": "user", "consumed_asset_id": 1, "source_retrieval_id": "007", "time": 6000}
    (tmp_path / "json" / "retrievals.ndjson").write_text(json.dumps(row) + "\n")
    (tmp_path / "json" / "actions.jsonl").write_text(json.dumps(action) + "\n")
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "retrievals.csv").write_text(
        'retrieval_id,time,displayed,returned_asset_ids,sampling_weight,session_id\n007,1970-01-01T00:00:05Z,true,"[1, x]",2,\n')
    (tmp_path / "csv" / "actions.csv").write_text("action_id,action,actor,consumed_asset_id,source_retrieval_id,time\n3,export,user,1,007,6000\n")
    for kind in ("json", "csv"):
        found = count_log(tmp_path / kind, progress=False)
        same(found.to_frame(), expected.to_frame())
        assert found.goals.value("goal by lineage") == 1


def test_part_files_in_a_folder(tmp_path):
    log = simulate(World(users=5), seed=1).log
    parts = tmp_path / "parts"
    for half, rows in enumerate(np.array_split(np.arange(len(log.actions)), 2)):
        (parts / "actions").mkdir(parents=True, exist_ok=True)
        made = write_log(replace(log, actions=log.actions.iloc[rows]), tmp_path / f"half{half}")
        (made / "actions.parquet").rename(parts / "actions" / f"{half}.parquet")
        for name in ("prompts", "retrievals", "judgments"):
            (made / f"{name}.parquet").replace(parts / f"{name}.parquet")
    same(count_log(parts, progress=False).outcomes.table, outcomes(log).table, intervals=False)


def test_what_would_be_miscounted_is_refused(make_log, tmp_path):
    import duckdb

    action = "SELECT 'e' AS action_id, 'select' AS action"
    cases = {
        "SELECT 7 AS retrieval_id": "strings", "SELECT 'r' AS retrieval_id, TIMESTAMP '2026-01-01' AS time": "timezone",
        "SELECT 'r' AS id": "missing column", "SELECT unnest(['r', 'r']) AS retrieval_id": "executions",
        "SELECT unnest(['r', NULL]) AS retrieval_id": "null in 1 rows", "SELECT 'r' AS retrieval_id, -1.0 AS sampling_weight": "sampling_weight"}
    for at, (select, message) in enumerate(cases.items()):
        folder = tmp_path / str(at)
        folder.mkdir()
        duckdb.sql(f"COPY ({select}) TO '{folder}/retrievals.parquet'")
        duckdb.sql(f"COPY ({action}) TO '{folder}/actions.parquet'")
        with pytest.raises((TableError, ValueError), match=message):
            count_log(folder, progress=False)
    with pytest.raises(TableError, match="expected retrievals"):
        count_log(tmp_path / "nowhere", progress=False)
    log = make_log([{"retrieval_id": "r"}], [{"action": "select", "actor": "robot"}])
    with pytest.raises(ValueError, match="robot"):
        count_log(write_log(log, tmp_path / "actor"), progress=False)
    clash = make_log([{"retrieval_id": "r"}], [{"action": "select"}], judgments=[{"retrieval_id": "r", "asset_id": "a", "grade": g} for g in (0.0, 1.0)])
    with pytest.raises(ValueError, match="two different grades"):
        count_log(write_log(clash, tmp_path / "clash"), progress=False)
    with pytest.raises(ValueError, match="quotes"):
        count_log(write_log(make_log([{"retrieval_id": "r"}], [{"action": "it's"}]), tmp_path / "quote"), Settings(use=ActiveUse(("it's",))), progress=False)


def test_an_empty_log_counts_nothing(tmp_path):
    log = Log(empty_prompts(), pd.DataFrame({"retrieval_id": pd.Series([], dtype="str")}),
              pd.DataFrame({"action_id": pd.Series([], dtype="str"), "action": pd.Series([], dtype="str")}))
    found = count_log(write_log(log, tmp_path), progress=False)
    same(found.outcomes.table, outcomes(log).table)
    assert found.sizes["retrievals"] == 0 and "0 retrievals" in found.summary() and "<section>" in found._repr_html_()
