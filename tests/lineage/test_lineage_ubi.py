"""The figures of the reference log, recomputed."""

import pandas as pd
import pytest

from toolkit.lineage import (ActiveUse, attribution_gap, consumed_positions, disagreements, empty_results, fill_sessions, outcomes,
                             readiness, reconcile_ranks, reformulations, resolution)

pytestmark = pytest.mark.reference
CLICK = ("click",)


@pytest.fixture(scope="module")
def chorus(ubi_log):
    return fill_sessions(ubi_log.only(producer="Chorus"))


def steps(log):
    table = resolution(log).set_index("step")
    return {name: (int(row["count"]), int(row["n"])) for name, row in table.iterrows()}


def test_share_of_events_that_resolve(ubi_log, chorus):
    assert steps(ubi_log)["source resolves"] == (2502, 3448)
    assert round(100 * 2502 / 3448, 1) == 72.6
    assert steps(chorus)["source resolves"] == (1442, 1959)
    assert steps(chorus)["asset in its list"] == (1296, 1453)


def test_empty_results_at_three_grains(chorus):
    table = empty_results(chorus.executions).set_index("grain")
    assert {name: (row["empty"], row["n"]) for name, row in table.iterrows()} == {
        "rows": (192, 273), "list calls": (10, 91), "retrievals": (6, 84)}


def test_success_by_lineage_and_by_session(chorus):
    gap = attribution_gap(chorus, "any_touch", outcomes=CLICK)
    assert gap.n == 84
    assert round(100 * gap.lineage_rate, 1) == 44.0
    assert round(100 * gap.rule_rate, 1) == 82.1
    assert gap.table["share"].sum() == pytest.approx(gap.rule_rate - gap.lineage_rate, abs=1e-12)


def test_last_touch_disagrees_with_the_logged_source(chorus):
    # Each execution is a touch: an id that is executed again later is touched again.
    assert len(disagreements(chorus, "last_touch", outcomes=CLICK, touches=chorus.executions)) == 44
    assert len(disagreements(chorus, "last_touch", outcomes=CLICK)) == 42
    assert (chorus.actions["action"] == "click").sum() == 227


def test_click_and_add_to_cart_are_one_use(chorus):
    events = chorus.actions[chorus.actions["action"].isin(["click", "add_to_cart"])]
    assert len(events) == 454
    assert len(events.drop_duplicates(["source_retrieval_id", "consumed_asset_id"])) == 130
    once = outcomes(chorus, ActiveUse(("click",), actor="implied"))
    both = outcomes(chorus, ActiveUse(("click", "add_to_cart"), actor="implied"))
    assert once.value("GPR") == both.value("GPR") == 37 / 84


def test_an_unlogged_actor_proves_nothing_unless_declared(chorus):
    assert outcomes(chorus, ActiveUse(CLICK)).value("GPR") == 0


def test_rank_base_changes_in_mid_log(chorus):
    found = reconcile_ranks(chorus)
    first, second = found.table.itertuples()
    assert (first.base, first.agree, first.n) == ("index + 1", 770, 771)
    assert (second.base, second.agree, second.n) == ("max(1, index)", 525, 525)
    assert found.switch.date() == pd.Timestamp("2025-02-05").date()


def test_positions_are_of_the_returned_list(chorus):
    found = consumed_positions(chorus)
    assert found.table["position"].notna().sum() == 1296
    assert found.table["position"].min() == 1


def test_keystrokes_of_the_log_are_no_reformulations(chorus):
    kinds = reformulations(chorus).set_index("query")["kind"]
    assert (kinds == "keystroke").any()
    typed = reformulations(chorus).query("kind == 'keystroke'")
    assert all(a.lower().startswith(b.lower()) or b.lower().startswith(a.lower()) for a, b in zip(typed["query"], typed["next_query"]))


def test_readiness_of_a_search_log(ubi_log):
    found = readiness(ubi_log, ActiveUse(("click", "add_to_cart"), actor="implied"))
    assert found.next_field == "retrievals.returned_asset_ids"
    assert found.status("ORF") == "not computable"
    assert found.status("GPR") == "bounded"
