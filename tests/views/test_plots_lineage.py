"""Lineage plots: artists, titles that state the finding, no pyplot."""

import inspect
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

from toolkit.lineage import (Faults, World, attribution_gap, birthday_log, bounds, cross_reading, outcomes, sensitivity_to_definition, simulate)
from toolkit.views.plots import (lineage, new_axes, plot_bounds, plot_cross_reading, plot_definition_sensitivity, plot_gap,
                                 plot_layer_rates, plot_session_timeline)

PLOTS = [plot_bounds, plot_cross_reading, plot_definition_sensitivity, plot_gap, plot_layer_rates, plot_session_timeline]


@pytest.fixture(scope="module")
def simulation():
    return simulate(World(users=40, repeat=0.4, later_session=0.6, sessions=3), Faults(source=0.1), seed=3)


@pytest.mark.parametrize("plot", PLOTS)
def test_signature(plot):
    parameters = list(inspect.signature(plot).parameters.values())
    assert parameters[0].kind is parameters[0].POSITIONAL_OR_KEYWORD
    assert all(item.kind is item.KEYWORD_ONLY for item in parameters[1:]) and parameters[-1].name == "ax"
    assert all(f"{item.name} :" in plot.__doc__ for item in parameters)


def test_layer_rates(simulation):
    table = outcomes(simulation.log).table
    ax = plot_layer_rates(table, metrics=("GPR", "UOR"))
    assert len(ax.containers) == 2 and len(ax.get_yticklabels()) == table["role"].nunique()
    drawn = ax.containers[0].lines[0].get_xdata()
    assert sorted(drawn) == pytest.approx(sorted(100 * table.loc[table["metric"] == "GPR", "value"]))
    assert "GPR runs from" in ax.get_title(loc="left")
    assert "No rate" in plot_layer_rates(table, metrics=("nonsense",)).get_title(loc="left")


def test_cross_reading(simulation):
    cells = cross_reading(simulation.full).table
    ax = plot_cross_reading(cells)
    assert len(ax.patches) == 6
    pooled = cells[cells["role"] == "all roles"]["share"].to_numpy()
    areas = np.array([patch.get_width() * patch.get_height() for patch in ax.patches])
    assert areas / areas.sum() == pytest.approx(pooled)
    assert "masked failures" in ax.get_title(loc="left")
    with pytest.raises(ValueError, match="find"):
        plot_cross_reading(cells, role="nonsense")


def test_gap_ends_at_lineage(simulation):
    gap = attribution_gap(simulation.log)
    ax = plot_gap(gap)
    widths = [patch.get_width() for patch in ax.patches]
    assert widths[0] == pytest.approx(100 * gap.rule_rate) and widths[-1] == pytest.approx(100 * gap.lineage_rate)
    assert widths[0] + sum(widths[1:-1]) == pytest.approx(widths[-1])


def test_definition_sensitivity(simulation):
    table = sensitivity_to_definition(simulation.log).table
    ax = plot_definition_sensitivity(table)
    assert ax.lines[0].get_ydata() == pytest.approx(100 * table["value"].to_numpy())
    assert "The definition alone moves GPR" in ax.get_title(loc="left")


def test_timeline_counts_links_across_sessions(simulation):
    log, truth = simulation.full, simulation.truth.actions
    joined = truth.merge(log.retrievals[["retrieval_id", "session_id", "user_id"]], left_on="source_retrieval_id", right_on="retrieval_id")
    user = joined.loc[joined["session_id_x"] != joined["session_id_y"], "user_id"].iloc[0]
    mine = joined[joined["user_id"] == user]
    crossing = int((mine["session_id_x"] != mine["session_id_y"]).sum())
    ax = plot_session_timeline(log, user_id=user)
    assert f"{crossing} of {len(mine)} uses" in ax.get_title(loc="left")
    assert sum(line.get_linestyle() == "--" for line in ax.lines) == crossing
    assert "No event" in plot_session_timeline(log, user_id="nobody").get_title(loc="left")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["prompts", "retrievals", "agent actions", "user actions"]


def test_an_unlogged_actor_has_its_own_lane():
    log = birthday_log()
    unknown = log.actions["actor"].where(log.actions["action_id"] != "e1")
    ax = plot_session_timeline(replace(log, actions=log.actions.assign(actor=unknown)), user_id="mia")
    assert ax.get_yticklabels()[-1].get_text() == "actor not logged"
    lanes = [line for line in ax.lines if line.get_linestyle() == "None"]
    assert [len(line.get_xdata()) for line in lanes] == [6, 5, 1, 6, 1]
    assert list(lanes[-1].get_ydata()) == [4]


def test_bounds(simulation):
    table = bounds(simulation.log).table
    ax = plot_bounds(table, truth={"GPR": simulation.truth.rate("GPR")})
    bar = ax.patches[1]
    row = table[(table["metric"] == "GPR") & (table["role"] == "all roles")].iloc[0]
    assert (bar.get_x(), bar.get_width()) == pytest.approx((100 * row["low"], 100 * row["width"]))
    assert bar.get_x() <= 100 * simulation.truth.rate("GPR") <= bar.get_x() + bar.get_width()
    assert "No bounds" in plot_bounds(table, role="nonsense").get_title(loc="left")


def test_given_axes_are_used_and_pyplot_is_not(simulation):
    ax = new_axes()
    assert plot_gap(attribution_gap(simulation.log), ax=ax) is ax
    assert not matplotlib._pylab_helpers.Gcf.get_all_fig_managers()
    assert "pyplot" not in inspect.getsource(lineage)
