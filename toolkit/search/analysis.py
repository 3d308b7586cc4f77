"""From text to terms: standard tokenizer, then lower case, then ASCII folding.

``Analyzer.terms`` handles one text (a query); ``Analyzer.column`` a whole column at once.
Both give what Elasticsearch's ``_analyze`` gives for ``standard, lowercase, asciifolding``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources

import numpy as np

from toolkit.search.jit import kernel
from toolkit.search.word_break import word_breaker

ANALYZER = "standard tokenizer (Unicode 12.1, 255 units) > lowercase > asciifolding; Elasticsearch 9.2.0"
"""What the fingerprint of an index says about its analysis."""


def code_points(text: str) -> np.ndarray:
    """The text as uint32 code points; lone surrogates are kept."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _character_map() -> dict[int, str]:
    """Code point -> what lower-casing and then folding make of it; only where it changes."""
    table = json.loads(resources.files(__package__).joinpath("data/charmaps.json").read_text())
    lower = {int(c): to for c, to in table["low"].items()}
    lower.update({c: chr(c + 32) for c in range(ord("A"), ord("Z") + 1)})
    fold = {int(c): to for c, to in table["fold"].items()}
    folded_lower = {c: fold.get(ord(to), to) for c, to in lower.items()}
    return {**fold, **folded_lower}


class Analyzer:
    """The analysis chain, with a memory of the surface words it has seen.

    Source: Elasticsearch 9.2.0 ``_analyze``; the tables are measured (``SCORING.md`` section 1).
    Folding follows lower-casing and may give capitals (a small capital becomes ``A``): they stay.
    """

    def __init__(self) -> None:
        self._breaker = word_breaker()
        self._map = _character_map()

    def normalise(self, word: str) -> str:
        """One surface word as a term."""
        return word.lower() if word.isascii() else word.translate(self._map)

    def spans(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Starts and ends of the tokens of a text given as code points (int64)."""
        return self._breaker.spans(points)

    def terms(self, text: str) -> list[str]:
        """The terms of one text, in order.

        Parameters
        ----------
        text : str
            Any text, also empty, with NUL or with lone surrogates.

        Returns
        -------
        list of str
            Possibly empty (punctuation alone has no terms).
        """
        starts, ends = self.spans(code_points(text))
        return [self.normalise(text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


class SurfaceWords:
    """Numbers for distinct surface words, so that each is normalised once.

    A hash table of code-point slices that compares whole words: equal numbers mean equal words.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._slots = np.full(1 << 16, -1, np.int32)
        self._letters = np.empty(1 << 20, np.uint32)
        self._ends = np.zeros(1 << 16, np.int64)  # word i is letters[ends[i]:ends[i + 1]]
        self._count = 0
        self.term_numbers = np.empty(0, np.int32)
        """Surface number -> term number."""
        self.terms: dict[str, int] = {}
        """Term -> its number, in order of first appearance."""

    def column(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Term number and text number of every token of many texts.

        Parameters
        ----------
        texts : sequence of str
            One a document.

        Returns
        -------
        tuple of ndarray
            Term numbers (int32) and positions in ``texts`` (int32), one a token, in order.
        """
        joined = code_points("\n".join(texts))  # a line feed ends every token
        lengths = np.fromiter((len(text) + 1 for text in texts), np.int64, len(texts))
        starts, ends = self._analyzer.spans(joined)
        document = np.searchsorted(np.cumsum(lengths), starts, side="right").astype(np.int32)
        self._reserve(len(starts), int((ends - starts).sum()))
        surface = np.empty(len(starts), np.int32)
        self._count = _intern(joined, starts, ends, self._slots, self._letters, self._ends, self._count, surface)
        self._normalise_new()
        return self.term_numbers[surface], document

    def _reserve(self, words: int, letters: int) -> None:
        """Room for that many new words and letters; the table stays at most half full."""
        need = self._count + words + 1
        if need > len(self._ends):
            self._ends = np.concatenate([self._ends, np.zeros(need, np.int64)])
        used = int(self._ends[self._count])
        if used + letters > len(self._letters):
            self._letters = np.concatenate([self._letters[:used], np.empty(used + letters, np.uint32)])
        if 2 * need > len(self._slots):
            self._slots = np.full(1 << int(4 * need - 1).bit_length(), -1, np.int32)
            _rehash(self._slots, self._letters, self._ends, self._count)

    def _normalise_new(self) -> None:
        """Terms of the surface words that were added since the last call."""
        known = len(self.term_numbers)
        bounds = self._ends[known:self._count + 1].tolist()
        text = self._letters[bounds[0]:bounds[-1]].tobytes().decode("utf-32-le", "surrogatepass")
        words = (text[a - bounds[0]:b - bounds[0]] for a, b in zip(bounds, bounds[1:], strict=False))
        terms, normalise = self.terms, self._analyzer.normalise
        new = [terms.setdefault(normalise(word), len(terms)) for word in words]
        self.term_numbers = np.concatenate([self.term_numbers, np.array(new, np.int32)])


@kernel
def _hash(letters, start, end):
    """FNV-1a over code points, high bits mixed down."""
    value = np.uint64(14695981039346656037)
    for i in range(start, end):
        value = (value ^ np.uint64(letters[i])) * np.uint64(1099511628211)
    return np.int64((value ^ (value >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def _rehash(slots, letters, ends, count):
    for word in range(count):
        slot = _hash(letters, ends[word], ends[word + 1]) & (len(slots) - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = word


@kernel
def _intern(text, starts, ends, slots, letters, word_ends, count, surface):
    """Give each slice its word's number; new words are appended. Returns the number of words."""
    for token in range(len(starts)):
        a, length = starts[token], ends[token] - starts[token]
        slot = _hash(text, a, ends[token]) & (len(slots) - 1)
        while True:
            word = slots[slot]
            if word < 0:
                slots[slot] = count
                begin = word_ends[count]
                for i in range(length):
                    letters[begin + i] = text[a + i]
                count += 1
                word_ends[count] = begin + length
                word = np.int32(count - 1)
                break
            begin = word_ends[word]
            same = word_ends[word + 1] - begin == length
            i = 0
            while same and i < length:
                same = letters[begin + i] == text[a + i]
                i += 1
            if same:
                break
            slot = (slot + 1) & (len(slots) - 1)
        surface[token] = word
    return count
