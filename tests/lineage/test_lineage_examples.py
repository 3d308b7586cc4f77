"""Example logs, hidden fields and the masked decline, against what is known about them."""

from __future__ import annotations

import numpy as np
import pytest

from toolkit.lineage import (ActiveUse, attribution_gap, birthday_log, bounds, cross_reading, empty_results, hide_fields, masking_curve, outcomes,
                             readiness, search_log, simulate, World)
from toolkit.lineage.masking import GOOD, MASKED, SESSION_GOAL, SESSION_USE


def test_birthday_has_one_of_each_end():
    cells = cross_reading(birthday_log()).rows.set_index("retrieval_id")["cell"].to_dict()
    assert cells == {"r1": "generation or hand-off failure", "r2": "masked failure", "r3": "visible retrieval failure", "r4": "healthy",
                     "r5": "unobserved, retrieval good"}


def test_birthday_gap_by_hand():
    gap = attribution_gap(birthday_log())
    assert (gap.rule_rate, gap.lineage_rate, gap.abandoned) == (1 / 5, 3 / 5, 1)
    assert gap.retrievals.set_index("retrieval_id")["cause"].dropna().to_dict() == {
        "r1": "other session", "r2": "other session", "r4": "other session", "r5": "bystander"}
    assert "1 session looks abandoned although its assets were used later; 0 outcomes used" in gap.summary()


def test_birthday_is_complete_once_sources_are_inherited():
    assert (bounds(birthday_log(), roles=()).table["width"] < 1e-12).all()
    before = bounds(birthday_log(inherit=False), roles=()).table.set_index("metric")
    assert before.loc["goal by lineage", "low"] == 0 and before.loc["goal by lineage", "high"] >= 3 / 5
    audit = readiness(birthday_log()).metrics
    assert set(audit.loc[audit["status"] != "computable", "metric"]) == {"rank reconciliation"}  # an export has no position


@pytest.mark.parametrize("field", ["retrievals.returned_asset_ids", "actions.source_retrieval_id", "actions.consumed_asset_id", "actions.actor",
                                   "retrievals.retry_of", "actions.request_id", "retrievals.role", "prompts", "judgments"])
def test_hiding_a_field_never_excludes_the_complete_value(field):
    full = simulate(World(users=8), seed=5).full
    complete = bounds(full, roles=()).table.set_index("metric")
    hidden = bounds(hide_fields(full, [field]), roles=()).table.set_index("metric")
    assert (hidden["low"] <= complete["low"] + 1e-12).all() and (hidden["high"] >= complete["high"] - 1e-12).all()
    assert (hidden["width"] > 1e-12).any() or field == "retrievals.role"  # the role matters per role only


def test_hiding_changes_nothing_else():
    log = birthday_log()
    hidden = hide_fields(log, ["actions.actor", "actions.no_such_column"])
    assert hidden.actions["actor"].isna().all() and not log.actions["actor"].isna().any()
    assert hidden.actions.drop(columns="actor").equals(log.actions.drop(columns="actor"))
    assert hidden.retrievals.equals(log.retrievals) and hidden.links == log.links
    assert hide_fields(log, ["retrievals.retry_of"]).links == {"expected_retrieval_id"}


def test_hidden_lists_do_not_survive_in_the_executions():
    log = hide_fields(search_log(users=10), ["retrievals.returned_asset_ids"])
    assert log.executions["returned_asset_ids"].isna().all()
    assert bounds(log, roles=()).interval("empty-result rate") == (0, 1)


@pytest.mark.parametrize("field", ["retrievals", "clicks.time", "actions.action", "retrievals.retrieval_id", "prompts.prompt_id"])
def test_what_cannot_be_hidden_is_said(field):
    with pytest.raises(ValueError, match="hide_fields"):
        hide_fields(birthday_log(), [field])


def test_search_log_has_the_gaps_of_one():
    log = search_log(seed=3)
    assert len(log.prompts) == 0 and "actor" in log.actions and log.actions["actor"].isna().all()
    assert set(log.actions["action"]) == {"click", "add_to_cart"}
    found = readiness(log, ActiveUse(("click", "add_to_cart"), actor="implied"))
    assert found.next_field == "retrievals.returned_asset_ids"
    assert found.status("GPR") == "bounded" and found.status("ORF") == "not computable"
    empty = empty_results(log.executions).set_index("grain")
    assert empty.loc["rows", "value"] > 2 * empty.loc["retrievals", "value"]
    assert empty.loc["retrievals", "empty"] == sum(len(items) == 0 for items in log.retrievals["returned_asset_ids"].dropna())


def test_covered_completely_sessions_stay_flat_while_layer_1_falls():
    curve = masking_curve(1.0).pivot(index="quality", columns="metric", values="value")
    for metric in (SESSION_GOAL, SESSION_USE):
        assert np.ptp(curve[metric]) == 0
    assert curve[GOOD].is_monotonic_increasing and np.ptp(curve[GOOD]) > 0.5
    assert curve[MASKED].is_monotonic_decreasing and curve[MASKED].iloc[-1] == 0


def test_uncovered_sessions_fall_too_and_nothing_is_masked():
    curve = masking_curve(0.0).pivot(index="quality", columns="metric", values="value")
    assert curve.loc[0.2, SESSION_USE] < curve.loc[1.0, SESSION_USE] / 2
    assert (curve[MASKED] == 0).all()


def test_masking_curve_is_counted_as_elsewhere():
    world = World(users=15, quality=0.5, masking=0.5, wrong=0.0)
    log = simulate(world, seed=2).log
    curve = masking_curve(1.0, qualities=[0.5], world=World(users=15), seed=2).set_index("metric")
    assert curve.loc[MASKED, "value"] == pytest.approx(cross_reading(log).share("masked failure"))
    assert curve.loc[GOOD, "n"] == len(log.retrievals) and outcomes(log).value("ORF: said wrong") == 0
    with pytest.raises(ValueError, match="masking_curve"):
        masking_curve(1.2)
