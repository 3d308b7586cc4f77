"""With a full log, lineage gives back the simulated truth exactly; with less, bounds contain it."""

import os

import numpy as np
import pandas as pd
import pytest

from toolkit.lineage import (ActiveUse, Faults, GoodRetrieval, Log, NotBefore, SameSession, SameUser, TrustSource, UseImpliesDisplay, World, attribute,
                             bounds, good_retrievals, identity_gap, outcome_flags, outcomes, relog, simulate)
from toolkit.lineage.definitions import GOAL_ACTIONS
from toolkit.lineage.layer3 import goal_flags
from toolkit.lineage.results import POOLED
from toolkit.lineage.simulation_faults import LOSSES
from toolkit.lineage.tables import ROLES

# 1,000 patterns of missing fields take a minute: the benchmark runs them (or LINEAGE_SEEDS=1000 here).
SEEDS = int(os.environ.get("LINEAGE_SEEDS", "50"))
FLAGS = ("active_use", "agent_use", "said_wrong", "retried", "used_other", "corrected", "positive", "failure", "both", "unobserved", "goal", "good")
SMALL = World(users=5)


def missed_by(found, truth):
    """Rows of bounds whose interval misses the truth."""
    values = [truth.rate(row.metric, row.role) for row in found.table.itertuples()]
    return [(row.metric, row.role, row.low, value, row.high) for row, value in zip(found.table.itertuples(), values)
            if not np.isnan(value) and not row.low - 1e-12 <= value <= row.high + 1e-12]


def draw_faults(seed):
    """A random pattern of missing fields: each whole, partly or wholly missing."""
    rng = np.random.default_rng([11, seed])
    shares = {name: float(rng.choice([0, 0, 0.3, 1])) for name in LOSSES}
    return Faults(**shares, links=bool(rng.random() < 0.3), truncate=int(rng.integers(1, 8)) if rng.random() < 0.3 else None,
                  duplicate=0.3 * (rng.random() < 0.2), skew_seconds=60.0 * (rng.random() < 0.3), base_switch=0.5)


def together(frames):
    """Tables of many logs as one; their ids, except assets, carry the log's number."""
    whole = pd.concat(frames, ignore_index=True)
    seeds = np.repeat(np.arange(len(frames)), [len(frame) for frame in frames]).astype(str)
    ids = [name for name in whole.columns if name.endswith("_id") and name != "asset_id" and name != "consumed_asset_id" or name == "retry_of"]
    return whole.assign(**{name: whole[name].astype("str") + "/" + pd.Series(seeds, dtype="str") for name in ids})


def test_full_log_gives_back_the_truth():
    # 1,000 logs counted as one: flags and credits of a log depend on nothing outside it, and one count is much less work.
    simulations = [simulate(World(users=2), seed=seed) for seed in range(1_000)]
    tables = {name: together([getattr(one.log, name) for one in simulations]) for name in ("prompts", "retrievals", "actions", "judgments")}
    log = Log(**tables, links=simulations[0].log.links)
    truth, flags = together([one.truth.retrievals for one in simulations]), outcome_flags(log)
    assert len(truth) > 10_000 and (flags["retrieval_id"] == truth["retrieval_id"]).all()
    found = flags.assign(goal=goal_flags(log)["goal"], good=good_retrievals(log, GoodRetrieval(k=5)).certain)
    assert {name: int((found[name].to_numpy() != truth[name].to_numpy()).sum()) for name in FLAGS} == dict.fromkeys(FLAGS, 0)
    done = together([one.truth.actions for one in simulations])
    done = done[done["action"].isin(GOAL_ACTIONS)].set_index("action_id")["source_retrieval_id"]
    given = attribute(log).credits.set_index("action_id")["retrieval_id"]
    assert given.to_dict() == done.to_dict()


def test_bounds_contain_the_truth_under_random_patterns():
    for seed in range(SEEDS):
        simulation = simulate(SMALL, draw_faults(seed), seed=seed)
        assert missed_by(bounds(simulation.log, roles=ROLES), simulation.truth) == []


@pytest.mark.parametrize("knob", [*LOSSES, "links", "truncate"])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_bounds_contain_the_truth_with_one_field_missing(knob, share):
    fault = {"links": True} if knob == "links" else {"truncate": 3} if knob == "truncate" else {knob: share}
    base = simulate(SMALL, seed=2)
    found = bounds(relog(base, Faults(**fault), seed=2).log, roles=ROLES)
    assert missed_by(found, base.truth) == []
    needed = knob not in ("action_session", "action_user", "retrieval_session", "retrieval_user")
    assert (found.table["width"].max() > 0) == needed  # a field no rate needs does not widen anything


def test_bounds_collapse_when_nothing_is_missing():
    for seed in range(5):
        simulation = simulate(SMALL, seed=seed)
        found = bounds(simulation.log)
        assert found.table["width"].abs().max() == 0
        for row in found.table.itertuples():
            value = simulation.truth.rate(row.metric, row.role)
            assert np.isnan(value) or row.low == pytest.approx(value, abs=1e-12)
            assert np.isnan(value) or row.observed == pytest.approx(value, abs=1e-12)


def test_assumptions_tighten_and_hold_where_they_are_true():
    world = World(users=6, later_session=0.0)
    for seed in range(3):
        simulation = simulate(world, Faults(source=0.6, lists=0.3, display=0.3), seed=seed)
        plain = bounds(simulation.log)
        for assumption in (SameUser(), SameSession(), NotBefore(), TrustSource()):
            tight = bounds(simulation.log, assumptions=(assumption,))
            assert missed_by(tight, simulation.truth) == []
            assert (tight.table["width"] <= plain.table["width"] + 1e-12).all()
            assert tight.table["assumptions"].iloc[0] == str(assumption)
        assert bounds(simulation.log, assumptions=(SameUser(), SameSession(), NotBefore(), TrustSource())).table["width"].sum() < plain.table["width"].sum()


def test_a_false_assumption_can_miss_the_truth():
    world = World(users=30, sessions=4, later_session=1.0, goal=1.0)
    simulation = simulate(world, Faults(source=1.0), seed=1)
    assert missed_by(bounds(simulation.log), simulation.truth) == []
    assert missed_by(bounds(simulation.log, assumptions=(SameSession(),)), simulation.truth) != []
    hidden = simulate(World(users=30, agent_use=1.0, goal=1.0, display=0.0), Faults(display=1.0), seed=1)
    assert missed_by(bounds(hidden.log, assumptions=(UseImpliesDisplay(),)), hidden.truth) != []


def test_bounds_stay_true_where_pairs_are_too_many_to_enumerate(monkeypatch):
    simulation = simulate(SMALL, Faults(source=0.6, consumed=0.3, lists=0.3), seed=3)
    usual = bounds(simulation.log).table
    monkeypatch.setattr("toolkit.lineage.candidates.MAX_PAIRS", 3)
    coarse = bounds(simulation.log)
    assert missed_by(coarse, simulation.truth) == []
    assert (coarse.table["width"] >= usual["width"] - 1e-12).all() and coarse.table["width"].sum() > usual["width"].sum()


def test_identity_of_layer_two_per_role():
    for seed in range(10):
        simulation = simulate(World(users=10), draw_faults(seed), seed=seed)
        rates = outcomes(simulation.log, cluster=None)
        assert all(abs(identity_gap(rates, role)) < 1e-12 for role in rates.table["role"].unique())


def test_every_bounded_share_carries_its_definition():
    found = bounds(simulate(SMALL, seed=1).log, ActiveUse(("select",))).table
    assert found["definition"].str.contains("/").all()
    assert found.loc[found["metric"] == "GPR", "definition"].str.contains("a user's select on").all()


def test_bounds_say_what_they_assume_and_name_unknown_metrics():
    simulation = simulate(SMALL, Faults(source=0.5), seed=1)
    assert "without assumptions" in bounds(simulation.log).summary()
    assert "for whom it was retrieved" in bounds(simulation.log, assumptions=(SameUser(),)).summary()
    with pytest.raises(KeyError, match="GPR"):
        bounds(simulation.log).interval("nonsense")
    assert bounds(simulation.log).interval("GPR", POOLED)[0] <= outcomes(simulation.log).value("GPR")


@pytest.mark.parametrize("claim", ["SameUser", SameUser, 3])
def test_what_is_no_assumption_is_not_printed_as_one(claim):
    with pytest.raises(TypeError, match="expected objects"):
        bounds(simulate(SMALL, seed=1).log, assumptions=[claim])


def test_an_expected_source_is_no_certain_failure_where_the_source_is_lost(make_log):
    rows = [{"retrieval_id": name, "returned_asset_ids": ["a"]} for name in ("r", "s")]
    use = {"action": "place", "actor": "agent", "consumed_asset_id": "a", "expected_retrieval_id": "r"}
    for source, expected in (("r", (0, 0)), ("s", (0.5, 0.5)), (None, (0, 0.5))):
        log = make_log(rows, [{**use, "source_retrieval_id": source}], links=frozenset({"retry_of", "expected_retrieval_id"}))
        assert bounds(log).interval("ORF: other asset used") == bounds(log).interval("ORF") == expected
