"""Small catalogues with everything that scoring treats specially."""

import json
import random
from pathlib import Path

import pandas as pd
import pytest

from toolkit.search import EmbeddedEngine, MultiMatch

FIELDS = ["title", "brand", "bullet_point", "description", "category"]
WORDS = ("shoe shoes shoos red reds rod blue nike nikes nick case cases cafe usb-c 5.5\" men's 12-pack 日本 cover covers charger "
         "chargers charging a be of the and for with ok").split()


@pytest.fixture(scope="session")
def golden_cases():
    """Elasticsearch's hits for 260 queries over 400 products."""
    return json.loads((Path(__file__).parent / "golden_scores.json").read_text())


@pytest.fixture(scope="session")
def golden_engine(golden_cases):
    """The embedded engine over the 400 products."""
    return EmbeddedEngine.build(pd.DataFrame(golden_cases["docs"]), progress=False)


def random_products(seed, count):
    """Products of few words: many ties, repeats, empty cells, lists and long descriptions."""
    rng = random.Random(seed)

    def text(longest):
        return " ".join(rng.choices(WORDS, k=rng.randint(0, longest)))

    return pd.DataFrame({
        "product_id": [f"P{i:04d}" for i in rng.sample(range(10_000), count)],
        "title": [text(8) for _ in range(count)],
        "brand": [rng.choice(["nike", "Nike Inc", "", None]) for _ in range(count)],
        "bullet_point": [rng.choice([None, text(5), [text(4), text(4)], []]) for _ in range(count)],
        "description": [rng.choice([None, text(60), text(600)]) for _ in range(count)],
        "category": ["Other"] * count,
    })


def random_config(rng, fields=FIELDS, **fixed):
    """Any MultiMatch: subsets of fields, weights of 0, 1, fractions and six orders of magnitude."""
    chosen = rng.sample(list(fields), rng.randint(1, len(fields)))
    options = {
        "type": rng.choice(["best_fields", "most_fields"]), "tie_breaker": rng.choice([None, 0.0, 0.1, 0.3, 1.0]),
        "operator": rng.choice(["or", "and"]), "fuzziness": rng.choice([0, "AUTO"]),
        "prefix_length": rng.choice([0, 0, 1, 3]), "max_expansions": rng.choice([50, 50, 2])}
    weights = {name: rng.choice([0, 1, 1, 2, round(rng.uniform(0, 10), 2), 10 ** rng.uniform(-3, 3)]) for name in chosen}
    return MultiMatch(weights, **{**options, **fixed})


def random_queries(rng, count):
    """Queries of known, misspelled, repeated and unknown words."""
    texts = [" ".join(rng.choices([*WORDS, "shoess", "nikee", "zzz", "RED", "shoe"], k=rng.randint(0, 5))) for _ in range(count)]
    return pd.DataFrame({"query_id": [f"q{i}" for i in range(count)], "query": texts})


@pytest.fixture(scope="session")
def make_products():
    """``make_products(seed, count)``."""
    return random_products


@pytest.fixture(scope="session")
def make_config():
    """``make_config(rng, **fixed)``."""
    return random_config


@pytest.fixture(scope="session")
def make_queries():
    """``make_queries(rng, count)``."""
    return random_queries
