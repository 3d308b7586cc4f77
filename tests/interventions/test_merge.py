"""The merge always gives a permutation, whatever a model answers."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.interventions.merge import is_permutation, merge_order, read_numbers

anything = st.one_of(
    st.text(max_size=200), st.none(), st.integers(), st.binary(max_size=20), st.dictionaries(st.text(max_size=3), st.integers()),
    st.lists(st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.none(), st.booleans(), st.lists(st.integers()))),
)


@given(st.integers(0, 120), anything)
def test_any_answer_gives_a_permutation(candidates, answer):
    merge = merge_order(candidates, read_numbers(answer))
    assert is_permutation(merge.order, candidates)
    assert 0 <= merge.named <= candidates


@given(st.integers(1, 60), st.lists(st.integers(-5, 70), max_size=90))
def test_named_come_first_in_their_order_and_the_rest_keep_theirs(candidates, numbers):
    merge = merge_order(candidates, numbers)
    named = list(dict.fromkeys(n - 1 for n in numbers if 1 <= n <= candidates))
    rest = [i for i in range(candidates) if i not in named]
    assert merge.order.tolist() == named + rest
    assert merge.named == len(named) and merge.ignored == len(numbers) - len(named)


@given(st.permutations(list(range(1, 21))))
def test_a_full_answer_is_followed_exactly_in_every_form(order):
    for answer in (order, [str(n) for n in order], json.dumps(order), f"Sure! Of the 5 best:\n```json\n{order}\n```\nDone.",
                   ", ".join(map(str, order)), "\n".join(f"{n}." for n in order), " > ".join(map(str, order)),
                   " > ".join(f"[{n}]" for n in order)):
        assert read_numbers(answer) == list(order)


@pytest.mark.parametrize("answer", ["", "none of them", "2.5", "-3", "B00012", "[]", "[1.5, true, null]", None, {"1": 2}, [True, 2.0, "x1"]])
def test_answers_without_a_candidate_number(answer):
    assert read_numbers(answer) == []


def test_a_ten_megabyte_answer_is_read():
    answer = "[" + ", ".join(["7"] * 3_000_000) + ", 2]"
    assert len(answer) > 9_000_000
    merge = merge_order(10, read_numbers(answer))
    assert merge.order[:2].tolist() == [6, 1] and merge.ignored == 2_999_999


def test_an_integer_too_long_to_be_a_candidate_is_no_number():
    assert read_numbers("9" * 10_000) == []
    assert not merge_order(3, [10**9]).changed


def test_changed_means_another_order():
    assert not merge_order(3, [1, 2]).changed
    assert merge_order(3, [2]).changed
    assert not is_permutation(np.array([0, 0, 2]), 3)
