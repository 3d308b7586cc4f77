"""Several shards and a node that dies: different statistics, and statuses instead of exceptions."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

from tests.conftest import missing
from tests.elasticsearch_node.build import NodeUnavailable
from tests.elasticsearch_node.node import start_cluster
from toolkit.search import ElasticsearchEngine, EmbeddedEngine, FieldLists, MultiMatch
from toolkit.search.elasticsearch_requests import Retry

pytestmark = pytest.mark.elasticsearch

CONFIG = MultiMatch({"title": 4, "brand": 2}, fuzziness=0)
QUERIES = pd.DataFrame({"query_id": ["a", "b", "c"], "query": ["red shoe", "blue dish acme", "green nothing nike"]})


@pytest.fixture(scope="module")
def catalogue() -> pd.DataFrame:
    draw = np.random.default_rng(5)
    words = ["red", "blue", "green", "shoe", "dish", "table", "for", "men", "women"]
    return pd.DataFrame({"product_id": [f"P{i:03}" for i in range(200)],
                         "title": [" ".join(draw.choice(words, draw.integers(1, 8))) for _ in range(200)],
                         "brand": draw.choice(["Acme", "Nike", "Rémy"], 200)})


@pytest.fixture(scope="module")
def three_shards(elasticsearch_url, catalogue):
    engine = ElasticsearchEngine.from_products(elasticsearch_url, "test-shards", catalogue, shards=3, replace=True, progress=False)
    yield engine
    engine.connection.client.indices.delete(index="test-shards")


def test_each_shard_has_its_own_statistics_unless_dfs_is_asked_for(elasticsearch_url, three_shards, catalogue) -> None:
    expected = EmbeddedEngine.build(catalogue, progress=False).run(QUERIES, CONFIG, 200).rankings
    own = three_shards.run(QUERIES, CONFIG, 200)
    dfs = ElasticsearchEngine(elasticsearch_url, "test-shards", dfs=True).run(QUERIES, CONFIG, 200)
    assert "3 shards" in own.engine and "dfs" in dfs.engine
    key = ["query_id", "product_id"]
    assert set(map(tuple, own.rankings[key].to_numpy())) == set(map(tuple, expected[key].to_numpy()))
    assert not np.array_equal(own.rankings["score"], expected["score"])
    pd.testing.assert_frame_equal(dfs.rankings, expected)


@pytest.mark.parametrize("dfs", [False, True])
def test_field_lists_describe_the_scores_that_searches_give(elasticsearch_url, three_shards, dfs) -> None:
    engine = ElasticsearchEngine(elasticsearch_url, "test-shards", dfs=dfs)
    lists = FieldLists.from_engine(engine, QUERIES, CONFIG, 20, progress=False)
    for field in CONFIG.fields:
        alone = engine.search(QUERIES, MultiMatch({field: 1}, fuzziness=0), 20)
        listed = lists.table.loc[lists.table["field"] == field, list(alone.columns)].reset_index(drop=True)
        pd.testing.assert_frame_equal(listed, alone)
        own = lists.field_scores.table.query("field == @field").set_index(["query_id", "product_id"])["score"]
        assert alone.set_index(["query_id", "product_id"])["score"].to_dict().items() <= own.to_dict().items()
    scores = engine.field_scores(QUERIES, CONFIG, lists.table).table
    order = ["query_id", "product_id", "field"]
    pd.testing.assert_frame_equal(lists.field_scores.table.sort_values(order).reset_index(drop=True),
                                  scores.sort_values(order).reset_index(drop=True))


@pytest.fixture
def two_nodes():
    with ExitStack() as stack:
        try:
            nodes = stack.enter_context(start_cluster(2))
        except NodeUnavailable as reason:
            missing("ELASTICSEARCH", str(reason))
        yield nodes


def test_a_node_killed_in_the_middle_gives_statuses(two_nodes, catalogue) -> None:
    engine = ElasticsearchEngine([node.url for node in two_nodes], "killed", timeout=20, retry=Retry(2, 0.1, 0.2), batch_size=2)
    engine.create_index(catalogue, shards=2, progress=False)
    many = pd.DataFrame({"query_id": [f"q{i}" for i in range(12)], "query": ["red shoe"] * 12})
    real, sent = engine.connection._send, []

    def send(bodies, named):
        sent.append(len(bodies))
        if len(sent) == 4:  # three batches of two were answered
            two_nodes[1].kill()
        return real(bodies, named)

    engine.connection._send = send
    run = engine.run(many, CONFIG)
    assert run.status["status"].tolist() == ["ok"] * 6 + ["failed"] * 6
    assert run.status["reason"][6:].str.contains("shard|connection|master").all(), run.status["reason"].tolist()
    assert set(run.rankings["query_id"]) == set(many["query_id"][:6])
