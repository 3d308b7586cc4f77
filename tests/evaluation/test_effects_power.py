"""Effect sizes and power against reference values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from toolkit.evaluation import effects
from toolkit.evaluation.effects import minimal_detectable, power_of, queries_needed, rank_biserial, standardised_mde


def test_null_contrast_is_zero_and_extremes_are_one():
    assert rank_biserial(np.zeros(5)) == 0.0 == rank_biserial(np.array([0.1, -0.1, 0.2, -0.2]))
    assert rank_biserial(np.array([0.1, 0.5])) == 1.0 and rank_biserial(np.array([-0.1, -0.5])) == -1.0
    assert effects.net_wins(np.array([0.1, 0.0, -0.1, 0.2])) == 0.25
    assert effects.cohen_dz(np.zeros(4)) == 0.0 and math.isnan(effects.cohen_dz(np.array([1.0])))


def test_rank_biserial_from_wilcoxon():
    from scipy.stats import wilcoxon

    d = np.random.default_rng(3).normal(0.2, 1, 50)
    plus_less_minus = 2 * wilcoxon(d, alternative="greater").statistic - 50 * 51 / 2
    assert rank_biserial(d) == pytest.approx(plus_less_minus / (50 * 51 / 2))


@pytest.mark.parametrize(("n", "expected"), [(5, 1.2529), (10, 0.8859), (20, 0.6265), (50, 0.3962), (600, 0.11437423758834482)])
def test_detectable_effect_by_the_normal_formula(n, expected):
    assert minimal_detectable(1.0, n, method="normal") == pytest.approx(expected, abs=5e-5 if n < 600 else 1e-12)


@pytest.mark.parametrize(("n", "expected"), [(5, 1.682), (10, 0.996), (20, 0.6604), (50, 0.4042), (600, 0.11455787757238672)])
def test_detectable_effect(n, expected):
    assert standardised_mde(n, 0.05, 0.8) == pytest.approx(expected, abs=5e-4 if n < 600 else 1e-9)
    assert power_of(minimal_detectable(0.3, n), 0.3, n) == pytest.approx(0.8, abs=1e-6)


def test_queries_needed_inverts_power():
    n = queries_needed(0.05, 0.3)
    assert power_of(0.05, 0.3, int(n)) >= 0.8 > power_of(0.05, 0.3, int(n) - 1)
    assert queries_needed(0.0, 0.3) == math.inf and math.isnan(queries_needed(0.1, math.nan)) and queries_needed(0.1, 0.0) == 2
    assert power_of(0.0, 0.3, 100) == pytest.approx(0.05) and math.isnan(power_of(0.1, 0.3, 1))


def test_any_number_of_queries_has_a_detectable_effect():
    found = [standardised_mde(n, 0.05, 0.8) for n in range(2, 60)]
    assert all(math.isfinite(d) for d in found) and found == sorted(found, reverse=True)
    assert all(power_of(d, 1.0, n) == pytest.approx(0.8, abs=1e-5) for n, d in enumerate(found, start=2))
    assert power_of(50.0, 1.0, 100) == 1.0
