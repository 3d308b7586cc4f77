"""Intervals against scipy and against their own promise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from toolkit.lineage import correct_judge_error, judge_error, rate
from toolkit.lineage.intervals import cluster_codes, effective_wilson, exact, wilson
from toolkit.lineage.judges import JudgeError


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_and_exact_are_scipys(pair, level):
    count, n = pair
    for ours, name in ((wilson, "wilson"), (exact, "exact")):
        theirs = binomtest(count, n).proportion_ci(level, method=name)
        assert ours(count, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-10)


def test_no_rows_say_nothing():
    found = rate(np.array([]))
    assert np.isnan(found.value) and (found.low, found.high, found.n) == (0.0, 1.0, 0)
    assert wilson(0, 0) == exact(0, 0) == (0.0, 1.0)


def test_equal_weights_are_wilson_up_to_the_variance_factor():
    flags = np.r_[np.ones(30), np.zeros(70)]
    ours = effective_wilson(flags, np.full(100, 7.0))
    assert ours == pytest.approx(wilson(30, 100), abs=2e-3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=40), st.floats(0.1, 50))
def test_scaling_all_weights_changes_nothing(flags, scale):
    values = np.array(flags, dtype=float)
    weights = np.linspace(1, 3, len(values))
    one, two = rate(values, weights=weights), rate(values, weights=weights * scale)
    assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high), abs=1e-9)
    assert one.low - 1e-12 <= one.value <= one.high + 1e-12


def test_rows_of_one_cluster_widen_the_interval():
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(40), 25)
    flags = (rng.random(40) < 0.4)[owner]  # all rows of a user are alike
    rows, users = rate(flags), rate(flags, clusters=owner)
    assert users.high - users.low > 3 * (rows.high - rows.low)
    few = rate(flags[:250], clusters=owner[:250])
    assert few.method == "design" and few.high - few.low > 3 * (rate(flags[:250]).high - rate(flags[:250]).low)


def test_clustered_intervals_cover_where_row_wise_ones_do_not():
    rng = np.random.default_rng(1)
    hits = {"rows": 0, "users": 0, "design": 0}
    for _ in range(300):
        p = rng.beta(2, 3, 30)
        owner = np.repeat(np.arange(30), 20)
        flags = rng.random(600) < p[owner]
        for name, found in (("rows", rate(flags)), ("users", rate(flags, clusters=owner)), ("design", rate(flags, clusters=owner, method="design"))):
            hits[name] += found.low <= 0.4 <= found.high
    assert hits["rows"] / 300 < 0.75
    assert hits["users"] / 300 > 0.89 and hits["design"] / 300 > 0.91


def test_bootstrap_needs_clusters_and_methods_are_named():
    with pytest.raises(ValueError, match="clusters"):
        rate(np.ones(3), method="bootstrap")
    with pytest.raises(ValueError, match="expected auto"):
        rate(np.ones(3), method="nonsense")


def test_an_unknown_owner_is_its_own_cluster():
    assert len(set(cluster_codes(np.array(["a", None, "a", None], dtype=object)))) == 3


def test_judge_error_counts_both_kinds():
    double = pd.DataFrame({"judge_good": [True, False, True, True], "reference_good": [True, True, False, True]})
    found = judge_error(double)
    assert (found.sensitivity, found.n_bad, found.specificity, found.n_good) == (0.0, 1, 2 / 3, 3)
    with pytest.raises(ValueError, match="missing"):
        judge_error(double[["judge_good"]])
    with pytest.raises(ValueError, match="both kinds"):
        judge_error(double.assign(reference_good=True))


def test_a_perfect_judge_needs_no_correction_and_a_guess_says_nothing():
    perfect = correct_judge_error(0.3, 200, JudgeError(1.0, 10_000, 1.0, 10_000))
    assert perfect.value == pytest.approx(0.3)
    assert (perfect.low, perfect.high) == pytest.approx(wilson(60, 200), abs=0.01)
    guess = correct_judge_error(0.5, 200, JudgeError(0.5, 100, 0.5, 100))
    assert np.isnan(guess.value) and (guess.low, guess.high) == (0.0, 1.0)


@pytest.mark.parametrize("prevalence", [0.05, 0.2, 0.5])
def test_corrected_interval_covers(prevalence):
    rng = np.random.default_rng(int(prevalence * 100))
    se, sp, n, n_bad, n_good = 0.85, 0.92, 200, 60, 120
    hits = raw = 0
    for _ in range(2_000):
        share = rng.binomial(n, prevalence * se + (1 - prevalence) * (1 - sp)) / n
        error = JudgeError(rng.binomial(n_bad, se) / n_bad, n_bad, rng.binomial(n_good, sp) / n_good, n_good)
        found = correct_judge_error(share, n, error)
        hits += found.low <= prevalence <= found.high
        low, high = wilson(share * n, n)
        raw += low <= prevalence <= high
    assert hits / 2_000 > 0.93
    if prevalence != 0.2:  # where the errors do not happen to cancel
        assert raw / 2_000 < hits / 2_000 - 0.02
