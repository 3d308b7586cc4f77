"""The sweep gives each configuration exactly what a single search gives it."""

import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.search import EmbeddedEngine, MultiMatch, sweep_rankings
from toolkit.search.sweep_kernel import LANES, Family, prepare
from toolkit.search.sweep_loops import BLOCK


def assert_same_as_single_searches(engine, queries, configs, depth):
    swept = list(sweep_rankings(engine, queries, configs, depth, progress=False))
    assert [part.query_id for part in swept] == queries["query_id"].tolist()
    for i, config in enumerate(configs):
        run = engine.run(queries, config, depth)
        found = pd.concat([pd.DataFrame({
            "query_id": part.query_id, "product_id": engine.product_ids[part.positions[i][part.positions[i] >= 0]],
            "score": part.scores[i][part.positions[i] >= 0].astype(np.float64)}) for part in swept], ignore_index=True)
        expected = run.rankings
        assert found["query_id"].tolist() == expected["query_id"].tolist(), config
        assert found["product_id"].tolist() == expected["product_id"].tolist(), config
        assert found["score"].tolist() == expected["score"].tolist(), config
        assert [bool(part.irreproducible[i]) for part in swept] == run.status["irreproducible"].tolist()
        for part in swept:
            assert np.array_equal(part.positions[i] < 0, np.isnan(part.scores[i]))


@pytest.fixture(scope="module")
def engine(make_products):
    """More products than a few blocks, some of them very long."""
    return EmbeddedEngine.build(make_products(11, 12 * BLOCK), progress=False)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_random_configurations(engine, make_config, make_queries, seed):
    rng = random.Random(seed)
    configs = [make_config(rng) for _ in range(12)]
    assert_same_as_single_searches(engine, make_queries(rng, 4), configs, rng.choice([1, 3, 10, 200, 1000]))


def test_golden_queries(golden_engine, golden_cases, make_config):
    rng = random.Random(3)
    texts = [case["query"] for case in rng.sample(golden_cases["cases"], 25)]
    queries = pd.DataFrame({"query_id": [f"q{i}" for i in range(25)], "query": texts})
    assert_same_as_single_searches(golden_engine, queries, [make_config(rng) for _ in range(20)], 20)


def test_more_configurations_than_lanes(engine, make_config, make_queries):
    rng = random.Random(4)
    configs = [make_config(rng, operator="or", fuzziness=0) for _ in range(LANES + 3)]
    assert_same_as_single_searches(engine, make_queries(rng, 2), configs, 5)


def test_an_absent_field_is_not_weight_zero(engine):
    queries = pd.DataFrame({"query_id": ["q"], "query": ["other zzz"]})
    absent, zero = MultiMatch({"title": 1}), MultiMatch({"title": 1, "category": 0})
    swept = next(sweep_rankings(engine, queries, [absent, zero], 5, progress=False))
    assert (swept.positions[0] == -1).all()
    assert swept.positions[1].tolist() == [0, 1, 2, 3, 4] and (swept.scores[1] == 0).all()


@pytest.mark.parametrize("weight", [1e-40, 1e-20, 1e20])
def test_extreme_weights(engine, make_queries, weight):
    configs = [MultiMatch({"title": weight, "description": weight}, fuzziness=0),
               MultiMatch({"title": weight, "description": 1}, type="most_fields", fuzziness=0)]
    assert_same_as_single_searches(engine, make_queries(random.Random(6), 8), configs, 3)


def test_bounds_are_no_less_than_any_score(engine, make_config, make_queries):
    """Every product's score stays below the bound of its block, whatever the weights."""
    rng = random.Random(7)
    for text in make_queries(rng, 30)["query"]:
        config = MultiMatch({name: 1 for name in engine.fields}, fuzziness="AUTO")
        prepared = prepare(engine, text, config, Family.of(engine, [config]).fields)
        for f, field in enumerate(prepared.plan.fields):
            for weight in (0.3, 7.7):
                alone = MultiMatch({engine.fields[field.field]: weight})
                best = engine.run(pd.DataFrame({"query_id": ["q"], "query": [text]}), alone, 1).rankings["score"]
                assert best[0] <= prepared.block_bounds[:, f].max() * weight * (1 + 2e-6)


def test_wrong_arguments_are_refused_before_the_first_query(engine):
    queries = pd.DataFrame({"query_id": ["q"], "query": ["shoe"]})
    for configs, depth in (([], 10), ([MultiMatch({"color": 1})], 10), ([MultiMatch({"title": 1})], 0)):
        with pytest.raises(ValueError):
            sweep_rankings(engine, queries, configs, depth, progress=False)
