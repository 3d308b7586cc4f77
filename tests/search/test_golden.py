"""Scores, orders and tokens recorded from Elasticsearch 9.2.0 must come out bit for bit."""

import json
from pathlib import Path

import pandas as pd
import pytest

from toolkit.search import MultiMatch
from toolkit.search.analysis import Analyzer, SurfaceWords

HERE = Path(__file__).parent
SCORES = json.loads((HERE / "golden_scores.json").read_text())
TEXTS = json.loads((HERE / "golden_analyze.json").read_text())


def config_of(case):
    names = ("fields", "type", "operator", "fuzziness", "tie_breaker")
    return MultiMatch(**{name: case[name] for name in names})


@pytest.mark.parametrize("number", range(len(SCORES["cases"])))
def test_hits_equal_elasticsearch(golden_engine, number):
    case = SCORES["cases"][number]
    run = golden_engine.run(pd.DataFrame({"query_id": ["q"], "query": [case["query"]]}), config_of(case), depth=20)
    assert list(zip(run.rankings["product_id"], run.rankings["score"], strict=True)) == [tuple(hit) for hit in case["hits"]]
    assert run.status["total_hits"].tolist() == [case["total"]]
    assert run.status["status"].tolist() == ["ok" if case["total"] else "zero_results"]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_terms_equal_elasticsearch(number):
    assert Analyzer().terms(TEXTS[number]["text"]) == TEXTS[number]["tokens"]


def test_a_column_has_the_terms_of_its_texts():
    words = SurfaceWords(Analyzer())
    terms, document = words.column([case["text"] for case in TEXTS])
    names = list(words.terms)
    found = [[] for _ in TEXTS]
    for term, row in zip(terms, document, strict=True):
        found[row].append(names[term])
    assert found == [case["tokens"] for case in TEXTS]
