"""The gate keeps its promises on simulated worlds (small here; the full runs are in the benchmark)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from toolkit.evaluation import compare, verdict
from toolkit.evaluation.calibration import draw_differences, false_promotions, gate, interval_coverage, power_check
from toolkit.evaluation.deciding import Policy


def test_no_false_promotions_beyond_alpha():
    table = false_promotions(runs=100, resamples=300)
    assert table["within"].all() and (table["promoted"] > 0).any()
    assert (table.loc[table["n"] == 10, "promoted"] == 0).all()


def test_intervals_cover_where_they_promise_to():
    table = interval_coverage(sizes=(200, 600), runs=150, resamples=300)
    slack = 3 * math.sqrt(0.95 * 0.05 / 150)
    assert table["coverage"].between(0.95 - slack, 1).all()
    small = interval_coverage(sizes=(10,), zero_shares=(0.9,), runs=100, resamples=200)
    assert small["coverage"].iloc[0] < 0.8  # why few changed queries decide nothing


def test_power_is_as_predicted():
    table = power_check(sizes=(50, 200), runs=150, resamples=300)
    assert len(table) == 3  # 5 changed queries of 50 allow no prediction
    assert (abs(table["found"] - table["predicted"]) < 0.05 + 3 * table["standard_error"]).all()


def test_the_short_gate_is_the_verdict(make_arm):
    rng = np.random.default_rng(0)
    answers = {"better": "promote", "worse": "block"}
    seen = set()
    for _ in range(12):
        d = draw_differences(rng, 60, zero_share=0.5, effect=rng.choice([-0.12, 0.0, 0.12]))
        short = gate(d, resamples=500, seed=1)
        arms = [make_arm(values, judged=0.9) for values in (np.zeros(60), d)]
        full = verdict(compare(*arms, metrics=["ndcg@10"], resamples=500, seed=1), Policy(smallest_worthwhile=0, max_drop_share=1)).decision
        assert full == answers.get(short, full) and (short != "open" or full != "promote")
        seen.add(short)
    assert seen == {"better", "worse", "open"}


def test_worlds_have_their_mean_and_zeros():
    d = draw_differences(np.random.default_rng(0), 200_000, zero_share=0.9, effect=0.02)
    assert d.mean() == pytest.approx(0.02, abs=0.001) and np.mean(d == 0) == pytest.approx(0.9, abs=0.003)
