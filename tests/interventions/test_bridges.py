"""Bridges are held against the vocabulary gaps and misspellings that were planted."""

import pandas as pd
import pytest

import toolkit as tk
from toolkit.datasets import generate_catalogue
from toolkit.datasets.catalogue_types import TYPES
from toolkit.interventions.models import learn_bridges


@pytest.fixture(scope="module")
def catalogue():
    return generate_catalogue(2_000, 1_200, seed=8, hard_share=0.5, judged="all")


def planted(catalogue, analyze):
    """Shopper's term -> terms that are right for it."""
    right: dict[str, set[str]] = {}
    for kind in TYPES:
        for word in kind.gap:
            for term in analyze(word):
                right.setdefault(term, set()).update(analyze(kind.name))
    slips = catalogue.causes.loc[catalogue.causes["cause"] == "misspelling", "details"].str.extract("^'(.*)' is meant to be '(.*)'$")
    for wrong, meant in slips.itertuples(index=False):
        for term in analyze(wrong):
            right.setdefault(term, set()).update(analyze(meant))
    return right


def test_what_is_learned_is_what_was_planted(catalogue):
    engine = tk.EmbeddedEngine.build(catalogue.products, progress=False)
    bridges = learn_bridges(engine, catalogue.queries, catalogue.judgments, catalogue.products)
    right = planted(catalogue, engine.analyze)
    good = [word for word, phrase in bridges.items() if set(phrase.split()) <= right.get(word, set())]
    assert len(bridges) > 20 and len(good) >= 0.95 * len(bridges)


def test_a_word_beside_the_gap_bridges_to_nothing():
    products = pd.DataFrame({"product_id": list("abcdefgh"), "title": ["red sofa", "blue sofa", "grey sofa", "steel hose", "green hose", "long hose", "lamp", "rug"]})
    queries = pd.DataFrame({"query_id": ["1", "2", "3", "4", "5"], "query": ["cheap settee", "settee", "cheap pipe", "pipe", "grey qwerty"]})
    judgments = pd.DataFrame([(q, p, 3.0) for q, found in (("1", "abc"), ("2", "abc"), ("3", "def"), ("4", "def"), ("5", "c")) for p in found],
                             columns=["query_id", "product_id", "grade"])
    engine = tk.EmbeddedEngine.build(products, progress=False)
    assert learn_bridges(engine, queries, judgments, products) == {"settee": "sofa", "pipe": "hose"}
    assert learn_bridges(engine, queries, judgments, products, min_queries=3) == {}
    assert learn_bridges(engine, queries.head(1), judgments, products) == {}
