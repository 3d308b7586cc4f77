"""Negations in queries as shoppers type them, with their scope."""

from __future__ import annotations

import re
from typing import NamedTuple

_BEFORE = re.compile(r"(?<![\w-])(without|w/o|not|no|free of)(?![\w.-]|\s*\d)\s+", re.IGNORECASE)
_NON = re.compile(r"(?<![\w-])non[\s-]+(?P<scope>[\w']+)", re.IGNORECASE)
_FREE = re.compile(r"(?<![\w-])(?P<scope>[\w']+(?: [\w']+)??)-free(?![\w-])", re.IGNORECASE)
_STOPS = re.compile(r"[,;.!?()]|\s+(?:for|with|but|in|to|that|w/)(?:\s|$)|\s+(?=(?:without|w/o|not|no)\s)|\s+-", re.IGNORECASE)


class Negation(NamedTuple):
    """One negation: its word (``without``, ``w/o``, ``not``, ``no``, ``non``, ``free of``, ``-free``) and what it excludes."""

    word: str
    scope: str


def negations(query: str) -> list[Negation]:
    """All negations of a query, in order of appearance.

    Parameters
    ----------
    query : str
        The text exactly as typed.

    Returns
    -------
    list of Negation
        The scope of ``without``, ``w/o``, ``not``, ``no`` and ``free of`` reaches to the next ``for``,
        ``with``, ``but``, ``in``, ``to``, ``that``, punctuation or negation; that of ``non`` is the next
        word and that of ``-free`` the word before. ``no`` before a number (``no. 2``) is none.

    Notes
    -----
    Rules of form, not of meaning: a title such as "listen without prejudice" counts as a negation.
    """
    found = [(m.start(), Negation(m.group(1).lower(), _cut(query[m.end():]))) for m in _BEFORE.finditer(query)]
    found += [(m.start(), Negation("non", m["scope"])) for m in _NON.finditer(query)]
    found += [(m.start(), Negation("-free", m["scope"])) for m in _FREE.finditer(query)]
    return [negation for _, negation in sorted(found) if negation.scope]


def _cut(text: str) -> str:
    """The scope up to its first stop."""
    return _STOPS.split(text, maxsplit=1)[0].strip(" \t\"'”“")
