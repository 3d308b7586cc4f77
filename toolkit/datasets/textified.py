"""Values that went through a text column: 'None', Python or numpy lists, and what a length limit cut off."""

from __future__ import annotations

import ast
import json
import re

NULLS = frozenset({"None", "null", "NULL", "NaN", "nan", "<NA>", "NaT", ""})
_CLOSER = {"[": "]", "{": "}", "(": ")"}
# How a list or mapping of literals begins; a text such as "[new] shoes" does not.
_BEGINS = re.compile(r"""[\[{]\s*(["'\[{\]}0-9+-]|None|True|False|null|true|false|$)""")
_WORDS = re.compile(r"""\[\s*(?:'[^']*'(?:\s+|(?=\])))+(\.\.\.)?""")


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
    text = text.removeprefix("array(")
    if not _BEGINS.match(text):
        return value, False
    words = _WORDS.match(text)
    if words and len(re.findall("'[^']*'", words[0])) > 1:
        return re.findall("'([^']*)'", words[0]), words[1] is not None
    return _container(text, value)


def _container(text: str, original: str) -> tuple[object, bool]:
    whole, end = cut_back(text)
    if 0 < end < len(text) and not original.lstrip().startswith("array("):
        return original, False  # a list with more text behind it is a text
    for read in (_json, _python):
        found = read(text[:end] if end else text)
        if found is not None:
            return found, False
    for read in (_json, _python):
        found = read(whole)
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
    return None if _has_ellipsis(found) else found


def _has_ellipsis(value: object) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return value is Ellipsis or any(_has_ellipsis(part) for part in parts)


def cut_back(text: str) -> tuple[str, int]:
    """The longest beginning of a list or mapping text that can be closed, closed; and where the text ends by itself.

    ``"['a', 'b', 'c"`` gives ``("['a', 'b']", 0)``, ``"['a', ..., 'z']"`` gives ``"['a']"`` and the length. The end is the
    position after the bracket that closes the first one, or 0 if none does.
    """
    stack: list[str] = []
    quote = ""
    best = ""
    abridged = False
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
            best = best or text[:at + 1] + stack[0]
        elif char in ")]}" and stack:
            stack.pop()
            if not stack:
                return best, at + 1
        elif char == "," and not abridged:
            best = text[:at] + "".join(reversed(stack))
            abridged = text[at + 1:].lstrip().startswith("...")
        at += 1
    return best, 0
