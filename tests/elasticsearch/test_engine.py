"""The engine on a real Elasticsearch: loading, searching, explaining, and what the index says of itself."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from toolkit.search import ElasticsearchEngine, EmbeddedEngine, MultiMatch, SearchWarning
from toolkit.search.elasticsearch_index import LoadError
from toolkit.tables import TableError

pytestmark = pytest.mark.elasticsearch

ALL = MultiMatch({"title": 4, "brand": 2, "bullet_point": 1})


def queries(*texts: str) -> pd.DataFrame:
    return pd.DataFrame({"query_id": [f"q{i}" for i in range(len(texts))], "query": list(texts)})


@pytest.fixture(scope="module")
def loaded(elasticsearch_url, products):
    engine = ElasticsearchEngine.from_products(elasticsearch_url, "test-engine", products, replace=True, progress=False)
    yield engine
    engine.connection.client.indices.delete(index="test-engine")


def test_everything_is_loaded_and_identified(loaded, products) -> None:
    assert (loaded.load_report.loaded, loaded.load_report.failed) == (len(products), 0)
    state = loaded.state()
    assert (state.documents, state.deleted, state.shards, state.complete) == (len(products), 0, 1, True)
    assert set(state.fields) == {"title", "brand", "bullet_point"}
    run = loaded.run(queries("shoe"), ALL)
    assert state.fingerprint in run.engine and state.version in run.engine


def test_equal_scores_are_ordered_by_the_bytes_of_the_id(loaded) -> None:
    ranking = loaded.search(queries("red shoe men"), MultiMatch({"title": 1}, fuzziness=0))
    assert ranking["product_id"].tolist()[:2] == ["B1", "B2"] and ranking["score"][0] == ranking["score"][1]
    everything = loaded.search(queries("red lawnmower dish table shoe"), MultiMatch({"title": 0}, fuzziness=0))
    ids = everything["product_id"].tolist()
    assert ids == sorted(ids, key=str.encode) and len(ids) == 5 and (everything["score"] == 0).all()


NOISE = ["!awnmower tires without rims", '60" round table', "# 2 (size:10) OR title:x \\ / ~ * ? ^2", "creme BRULEE", "men's", "", "   ",
         "\u00e9\u0301 \U0001f45f \u0e23\u0e2d\u0e07", "a\nb\tc\u2028", '"unbalanced', "x" * 300, "\x00 shoe"]


def test_noisy_queries_arrive_as_typed(loaded, products) -> None:
    embedded = EmbeddedEngine.build(products, progress=False)
    for config in (ALL, MultiMatch(dict(ALL.fields), fuzziness=0)):
        found, expected = loaded.run(queries(*NOISE), config), embedded.run(queries(*NOISE), config)
        assert found.counts()["failed"] == 0
        pd.testing.assert_frame_equal(found.rankings, expected.rankings)
        assert found.status["status"].tolist() == expected.status["status"].tolist()
    assert found.status["status"].tolist()[5:7] == ["zero_results", "zero_results"]


def test_terms_and_explanations_agree_with_the_embedded_engine(loaded, products) -> None:
    embedded = EmbeddedEngine.build(products, progress=False)
    assert loaded.analyze("Crème men’s 60\"") == embedded.analyze("Crème men’s 60\"")
    for config in (ALL, MultiMatch({"title": 1, "brand": 0, "bullet_point": 2}, type="most_fields"), MultiMatch({"title": 1}, operator="and")):
        for query, product_id in [("red shoes", "B1"), ("acme red", "ä1"), ("acme", "B2"), ("nothing", "B2")]:
            ours, theirs = embedded.explain(query, product_id, config), loaded.explain(query, product_id, config)
            assert (ours.score, ours.matched, ours.terms) == (theirs.score, theirs.matched, theirs.terms)
            pd.testing.assert_frame_equal(ours.field_scores(), theirs.field_scores())
            order = ["field", "term"]
            columns = [*order, "tf", "df", "documents", "length", "score"]
            pd.testing.assert_frame_equal(*(one.table.sort_values(order)[columns].reset_index(drop=True) for one in (ours, theirs)))
            np.testing.assert_allclose(*(one.table.sort_values(order)[["idf", "average_length", "boost"]].astype(float) for one in (ours, theirs)),
                                       rtol=1e-6)


def test_what_cannot_be_explained_says_why(loaded) -> None:
    with pytest.raises(ValueError, match="'nobody' is not in index"):
        loaded.explain("shoe", "nobody", ALL)
    with pytest.raises(ValueError, match="'nobody' is not in index"):
        loaded.field_scores(queries("shoe"), ALL, pd.DataFrame({"query_id": ["q0"], "product_id": ["nobody"]}))


def test_field_scores_are_those_of_single_field_searches(loaded) -> None:
    asked = queries("red shoe for acme", "soft rubber", "zzz")
    ranking = loaded.search(asked, ALL, 10)
    scores = loaded.field_scores(asked, ALL, ranking).matrix()
    for field in ALL.fields:
        alone = loaded.search(asked, MultiMatch({field: 1}), 10).set_index(["query_id", "product_id"])["score"]
        assert scores[field].dropna().to_dict() == alone.to_dict()


def test_an_existing_index_is_not_overwritten(loaded, products) -> None:
    with pytest.raises(LoadError, match="already exists.*replace=True"):
        loaded.create_index(products, progress=False)
    assert loaded.state().documents == len(products)


def test_refused_documents_are_counted_and_named(elasticsearch_url, products, index_name) -> None:
    long_id = "x" * 600  # an _id has at most 512 bytes
    given = pd.concat([products, pd.DataFrame({"product_id": [long_id], "title": ["shoe"]})], ignore_index=True)
    with pytest.warns(SearchWarning, match=f"{len(products)} of {len(given)} products loaded, 1 refused"):
        engine = ElasticsearchEngine.from_products(elasticsearch_url, index_name, given, progress=False)
    assert engine.load_report.to_frame()["product_id"].tolist() == [long_id]
    engine.connection.client.indices.delete(index=index_name)


def test_bad_products_are_refused_before_an_index_is_made(elasticsearch_url, products, index_name) -> None:
    engine = ElasticsearchEngine(elasticsearch_url, index_name)
    with pytest.raises(TableError, match="occurs more than once"):
        engine.create_index(pd.concat([products, products]), progress=False)
    assert not engine.connection.client.indices.exists(index=index_name)


def test_an_interrupted_load_leaves_a_mark(elasticsearch_url, products, index_name, monkeypatch) -> None:
    def interrupt(*_):
        raise KeyboardInterrupt

    engine = ElasticsearchEngine(elasticsearch_url, index_name)
    with monkeypatch.context() as patch:
        patch.setattr("toolkit.search.elasticsearch_index._bulk", interrupt)
        with pytest.raises(KeyboardInterrupt):
            engine.create_index(products, progress=False)
    with pytest.warns(SearchWarning, match="incomplete"):
        engine.run(queries("shoe"), ALL)
    engine.create_index(products, replace=True, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert engine.run(queries("shoe"), ALL).counts()["ok"] == 1
    engine.connection.client.indices.delete(index=index_name)


def test_a_missing_index_fails_every_query_with_a_reason(elasticsearch_url) -> None:
    run = ElasticsearchEngine(elasticsearch_url, "no-such-index").run(queries("shoe", "dish"), ALL)
    assert run.status["status"].tolist() == ["failed"] * 2 and "no such index" in run.status["reason"][0]


def test_the_fingerprint_changes_with_a_document_and_with_nothing_else(elasticsearch_url, products, index_name) -> None:
    engine = ElasticsearchEngine.from_products(elasticsearch_url, index_name, products, progress=False)
    before = engine.fingerprint
    engine.run(queries("shoe"), ALL)
    assert engine.fingerprint == before
    engine.connection.client.index(index=index_name, id="B1", document={"product_id": "B1", "title": "blue"}, refresh=True)
    assert engine.fingerprint != before
    engine.connection.client.indices.delete(index=index_name)


def test_exact_totals_count_beyond_ten_thousand(elasticsearch_url, index_name) -> None:
    many = pd.DataFrame({"product_id": [f"P{i:05}" for i in range(10_050)], "title": ["shoe"] * 10_050})
    rough = ElasticsearchEngine.from_products(elasticsearch_url, index_name, many, progress=False)
    exact = ElasticsearchEngine(elasticsearch_url, index_name, exact_totals=True)
    title = MultiMatch({"title": 1})
    assert exact.run(queries("shoe"), title).status["total_hits"].tolist() == [10_050]
    assert rough.run(queries("shoe"), title).status["total_hits"].isna().all()
    too_deep = exact.run(queries("shoe"), title, depth=10_001)
    assert too_deep.counts()["failed"] == 1 and "max_result_window" in too_deep.status["reason"][0]
    rough.connection.client.indices.delete(index=index_name)
