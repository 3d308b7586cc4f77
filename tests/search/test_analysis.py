"""Tokens of any text: windows, order, and agreement with simpler oracles where those apply."""

import json
import re
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.search.analysis import Analyzer, SurfaceWords, code_points
from toolkit.search.word_break import MAX_TOKEN_UNITS, _scan, word_breaker

ANALYZER = Analyzer()
RANGES = json.loads(resources.files("toolkit.search").joinpath("data/word_break_properties.json").read_text())["ranges"]
# One code point of every word-break class (and a lone surrogate): the automaton sees nothing else.
REPRESENTATIVES = sorted({number: chr(first) for first, _, number in reversed(RANGES)}.values()) + ["\ud800", "A", "é"]

any_text = st.one_of(st.text(), st.text(alphabet=REPRESENTATIVES, max_size=60))


def units(word):
    return len(word.encode("utf-16-le", "surrogatepass")) // 2


@given(any_text)
@settings(max_examples=300, deadline=None)
def test_spans_are_ordered_pieces_of_the_text_within_the_window(text):
    starts, ends = word_breaker().spans(code_points(text))
    assert (starts < ends).all() and (ends[:-1] <= starts[1:]).all() and (ends <= len(text)).all()
    assert all(units(text[a:b]) <= MAX_TOKEN_UNITS for a, b in zip(starts, ends, strict=True))


@given(any_text)
@settings(max_examples=200, deadline=None)
def test_compiled_scan_equals_its_python_twin(text):
    breaker, points = word_breaker(), code_points(text)
    starts, ends = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    found = _scan.py_func(points, breaker.class_of, breaker.step, breaker.accepts, starts, ends)
    assert [part.tolist() for part in breaker.spans(points)] == [starts[:found].tolist(), ends[:found].tolist()]


@given(st.text(alphabet="abcXYZ019 -/+#@&()\n", max_size=400))
@settings(max_examples=200, deadline=None)
def test_plain_text_splits_at_everything_but_letters_and_digits(text):
    expected = [piece for run in re.findall("[a-z0-9]+", text.lower()) for piece in re.findall(".{1,255}", run)]
    assert ANALYZER.terms(text) == expected


@given(st.lists(any_text, max_size=8))
@settings(max_examples=100, deadline=None)
def test_a_column_keeps_its_texts_apart(texts):
    words = SurfaceWords(ANALYZER)
    terms, document = words.column(texts)
    names = list(words.terms)
    found = [[] for _ in texts]
    for term, row in zip(terms, document, strict=True):
        found[row].append(names[term])
    assert found == [ANALYZER.terms(text) for text in texts]


def test_surface_words_survive_growth():
    texts = [f"w{i}x W{i}X {'long' * (i % 50)}{i}" for i in range(60_000)]
    words = SurfaceWords(ANALYZER)
    for first in range(0, len(texts), 20_000):
        terms, document = words.column(texts[first:first + 20_000])
        names = list(words.terms)
        for row in (0, 7, 19_999):
            assert [names[t] for t in terms[document == row]] == ANALYZER.terms(texts[first + row])
    assert len(words.terms) == 120_000


@pytest.mark.parametrize(("text", "lengths"), [
    ("a" * 600, [255, 255, 90]),
    ("a" * 255, [255]),
    ("\U0001d400" * 300, [127, 127, 46]),  # two UTF-16 units each: a window of 255 holds 127
    ("_" * 300 + "a", [255]),  # a run without a letter is skipped until the letter is in the window
])
def test_long_words_continue_as_new_tokens(text, lengths):
    assert [len(term) for term in ANALYZER.terms(text)][-len(lengths):] == lengths


@pytest.mark.parametrize(("text", "terms"), [
    ("", []), ("!!! ...", []), ("a\x00b", ["a", "b"]), ("\ud800", []), ("x\udfffy", ["x", "y"]),
    ("ΣΊΣΥΦΟΣ", ["σίσυφοσ"]), ("İ", ["i"]), ("ᴀ", ["A"]), ("Men’s", ["men's"]), ("__", []),
])
def test_traps(text, terms):
    assert ANALYZER.terms(text) == terms
