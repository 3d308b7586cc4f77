"""The cross-reading matrix: its cells, its weights, and the coverage of the masked cell."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from toolkit.lineage import GoodRetrieval, World, cross_reading, simulate
from toolkit.lineage.matrix import CELLS


def test_each_cell_by_hand(make_log):
    names = ["healthy", "handoff", "quiet", "masked", "visible", "dark"]
    retrievals = [{"retrieval_id": name, "returned_asset_ids": ["x", "y"], "displayed": True, "role": "find"} for name in names]
    actions = [{"actor": "user", "action": "export", "consumed_asset_id": "x", "source_retrieval_id": name} for name in ("healthy", "masked", "handoff")]
    actions += [{"actor": "user", "action": "correct_output", "source_retrieval_id": "handoff"},
                {"actor": "user", "action": "reject_result", "source_retrieval_id": "visible"}]
    judgments = [{"retrieval_id": name, "asset_id": asset, "grade": 3.0 if name in names[:3] and asset == "y" else 0.0}
                 for name in names for asset in ("x", "y")]
    found = cross_reading(make_log(retrievals, actions, judgments=judgments))
    cells = found.rows.set_index("retrieval_id")["cell"].to_dict()
    assert cells == {"healthy": "healthy", "handoff": "generation or hand-off failure", "quiet": "unobserved, retrieval good",
                     "masked": "masked failure", "visible": "visible retrieval failure", "dark": "unobserved, retrieval bad"}
    assert found.share("masked failure") == found.share("masked failure", "find") == pytest.approx(1 / 6)
    assert "6 with a Layer 1 verdict of 6" in found.summary()


def test_cells_add_up_and_equal_the_truth_with_all_judged():
    simulation = simulate(World(users=40, masking=0.5), seed=3)
    found = cross_reading(simulation.full)
    assert set(found.table["cell"]) == set(CELLS.values())
    assert found.table.groupby("role")["share"].sum().to_numpy() == pytest.approx(1.0)
    assert found.share("masked failure") == pytest.approx(simulation.truth.rate("masked failure"))


def test_unjudged_retrievals_have_no_cell_and_are_counted():
    simulation = simulate(World(users=40, judged=0.3), seed=3)
    found = cross_reading(simulation.full)
    assert found.table["n"].max() < len(found.rows) and found.rows["cell"].isna().any()
    assert f"of {len(found.rows)}" in found.summary()


def stratified_sample(log, rng):
    """Judge half of the generation references and a twentieth of the rest, with design weights."""
    rows = log.retrievals
    chance = np.where(rows["role"] == "generation_reference", 0.5, 0.05)
    taken = rng.random(len(rows)) < chance
    judged = log.judgments[log.judgments["retrieval_id"].isin(rows.loc[taken, "retrieval_id"])]
    return dataclasses.replace(log, retrievals=rows.assign(sampling_weight=np.where(taken, 1 / chance, np.nan)), judgments=judged)


def test_masked_cell_interval_covers_at_its_nominal_rate():
    from toolkit.lineage.intervals import rate
    from toolkit.lineage.layer1 import verdict_weights

    mix = {"find": 0.6, "generation_reference": 0.4}
    simulation = simulate(World(users=600, masking=0.5, agent_use=0.9, quality=0.6, role_mix=mix), seed=5)
    truth = simulation.truth.rate("masked failure")
    # One whole pass through the public function, then the same steps many times on fresh samples.
    rows, log = cross_reading(simulation.full).rows, stratified_sample(simulation.full, np.random.default_rng(0))
    found = cross_reading(log)
    masked, empty = (rows["cell"] == "masked failure").to_numpy(), simulation.truth.retrievals["empty"].to_numpy()
    chance = np.where(rows["role"] == "generation_reference", 0.5, 0.05)
    rng, hits, naive, draws = np.random.default_rng(1), 0, 0, 1_000
    for _ in range(draws):
        taken = (rng.random(len(rows)) < chance) | empty
        weights = np.where(empty, 1.0, 1 / chance)[taken]
        interval = rate(masked[taken], weights=weights, method="design")
        hits += interval.low <= truth <= interval.high
        plain = rate(masked[taken])
        naive += plain.low <= truth <= plain.high
    row = found.table[(found.table["cell"] == "masked failure") & (found.table["role"] == "all roles")].iloc[0]
    again = rate(masked[found.rows["layer1"].notna()], weights=verdict_weights(log)[found.rows["layer1"].notna()], method="design")
    assert (row["share"], row["ci_low"], row["ci_high"]) == pytest.approx((again.value, again.low, again.high))
    assert 0.93 <= hits / draws <= 0.97
    assert naive / draws < 0.9  # without the design weights


def test_judge_errors_are_corrected():
    simulation = simulate(World(users=400, masking=0.5, judge_error=0.15, empty=0.0), seed=2)
    truth = simulation.truth
    said = cross_reading(simulation.full).rows["layer1"] == "good"
    double = pd.DataFrame({"judge_good": said, "reference_good": truth.retrievals["good"]}).sample(400, random_state=1)
    found = cross_reading(simulation.full, double_judged=double)
    row = found.table[(found.table["cell"] == "masked failure") & (found.table["role"] == "all roles")].iloc[0]
    value = truth.rate("masked failure")
    assert row["corrected_low"] <= value <= row["corrected_high"]
    assert abs(row["corrected"] - value) < abs(row["share"] - value)
    assert "Corrected for the judge's errors" in found.summary()
    sums = found.table[found.table["role"] == "all roles"]["corrected"].sum()
    assert sums == pytest.approx(1.0)


def test_definition_is_printed_and_unknown_cells_are_named():
    found = cross_reading(simulate(World(), seed=1).full, GoodRetrieval(grade=1, k=2))
    assert "grade >= 1 among the first 2" in found.summary()
    with pytest.raises(KeyError, match="masked failure"):
        found.share("nonsense")
    assert "<script" not in found._repr_html_() and "masked failure" in found._repr_html_()
