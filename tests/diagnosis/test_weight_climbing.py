"""Best weights and pair maps: never worse than the grid, certified where they say so."""

import itertools

import numpy as np
import pandas as pd
import pytest

from toolkit.diagnosis.climbing import best_weights, mean_values, plain_number
from toolkit.diagnosis.configs import LAB_BASE, lab_218, log_uniform, reweight
from toolkit.diagnosis.pair_maps import pair_map
from toolkit.diagnosis.sweeping import sweep
from toolkit.diagnosis.weight_space import objective, weight_space
from toolkit.search import MultiMatch


@pytest.fixture(scope="module")
def part(weight_catalogue, weight_lists):
    """The lists of 60 queries."""
    return weight_space(weight_lists).take(weight_catalogue.queries["query_id"].head(60).tolist())


@pytest.fixture(scope="module")
def climb(part, weight_catalogue):
    return best_weights(part, weight_catalogue.judgments, LAB_BASE, restarts=1)


def test_the_grid_is_never_better_than_the_certified_weights(climb, part, weight_catalogue):
    grid = mean_values(part, objective(part, weight_catalogue.judgments, "ndcg@10"), lab_218())
    assert climb.certified and climb.value >= grid.max()
    assert climb.base_value == grid[0]
    assert "lines searched exactly" in climb.certificate() and "local certificate" in climb.summary()


def test_no_line_through_the_result_is_better(climb, part, weight_catalogue):
    """Brute force along every axis and pair, at weights the climb never saw."""
    goal = objective(part, weight_catalogue.judgments, "ndcg@10")
    names, factors = list(climb.config.fields), 2.0 ** np.linspace(-5, 5, 41)
    tried = [reweight(climb.config, {name: climb.config.fields[name] * f}) for name in names for f in factors]
    tried += [reweight(climb.config, {a: climb.config.fields[a] * f, b: climb.config.fields[b] * f ** s})
              for a, b in itertools.combinations(names, 2) for f in factors[::4] for s in (1, -1)]
    assert mean_values(part, goal, tried).max() <= climb.value + 1e-12
    assert climb.lines["upper_bound"].min() >= climb.value - 1e-12


def test_the_engine_agrees_with_the_value(climb, part, weight_catalogue, weight_engine):
    queries = weight_catalogue.queries.head(60)
    judgments = weight_catalogue.judgments[weight_catalogue.judgments["query_id"].isin(queries["query_id"])]
    searched = sweep(weight_engine, queries, judgments, [climb.config], ["ndcg@10"], progress=False)
    assert searched.table["mean"][0] == pytest.approx(climb.value, abs=1e-12)


def test_a_climb_that_is_cut_short_is_not_certified(part, weight_catalogue):
    found = best_weights(part, weight_catalogue.judgments, LAB_BASE, restarts=0, starts=[], max_steps=1)
    assert not found.certified and "not certified" in found.certificate()


def test_a_field_that_only_harms_is_left_out_or_made_harmless():
    rows = [("q", "bad", "brand", 5.0), ("q", "good", "title", 1.0), ("q", "bad", "title", 0.5)]
    table = pd.DataFrame(rows, columns=["query_id", "product_id", "field", "score"])
    judgments = pd.DataFrame([("q", "good", 3.0)], columns=["query_id", "product_id", "grade"])
    found = best_weights(table, judgments, MultiMatch({"title": 1, "brand": 1}), "mrr@10", restarts=0)
    assert (found.base_value, found.value, found.certified) == (0.5, 1.0, True)


@pytest.mark.parametrize("low,high", [(3.2061, 3.4419), (0.0, 2.0), (5.0, np.inf), (0.0, np.inf), (1.00001, 1.00002)])
def test_plain_numbers_lie_inside(low, high):
    assert low < plain_number(low, high) < high
    assert plain_number(3.2061, 3.4419) == 3.3


def test_a_pair_map_holds_exact_values(part, weight_catalogue, weight_engine):
    queries = weight_catalogue.queries.head(60)
    judgments = weight_catalogue.judgments[weight_catalogue.judgments["query_id"].isin(queries["query_id"])]
    found = pair_map(part, judgments, "title", "description", LAB_BASE, steps=5, octaves=2)
    configs = [reweight(LAB_BASE, {"title": row.x, "description": row.y}) for row in found.cells.itertuples()]
    searched = sweep(weight_engine, queries, judgments, configs, ["ndcg@10"], progress=False)
    np.testing.assert_allclose(searched.table["mean"], found.cells["value"], atol=1e-12)
    assert found.grid().shape == (5, 5) and found.base_value == pytest.approx(found.grid().iloc[2, 2], abs=1e-12)
    # No weight of the second field beats a column's best, sampled densely.
    column = found.columns.iloc[1]
    dense = [reweight(LAB_BASE, {"title": column["x"], "description": y}) for y in np.geomspace(1e-3, 1e3, 300)]
    assert mean_values(part, objective(part, judgments, "ndcg@10"), dense).max() <= column["best"] + 1e-12
    assert "Exact along each of the 5 columns" in found.summary()


def test_pair_maps_refuse_what_is_no_pair(part, weight_catalogue):
    for fields, steps, message in ((("title", "title"), 5, "two fields"), (("title", "brand"), 4, "odd number"), (("title", "colour"), 5, "no weight")):
        with pytest.raises(ValueError, match=message):
            pair_map(part, weight_catalogue.judgments, *fields, LAB_BASE, steps=steps)


def test_restarts_are_seeded():
    assert log_uniform(LAB_BASE, 3, seed=0).configs == log_uniform(LAB_BASE, 3, seed=0).configs
