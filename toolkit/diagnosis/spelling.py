"""Which words look like misspellings of indexed ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_BY_EAR = tuple((re.compile(pattern), sound) for pattern, sound in (
    ("ph", "f"), ("sch|sh|ch", "s"), ("c(?=[eiy])", "s"), ("[cqk]+", "k"), ("z", "s"), ("x", "ks"), ("g", "j"), ("v", "f")))
_VOWELS = re.compile("[aeiouyhw]")
_REPEATS = re.compile(r"(.)\1+")


def sound_key(word: str) -> str:
    """First letter and consonants as they sound, without repeats: ``bakkpak`` and ``backpack`` agree.

    A key of Soundex's kind (Russell 1918) that keeps the first letter and more classes apart.
    """
    key = word[1:]
    for pattern, sound in _BY_EAR:
        key = pattern.sub(sound, key)
    return _REPEATS.sub(r"\1", word[:1] + _VOWELS.sub("", key))


class Speller:
    """Words against an index vocabulary.

    Parameters
    ----------
    vocabulary : collection of str
        Terms of the index.
    """

    SHORTEST = 4  # letters; shorter unknown words are as often names or codes

    def __init__(self, vocabulary: Collection[str]) -> None:
        self.known = vocabulary if isinstance(vocabulary, (set, frozenset, dict)) else frozenset(vocabulary)
        self._by_letter: dict[str, list[str]] = {}
        for term in sorted(self.known):
            if term.isalpha() and len(term) >= 3:
                self._by_letter.setdefault(term[0], []).append(term)
        self._memory: dict[str, tuple[str, ...]] = {}

    def corrections(self, word: str) -> tuple[str, ...]:
        """Indexed terms that an unknown word may be meant to be, nearest first; empty for a known word.

        A term is a candidate within 1 edit (2 from eight letters), or within one edit more than AUTO allows
        where it sounds alike. The first letter must agree: it is seldom the wrong one (Pollock and Zamora
        1984, CACM 27:358).
        """
        if word not in self._memory:
            readable = len(word) >= self.SHORTEST and word.isalpha()
            self._memory[word] = tuple(self._candidates(word)) if readable and not self._is_known(word) else ()
        return self._memory[word]

    def misspelt(self, words: Iterable[str]) -> list[str]:
        """Those of the words that have a correction."""
        return [word for word in words if self.corrections(word)]

    def _is_known(self, word: str) -> bool:
        """Indexed in some number or tense."""
        stem = word.removesuffix("s")
        return any(form in self.known for form in (word, stem, word + "s", word.removesuffix("es"), stem + "ing", stem + "ed"))

    def _candidates(self, word: str) -> list[str]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        from toolkit.search.fuzzy import allowed_edits

        close, far, key = 1 + (len(word) >= 8), allowed_edits(word, "AUTO") + 1, sound_key(word)
        found = process.extract(word, self._by_letter.get(word[0], ()), scorer=OSA.distance, score_cutoff=far, limit=None)
        return [term for term, edits, _ in sorted(found, key=lambda hit: (hit[1], hit[0])) if edits <= close or sound_key(term) == key]
