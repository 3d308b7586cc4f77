"""Tokens of random code points from every word-break class, against a running Elasticsearch."""

import json
import random
from importlib import resources

import pytest

from toolkit.search.analysis import Analyzer

pytestmark = pytest.mark.elasticsearch
INDEX = "test-random-tokens"


@pytest.fixture(scope="module")
def client(elasticsearch_url):
    from elasticsearch import Elasticsearch

    client = Elasticsearch(elasticsearch_url, request_timeout=60)
    client.options(ignore_status=404).indices.delete(index=INDEX)
    client.indices.create(index=INDEX, settings={
        "index.analyze.max_token_count": 1_000_000,
        "analysis": {"analyzer": {"text": {"tokenizer": "standard", "filter": ["lowercase", "asciifolding"]}}}})
    yield client
    client.indices.delete(index=INDEX)


def random_texts(rng, count):
    """Each text mixes a few classes, so that rare neighbours meet; some are longer than the window of a token."""
    table = json.loads(resources.files("toolkit.search").joinpath("data/word_break_properties.json").read_text())
    ranges = {}
    for first, last, number in table["ranges"]:
        ranges.setdefault(number, []).append((first, last))

    def point(number):
        while True:
            found = rng.randint(*rng.choice(ranges[number]))
            if found and not 0xD800 <= found < 0xE000:
                return chr(found)

    for _ in range(count):
        few = rng.choices(list(ranges), k=rng.randint(2, 6))
        yield "".join(point(rng.choice(few)) for _ in range(rng.choice([3, 6, 12, 30, 30, 260])))


@pytest.mark.parametrize("seed", range(4))
def test_random_code_points(client, seed):
    texts = list(random_texts(random.Random(seed), 300))
    answer = client.indices.analyze(index=INDEX, analyzer="text", text=texts)
    analyze = Analyzer().terms
    assert [token["token"] for token in answer["tokens"]] == [term for text in texts for term in analyze(text)]
