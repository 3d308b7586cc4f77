"""The engine against plain numpy, its edges, and its files."""

import random
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.search import EmbeddedEngine, IndexFileError, MultiMatch, SearchEngine
from toolkit.search.embedded import field_weights, tie_of
from toolkit.search.trace import trace
from toolkit.tables import TableError

CONFIG = MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2})


@pytest.fixture(scope="module")
def engine(make_products):
    return EmbeddedEngine.build(make_products(7, 150), progress=False)


def one(text):
    return pd.DataFrame({"query_id": ["q"], "query": pd.Series([text], dtype=object)})  # str columns hold no lone surrogate


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_kernel_equals_plain_numpy(engine, make_config, make_queries, seed):
    rng = random.Random(seed)
    config, text = make_config(rng), make_queries(rng, 1)["query"][0]
    run = engine.run(one(text), config, depth=len(engine.product_ids))
    plan = engine.plan(text, config)
    weights = field_weights(engine.index, plan, config)
    scores = [trace(engine.index, plan, weights, tie_of(config), doc).score for doc in range(len(engine.product_ids))]
    expected = sorted(((-s, d) for d, s in enumerate(scores) if not np.isnan(s)))
    assert run.rankings["product_id"].tolist() == [engine.product_ids[d] for _, d in expected]
    assert run.rankings["score"].tolist() == [-s for s, _ in expected]
    assert run.status["total_hits"].tolist() == [len(expected)]


def test_scores_do_not_depend_on_row_order(make_products, make_queries):
    products, queries = make_products(8, 120), make_queries(random.Random(1), 30)
    runs = [EmbeddedEngine.build(table, progress=False).search(queries, CONFIG, 200)
            for table in (products, products.iloc[::-1])]
    pd.testing.assert_frame_equal(*runs)


def test_rankings_are_ordered_prefixes(engine, make_queries):
    queries = make_queries(random.Random(2), 30)
    deep, short = engine.search(queries, CONFIG, 150), engine.search(queries, CONFIG, 7)
    pd.testing.assert_frame_equal(deep[deep["rank"] <= 7].reset_index(drop=True), short)
    for _, hits in deep.groupby("query_id"):
        assert hits["rank"].tolist() == list(range(1, len(hits) + 1))
        keys = list(zip(-hits["score"], hits["product_id"].str.encode("utf-8"), strict=True))
        assert all(a < b for a, b in pairwise(keys))


def test_it_is_a_search_engine(engine):
    assert isinstance(engine, SearchEngine)
    assert engine.fingerprint[:12] in engine.run(one("shoe"), CONFIG).engine


@pytest.mark.parametrize("text", ["", "!!!", "\ud800", "\x00", "zzzzzzzzz", "🇺"])
def test_queries_without_terms_have_no_results(engine, text):
    run = engine.run(one(text), CONFIG)
    assert run.status["status"].tolist() == ["zero_results"] and run.rankings.empty
    assert run.rankings.columns.tolist() == ["query_id", "product_id", "rank", "score"]


def test_no_queries(engine):
    run = engine.run(pd.DataFrame({"query_id": pd.Series([], dtype="str"), "query": pd.Series([], dtype="str")}), CONFIG)
    assert run.rankings.empty and run.counts()["queries"] == 0


def test_a_zero_weight_matches_with_score_zero(engine):
    run = engine.run(one("other"), MultiMatch({"category": 0}), depth=5)
    assert run.rankings["score"].tolist() == [0.0] * 5 and run.status["total_hits"].tolist() == [150]
    assert run.rankings["product_id"].tolist() == list(engine.product_ids[:5])


def test_wrong_arguments_are_refused(engine):
    with pytest.raises(ValueError, match="field 'color' is not indexed; indexed fields"):
        engine.search(one("x"), MultiMatch({"color": 1}))
    for depth in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="depth"):
            engine.search(one("x"), CONFIG, depth)
    with pytest.raises(TypeError, match="config is dict .*expected a MultiMatch"):
        engine.search(one("x"), {"title": 1})
    with pytest.raises(TableError, match="queries: got list; expected a DataFrame"):
        engine.search(["x"], CONFIG)
    with pytest.raises(ValueError, match="query is None"):
        engine.search(one(None), CONFIG)
    with pytest.raises(ValueError, match="occurs more than once"):
        engine.search(pd.concat([one("a"), one("b")]), CONFIG)


@pytest.mark.parametrize("fixed", [{"operator": "or"}, {"operator": "and"}])
def test_field_scores_are_those_of_single_field_searches(engine, make_queries, fixed):
    queries = make_queries(random.Random(3), 20)
    config = MultiMatch(CONFIG.fields, **fixed)
    everything = engine.search(queries, config, 150)
    scores = engine.field_scores(queries, config, everything)
    for field in engine.fields:
        alone = engine.search(queries, MultiMatch({field: 1}, **fixed), 150).drop(columns="rank")
        mine = scores.table.loc[scores.table["field"] == field].drop(columns="field")
        order = ["query_id", "product_id"]
        pd.testing.assert_frame_equal(mine.sort_values(order, ignore_index=True), alone.sort_values(order, ignore_index=True))
    assert scores.matrix().shape == (len(everything), 5)


def test_field_scores_refuse_unknown_pairs(engine):
    with pytest.raises(ValueError, match="query_id 'r' is not among"):
        engine.field_scores(one("shoe"), CONFIG, pd.DataFrame({"query_id": ["r"], "product_id": [engine.product_ids[0]]}))
    with pytest.raises(ValueError, match="product_id 'nowhere' is not in the index"):
        engine.field_scores(one("shoe"), CONFIG, pd.DataFrame({"query_id": ["q"], "product_id": ["nowhere"]}))
    assert engine.field_scores(one("shoe"), CONFIG, pd.DataFrame({"query_id": [], "product_id": []}, dtype="str")).table.empty


def test_saved_and_loaded_searches_alike(engine, make_queries, tmp_path):
    loaded = EmbeddedEngine.load(engine.save(tmp_path / "index"))
    queries = make_queries(random.Random(5), 20)
    pd.testing.assert_frame_equal(engine.search(queries, CONFIG), loaded.search(queries, CONFIG))
    assert loaded.fingerprint == engine.fingerprint and isinstance(loaded.index.docs, np.memmap)
    engine.save(tmp_path / "index")  # replaces
    assert len(EmbeddedEngine.load(tmp_path / "index").vocabulary) == len(engine.vocabulary)


def test_an_empty_index_can_be_saved(tmp_path):
    engine = EmbeddedEngine.build(pd.DataFrame({"product_id": ["1"], "title": [""]}), progress=False)
    assert EmbeddedEngine.load(engine.save(tmp_path)).search(one("x"), MultiMatch({"title": 1})).empty


def test_damaged_files_are_refused(engine, tmp_path):
    folder = engine.save(tmp_path / "index")
    data = bytearray((folder / "den.npy").read_bytes())
    data[-1] ^= 1
    (folder / "den.npy").write_bytes(data)
    with pytest.raises(IndexFileError, match=r"den\.npy: content differs"):
        EmbeddedEngine.load(folder)
    (folder / "den.npy").unlink()
    with pytest.raises(IndexFileError, match=r"den\.npy: missing"):
        EmbeddedEngine.load(folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(IndexFileError, match=r"manifest\.json: missing"):
        EmbeddedEngine.load(folder)
    with pytest.raises(IndexFileError, match="not empty"):
        engine.save(folder)


def test_vocabulary_and_frequencies(engine):
    assert engine.vocabulary == sorted(engine.vocabulary)
    assert engine.document_frequency("other", "category") == 150
    assert engine.document_frequency("nothing", "title") == 0
    assert engine.analyze("Men’s USB-C") == ["men's", "usb", "c"]
