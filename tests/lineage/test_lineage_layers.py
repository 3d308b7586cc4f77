"""Layers 0 to 3 on logs small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest

from toolkit.lineage import (ActiveUse, GoodRetrieval, World, click_through, consumed_positions, empty_results, fold_executions, goals, identity_gap, outcome_flags, outcomes,
                             product_health, quality, routing, sensitivity_to_definition, simulate)
from toolkit.tables import TableError

SEEN = {"returned_asset_ids": ["a", "b", "c"], "displayed": True, "displayed_asset_ids": ["a", "b"], "request_id": "q1"}
USE = {"actor": "user", "action": "select", "consumed_asset_id": "a", "source_retrieval_id": "r"}


def flags(make_log, retrieval=None, action=None, others=()):
    """Flags of one retrieval ``r`` after one action."""
    log = make_log([{"retrieval_id": "r", **SEEN, **(retrieval or {})}, *others], [{**USE, **(action or {})}])
    row = outcome_flags(log).set_index("retrieval_id").loc["r"]
    return {name for name in row.index if row[name] is True or row[name] is np.True_}


def test_routing_by_hand(make_log):
    prompts = [{"prompt_id": f"p{i}", "in_scope": scope, "n_intents": n, "entry_point": entry} for i, (scope, n, entry) in enumerate([
        (True, 1, "chat"), (True, 2, "chat"), (False, 0, "library"), (False, 0, "chat"), (None, None, "chat")])]
    retrievals = [{"retrieval_id": "r0", "prompt_id": "p0"}, {"retrieval_id": "r1", "prompt_id": "p2"}, {"retrieval_id": "r2", "prompt_id": "p4"}]
    found = routing(make_log(retrievals, prompts=prompts))
    assert found.value("retrieval rate", "all prompts") == 3 / 5
    assert found.value("misroute rate", "all prompts") == 1 / 2  # p0 and p2 are labelled and retrieved
    assert found.value("missed-retrieval rate", "all prompts") == 1 / 2
    assert found.value("multi-intent share", "all prompts") == 1 / 4
    assert found.value("retrieval rate", "library") == 1
    assert "no effect" in found.summary()


def test_routing_weights_the_labelled_sample(make_log):
    prompts = [{"prompt_id": "p0", "in_scope": False, "sampling_weight": 3.0}, {"prompt_id": "p1", "in_scope": True, "sampling_weight": 1.0}]
    retrievals = [{"retrieval_id": f"r{i}", "prompt_id": f"p{i}"} for i in range(2)]
    found = routing(make_log(retrievals, prompts=prompts))
    assert found.value("misroute rate", "all prompts") == 3 / 4
    with pytest.raises(ValueError, match="sampling_weight"):
        routing(make_log(retrievals, prompts=[{**prompts[0], "sampling_weight": -1.0}]))


@pytest.mark.parametrize(("retrieval", "action", "expected"), [
    ({}, {}, "active_use"),
    ({"displayed": False, "displayed_asset_ids": []}, {}, None),  # never displayed
    ({}, {"consumed_asset_id": "c"}, None),  # filtered out by the agent
    ({"displayed_asset_ids": None}, {"consumed_asset_id": "c"}, "active_use"),  # displayed unless logged otherwise
    ({}, {"consumed_asset_id": "z"}, None),  # off the list
    ({"returned_asset_ids": None, "displayed_asset_ids": None}, {"consumed_asset_id": "z"}, "active_use"),  # a logged source supplied it
    ({}, {"consumed_asset_id": None}, None),
    ({}, {"actor": None}, None),
    ({}, {"action": "follow_up"}, None),
    ({}, {"action": None}, None),
    ({}, {"actor": "agent", "action": "place", "request_id": "q1"}, "agent_use"),
    ({}, {"actor": "agent", "action": "place", "request_id": "q2"}, None),
    ({}, {"actor": "agent", "action": "place"}, None),
])
def test_what_counts_as_use(make_log, retrieval, action, expected):
    assert flags(make_log, retrieval, action) & {"active_use", "agent_use"} == ({expected} if expected else set())


def test_three_failure_signals_and_downstream_correction(make_log):
    other = {"retrieval_id": "r9", **SEEN, "returned_asset_ids": ["z"]}
    assert {"said_wrong", "failure"} <= flags(make_log, action={"action": "reject_result", "consumed_asset_id": None})
    assert {"retried", "failure"} <= flags(make_log, action={"action": "follow_up"}, others=[{**other, "retry_of": "r"}])
    instead = {"actor": "agent", "action": "place", "consumed_asset_id": "z", "source_retrieval_id": "r9", "expected_retrieval_id": "r", "request_id": "q1"}
    assert {"used_other", "failure"} <= flags(make_log, action=instead, others=[other])
    assert "failure" not in flags(make_log, action={**instead, "source_retrieval_id": "r", "consumed_asset_id": "a"})  # used as expected
    corrected = flags(make_log, action={"action": "correct_output", "consumed_asset_id": None})
    assert "corrected" in corrected and not {"failure", "positive"} & corrected and "unobserved" in corrected


def test_flags_count_retrievals_not_events(make_log):
    log = make_log([{"retrieval_id": "r", **SEEN}, {"retrieval_id": "s", **SEEN}], [USE, {**USE, "action": "edit"}, {**USE, "action": "export"}])
    assert outcomes(log).value("GPR") == 0.5


def test_rates_are_per_role_with_their_definition(make_log):
    log = make_log([{"retrieval_id": "r", **SEEN, "role": "find"}, {"retrieval_id": "s", **SEEN, "role": "browse"}, {"retrieval_id": "t", **SEEN}],
                   [USE, {**USE, "action": "reject_result"}])
    found = outcomes(log, ActiveUse(("select",)))
    assert [found.value("GPR", role) for role in ("find", "browse", "unknown")] == [1, 0, 0]
    assert found.value("positive and failure", "find") == 1 and found.value("UOR") == pytest.approx(2 / 3)
    assert abs(identity_gap(found)) < 1e-12
    assert found.table.loc[found.table["metric"] == "GPR", "definition"].str.contains("a user's select on a returned asset").all()
    assert "active use = a user's select" in found.summary() and "not satisfaction" in found.summary()
    with pytest.raises(KeyError, match="GPR"):
        found.value("nonsense")


def test_small_roles_have_wide_intervals():
    found = outcomes(simulate(World(users=40), seed=1).full, cluster=None)
    one = found.table[found.table["metric"] == "GPR"].set_index("role")
    width = one["ci_high"] - one["ci_low"]
    assert width["context_dependent"] > 2 * width["all roles"]
    assert (one["ci_low"] <= one["value"]).all() and (one["value"] <= one["ci_high"]).all()


def test_sensitivity_only_rises_with_the_definition():
    found = sensitivity_to_definition(simulate(World(users=40), seed=1).full)
    values = found.table["value"].to_numpy()
    assert (np.diff(values) >= 0).all() and values[-1] > values[0] + 0.1
    assert found.table["role"].tolist()[:2] == ["export", "+ share"]
    role = sensitivity_to_definition(simulate(World(users=40), seed=1).full, role="find")
    assert role.table["n"].iloc[0] < found.table["n"].iloc[0]


def test_goals_by_lineage_in_any_session(make_log):
    prompts = [{"prompt_id": "p", "goal_met": True}]
    retrievals = [{"retrieval_id": "r", **SEEN, "session_id": "s1", "prompt_id": "p"}, {"retrieval_id": "t", **SEEN, "session_id": "s1"}]
    log = make_log(retrievals, [{**USE, "action": "export", "session_id": "s2"}, {**USE, "action": "share", "source_retrieval_id": None}], prompts=prompts)
    found = goals(log)
    assert found.value("goal by lineage") == found.value("export by lineage") == 0.5
    assert found.value("share by lineage") == 0
    assert found.value("goal met (label)") == 1
    assert "1 goal actions name no source" in found.summary()


def test_product_health_is_no_retrieval_signal(make_log):
    log = make_log([{"retrieval_id": "r", "session_id": "s1"}], [{"action": "export", "session_id": "s2"}])
    found = product_health(log)
    assert found.value("sessions with export", "all sessions") == 0.5
    assert found.table["definition"].str.contains("not a retrieval signal").all()


def test_position_is_in_the_returned_list(make_log):
    log = make_log([{"retrieval_id": "r", **SEEN, "returned_asset_ids": ["x", "b", "b"], "displayed_asset_ids": ["b"]}],
                   [{**USE, "consumed_asset_id": "b"}, {**USE, "consumed_asset_id": "z"}, {**USE, "source_retrieval_id": "gone"}])
    found = consumed_positions(log)
    assert found.table["position"].tolist()[0] == 2 and (found.off_list, found.no_list) == (1, 1)


def test_quality_by_hand(make_log):
    prompts = [{"prompt_id": "p", "in_scope": False}]
    retrievals = [{"retrieval_id": "r", "returned_asset_ids": ["a", "b"]}, {"retrieval_id": "s", "returned_asset_ids": []},
                  {"retrieval_id": "t", "returned_asset_ids": ["a"]}, {"retrieval_id": "u"}, {"retrieval_id": "v", "returned_asset_ids": [], "prompt_id": "p"}]
    judgments = [{"retrieval_id": "r", "asset_id": "a", "grade": 0.0}, {"retrieval_id": "r", "asset_id": "b", "grade": 3.0},
                 {"retrieval_id": "t", "asset_id": "a", "grade": 1.0}]
    found = quality(make_log(retrievals, prompts=prompts, judgments=judgments), k=2)
    assert found.value("empty-result rate") == pytest.approx(1 / 3)  # v is misrouted, u has no list
    assert found.value("good retrieval rate") == pytest.approx(1 / 3)  # r of r, s, t
    assert found.value("precision@1") == 0 and found.value("precision@2") == pytest.approx(0.5 / 3)
    assert found.value("ndcg@2") == pytest.approx(np.mean([1 / np.log2(3), 1]))  # s has no judged asset
    assert "1 misrouted" in found.summary()


def test_click_through_is_over_retrievals_and_only_a_direction(make_log):
    log = make_log([{"retrieval_id": "r"}, {"retrieval_id": "s"}], [{"action": "click", "source_retrieval_id": "r"}] * 2)
    found = click_through(log)
    assert found.value("CTR (directional)") == 0.5 and "not retrieval quality" in found.summary()


def test_judgments_by_query_text_and_clashes(make_log):
    retrievals = [{"retrieval_id": "r", "query": "cats", "returned_asset_ids": ["a"]}, {"retrieval_id": "s", "query": "cats", "returned_asset_ids": ["b"]}]
    found = quality(make_log(retrievals, judgments=[{"query": "cats", "asset_id": "a", "grade": 3}, {"query": "cats", "asset_id": "b", "grade": 0}]))
    assert found.value("good retrieval rate") == 0.5
    twice = [{"retrieval_id": "r", "asset_id": "a", "grade": 3}, {"retrieval_id": "r", "asset_id": "a", "grade": 1}]
    with pytest.raises(ValueError, match="two different grades"):
        quality(make_log(retrievals, judgments=twice))
    with pytest.raises(ValueError, match="finite"):
        quality(make_log(retrievals, judgments=[{"retrieval_id": "r", "asset_id": "a", "grade": np.inf}]))


def test_facet_calls_are_not_empty_results():
    rows = pd.DataFrame({"retrieval_id": ["r", "r", "s"], "query": ["x", "x", "y"],
                         "returned_asset_ids": pd.Series([[], ["a"], []], dtype=object)})
    assert empty_results(rows)[["empty", "n"]].to_numpy().tolist() == [[2, 3], [1, 2], [1, 2]]


def test_an_unlogged_list_beside_an_empty_call_is_unknown_everywhere():
    # r: one list not logged, one empty facet call. s: both known to be empty. t: not logged at all.
    rows = pd.DataFrame({"retrieval_id": ["r", "r", "s", "s", "t"], "query": ["x", "x", "y", "z", "x"],
                         "returned_asset_ids": pd.Series([None, [], [], [], None], dtype=object)})
    found = empty_results(rows).set_index("grain")[["empty", "n"]]
    assert found.to_numpy().tolist() == [[3, 3], [2, 2], [1, 1]]
    folded = fold_executions(rows).table["returned_asset_ids"].dropna()
    assert found.loc["retrievals"].tolist() == [int((folded.map(len) == 0).sum()), len(folded)]


@pytest.mark.parametrize("bad", [{"actions": ()}, {"actions": "select"}, {"actions": ("select",), "display": "maybe"},
                                 {"actions": ("select",), "actor": "maybe"}])
def test_definitions_are_checked(bad):
    with pytest.raises(ValueError, match="ActiveUse"):
        ActiveUse(**bad)
    with pytest.raises(ValueError, match="k 0"):
        GoodRetrieval(k=0)


def test_strange_actor_is_refused(make_log):
    with pytest.raises(ValueError, match="'robot'"):
        outcome_flags(make_log([{"retrieval_id": "r"}], [{"action": "select", "actor": "robot"}]))


def test_cluster_without_values_is_refused(make_log):
    with pytest.raises(ValueError, match="user_id"):
        outcomes(make_log([{"retrieval_id": "r"}]), cluster="user_id")


def test_html_is_escaped(make_log):
    found = outcomes(make_log([{"retrieval_id": "r", "role": "<script>alert(1)</script>"}]))
    assert "<script" not in found._repr_html_()


def test_a_log_is_made_of_checked_tables(make_log):
    with pytest.raises(TableError, match="fold_executions"):
        make_log([{"retrieval_id": "r"}, {"retrieval_id": "r"}])
