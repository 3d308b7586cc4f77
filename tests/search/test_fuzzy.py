"""The trie walk against rapidfuzz's optimal string alignment over whole vocabularies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from toolkit.search.fuzzy import FuzzyIndex, allowed_edits

word = st.text(alphabet="abcé𝒜", min_size=1, max_size=9)


@given(st.sets(word, max_size=60), word, st.integers(0, 2), st.integers(0, 4))
@settings(max_examples=500, deadline=None)
def test_walk_equals_rapidfuzz(vocabulary, token, edits, prefix):
    terms = sorted(vocabulary)
    expected = [(i, distance) for i, term in enumerate(terms)
                if (distance := OSA.distance(token, term)) <= edits and term.startswith(token[:prefix])]
    found, distances = FuzzyIndex(terms).within(token, edits, prefix)
    assert list(zip(found.tolist(), distances.tolist(), strict=True)) == expected


@given(st.sets(st.text(alphabet="ab", min_size=1, max_size=6), max_size=100), st.text(alphabet="ab", max_size=6))
@settings(max_examples=300, deadline=None)
def test_walk_equals_rapidfuzz_on_dense_vocabularies(vocabulary, token):
    terms = sorted(vocabulary)
    found, _ = FuzzyIndex(terms).within(token, 2)
    assert found.tolist() == [i for i, term in enumerate(terms) if OSA.distance(token, term) <= 2]


def test_golden_vocabulary_equals_rapidfuzz(golden_engine):
    terms = golden_engine.vocabulary
    walk = FuzzyIndex(terms)
    for token in ("shoe", "wireless", "a" * 255, "日本", "x"):
        found, _ = walk.within(token, 2)
        assert found.tolist() == [i for i, term in enumerate(terms) if OSA.distance(token, term, score_cutoff=2) <= 2]


@pytest.mark.parametrize(("token", "edits"), [("ab", 0), ("abc", 1), ("abcde", 1), ("abcdef", 2), ("𝒜𝒜", 0), ("𝒜𝒜𝒜", 1)])
def test_auto_counts_code_points(token, edits):
    assert allowed_edits(token, "AUTO") == edits
    assert allowed_edits(token, 0) == 0
