"""Five lists suffice: any weights from field lists give the rankings of a full search."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolkit.diagnosis.list_evaluation import evaluate_lists, list_rankings
from toolkit.diagnosis.list_kernels import BORDER, NEAR_TIE
from toolkit.diagnosis.weight_space import objective, weight_space
from toolkit.evaluation import evaluate
from toolkit.search import EmbeddedEngine, MultiMatch
from toolkit.search.field_lists import FieldLists

pytestmark = pytest.mark.filterwarnings("ignore:no judgment reaches")  # drawn judgments may all be low
FIELDS = ("title", "brand", "color")
WORDS = ("red", "shoe", "nike", "table", "lamp", "oak", "40", "usb")
text = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
weight = st.floats(-3, 3).map(lambda x: 10.0 ** x) | st.just(0.0)
SLOW = settings(max_examples=35, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@st.composite
def shops(draw):
    """A tiny catalogue full of ties, missing fields and equal texts, queries, and grades."""
    rows = draw(st.lists(st.tuples(text, text | st.none(), text | st.none()), min_size=3, max_size=25))
    products = pd.DataFrame(rows, columns=list(FIELDS)).assign(product_id=[f"p{i:02}" for i in range(len(rows))])
    queries = draw(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3))
    grades = draw(st.lists(st.integers(0, 3), min_size=len(rows) * len(queries), max_size=len(rows) * len(queries)))
    judgments = pd.DataFrame([(f"q{i}", product, float(grades[i * len(rows) + j])) for i in range(len(queries))
                              for j, product in enumerate(products["product_id"])], columns=["query_id", "product_id", "grade"])
    return products, pd.DataFrame({"query_id": [f"q{i}" for i in range(len(queries))], "query": queries}), judgments


@SLOW
@given(shop=shops(), fields=st.dictionaries(st.sampled_from(FIELDS), weight, min_size=1), k=st.sampled_from([1, 3, 5]),
       operator=st.sampled_from(["or", "and"]), fuzziness=st.sampled_from([0, "AUTO"]))
def test_lists_give_the_ranking_of_a_full_search(shop, fields, k, operator, fuzziness):
    products, queries, judgments = shop
    config = MultiMatch(fields, operator=operator, fuzziness=fuzziness)
    engine = EmbeddedEngine.build(products.astype({f: "str" for f in FIELDS}), FIELDS, progress=False)
    lists = FieldLists.from_engine(engine, queries, MultiMatch(dict.fromkeys(FIELDS, 1.0), operator=operator, fuzziness=fuzziness),
                                   k + 1, progress=False)
    space = weight_space(lists)
    found = evaluate_lists(space, [config], [objective(space, judgments, f"ndcg@{k}")])
    searched = engine.search(queries, config, k)
    ours = list_rankings(space, config, k)
    for i, query in enumerate(space.query_ids):
        one, two = (frame[frame["query_id"] == query]["product_id"].tolist() for frame in (ours, searched))
        if found.flags[i, 0] == 0:
            # Products of equal grade may change places by rounding; nothing else may.
            if one != two:
                grade = judgments[judgments["query_id"] == query].set_index("product_id")["grade"]
                assert [grade[p] for p in one] == [grade[p] for p in two]
    truth = evaluate(searched, judgments, [f"ndcg@{k}"], queries=queries, on_no_overlap="zero").to_frame().set_index("query_id")["value"]
    certain = found.flags[:, 0] == 0
    expected = truth.reindex(list(space.query_ids)).to_numpy()
    np.testing.assert_array_equal(found.values[certain, 0, 0], expected[certain])  # to the last bit


@SLOW
@given(shop=shops(), fields=st.dictionaries(st.sampled_from(FIELDS), weight, min_size=1), tie=st.sampled_from([0.1, 0.5, 1.0]))
def test_with_a_tie_breaker_unflagged_values_are_those_of_a_full_search(shop, fields, tie):
    products, queries, judgments = shop
    config = MultiMatch(fields, tie_breaker=tie)
    engine = EmbeddedEngine.build(products.astype({f: "str" for f in FIELDS}), FIELDS, progress=False)
    space = weight_space(FieldLists.from_engine(engine, queries, MultiMatch(dict.fromkeys(FIELDS, 1.0)), 6, progress=False))
    found = evaluate_lists(space, [config], [objective(space, judgments, "ndcg@5")])
    truth = evaluate(engine.search(queries, config, 5), judgments, ["ndcg@5"], queries=queries, on_no_overlap="zero").to_frame()
    certain = found.flags[:, 0] == 0
    expected = truth.set_index("query_id")["value"].reindex(list(space.query_ids)).to_numpy()
    np.testing.assert_allclose(found.values[certain, 0, 0], expected[certain], rtol=0, atol=1e-15)


def test_six_orders_of_magnitude_on_a_catalogue(weight_catalogue, weight_engine, weight_lists):
    from toolkit.diagnosis.configs import LAB_BASE, log_uniform
    from toolkit.diagnosis.sweeping import sweep

    configs = log_uniform(LAB_BASE, 150, low=1e-3, high=1e3, seed=5, zero_share=0.2, zero="match")
    kernel = sweep(weight_engine, weight_catalogue.queries, weight_catalogue.judgments, configs, progress=False)
    lists = sweep(weight_lists, None, weight_catalogue.judgments, configs, progress=False)
    different = kernel.ranking_prints != lists.ranking_prints
    assert different.mean() < 1e-3  # only near ties may be ordered otherwise
    certain = lists.table["uncertain"].sum() / 3
    assert certain < 0.002 * different.size
    np.testing.assert_array_equal(np.isnan(kernel.values), np.isnan(lists.values))
    assert (kernel.values != lists.values)[~np.isnan(kernel.values)].sum() <= 3 * certain


def near(gap: float, other_grade: float = 0.0):
    """Two products of different grades whose scores in different fields differ by a relative gap."""
    table = pd.DataFrame([("q", "a", "title", 1.0), ("q", "b", "brand", 1.0 + gap)], columns=["query_id", "product_id", "field", "score"])
    judgments = pd.DataFrame([("q", "a", 3.0), ("q", "b", other_grade)], columns=["query_id", "product_id", "grade"])
    space = weight_space(table, depth=3)
    return evaluate_lists(space, [MultiMatch({"title": 1, "brand": 1})], [objective(space, judgments, "ndcg@1")]).counts()


def test_near_ties_that_matter_are_counted():
    assert near(1e-6)["near_tie"] == 1
    assert near(1e-4)["near_tie"] == 0  # far enough
    assert near(1e-6, other_grade=3.0)["near_tie"] == 0  # the same metric either way


def test_a_list_as_short_as_the_ranking_cannot_show_ties_at_its_border():
    table = pd.DataFrame([("q", "a", "title", 1.0)], columns=["query_id", "product_id", "field", "score"])
    judgments = pd.DataFrame([("q", "a", 3.0)], columns=["query_id", "product_id", "grade"])
    flags = [evaluate_lists(space := weight_space(table, depth=depth), [MultiMatch({"title": 1})], [objective(space, judgments, "ndcg@1")]).flags
             for depth in (1, 2)]
    assert flags[0][0, 0] == BORDER and flags[1][0, 0] == 0 and NEAR_TIE != BORDER


def test_what_lists_cannot_answer_is_refused():
    table = pd.DataFrame([("q", "a", "title", 1.0)], columns=["query_id", "product_id", "field", "score"])
    space = weight_space(table, depth=1)
    judgments = pd.DataFrame([("q", "a", 3.0)], columns=["query_id", "product_id", "grade"])
    with pytest.raises(ValueError, match="1 deep, asked for the top 10"):
        evaluate_lists(space, [MultiMatch({"title": 1})], [objective(space, judgments, "ndcg@10")])
    with pytest.raises(ValueError, match=r"no lists of field\(s\) \['brand'\]"):
        evaluate_lists(space, [MultiMatch({"brand": 1})], [objective(space, judgments, "ndcg@1")])
    with pytest.raises(ValueError, match="cut lists alone do not hold them"):
        evaluate_lists(space, [MultiMatch({"title": 1}, tie_breaker=0.5)], [objective(space, judgments, "ndcg@1")])
    with pytest.raises(ValueError, match="scores of matches are positive"):
        weight_space(table.assign(score=-1.0))
    with pytest.raises(ValueError, match="twice in one field's list"):
        weight_space(pd.concat([table, table]))
    with pytest.raises(ValueError, match="offered are ndcg"):
        objective(space, judgments, "ap@10")
