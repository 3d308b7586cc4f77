"""Where words begin and end: the standard tokenizer's patterns as one automaton.

The patterns below are those of Lucene's ``StandardTokenizer`` (Unicode text segmentation,
UAX #29, Unicode 12.1), restated over word-break classes. ``data/word_break_properties.json``
says which class a code point has; it was measured on Elasticsearch 9.2.0, because tables of
another Unicode version differ. ``SCORING.md`` section 1 has the rules in words.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np

from toolkit.search.jit import kernel

MAX_TOKEN_UNITS = 255
"""Longest token in UTF-16 units; the rest of a longer word starts a new token."""

_CODE_POINTS = 0x110000


class _Patterns:
    """Thompson construction: a pattern is a function from its start state to its end state.

    Between the two it adds states that are joined by class edges and by free moves.
    """

    def __init__(self, classes: dict[int, frozenset[str]]) -> None:
        self.classes = classes
        self.edges: list[list[tuple[int, int]]] = []  # state -> (class bit set, target)
        self.free: list[list[int]] = []

    def state(self) -> int:
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def one(self, *properties: str, without: tuple[str, ...] = ()):
        """One code point that has any of the properties (and none of ``without``)."""
        bits = sum(1 << c for c, has in self.classes.items() if has & set(properties) and not has & set(without))

        def build(start: int) -> int:
            end = self.state()
            self.edges[start].append((bits, end))
            return end
        return build

    def seq(self, *parts):
        def build(start: int) -> int:
            for part in parts:
                start = part(start)
            return start
        return build

    def alt(self, *choices):
        def build(start: int) -> int:
            end = self.state()
            for choice in choices:
                branch = self.state()
                self.free[start].append(branch)
                self.free[choice(branch)].append(end)
            return end
        return build

    def star(self, part):
        def build(start: int) -> int:
            loop, end = self.state(), self.state()
            self.free[start].append(loop)
            self.free[loop].append(end)
            self.free[part(loop)].append(loop)
            return end
        return build

    def opt(self, part):
        return self.alt(part, self.seq())

    def plus(self, part):
        return self.seq(part, self.star(part))


def _token(p: _Patterns):
    """The union of all token patterns; the longest match wins."""
    ignorable = ("Format", "Extend", "ZWJ")
    joined = p.star(p.one(*ignorable))

    def letter(*properties: str):
        """A code point with its trailing marks, which never break a word."""
        return p.seq(p.one(*properties), joined)

    underscore = letter("ExtendNumLet")
    numeric, katakana, hebrew = letter("Numeric"), letter("Katakana"), letter("Hebrew")
    any_letter = letter("ALetter", "Hebrew")
    inside_word = letter("MidLetter", "MidNumLet", "SQuote")
    inside_number = letter("MidNum", "MidNumLet", "SQuote")
    underscores = p.star(underscore)

    number_run = p.seq(numeric, p.star(p.seq(p.alt(underscores, inside_number), numeric)))
    letter_run = p.seq(any_letter, p.star(p.seq(p.alt(underscores, inside_word), any_letter)))
    hebrew_quoted = p.seq(hebrew, p.alt(letter("SQuote"), p.seq(letter("DQuote"), hebrew)))
    unit = p.alt(p.seq(katakana, p.star(p.seq(underscores, katakana))),
                 p.plus(p.alt(hebrew_quoted, number_run, letter_run)))
    word = p.seq(underscores, unit, p.star(p.seq(p.plus(underscore), unit)), underscores)

    return p.alt(word, p.plus(letter("SA")), letter("Han"), letter("Hiragana"), _emoji(p, joined, ignorable))


def _emoji(p: _Patterns, joined, ignorable: tuple[str, ...]):
    """Emoji sequences: joined, tagged, keycaps and flags are one token each."""
    plain = p.star(p.one(*ignorable, without=("FE0E", "FE0F")))
    joiner = p.one("ZWJ")
    joiners = p.star(joiner)
    picture = p.seq(joiners, p.one("EmojiChar"), plain, p.opt(p.one("FE0F")))
    toned = p.seq(p.opt(p.seq(joiners, p.one("EmojiModBase"), plain)), p.one("EmojiMod"), plain)
    core = p.alt(picture, toned)
    tagged = p.seq(p.plus(p.one("TagSpec")), p.one("TagTerm"))
    keycap = p.seq(p.one("KeyBase"), plain, p.opt(p.one("FE0F")), p.one("KeyCap"), plain)
    flag_half = p.seq(p.one("RI"), joined)
    return p.alt(p.seq(core, p.alt(p.star(p.seq(joiner, core)), tagged)), keycap, p.seq(flag_half, flag_half))


@dataclass(frozen=True)
class WordBreaker:
    """The compiled patterns.

    Attributes
    ----------
    class_of : ndarray, uint8, shape (0x110000,)
        Word-break class of each code point.
    step : ndarray, uint16, shape (states, classes)
        Next state; state 0 is dead, state 1 the start.
    accepts : ndarray, bool, shape (states,)
        Whether a token may end here.
    """

    class_of: np.ndarray
    step: np.ndarray
    accepts: np.ndarray

    def spans(self, code_points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Start and end (exclusive) of every token, in order.

        Parameters
        ----------
        code_points : ndarray, uint32
            Any text, as code points.

        Returns
        -------
        tuple of ndarray, int64
            Starts and ends, both of the number of tokens.
        """
        starts, ends = np.empty(len(code_points), np.int64), np.empty(len(code_points), np.int64)
        found = _scan(code_points, self.class_of, self.step, self.accepts, starts, ends)
        return starts[:found].copy(), ends[:found].copy()


@lru_cache(maxsize=1)
def word_breaker() -> WordBreaker:
    """Compile the patterns with the shipped table (once a process)."""
    table = json.loads(resources.files(__package__).joinpath("data/word_break_properties.json").read_text())
    class_of = np.zeros(_CODE_POINTS, np.uint8)
    for first, last, number in table["ranges"]:
        class_of[first:last + 1] = number
    classes = {int(number): frozenset(names) for number, names in table["classes"].items()}
    return WordBreaker(class_of, *_determinise(classes))


def _determinise(classes: dict[int, frozenset[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Subset construction; a set of pattern states is one integer used as a bit set."""
    patterns = _Patterns(classes)
    start = patterns.state()
    final = _token(patterns)(start)
    closure = [_reach(patterns.free, state) for state in range(len(patterns.free))]
    numbers = {0: 0, closure[start]: 1}
    todo, rows = [closure[start]], [[0] * len(classes)]
    while todo:
        members = _members(todo.pop(0))
        row = []
        for c in range(len(classes)):
            target = 0
            for member in members:
                for bits, end in patterns.edges[member]:
                    if bits >> c & 1:
                        target |= closure[end]
            if target not in numbers:
                numbers[target] = len(numbers)
                todo.append(target)
            row.append(numbers[target])
        rows.append(row)
    accepts = np.array([states >> final & 1 for states in numbers], np.bool_)
    return np.array(rows, np.uint16), accepts


def _reach(free: list[list[int]], state: int) -> int:
    """All states reachable by free moves, as a bit set."""
    seen, todo = 0, [state]
    while todo:
        here = todo.pop()
        if not seen >> here & 1:
            seen |= 1 << here
            todo.extend(free[here])
    return seen


def _members(states: int) -> list[int]:
    return [i for i in range(states.bit_length()) if states >> i & 1]


@kernel
def _scan(text, class_of, step, accepts, starts, ends):
    """Longest match at each position, within 255 UTF-16 units; unmatched code points are skipped."""
    n, found, i = len(text), 0, 0
    while i < n:
        state, j, last, units = 1, i, i, 0
        while j < n:
            code = text[j]
            units += 2 if code > 0xFFFF else 1
            if units > MAX_TOKEN_UNITS:
                break
            state = step[state, class_of[code]]
            if state == 0:
                break
            j += 1
            if accepts[state]:
                last = j
        if last > i:
            starts[found] = i
            ends[found] = last
            found += 1
            i = last
        else:
            i += 1
    return found
