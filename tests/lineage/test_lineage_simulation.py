"""The simulator's knobs do what they are named for."""

import numpy as np
import pandas as pd
import pytest

from toolkit.lineage import Faults, World, reconcile_ranks, relog, simulate

BIG = World(users=150)


def test_same_seed_same_tables():
    first, second = simulate(World(), Faults(source=0.3), seed=4), simulate(World(), Faults(source=0.3), seed=4)
    for name in ("prompts", "retrievals", "actions", "judgments"):
        pd.testing.assert_frame_equal(getattr(first.log, name), getattr(second.log, name))
    assert not simulate(World(), seed=5).full.actions.equals(first.full.actions)


@pytest.mark.parametrize(("knob", "metric"), [("quality", "good retrieval rate"), ("empty", "empty-result rate"), ("wrong", "ORF: said wrong"),
                                               ("retry", "ORF: retried"), ("other", "ORF: other asset used"), ("correction", "downstream correction"),
                                               ("agent_use", "ACR"), ("use", "GPR"), ("goal", "goal by lineage"), ("missed", "missed-retrieval rate"),
                                               ("misroute", "misroute rate"), ("multi_intent", "multi-intent share"), ("masking", "masked failure")])
def test_raising_a_knob_raises_its_rate(knob, metric):
    low, high = (simulate(World(users=150, **{knob: value}), seed=1).truth.rate(metric) for value in (0.05, 0.9))
    assert high > low + 0.02


def test_role_mix_and_repeats():
    simulation = simulate(World(users=150, role_mix={"find": 3, "browse": 1}, repeat=0.0), seed=1)
    assert simulation.truth.retrievals["role"].value_counts(normalize=True)["find"] == pytest.approx(0.75, abs=0.04)
    lists = simulate(World(users=150, repeat=1.0, empty=0.0), seed=1).full.retrievals
    per_session = lists.assign(key=lists["returned_asset_ids"].map(tuple)).groupby("session_id")["key"].nunique()
    assert per_session.max() == 1


def test_delay_session_change_and_double_logging():
    simulation = simulate(World(users=150, later_session=0.8, sessions=3), seed=1)
    joined = simulation.truth.actions.merge(simulation.full.retrievals[["retrieval_id", "session_id"]], left_on="source_retrieval_id", right_on="retrieval_id")
    users = joined[joined["actor"] == "user"]
    assert (users["session_id_x"] != users["session_id_y"]).mean() > 0.3
    agents = joined[joined["actor"] == "agent"]
    assert (agents["session_id_x"] == agents["session_id_y"]).all()
    none = simulate(World(users=150, double=0.0), seed=1).full.actions
    assert len(simulate(World(users=150, double=1.0), seed=1).full.actions) > len(none)


def test_actions_follow_their_retrievals_until_clocks_are_skewed():
    full = simulate(BIG, seed=1)
    skewed = relog(full, Faults(skew_seconds=600.0), seed=1)

    def early(log):
        pair = log.actions.merge(log.retrievals[["retrieval_id", "time"]], left_on="source_retrieval_id", right_on="retrieval_id")
        return (pair["time_x"] < pair["time_y"]).mean()

    assert early(full.log) == 0 and early(skewed.log) > 0.05


def test_losses_are_of_the_share_asked_for():
    full = simulate(BIG, seed=1)
    lost = relog(full, Faults(source=0.25, lists=1.0, actor=0.5), seed=1).log
    before = full.log.actions["source_retrieval_id"].notna()
    assert lost.actions.loc[before, "source_retrieval_id"].isna().mean() == pytest.approx(0.25, abs=0.05)
    assert lost.retrievals["returned_asset_ids"].isna().all()
    assert lost.actions["actor"].isna().mean() == pytest.approx(0.5, abs=0.05)


def test_truncation_duplicates_links_and_base():
    full = simulate(BIG, seed=1)
    cut = relog(full, Faults(truncate=3, links=True), seed=1).log
    assert cut.retrievals["returned_asset_ids"].map(len).max() == 3 and cut.list_limit == 3
    assert "retry_of" not in cut.retrievals and not cut.link_recorded("retry_of")
    twice = relog(full, Faults(duplicate=0.5), seed=1)
    assert len(twice.executions) > len(full.log.retrievals) and len(twice.events) > len(full.log.actions)
    assert list(twice.log.retrievals["returned_asset_ids"]) == list(full.log.retrievals["returned_asset_ids"])
    found = reconcile_ranks(relog(full, Faults(base_switch=0.5), seed=1).log)
    assert found.table["base"].tolist() == ["index + 1", "index"]
    assert (found.table["agree"] == found.table["n"]).all()


def test_judge_error_and_sample():
    world = World(users=150, judge_error=0.2, judged=0.5)
    simulation = simulate(world, seed=1)
    from toolkit.lineage import good_retrievals

    verdict = good_retrievals(simulation.log)
    listed = simulation.full.retrievals["returned_asset_ids"].map(len).to_numpy() > 0
    assert verdict.known[listed].mean() == pytest.approx(0.5, abs=0.06)
    wrong = (verdict.certain != simulation.truth.retrievals["good"].to_numpy())[verdict.known & listed]
    assert wrong.mean() == pytest.approx(0.2, abs=0.06)
    assert set(simulation.full.retrievals["sampling_weight"].dropna()) == {2.0}


@pytest.mark.parametrize("bad", [{"quality": 1.5}, {"assets": 3}, {"users": 0}, {"role_mix": {"nonsense": 1}}])
def test_impossible_worlds_are_refused(bad):
    with pytest.raises(ValueError, match="World"):
        World(**bad)


def test_impossible_faults_are_refused():
    with pytest.raises(ValueError, match="source"):
        Faults(source=-0.1)
    with pytest.raises(ValueError, match="truncate"):
        Faults(truncate=0)


def test_tiny_worlds_are_valid():
    for seed in range(20):
        simulation = simulate(World(users=1, sessions=1, prompts=1, missed=0.9), seed=seed)
        assert len(simulation.truth.retrievals) == len(simulation.full.retrievals)
        assert np.isfinite(simulation.truth.rate("retrieval rate"))
