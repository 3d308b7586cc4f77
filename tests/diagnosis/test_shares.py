"""Shares with Wilson intervals."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.diagnosis import share_table


def wilson(count, n):
    """The score interval written out."""
    z, p = NormalDist().inv_cdf(0.975), count / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def test_shares_of_the_published_analysis():
    table = share_table({"11-50": 20, "51-200": 18, "beyond 200 or not retrieved": 28})
    assert [round(100 * share, 1) for share in table["share"]] == [30.3, 27.3, 42.4]
    assert table["n"].unique().tolist() == [66]
    for row in table.itertuples(index=False):
        assert (row.low, row.high) == pytest.approx(wilson(row[1], 66), abs=1e-9)
    assert (round(table["low"].iloc[0], 3), round(table["high"].iloc[0], 3)) == (0.206, 0.422)


@settings(deadline=None)
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_holds_the_share_and_stays_in_range(case):
    row = share_table({"x": case[0]}, case[1]).iloc[0]
    assert -1e-12 <= row["low"] <= row["share"] + 1e-12 and row["share"] - 1e-12 <= row["high"] <= 1 + 1e-12
    assert row["high"] - row["low"] > 0


def test_nothing_to_divide_by_is_unknown():
    assert share_table({"x": 0}).loc[0, ["share", "low", "high"]].isna().all()


def test_refuses_impossible_counts():
    with pytest.raises(ValueError, match="not between 0 and n = 3"):
        share_table({"x": 4}, 3)
