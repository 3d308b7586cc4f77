"""Explanations add up to the score of the search, and say so in words."""

import random

import pandas as pd
import pytest

from toolkit.search import MultiMatch
from toolkit.search.explain import COLUMNS


def test_explanations_have_the_search_score(golden_engine, make_config):
    rng = random.Random(1)
    for text in ("shoe shoes red", "black nike case", "red red of", "wireless chargr"):
        for _ in range(6):
            config = make_config(rng)
            hits = golden_engine.search(pd.DataFrame({"query_id": ["q"], "query": [text]}), config, 5)
            for hit in hits.itertuples():
                found = golden_engine.explain(text, hit.product_id, config)
                assert found.matched and found.score == hit.score
                for field in found.fields:
                    assert sum(clause.score for clause in field.clauses) == pytest.approx(field.score, rel=1e-5, abs=1e-6)
                    for clause in field.clauses:
                        assert sum(term.score for term in clause.terms) == pytest.approx(clause.score, rel=1e-5, abs=1e-6)


def test_terms_of_a_score_can_be_recomputed_by_hand(golden_engine):
    config = MultiMatch({"title": 4, "description": 1})
    best = golden_engine.search(pd.DataFrame({"query_id": ["q"], "query": ["shoe cap"]}), config, 1)["product_id"][0]
    table = golden_engine.explain("shoe cap", best, config).table
    assert table.columns.tolist() == COLUMNS and len(table)
    for row in table.itertuples():
        norm = 1.2 * (0.25 + 0.75 * row.length / row.average_length)
        assert row.score == pytest.approx(2.2 * row.boost * row.idf * row.tf / (row.tf + norm), rel=1e-5)


def test_a_product_that_does_not_match(golden_engine):
    found = golden_engine.explain("zzzzz", golden_engine.product_ids[0], MultiMatch({"title": 1}))
    assert not found.matched and found.score == 0.0 and found.fields == () and found.table.empty
    assert "no hit" in found.summary()


def test_words_and_html_are_escaped(golden_engine):
    text = "<b>shoe</b>"
    product = golden_engine.search(pd.DataFrame({"query_id": ["q"], "query": [text]}), MultiMatch({"title": 1}), 1)["product_id"][0]
    found = golden_engine.explain(text, product, MultiMatch({"title": 1}))
    assert "idf" in str(found) and found.terms == ("b", "shoe", "b")
    assert "<b>" not in found._repr_html_()
    assert found.field_scores()["field"].tolist() == ["title"]


def test_edits_are_told(golden_engine):
    config = MultiMatch({"description": 1})
    product = golden_engine.search(pd.DataFrame({"query_id": ["q"], "query": ["shoes"]}), config, 1)["product_id"][0]
    table = golden_engine.explain("shoes", product, config).table.set_index("term")
    expected = {"shoes": 0, "shoe": 1, "shoems": 1, "saoes": 1}
    assert len(table) and all(table.loc[term, "edits"] == expected[term] for term in table.index)


def test_unknown_product_is_refused(golden_engine):
    with pytest.raises(ValueError, match="not in the index"):
        golden_engine.explain("shoe", "nowhere", MultiMatch({"title": 1}))
