"""Feedback on an answer: not answered, not yet, or right, always with a reason in words.

A notebook's exercise cell starts with ``answer = None`` and ends with ``check_something(answer, ...)``.
The expected answer is computed from the notebook's own data, so exercises also work on one's own folder.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Literal

State = Literal["open", "wrong", "right"]
_WORDS = {"open": "Not answered yet", "wrong": "Not yet", "right": "Right"}
_MARKS = {"open": "○", "wrong": "✗", "right": "✓"}


@dataclass(frozen=True)
class Feedback:
    """What a check says.

    Attributes
    ----------
    state : {"open", "wrong", "right"}
        ``open`` while the answer is still None.
    text : str
        Why, or what to try next.
    """

    state: State
    text: str

    def __bool__(self) -> bool:
        return self.state == "right"

    def __repr__(self) -> str:
        return f"{_MARKS[self.state]} {_WORDS[self.state]}: {self.text}"

    def _repr_html_(self) -> str:
        return f'<p class="toolkit-feedback" role="status">{_MARKS[self.state]} <strong>{_WORDS[self.state]}:</strong> {html.escape(self.text)}</p>'


def check_number(answer: object, expected: float, *, hint: str, praise: str, tolerance: float = 5e-4) -> Feedback:
    """Compare a number with the expected one.

    Parameters
    ----------
    answer : number or None
        None means not answered yet.
    expected : float
    hint : str
        Said while the answer is missing or wrong; never holds the solution.
    praise : str
        Said when it is right: what the number means.
    tolerance : float
        Largest absolute difference that counts as equal.
    """
    if answer is None:
        return Feedback("open", hint)
    if isinstance(answer, bool) or not hasattr(answer, "__float__") or math.isnan(float(answer)):
        return Feedback("wrong", f"{answer!r} is not a number. {hint}")
    right = abs(float(answer) - expected) <= tolerance
    return Feedback("right", praise) if right else Feedback("wrong", f"{float(answer):g} is not it. {hint}")


def check_choice(answer: object, expected: object, *, hint: str, praise: str) -> Feedback:
    """Compare a name with the expected one; case and surrounding blanks do not matter."""
    if answer is None:
        return Feedback("open", hint)
    right = str(answer).strip().casefold() == str(expected).strip().casefold()
    return Feedback("right", praise) if right else Feedback("wrong", f"{answer!r} is not it. {hint}")


def check_set(answer: object, expected: set[str], *, hint: str, praise: str) -> Feedback:
    """Compare a collection of names with the expected set; order and repetition do not matter."""
    if answer is None:
        return Feedback("open", hint)
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        return Feedback("wrong", f"{answer!r} is not a collection, for example {{'a', 'b'}}. {hint}")
    given = {str(item) for item in answer}
    if given == expected:
        return Feedback("right", praise)
    return Feedback("wrong", f"{len(given & expected)} of your {len(given)} belong to it; {len(expected - given)} are missing. {hint}")
