"""How tokens become clauses: merging, flattening, and when Elasticsearch is not reproducible."""

import random

import numpy as np
import pandas as pd
import pytest

from toolkit.search import EmbeddedEngine, MultiMatch
from toolkit.search.plan import Group, Leaf, merge, plan_field

F32 = np.float32


def leaf(term, boost=1.0, df=3):
    return Leaf(term, F32(boost), df)


def group(*leaves):
    return Group(tuple(leaves))


def test_or_drops_empty_tokens_and_and_fails_on_them():
    assert plan_field(0, [leaf(1), None], "or").clauses == (leaf(1),)
    assert plan_field(0, [leaf(1), None], "and").clauses == ()
    assert plan_field(0, [None], "or").clauses == ()


def test_equal_leaves_add_their_boosts():
    plan = plan_field(0, [leaf(1, 0.75), leaf(2), leaf(1, 0.75)], "or")
    assert plan.clauses == (leaf(1, 1.5), leaf(2)) and not plan.irreproducible


def test_one_plain_group_is_the_field_query_even_under_and():
    plan = plan_field(0, [group(leaf(1), leaf(2, 0.5))], "and")
    assert plan.clauses == (leaf(1), leaf(2, 0.5)) and plan.inlinable and not plan.require_all


def test_equal_groups_stay_nested_with_their_boosts_added():
    both = group(leaf(1), leaf(2, 0.5))
    plan = plan_field(0, [both, both, leaf(9)], "or")
    assert plan.clauses == (Group(both.leaves, F32(2)), leaf(9)) and plan.inlinable


def test_plain_groups_are_flattened_under_or_only():
    nodes = [group(leaf(1), leaf(2, 0.5)), leaf(3)]
    assert plan_field(0, nodes, "or").clauses == (leaf(1), leaf(2, 0.5), leaf(3))
    assert plan_field(0, nodes, "and").clauses == tuple(nodes)


def test_a_term_of_two_tokens_keeps_the_first_df_and_is_flagged():
    plan = plan_field(0, [group(leaf(1, 1, 5), leaf(2, 0.5, 5)), group(leaf(2, 1, 9), leaf(3, 0.5, 9))], "or")
    assert plan.clauses == (leaf(1, 1, 5), leaf(2, 1.5, 5), leaf(3, 0.5, 9)) and plan.irreproducible


def test_equal_boosts_keep_the_first_df_for_certain_unless_the_list_was_rebuilt():
    alike = [leaf(1, 0.5, 5), leaf(1, 0.5, 9)]
    assert merge(alike) == ([leaf(1, 1.0, 5)], False)
    assert merge(alike, rebuilt=True) == ([leaf(1, 1.0, 5)], True)
    assert merge([leaf(1, 0.5, 5), leaf(1, 1, 5)]) == ([leaf(1, 1.5, 5)], False)


@pytest.fixture(scope="module")
def engine():
    titles = ["shoe", "shoes", "shoes red", "red shoe", "red", "nike shoe", "blue"]
    return EmbeddedEngine.build(pd.DataFrame({"product_id": list("abcdefg"), "title": titles}), progress=False)


@pytest.mark.parametrize(("query", "operator", "fuzziness", "flag"), [
    ("shoe shoes", "or", "AUTO", False),  # both tokens expand to the same terms with one df: certain
    ("shoes red", "or", "AUTO", False), ("shoe shoes", "or", 0, False), ("shoe", "or", "AUTO", False)])
def test_flags_of_queries(engine, query, operator, fuzziness, flag):
    run = engine.run(pd.DataFrame({"query_id": ["q"], "query": [query]}), MultiMatch({"title": 1}, operator=operator, fuzziness=fuzziness))
    assert run.status["irreproducible"].tolist() == [flag]


def test_no_query_is_flagged_without_fuzziness(golden_engine, make_config, make_queries):
    rng = random.Random(4)
    queries = make_queries(rng, 200)
    for _ in range(5):
        assert not golden_engine.run(queries, make_config(rng, fuzziness=0)).status["irreproducible"].any()


def test_flagged_queries_exist_and_are_counted(golden_engine):
    queries = pd.DataFrame({"query_id": ["1", "2"], "query": ["cap cat", "cap"]})
    run = golden_engine.run(queries, MultiMatch({"title": 1, "description": 1}))
    assert run.status["irreproducible"].tolist() == [True, False]
    assert run.counts()["irreproducible"] == 1


@pytest.mark.parametrize(("most", "kept"), [
    (1, ["shoes"]), (2, ["saoes", "shoes"]), (3, ["saoes", "shoems", "shoes"]), (4, ["saoes", "shoe", "shoems", "shoes"])])
def test_expansions_keep_the_best_by_boost_then_term(golden_engine, most, kept):
    plan = golden_engine.plan("shoes", MultiMatch({"description": 1}, max_expansions=most))
    assert [golden_engine.vocabulary[leaf.term] for leaf in plan.fields[0].clauses] == kept


def test_prefix_must_be_equal(golden_engine):
    plan = golden_engine.plan("shoes", MultiMatch({"description": 1}, prefix_length=4))
    terms = [golden_engine.vocabulary[leaf.term] for leaf in plan.fields[0].clauses]
    assert terms and all(term.startswith("shoe") for term in terms)
