"""MultiMatch: what it refuses, and that Elasticsearch reads the same float32 numbers."""

import json
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.search import MultiMatch


def java_parse_float(text):
    """Nearest float32 of a decimal, ties to even: what ``Float.parseFloat`` returns."""
    exact, near = Fraction(Decimal(text)), np.float32(float(text))
    around = [near, np.nextafter(near, np.float32(0)), np.nextafter(near, np.float32(np.inf))]
    return min(around, key=lambda f: (abs(Fraction(float(f)) - exact), int(f.view(np.int32)) & 1))


@given(st.floats(0, 1e30))
def test_elasticsearch_reads_the_weight_this_engine_uses(weight):
    name, _, sent = MultiMatch({"title": weight}).to_query("x")["multi_match"]["fields"][0].partition("^")
    assert name == "title"
    assert java_parse_float(sent) == np.float32(weight)


def test_the_rounding_that_made_this_necessary():
    halfway = 1.0000000596046448  # prints as a decimal above the middle of two float32 numbers, is the middle
    assert java_parse_float(repr(halfway)) != np.float32(halfway)
    assert MultiMatch({"title": halfway}).to_query("x")["multi_match"]["fields"] == ["title^1.0"]


def test_query_body():
    config = MultiMatch({"title": 4, "brand": 0.5}, tie_breaker=0.3, operator="and")
    assert config.to_query("  OR (size:10)")["multi_match"] == {
        "query": "  OR (size:10)", "type": "best_fields", "operator": "and", "fields": ["title^4.0", "brand^0.5"],
        "tie_breaker": float(np.float32(0.3)), "fuzziness": "AUTO", "prefix_length": 0, "max_expansions": 50}
    assert "fuzziness" not in MultiMatch({"title": 1}, fuzziness=0).to_query("x")["multi_match"]


def test_numbers_of_numpy_are_numbers():
    config = MultiMatch({"title": np.float32(2), "brand": np.int64(3)}, fuzziness="AUTO", tie_breaker=np.float64(0.5),
                        prefix_length=np.int64(1), max_expansions=np.int32(7))
    assert config == MultiMatch({"title": 2, "brand": 3}, tie_breaker=0.5, prefix_length=1, max_expansions=7)
    assert json.loads(json.dumps(config.to_query("x"))) == config.to_query("x")


def test_default_ties():
    assert [MultiMatch({"a": 1}).tie, MultiMatch({"a": 1}, type="most_fields").tie, MultiMatch({"a": 1}, tie_breaker=0.5).tie] == [0, 1, 0.5]


@pytest.mark.parametrize("wrong", [
    {"fields": {}}, {"fields": {"": 1}}, {"fields": {"a^2": 1}}, {"fields": {"a*": 1}}, {"fields": {3: 1}},
    {"fields": {"a": -1}}, {"fields": {"a": float("nan")}}, {"fields": {"a": "1"}}, {"fields": {"a": True}}, {"fields": {"a": 1e31}},
    {"fields": {"a": 10**400}}, {"fields": {"a": None}}, {"fields": ["a"]}, {"fields": "a"}, {"tie_breaker": "0.3"}, {"tie_breaker": True}, {"type": "cross_fields"}, {"operator": "AND"}, {"fuzziness": 1}, {"fuzziness": False},
    {"tie_breaker": 1.5}, {"prefix_length": -1}, {"max_expansions": 0}, {"max_expansions": 2.0}])
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ValueError, match="MultiMatch"):
        MultiMatch(**{"fields": {"a": 1}, **wrong})


def test_equal_configurations_hash_alike_whatever_the_order():
    one, other = MultiMatch({"a": 1, "b": 2.0}), MultiMatch({"b": 2, "a": 1.0})
    assert one == other and hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.with_fields(a=3).fields == {"a": 3.0, "b": 2.0}
