"""Values that went through a text column: 'None', Python or numpy lists, and what a length limit cut off."""

from __future__ import annotations

import ast
import json
import re

NULLS = frozenset({"None", "null", "NULL", "NaN", "nan", "<NA>", "NaT", ""})
_CLOSER = {"[": "]", "{": "}", "(": ")"}
_NUMPY = re.compile(r"^array\((\[.*)", re.DOTALL)


def plain(value: object) -> tuple[object, bool]:
    """What a text cell stood for, and whether it was cut off.

    Parameters
    ----------
    value : object
        Texts are looked at; other values are returned as they are.

    Returns
    -------
    value : object
        None for the words in ``NULLS``; a list or mapping for JSON, Python or numpy source text of
        one; otherwise the text itself.
    cut : bool
        True if the text ended early or was abridged by ``...``: a list then holds its whole leading
        elements.
    """
    if not isinstance(value, str):
        return value, False
    text = value.strip()
    if text in NULLS:
        return None, False
    numpy = _NUMPY.match(text)
    if numpy:
        text = numpy[1]
    if text[:1] not in ("[", "{"):
        return value, False
    return _container(text, value)


def _container(text: str, original: str) -> tuple[object, bool]:
    for read in (_json, _python, _numpy_list):
        found = read(text)
        if found is not None:
            return found, False
    cut = cut_back(text)
    if cut is not None:
        for read in (_json, _python):
            found = read(cut)
            if found is not None:
                return found, True
    return original, False


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _python(text: str) -> object:
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return None if isinstance(found, list) and Ellipsis in found else found


def _numpy_list(text: str) -> object:
    """``['a' 'b']``, as numpy prints an array: quoted words without commas."""
    if re.fullmatch(r"\[\s*('[^']*'\s*)+\]", text) and "," not in text:
        return re.findall(r"'([^']*)'", text)
    return None


def cut_back(text: str) -> str | None:
    """The longest beginning of a list or mapping text that can be closed, closed; None if there is none.

    ``"['a', 'b', 'c"`` gives ``"['a', 'b']"``; ``"['a', ..., 'z']"`` gives ``"['a']"``.
    """
    stack: list[str] = []
    quote = ""
    best: tuple[int, str] | None = None
    at = 0
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in _CLOSER:
            stack.append(_CLOSER[char])
            best = best or (at + 1, stack[0])
        elif char in ")]}" and stack:
            stack.pop()
        elif char == "," and stack:
            best = (at, "".join(reversed(stack)))
            if text[at + 1:].lstrip().startswith("..."):
                break
        at += 1
    return text[:best[0]] + best[1] if best else None
