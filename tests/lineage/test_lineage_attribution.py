"""Attribution rules and the gap, on cases small enough to do by hand."""

import pandas as pd
import pytest

from toolkit.lineage import (Faults, NotBefore, Reformulation, World, attribute, attribution_gap, click_through, disagreements, fill_sessions, relog,
                             resolution, sensitivity_to_definition, simulate)

# One user. Session s1: r1 [a, b] at 0 s, r2 [b, c] at 10 s, r3 [] at 20 s, r4 [d] at 30 s. Session s2 (later): r5 [e] at 1000 s.
# Exports: b from r1 (25 s, s1); d from r4 (1010 s, in s2); c with a lost source (40 s, s1).
RETRIEVALS = [
    {"retrieval_id": "r1", "session_id": "s1", "user_id": "u", "time": 0, "returned_asset_ids": ["a", "b"]},
    {"retrieval_id": "r2", "session_id": "s1", "user_id": "u", "time": 10, "returned_asset_ids": ["b", "c"]},
    {"retrieval_id": "r3", "session_id": "s1", "user_id": "u", "time": 20, "returned_asset_ids": []},
    {"retrieval_id": "r4", "session_id": "s1", "user_id": "u", "time": 30, "returned_asset_ids": ["d"]},
    {"retrieval_id": "r5", "session_id": "s2", "user_id": "u", "time": 1000, "returned_asset_ids": ["e"]},
]
EXPORT = {"actor": "user", "action": "export", "user_id": "u"}
ACTIONS = [
    {**EXPORT, "session_id": "s1", "time": 25, "consumed_asset_id": "b", "source_retrieval_id": "r1"},
    {**EXPORT, "session_id": "s2", "time": 1010, "consumed_asset_id": "d", "source_retrieval_id": "r4"},
    {**EXPORT, "session_id": "s1", "time": 40, "consumed_asset_id": "c", "source_retrieval_id": None},
]


@pytest.fixture
def log(make_log):
    return make_log(RETRIEVALS, ACTIONS)


@pytest.mark.parametrize(("rule", "expected"), [
    ("lineage", {"e0": ["r1"], "e1": ["r4"]}),
    ("first_touch", {"e0": ["r1"], "e1": ["r5"], "e2": ["r1"]}),
    ("last_touch", {"e0": ["r3"], "e1": ["r5"], "e2": ["r4"]}),
    ("any_touch", {"e0": ["r1", "r2", "r3", "r4"], "e1": ["r5"], "e2": ["r1", "r2", "r3", "r4"]}),
    ("time_window", {"e0": ["r3"], "e1": ["r5"], "e2": ["r4"]}),
])
def test_rules_by_hand(log, rule, expected):
    credits = attribute(log, rule).credits
    assert {action: sorted(group["retrieval_id"]) for action, group in credits.groupby("action_id")} == expected


def test_window_limits_credit(log):
    assert set(attribute(log, "time_window", window="7s").credits["action_id"]) == {"e0"}


def test_gap_by_hand(log):
    gap = attribution_gap(log, "any_touch")
    # By session all five retrievals; by lineage r1 and r4. r2 returned b, which r1 supplied: repeated. r3 is empty. r5 returned
    # nothing that was used. No retrieval is credited by lineage alone: d's own session s1 has outcomes too.
    assert (gap.rule_rate, gap.lineage_rate, gap.n) == (1.0, 0.4, 5)
    assert gap.retrievals.set_index("retrieval_id")["cause"].dropna().to_dict() == {
        "r2": "repeated retrieval", "r3": "empty credited", "r5": "bystander"}
    assert gap.table.set_index("cause")["share"].to_dict() == pytest.approx({
        "empty credited": 0.2, "repeated retrieval": 0.2, "source never logged": 0, "bystander": 0.2,
        "other session": 0, "session not logged": 0, "another retrieval credited": 0})
    assert gap.abandoned == 0 and gap.repeated == 1


def test_gap_of_last_touch_by_hand(log):
    gap = attribution_gap(log, "last_touch")
    # Credited: r3 (empty), r5 (bystander), r4 (for e2; lineage credits it for e1). By lineage alone: r1, in its own session.
    causes = gap.retrievals.set_index("retrieval_id")["cause"].dropna().to_dict()
    assert causes == {"r1": "another retrieval credited", "r3": "empty credited", "r5": "bystander"}
    assert gap.table["share"].sum() == pytest.approx(gap.rule_rate - gap.lineage_rate) == pytest.approx(0.2)


def test_cross_session_export_is_abandonment_to_a_session(make_log):
    gap = attribution_gap(make_log(RETRIEVALS, ACTIONS[1:2]), "any_touch")
    assert gap.abandoned == 1
    assert gap.retrievals.set_index("retrieval_id")["cause"]["r4"] == "other session"
    lost = attribution_gap(make_log(RETRIEVALS, [{**ACTIONS[1], "session_id": None}]), "any_touch")
    assert lost.retrievals.set_index("retrieval_id")["cause"]["r4"] == "session not logged"


def test_source_never_logged(make_log):
    gap = attribution_gap(make_log(RETRIEVALS, ACTIONS[2:]), "last_touch")
    assert gap.lineage_rate == 0
    assert gap.retrievals.set_index("retrieval_id")["cause"].dropna().to_dict() == {"r4": "source never logged"}


def test_gap_equals_its_analytic_value(make_log):
    # k sessions of m retrievals each, one export per session: lineage credits 1/m of the retrievals, any touch all of them.
    k, m = 7, 4
    retrievals = [{"retrieval_id": f"r{s}-{i}", "session_id": f"s{s}", "time": 100 * s + i, "returned_asset_ids": [f"a{s}-{i}"]}
                  for s in range(k) for i in range(m)]
    actions = [{"actor": "user", "action": "share", "session_id": f"s{s}", "time": 100 * s + 50, "consumed_asset_id": f"a{s}-1",
                "source_retrieval_id": f"r{s}-1"} for s in range(k)]
    gap = attribution_gap(make_log(retrievals, actions), "any_touch")
    assert gap.rule_rate - gap.lineage_rate == pytest.approx((m - 1) / m)
    assert gap.table.set_index("cause").loc["bystander", "retrievals"] == k * (m - 1)
    last = attribution_gap(make_log(retrievals, actions), "last_touch")
    assert last.rule_rate == last.lineage_rate == 1 / m  # the same number of successes, on other retrievals
    assert (last.retrievals["by_rule"] != last.retrievals["by_lineage"]).sum() == 2 * k


@pytest.mark.parametrize("rule", ["any_touch", "first_touch", "last_touch", "time_window"])
def test_decomposition_always_adds_up(rule):
    for seed in range(6):
        simulation = simulate(World(users=25, repeat=0.4), Faults(source=0.2, lists=0.2, action_session=0.2), seed=seed)
        gap = attribution_gap(simulation.log, rule)
        assert gap.table["share"].sum() == pytest.approx(gap.rule_rate - gap.lineage_rate, abs=1e-12)
        different = gap.retrievals["by_rule"] != gap.retrievals["by_lineage"]
        assert gap.retrievals.loc[different, "cause"].notna().all() and gap.retrievals.loc[~different, "cause"].isna().all()


def test_agents_own_actions_are_no_outcomes(make_log):
    log = make_log(RETRIEVALS, [{**ACTIONS[0], "actor": "agent"}, {**ACTIONS[0], "actor": None}])
    assert attribute(log).outcomes["action_id"].tolist() == ["e1"]


def test_disagreements_include_outcomes_without_credit(make_log):
    log = make_log(RETRIEVALS, [{**ACTIONS[0], "time": -5}, ACTIONS[1]])
    found = disagreements(log, "last_touch").set_index("action_id")["retrieval_id"]
    assert pd.isna(found["e0"]) and found["e1"] == "r5"


def test_resolution_counts_each_step(make_log):
    log = make_log(RETRIEVALS, [*ACTIONS, {**EXPORT, "consumed_asset_id": "z", "source_retrieval_id": "gone"}])
    assert resolution(log)[["count", "n"]].to_numpy().tolist() == [[3, 4], [2, 4], [2, 4]]


def test_sessions_come_from_the_events_where_retrievals_have_none(make_log):
    bare = [{name: value for name, value in row.items() if name != "session_id"} for row in RETRIEVALS]
    log = fill_sessions(make_log(bare, [ACTIONS[0], ACTIONS[1], {**ACTIONS[1], "session_id": "s9"}]))
    assert log.retrievals.set_index("retrieval_id")["session_id"].dropna().to_dict() == {"r1": "s1"}


def test_unknown_rule_is_named(log):
    with pytest.raises(ValueError, match="last_touch"):
        attribute(log, "nonsense")


def test_lineage_ignores_clocks():
    full = simulate(World(users=40), seed=1)
    skewed = relog(full, Faults(skew_seconds=3_600.0), seed=1)
    assert attribution_gap(full.log, "last_touch").lineage_rate == attribution_gap(skewed.log, "last_touch").lineage_rate
    assert len(disagreements(skewed.log)) > len(disagreements(full.log))


def test_a_text_is_no_list_of_actions(log):
    for count in (lambda: attribution_gap(log, outcomes="export"), lambda: click_through(log, "click"), lambda: sensitivity_to_definition(log, "export")):
        with pytest.raises(ValueError, match="expected one or more action names"):
            count()


def test_impossible_windows_and_rules_say_what_was_expected(log):
    for wrong in (lambda: attribute(log, "time_window", window="soon"), lambda: Reformulation(window="soon"), lambda: NotBefore("soon")):
        with pytest.raises(ValueError, match="'soon'; expected a length of time"):
            wrong()
    with pytest.raises(ValueError, match="compared with"):
        attribution_gap(log, "lineage")
    with pytest.raises(ValueError, match="touches: missing"):
        attribute(log, "last_touch", touches=pd.DataFrame({"x": [1]}))
