"""The cross-reading matrix: its cells, its weights, and the coverage of the masked cell."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from toolkit.lineage import GoodRetrieval, World, correct_judge_error, cross_reading, judge_error, simulate
from toolkit.lineage.judges import JudgeError
from toolkit.lineage.matrix import CELLS

# Positives of n; judged bad of truly bad; judged good of truly good; limits by the formulas of the paper, worked out apart from this package.
LANG_REICZIGEL = [(30, 150, 27, 30, 55, 60, 0.01925, 0.25418),
                   (5, 100, 45, 50, 95, 100, 0, 0.08533),
                   (60, 80, 18, 20, 17, 20, 0.61607, 1)]


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


@pytest.mark.parametrize("empty", [0.0, 0.3])
def test_judge_errors_are_corrected(empty):
    simulation = simulate(World(users=400, masking=0.5, judge_error=0.15, empty=empty), seed=2)
    truth = simulation.truth
    rows = cross_reading(simulation.full).rows
    double = pd.DataFrame({"judge_good": rows["layer1"] == "good", "reference_good": truth.retrievals["good"]})[~rows["empty"]].sample(400, random_state=1)
    found = cross_reading(simulation.full, double_judged=double)
    row = found.table[(found.table["cell"] == "masked failure") & (found.table["role"] == "all roles")].iloc[0]
    value = truth.rate("masked failure")
    assert row["corrected_low"] <= value <= row["corrected_high"]
    assert abs(row["corrected"] - value) < abs(row["share"] - value)
    assert "Corrected for the judge's errors" in found.summary()
    sums = found.table[found.table["role"] == "all roles"]["corrected"].sum()
    assert sums == pytest.approx(1.0)


def test_an_empty_list_is_bad_whatever_the_judge(make_log):
    # Of 10 retrievals 5 are empty; of the other 5 the judge calls 3 bad. Sensitivity 0.8, specificity 0.9: truly bad (0.6 - 0.1) / 0.7 of them.
    retrievals = [{"retrieval_id": f"r{i}", "returned_asset_ids": [] if i < 5 else ["a"]} for i in range(10)]
    judgments = [{"retrieval_id": f"r{i}", "asset_id": "a", "grade": 0.0 if i < 8 else 3.0} for i in range(5, 10)]
    double = pd.DataFrame({"reference_good": [False] * 10 + [True] * 10, "judge_good": [False] * 8 + [True] * 2 + [True] * 9 + [False]})
    table = cross_reading(make_log(retrievals, judgments=judgments), double_judged=double).table.set_index(["role", "cell"])
    row = table.loc[("all roles", "unobserved, retrieval bad")]
    assert row["share"] == 0.8 and row["corrected"] == pytest.approx(0.5 + 0.5 * 0.5 / 0.7)
    assert row["corrected_low"] >= 0.5 and table.loc[("all roles", "masked failure"), "corrected"] == 0


def test_definition_is_printed_and_unknown_cells_are_named():
    found = cross_reading(simulate(World(), seed=1).full, GoodRetrieval(grade=1, k=2))
    assert "grade >= 1 among the first 2" in found.summary()
    with pytest.raises(KeyError, match="masked failure"):
        found.share("nonsense")
    assert "<script" not in found._repr_html_() and "masked failure" in found._repr_html_()


@pytest.mark.parametrize("verdicts", [["yes", "no"], [True, None]])
def test_verdicts_are_true_or_false(verdicts):
    with pytest.raises(ValueError, match="expected True"):
        judge_error(pd.DataFrame({"judge_good": verdicts, "reference_good": [True, False]}))


@pytest.mark.parametrize(("positives", "n", "true_bad", "n_bad", "true_good", "n_good", "low", "high"), LANG_REICZIGEL)
def test_interval_of_lang_and_reiczigel(positives, n, true_bad, n_bad, true_good, n_good, low, high):
    found = correct_judge_error(positives / n, n, JudgeError(true_bad / n_bad, n_bad, true_good / n_good, n_good))
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    with pytest.raises(ValueError, match="share 1.5"):
        correct_judge_error(1.5, n, JudgeError(1.0, 1, 1.0, 1))


def test_corrected_intervals_cover_at_their_nominal_rate():
    rng, hits, draws = np.random.default_rng(2), 0, 1_500
    for _ in range(draws):
        error = JudgeError(rng.binomial(40, 0.8) / 40, 40, rng.binomial(60, 0.9) / 60, 60)
        found = correct_judge_error(rng.binomial(150, 0.2 * 0.8 + 0.8 * 0.1) / 150, 150, error)
        hits += found.low <= 0.2 <= found.high
    assert 0.94 <= hits / draws <= 0.985
