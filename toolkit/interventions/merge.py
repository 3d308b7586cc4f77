"""Merge a model's answer into a ranking: always a permutation, whatever the model says.

Candidates are numbered from 1; the answer names numbers. The merge works on candidate *indices*:
each named index is taken once, numbers outside or repeated are ignored, the unnamed follow in
their own order. So the worst that untrusted product text can do through the model is another order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

# A JSON-like list without nesting, and an integer that is no part of a word, a decimal or a negative number.
_LIST = re.compile(r"\[[^\[\]]*\]")
_INTEGER = re.compile(r"(?<![\w.\-])(\d{1,9})(?!\w|\.\d)")


@dataclass(frozen=True)
class Merge:
    """A merged order.

    Attributes
    ----------
    order : ndarray of int, shape (n,)
        Zero-based candidate indices in their new order; a permutation of ``range(n)``.
    named : int
        Candidates the answer named (each counted once).
    ignored : int
        Numbers of the answer that were repeated or out of range.
    """

    order: np.ndarray
    named: int
    ignored: int

    @property
    def changed(self) -> bool:
        """True where the new order differs from the given one."""
        return bool((self.order != np.arange(len(self.order))).any())


def read_numbers(answer: object) -> list[int]:
    """The candidate numbers in an answer, in the order they appear.

    Parameters
    ----------
    answer : str or iterable
        Text (the last JSON list of numbers in it is preferred; where each list holds one number, as in
        ``[2] > [1]``, they count together; without a list every stand-alone integer counts) or a list whose integer items count. Decimals, negative numbers and
        anything else are not numbers of candidates.

    Returns
    -------
    list of int
        Not yet checked against the number of candidates.
    """
    if isinstance(answer, str):
        single: list[int] = []
        for found in reversed(_LIST.findall(answer)):
            numbers = _read_list(found)
            if len(numbers) > 1:
                return numbers
            single += numbers
        return single[::-1] or [int(number) for number in _INTEGER.findall(answer)]
    if isinstance(answer, Iterable) and not isinstance(answer, (bytes, dict)):
        return [number for item in answer if (number := _as_integer(item)) is not None]
    return []


def _read_list(text: str) -> list[int]:
    """Integers of a list in text; an unreadable list gives none."""
    try:
        return read_numbers(json.loads(text))
    except (ValueError, RecursionError):
        return []


def _as_integer(item: object) -> int | None:
    """An integer, or a string that is exactly one; True and 2.5 are none."""
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        return int(item)
    if isinstance(item, str) and re.fullmatch(r"\s*\d{1,9}\s*", item):
        return int(item)
    return None


def merge_order(candidates: int, numbers: Iterable[int]) -> Merge:
    """Put the named candidates first, in the order named, and the rest behind in their own order.

    Parameters
    ----------
    candidates : int
        Number of candidates shown, numbered 1 to ``candidates``.
    numbers : iterable of int
        Numbers as the model named them, best first.

    Returns
    -------
    Merge

    Notes
    -----
    Source: ours (the lab's index merge, with repeated and foreign numbers counted).
    """
    taken = np.zeros(candidates, dtype=bool)
    first: list[int] = []
    ignored = 0
    for number in numbers:
        index = number - 1
        if 0 <= index < candidates and not taken[index]:
            taken[index] = True
            first.append(index)
        else:
            ignored += 1
    order = np.concatenate([np.array(first, dtype=np.int64), np.flatnonzero(~taken)])
    return Merge(order, len(first), ignored)


def is_permutation(order: np.ndarray, candidates: int) -> bool:
    """True where ``order`` holds each of 0 … candidates - 1 exactly once."""
    return len(order) == candidates and bool((np.sort(order) == np.arange(candidates)).all())
