"""Bootstrap, sign flips and Benjamini-Hochberg: oracles, exactness, invariances."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.evaluation import resampling
from toolkit.evaluation.resampling import benjamini_hochberg, bootstrap_interval, bootstrap_means, p_floor, sign_flip_p, to_grid

CASES = [  # differences, exact p
    ([0.1, 0.1, 0.1, 0.1, 0.1, -0.1], 0.21875),
    ([0.1, 0.1, 0.1, -0.1, 0.2, 0.1, -0.1, 0.1, 0.3, 0.1], 0.07421875),
    ([0.1, 0.2, 0.1, -0.1, 0.1, 0.1, 0.1, -0.2, 0.1, 0.1, 0.1, 0.1], 0.0966796875),
    ([0.1] * 5, 0.0625),
]


@pytest.mark.parametrize(("differences", "expected"), CASES)
def test_equal_sums_are_equal(differences, expected):
    a = np.full(len(differences), 0.3)
    noisy = (a + differences) - a  # 0.4 - 0.3 is not 0.1 in floats
    assert sign_flip_p(noisy[:, None])[0] == (expected, "exact")


def test_conformance_cases(reference_data):
    import json

    for case in json.loads((reference_data / "conformance" / "derived" / "stats_cases.json").read_text()):
        if "exact_p" in case:
            assert sign_flip_p(np.array(case["diffs"])[:, None])[0].value == case["exact_p"]
        if case["id"] == "aa_identical":
            assert sign_flip_p(np.array(case["diffs"])[:, None])[0].value == case["permutation_p"]
            assert bootstrap_interval(np.array(case["diffs"])[:, None]).ravel().tolist() == case["bootstrap_percentile"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1, allow_nan=False).map(lambda v: round(v, 3)), min_size=1, max_size=10))
def test_exact_p_equals_enumeration_and_scipy(values):
    d = np.array(values)
    sums = np.array([np.dot(signs, d) for signs in itertools.product([1, -1], repeat=len(d))])
    expected = np.mean(np.abs(sums) >= abs(d.sum()) - 1e-9)
    assert sign_flip_p(d[:, None])[0].value == pytest.approx(expected, abs=1e-12)


def test_scipy_is_the_oracle_of_both():
    from scipy import stats

    d = np.random.default_rng(5).normal(0.1, 0.3, 40)
    theirs = stats.bootstrap((d,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(1), batch=50).confidence_interval
    assert bootstrap_interval(d[:, None], resamples=2000, seed=1).ravel() == pytest.approx([theirs.low, theirs.high], abs=1e-12)
    few = d[:12]
    exact = stats.permutation_test((few,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip_p(few[:, None])[0].value == pytest.approx(exact.pvalue, abs=1e-12)
    sampled = sign_flip_p(d[:, None])[0]
    assert sampled.method == "sampled" and sampled.value == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=0.03)


def test_p_is_never_zero():
    assert sign_flip_p(np.full((100, 1), 0.3))[0].value == 1 / 10_001
    assert [p_floor(k) for k in (0, 1, 5, 6)] == [1.0, 1.0, 0.0625, 0.03125]


def test_sums_on_the_grid_are_exact_in_any_order():
    d = np.random.default_rng(0).normal(size=(1000, 3))
    grid, unit = to_grid(d)
    assert np.abs(grid * unit - d).max() < 1e-11
    assert [sum(map(int, grid[:, 0]))] == [int(grid[:, 0].sum())] == [int(grid[::-1, 0].sum())]
    assert np.abs(grid).sum(axis=0).max() < 2**53


def test_digits_do_not_depend_on_chunks_or_neighbours(monkeypatch):
    d = np.random.default_rng(0).normal(size=(217, 5))
    means, p = bootstrap_means(d, resamples=700), sign_flip_p(d, resamples=700)
    monkeypatch.setattr(resampling, "_CHUNK", 13)
    assert (bootstrap_means(d, resamples=700) == means).all() and sign_flip_p(d, resamples=700) == p
    assert (bootstrap_means(d[:, [3]], resamples=700)[:, 0] == means[:, 3]).all()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_digits_do_not_depend_on_threads(threads, tmp_path):
    program = ("import numpy as np; from toolkit.evaluation.resampling import *; "
               "d = np.random.default_rng(0).normal(size=(601, 36)); print(bootstrap_means(d, resamples=1500).tobytes().hex()[:4000], sign_flip_p(d, resamples=1500))")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120,
                         env={**__import__("os").environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads})
    d = np.random.default_rng(0).normal(size=(601, 36))
    assert run.stdout.strip() == f"{bootstrap_means(d, resamples=1500).tobytes().hex()[:4000]} {sign_flip_p(d, resamples=1500)}"


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_swapping_arms_flips_signs_only(seed):
    d = np.random.default_rng(seed).normal(0.1, 1, size=(30, 2))
    assert sign_flip_p(-d, resamples=300) == sign_flip_p(d, resamples=300)
    np.testing.assert_allclose(bootstrap_interval(-d, resamples=300), -bootstrap_interval(d, resamples=300)[::-1], atol=1e-12)


def test_undefined_p_leaves_the_family():
    adjusted = benjamini_hochberg(np.array([0.01, 0.02, np.nan, 0.04]))
    np.testing.assert_allclose(adjusted, [0.03, 0.03, np.nan, 0.04])
    assert np.isnan(benjamini_hochberg(np.array([np.nan, np.nan]))).all()
