"""Cells that went through a text column."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.datasets.textified import plain


@pytest.mark.parametrize(("text", "value", "cut"), [
    ("None", None, False), ("NaN", None, False), ("", None, False), ("none such", "none such", False),
    ("['a', 'b']", ["a", "b"], False), ('["a", "b"]', ["a", "b"], False), ("[]", [], False), ("[1, None]", [1, None], False),
    ("['a', 'b", ["a"], True), ("['a', 'b'", ["a"], True), ("['a", [], True), ("['a', 'b', ...]", ["a", "b"], True),
    ("array(['a', 'b'], dtype=object)", ["a", "b"], False), ("['a' 'b']", ["a", "b"], False), ("['a' 'b' ... 'z']", ["a", "b"], True),
    ("array(['a', 'b', ..., 'y', 'z'], dtype=object)", ["a", "b"], True), ("[new shoes", "[new shoes", False), ("[1] shoes", "[1] shoes", False),
    ("{'x': ['a', 'b', 'c", {"x": ["a", "b"]}, True), ('{"x": [{"id": "a"}, {"id": "b"}, {"i', {"x": [{"id": "a"}, {"id": "b"}]}, True),
    ("{size} shoes", "{size} shoes", False), ("[red] shoes", "[red] shoes", False),
])
def test_plain(text, value, cut):
    assert plain(text) == (value, cut)


IDS = st.lists(st.text("ab'\",[] \\é", min_size=1, max_size=5), max_size=6)


@settings(deadline=None)
@given(IDS)
def test_python_lists_come_back(ids):
    assert plain(repr(ids)) == (ids, False)


@settings(deadline=None)
@given(IDS.filter(bool), st.data())
def test_a_cut_list_is_a_beginning_of_the_whole(ids, data):
    text = repr(ids)
    value, cut = plain(text[:data.draw(st.integers(1, len(text) - 1))])
    assert cut
    assert value == ids[:len(value)]
