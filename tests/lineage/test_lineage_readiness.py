"""The audit says what a log can give, and what one more field unlocks."""

import dataclasses

import pytest

from toolkit.lineage import ActiveUse, Faults, World, readiness, relog, simulate
from toolkit.lineage.needs import FIELD_ROWS, NEEDS


@pytest.fixture(scope="module")
def base():
    return simulate(World(users=40), seed=1)


def test_a_full_log_can_give_everything(base):
    found = readiness(base.full)
    assert set(found.metrics["status"]) == {"computable"} and found.next_field is None
    assert "Nothing is missing" in found.summary()


def test_every_need_has_a_field_that_is_explained():
    used = {name for _, names in NEEDS.values() for name in names}
    assert used == set(FIELD_ROWS)


def test_one_missing_field_names_what_it_would_unlock(base):
    found = readiness(relog(base, Faults(source=1.0), seed=1).log)
    assert found.next_field == "actions.source_retrieval_id"
    unlocks = found.fields["unlocks"].iloc[0].split(", ")
    assert {"GPR", "ACR", "attribution gap", "position of the consumed asset"} <= set(unlocks)
    assert all(found.status(metric) != "computable" for metric in unlocks)
    again = readiness(base.full)
    assert all(again.status(metric) == "computable" for metric in unlocks)


def test_the_full_returned_list_is_the_best_first_field(base):
    bare = relog(base, Faults(source=1, lists=1, consumed=1, actor=1, display=1, role=1, retrieval_request=1, action_request=1, prompt=1,
                              labels=1, links=True), seed=1).log
    found = readiness(dataclasses.replace(bare, judgments=None))
    assert found.next_field == "retrievals.returned_asset_ids"
    assert found.status("GPR") == "not computable" and found.status("product health") == "computable"


def test_a_partly_logged_field_gives_an_interval(base):
    found = readiness(relog(base, Faults(lists=0.3), seed=1).log)
    row = found.metrics.set_index("metric").loc["empty-result rate"]
    assert row["status"] == "bounded" and 0 <= row["low"] < row["high"] < 1
    assert row["low"] <= base.truth.rate("empty-result rate") <= row["high"]
    assert "retrievals.returned_asset_ids (7" in row["missing"]


def test_a_kind_of_action_never_seen_may_never_be_logged(base):
    actions = base.full.actions[base.full.actions["action"] != "reject_result"]
    log = dataclasses.replace(base.full, actions=actions)
    assert readiness(log).status("ORF") == "bounded"  # known failures below, everything above
    declared = dataclasses.replace(log, recorded_actions=frozenset(base.full.actions["action"]) | {"reject_result"})
    assert readiness(declared).status("ORF") == "computable"


def test_active_use_that_is_never_logged(base):
    assert readiness(base.full, ActiveUse(("purchase",))).status("GPR") == "not computable"


def test_a_list_that_may_be_cut_is_no_full_list(base):
    lists = base.full.retrievals["returned_asset_ids"]
    marked = dataclasses.replace(base.full, retrievals=base.full.retrievals.assign(list_cut=True))
    limited = dataclasses.replace(base.full, list_limit=1)
    for log, expected in ((marked, 0), (limited, (lists.map(len) == 0).mean())):
        found = readiness(log)
        assert found.fields.set_index("field").loc["retrievals.returned_asset_ids", "share"] == pytest.approx(expected)
        assert found.status("position of the consumed asset") != "computable"
