"""Per-field lists decide the top k for every weight vector: proved against full searches of the embedded engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolkit.search import EmbeddedEngine, FieldLists, MultiMatch

FIELDS = ("title", "brand", "description")
WORDS = ["red", "reds", "shoe", "shoes", "blue", "for", "men", "acme"]
CLOSE = 4e-6  # float32 scores of one product from w * s and from the engine differ by less than this, relatively


@st.composite
def catalogues(draw) -> pd.DataFrame:
    """Small catalogues of few words: many ties, exact copies, missing fields."""
    text = st.lists(st.sampled_from(WORDS), min_size=0, max_size=6).map(" ".join)
    cell = st.one_of(text, text, st.none())
    rows = draw(st.lists(st.tuples(*[cell] * len(FIELDS)), min_size=1, max_size=40))
    return pd.DataFrame(rows, columns=list(FIELDS), dtype=object).assign(product_id=[f"P{(i * 7) % 41:02}" for i in range(len(rows))])


def ranked(lists: FieldLists, query_id: str, weights: dict[str, float], depth: int) -> list[tuple[str, float]]:
    """The definition, read off the tables: best weighted list score, then products that only weight 0 finds."""
    table = lists.table[lists.table["query_id"] == query_id]
    best: dict[str, float] = {}
    for row in table.itertuples():
        if weights.get(row.field, 0) > 0:
            best[row.product_id] = max(best.get(row.product_id, 0.0), float(np.float32(np.float32(weights[row.field]) * np.float32(row.score))))
    order = sorted(best.items(), key=lambda pair: (-pair[1], pair[0].encode()))
    first = lists.first_matches[lists.first_matches["query_id"] == query_id]
    zero = {row.product_id for part in (table, first) for row in part.itertuples() if weights.get(row.field) == 0} - best.keys()
    return (order + [(product_id, 0.0) for product_id in sorted(zero, key=str.encode)])[:depth]


def searched(engine, query: str, config: MultiMatch, depth: int) -> list[tuple[str, float]]:
    found = engine.run(pd.DataFrame({"query_id": ["q"], "query": [query]}), config, depth).rankings
    return list(zip(found["product_id"], found["score"], strict=True))


def lists_of(engine, query: str, config: MultiMatch, depth: int) -> FieldLists:
    return FieldLists.from_engine(engine, pd.DataFrame({"query_id": ["q"], "query": [query]}), config, depth, progress=False)


queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
settled = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@settled
@given(catalogues(), queries, st.integers(1, 6), st.sampled_from(["or", "and"]), st.sampled_from([0, "AUTO"]),
       st.dictionaries(st.sampled_from(FIELDS), st.one_of(st.just(0.0), st.integers(-10, 10).map(lambda power: 2.0**power)), min_size=1))
def test_weights_that_round_nothing_give_identical_pages(products, query, depth, operator, fuzziness, weights) -> None:
    engine = EmbeddedEngine.build(products, FIELDS, progress=False)
    config = MultiMatch(weights, operator=operator, fuzziness=fuzziness)
    lists = lists_of(engine, query, config, depth)
    assert ranked(lists, "q", weights, depth) == searched(engine, query, config, depth)


@settled
@given(catalogues(), queries, st.integers(1, 6), st.dictionaries(st.sampled_from(FIELDS), st.floats(1e-3, 1e3), min_size=2))
def test_any_weights_give_the_same_page_up_to_rounding(products, query, depth, weights) -> None:
    engine = EmbeddedEngine.build(products, FIELDS, progress=False)
    config = MultiMatch(weights)
    ours, theirs = ranked(lists_of(engine, query, config, depth), "q", weights, depth), searched(engine, query, config, depth)
    assert len(ours) == len(theirs)
    np.testing.assert_allclose([score for _, score in ours], [score for _, score in theirs], rtol=CLOSE)
    whole = dict(searched(engine, query, config, 100))
    for (a, score), (b, _) in zip(ours, theirs, strict=True):
        assert a == b or whole[a] == pytest.approx(score, rel=CLOSE) == whole[b]  # only near ties change places


@settled
@given(catalogues(), queries, st.integers(1, 4), st.sampled_from([0.1, 0.5, 1.0]),
       st.fixed_dictionaries({name: st.floats(0.01, 100) for name in FIELDS}))
def test_field_scores_of_the_union_and_the_bound_of_the_rest(products, query, depth, tie, weights) -> None:
    engine = EmbeddedEngine.build(products, FIELDS, progress=False)
    config = MultiMatch(weights, tie_breaker=tie)
    lists = lists_of(engine, query, config, depth)
    weighted = lists.field_scores.matrix().fillna(0.0) * pd.Series(weights) if len(lists.table) else pd.DataFrame(columns=FIELDS)
    exact = weighted.max(axis=1) + tie * (weighted.sum(axis=1) - weighted.max(axis=1))
    known = {product_id: float(score) for (_, product_id), score in exact.items()}
    open_ends = lists.coverage.loc[~lists.coverage["complete"], "field"]
    last = lists.table.groupby("field")["score"].min().reindex(list(open_ends)).mul(pd.Series(weights).reindex(list(open_ends)))
    bound = last.max() + tie * (last.sum() - last.max()) if len(last) else 0.0
    for product_id, score in searched(engine, query, config, 100):
        if product_id in known:
            assert known[product_id] == pytest.approx(score, rel=1e-5)
        else:
            assert score <= bound * (1 + 1e-5)


def test_coverage_says_which_lists_are_complete() -> None:
    products = pd.DataFrame({"product_id": ["b", "a", "c"], "title": ["red shoe", "red", "blue"], "brand": ["acme", "acme", None]})
    engine = EmbeddedEngine.build(products, progress=False)
    asked = pd.DataFrame({"query_id": ["x", "y"], "query": ["red acme", "nothing"]})
    lists = FieldLists.from_engine(engine, asked, MultiMatch({"title": 1, "brand": 1}, fuzziness=0), 2, progress=False)
    assert lists.coverage[["status", "listed", "complete"]].to_numpy().tolist() == [
        ["ok", 2, True], ["ok", 2, True], ["zero_results", 0, True], ["zero_results", 0, True]]
    assert lists.first_matches.empty and lists.failed == () and lists.query_ids == ("x", "y")
    assert lists.table[["field", "product_id", "rank"]].to_numpy().tolist() == [
        ["title", "a", 1], ["title", "b", 2], ["brand", "a", 1], ["brand", "b", 2]]
    cut = FieldLists.from_engine(engine, asked, MultiMatch({"title": 1, "brand": 1}, fuzziness=0), 1, progress=False)
    assert cut.coverage["complete"].tolist() == [False, False, True, True]
    assert cut.first_matches.to_numpy().tolist() == [["x", "title", "a"], ["x", "brand", "a"]]
    assert "4 searches" not in cut.summary() and f"{cut.searches} searches" in cut.summary()
