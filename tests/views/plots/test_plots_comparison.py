"""Pictures of comparisons: their artists say what the tables say."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

from toolkit.evaluation import compare, power_of
from toolkit.views.plots import comparison as plots
from toolkit.views.plots.base import new_axes

TABLE = pd.DataFrame({"metric": ["ndcg@10", "mrr@10"], "delta": [0.02, -0.01], "ci_low": [0.01, -0.03], "ci_high": [0.03, 0.01],
                      "tie_low": [0.015, np.nan], "tie_high": [0.025, np.nan], "hole_low": [-0.1, -0.2], "hole_high": [0.2, 0.1]})
MOVES = pd.DataFrame({"product_id": ["a", "b", "c"], "rank_baseline": pd.array([1, 12, None], dtype="Int64"), "rank_candidate": pd.array([2, 1, 3], dtype="Int64"),
                      "grade": [1.0, 3.0, np.nan], "move": pd.array([-1, 11, None], dtype="Int64")})
CURVE = pd.DataFrame({"share": [1.0, 0.5], "delta": [0.05, -0.02], "condensed_delta": [0.05, 0.03], "hole_low": [0.05, -0.2], "hole_high": [0.05, 0.3]})


def title(ax):
    return ax.get_title(loc="left")


def test_differences_are_sorted_counted_and_the_selected_one_is_marked():
    deltas = pd.DataFrame({"query_id": ["x", "y", "z", "w"], "delta": [0.3, -0.2, 0.0, 0.1]})
    ax = plots.plot_differences(deltas, selected="y")
    assert title(ax).startswith("2 queries better, 1 worse, 1 the same; mean +0.0500")
    heights = sorted(patch.get_height() for patch in ax.patches)
    assert heights == [-0.2, 0.1, 0.3]
    marker = next(line for line in ax.get_lines() if line.get_marker() == "v")
    assert (marker.get_xdata()[0], marker.get_ydata()[0]) == (0, -0.2)
    assert len({patch.get_hatch() for patch in ax.patches}) == 2, "wins and losses differ by more than colour"


def test_differences_of_nothing():
    assert "0 queries better" in title(plots.plot_differences(pd.DataFrame({"query_id": [], "delta": np.zeros(0)})))


def test_deltas_show_intervals_ties_and_holes():
    ax = plots.plot_deltas(TABLE)
    assert title(ax) == "1 of 2 intervals leave out 0"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ndcg@10", "mrr@10"]
    spans = {tuple(line.get_xdata()) for line in ax.get_lines() if len(line.get_xdata()) == 2}
    assert {(-0.1, 0.2), (-0.2, 0.1), (0.015, 0.025)} <= spans
    assert len(ax.get_legend().get_texts()) == 3


def test_movements_join_what_is_in_both_lists():
    ax = plots.plot_movements(MOVES, k=10, names={"a": "A lamp"})
    assert title(ax) == "1 relevant products enter the top 10, 0 leave it"
    joined = [line for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert {tuple(line.get_ydata()) for line in joined} == {(1.0, 2.0), (11.0, 1.0)}
    texts = {text.get_text() for text in ax.texts}
    assert texts == {"A lamp (1)", "b (3)", "c"}
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "rank 1 is on top"
    assert len({line.get_marker() for line in ax.get_lines()} - {"None"}) == 3


def test_power_lines_are_the_formula():
    ax = plots.plot_power(0.2, effects=(0.02, 0.05), observed=300)
    line = ax.get_lines()[1]
    n, power = line.get_xdata()[-1], line.get_ydata()[-1]
    assert power == pytest.approx(power_of(0.05, 0.2, int(n))) and title(ax).startswith("300 queries find a true effect of 0.032")


def test_holes_title_tells_truth_and_worst():
    ax = plots.plot_holes(CURVE, current=0.5)
    assert title(ax) == "True difference +0.050; measured as low as -0.020"
    assert any(list(line.get_xdata()) == [50, 50] for line in ax.get_lines())
    assert title(plots.plot_holes(CURVE[CURVE["share"] < 1])) == "Measured from -0.020 to -0.020"


@pytest.mark.parametrize("name", [n for n in vars(plots) if n.startswith("plot_")])
def test_plots_follow_the_house_rules(name):
    function = getattr(plots, name)
    parameters = inspect.signature(function).parameters
    assert all(p.kind is not inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    first, *rest = parameters.values()
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in rest) and parameters["ax"].default is None
    assert all(f"{p} :" in function.__doc__ or f"{p}, " in function.__doc__ or f", {p}" in function.__doc__ for p in parameters)


def test_given_axes_are_used():
    ax = new_axes()
    a = pd.DataFrame({"query_id": ["1", "2"], "metric": "ndcg@10", "value": [0.1, 0.2]})
    assert plots.plot_deltas(compare(a, a).to_frame(), ax=ax) is ax
