"""Five searches per query on a real Elasticsearch decide every weight vector: compared with full searches there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toolkit.datasets import generate_catalogue
from toolkit.diagnosis.list_evaluation import list_rankings
from toolkit.diagnosis.weight_space import weight_space
from toolkit.search import ElasticsearchEngine, EmbeddedEngine, FieldLists, MultiMatch
from toolkit.search.elasticsearch_requests import Retry

pytestmark = pytest.mark.elasticsearch

FIELDS = ("title", "brand", "bullet_point", "description", "category")
DEPTH = 10
CLOSE = 4e-6


@pytest.fixture(scope="module")
def shop(elasticsearch_url):
    data = generate_catalogue(1_200, 200, seed=9)
    engine = ElasticsearchEngine.from_products(elasticsearch_url, "test-lists", data.products, FIELDS, replace=True, progress=False)
    yield engine, data.products, data.queries.iloc[:24][["query_id", "query"]].reset_index(drop=True)
    engine.connection.client.indices.delete(index="test-lists")


@pytest.fixture(scope="module", params=[0, "AUTO"])
def listed(request, shop):
    engine, _, queries = shop
    config = MultiMatch(dict.fromkeys(FIELDS, 1.0), fuzziness=request.param)
    return FieldLists.from_engine(engine, queries, config, DEPTH + 1, progress=False), request.param


def test_they_are_the_embedded_engines_lists(shop, listed) -> None:
    engine, products, queries = shop
    lists, fuzziness = listed
    assert lists.searches == len(FIELDS) * len(queries)
    same = FieldLists.from_engine(EmbeddedEngine.build(products, FIELDS, progress=False), queries, lists.config, DEPTH + 1, progress=False)
    for name in ("table", "coverage", "first_matches"):
        pd.testing.assert_frame_equal(getattr(lists, name), getattr(same, name))
    order = ["query_id", "product_id", "field"]
    pd.testing.assert_frame_equal(*(one.field_scores.table.sort_values(order).reset_index(drop=True) for one in (lists, same)))


def weights(rng: np.random.Generator, exact: bool) -> dict[str, float]:
    """Six orders of magnitude, some fields at 0, some left out."""
    chosen = [name for name in FIELDS if rng.random() < 0.8] or ["title"]
    return {name: 0.0 if rng.random() < 0.15 else float(2.0 ** rng.integers(-10, 11)) if exact else float(10 ** rng.uniform(-3, 3))
            for name in chosen}


@pytest.mark.parametrize("exact", [True, False])
def test_random_weights_equal_full_searches(shop, listed, exact) -> None:
    engine, _, queries = shop
    lists, fuzziness = listed
    space, rng, near = weight_space(lists), np.random.default_rng(4), 0
    for _ in range(6):
        config = MultiMatch(weights(rng, exact), fuzziness=fuzziness)
        ours, theirs = list_rankings(space, config, DEPTH), engine.search(queries, config, DEPTH)
        positive = theirs["score"] > 0
        ours, theirs = ours[ours["score"] > 0].reset_index(drop=True), theirs[positive].reset_index(drop=True)
        assert ours["query_id"].tolist() == theirs["query_id"].tolist()
        np.testing.assert_allclose(ours["score"], theirs["score"], rtol=0 if exact else CLOSE)
        near += int((ours["product_id"] != theirs["product_id"]).sum())
    assert near == 0 or not exact  # a power of two rounds nothing; else only near ties may change places
    assert near <= 6


def test_first_matches_fill_pages_that_only_weight_zero_finds(shop, listed) -> None:
    engine, _, queries = shop
    lists, fuzziness = listed
    zero = MultiMatch(dict.fromkeys(FIELDS, 0.0), fuzziness=fuzziness)
    expected = engine.search(queries, zero, DEPTH)
    for query_id, page in expected.groupby("query_id"):
        parts = (lists.table, lists.first_matches)
        known = {p for part in parts for p in part.loc[part["query_id"] == query_id, "product_id"]}
        assert sorted(known, key=str.encode)[:DEPTH] == page["product_id"].tolist()


def test_a_failed_search_is_a_failed_list_not_an_empty_one(server, script) -> None:
    engine = ElasticsearchEngine(server.url, "shop", retry=Retry(1), batch_size=1)
    server.steps = [script.ok, script.status(503)]
    queries = pd.DataFrame({"query_id": ["a", "b"], "query": ["x", "y"]})
    lists = FieldLists.from_engine(engine, queries, MultiMatch({"title": 1}), progress=False)
    assert lists.coverage["status"].tolist() == ["ok", "failed"] and lists.failed == ("b",)
    assert "503" in lists.coverage["reason"][1] and not lists.coverage["complete"][1]
