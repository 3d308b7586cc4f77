"""Fuzzy terms: every vocabulary term within one or two edits of a token.

The sorted vocabulary is walked as a trie: neighbouring terms share the rows of their common
prefix, and a prefix that can no longer come within reach is skipped with all its terms.
Distance: optimal string alignment over code points (insert, delete, replace, swap of
neighbours each cost 1), as Lucene's ``FuzzyQuery`` with transpositions.
"""

from __future__ import annotations

import numpy as np

from toolkit.search.analysis import code_points
from toolkit.search.jit import kernel

FAR = 30_000
"""A distance that is out of reach."""


def allowed_edits(token: str, fuzziness: int | str) -> int:
    """Edits allowed for a token: with AUTO 0 below 3 characters, 1 up to 5, 2 from 6."""
    if fuzziness != "AUTO":
        return int(fuzziness)
    return 0 if len(token) < 3 else 1 if len(token) < 6 else 2


class FuzzyIndex:
    """A sorted vocabulary, ready to be searched with edits.

    Parameters
    ----------
    vocabulary : list of str
        Sorted by code points, each term once.
    """

    def __init__(self, vocabulary: list[str]) -> None:
        self._ends = np.zeros(len(vocabulary) + 1, np.int64)
        np.cumsum([len(term) for term in vocabulary], out=self._ends[1:])
        self._letters = code_points("".join(vocabulary))
        self._shared = _common_prefixes(self._letters, self._ends)

    def lengths(self, terms: np.ndarray) -> np.ndarray:
        """Code points of the given terms."""
        return self._ends[terms + 1] - self._ends[terms]

    def within(self, token: str, edits: int, prefix_length: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Terms within some edits of a token.

        Parameters
        ----------
        token : str
        edits : int
            Largest distance, 0 to 2.
        prefix_length : int
            Leading code points that must be equal (all of a shorter token).

        Returns
        -------
        tuple of ndarray
            Positions in the vocabulary (int32, ascending) and distances (int8).
        """
        terms, distances = np.empty(len(self._shared), np.int32), np.empty(len(self._shared), np.int8)
        found = _walk(code_points(token), edits, min(prefix_length, len(token)), self._letters, self._ends, self._shared,
                      terms, distances)
        return terms[:found].copy(), distances[:found].copy()


@kernel
def _common_prefixes(letters, ends):
    """Length of the common prefix of each term with the one before it."""
    terms = len(ends) - 1
    shared = np.zeros(terms, np.int32)
    for i in range(1, terms):
        before, here = ends[i - 1], ends[i]
        longest = min(here - before, ends[i + 1] - here)
        n = 0
        while n < longest and letters[before + n] == letters[here + n]:
            n += 1
        shared[i] = n
    return shared


@kernel
def _walk(token, edits, prefix, letters, ends, shared, out_terms, out_distances):
    """Depth-first walk; ``rows[d, j]`` is the distance of d letters of the term to j of the token.

    Only the band ``|d - j| <= edits`` is computed. ``dead`` is the depth at which the current
    prefix was found to be out of reach: terms that share so many letters are skipped.
    """
    n, found = len(token), 0
    rows = np.full((n + edits + 3, n + 2), FAR, np.int16)
    for j in range(n + 1):
        rows[0, j] = j
    alive, dead = 0, np.int64(1 << 30)
    for term in range(len(ends) - 1):
        if shared[term] >= dead:
            continue
        dead = np.int64(1 << 30)
        alive = min(alive, np.int64(shared[term]))
        begin, length = ends[term], ends[term + 1] - ends[term]
        while alive < length:
            depth = alive + 1
            letter = letters[begin + alive]
            if depth > n + edits or (depth <= prefix and token[depth - 1] != letter):
                dead = depth
                break
            previous = letters[begin + alive - 1] if alive > 0 else letter
            _row(rows, depth, token, letter, previous, edits)
            alive = depth
            if not _in_reach(rows, depth, n, edits):
                dead = depth
                break
        if dead == 1 << 30 and length >= prefix and abs(length - n) <= edits and rows[length, n] <= edits:
            out_terms[found] = term
            out_distances[found] = rows[length, n]
            found += 1
    return found


@kernel
def _row(rows, depth, token, letter, previous, edits):
    """Distances of the term's first ``depth`` letters, from the two rows above."""
    n = len(token)
    low, high = max(1, depth - edits), min(n, depth + edits)
    rows[depth, 0] = depth if depth <= edits else FAR
    if low > 1:
        rows[depth, low - 1] = FAR
    rows[depth, high + 1] = FAR
    for j in range(low, high + 1):
        best = rows[depth - 1, j - 1] + (0 if token[j - 1] == letter else 1)
        best = min(best, rows[depth - 1, j] + 1, rows[depth, j - 1] + 1)
        if depth > 1 and j > 1 and token[j - 1] == previous and token[j - 2] == letter:
            best = min(best, rows[depth - 2, j - 2] + 1)
        rows[depth, j] = best


@kernel
def _in_reach(rows, depth, n, edits):
    """Can a longer term still be near? Directly, or by a swap from the row before."""
    for j in range(max(0, depth - edits), min(n, depth + edits) + 1):
        if rows[depth, j] <= edits:
            return True
    for j in range(max(0, depth - 1 - edits), min(n, depth - 1 + edits) + 1):
        if rows[depth - 1, j] <= edits - 1:
            return True
    return False
