"""Rows of a delimited text file whose quoting may be broken; every row is kept or named.

The standard (RFC 4180) reading is tried first. Where quotes do not fit it, the physical line is
read alone: an inch mark must not swallow the lines that follow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_SPAN = 1000  # physical lines one quoted field may span
DELIMITERS = (",", "\t", ";", "|")
BARE_QUOTE = "quote mark taken literally"


class Row(NamedTuple):
    """One row: its first physical line (from 1), its fields, what was repaired, lines it spans."""

    line: int
    fields: list[str]
    repair: str | None
    span: int


def physical_lines(text: str) -> list[str]:
    """Lines without their ends (LF, CRLF or CR); other Unicode separators are content."""
    if "\n" not in text:
        return text.split("\r")
    return [line.removesuffix("\r") for line in text.split("\n")]


def split_rows(text: str, delimiter: str) -> Iterator[Row]:
    """The rows of a text; blank lines are skipped.

    Parameters
    ----------
    text : str
    delimiter : str
        One or more characters.

    Yields
    ------
    Row
    """
    lines = physical_lines(text)
    width = None
    at = 0
    while at < len(lines):
        if not lines[at].strip(" \t"):
            at += 1
            continue
        row = _row(lines, at, delimiter, width)
        width = width or len(row.fields)
        yield row
        at += row.span


def _row(lines: Sequence[str], at: int, delimiter: str, width: int | None) -> Row:
    line = lines[at]
    if '"' not in line:
        return Row(at + 1, line.split(delimiter), None, 1)
    strict = _strict(lines, at, delimiter)
    if strict is None:
        return Row(at + 1, lenient(line, delimiter), BARE_QUOTE, 1)
    fields, span, bare = strict
    alone = [lenient(lines[i], delimiter) for i in range(at, at + span)] if span > 1 else []
    if alone and all(len(fields) == width for fields in alone) and not alone[0][-1].startswith('"'):
        # Each line is a whole row by itself: two bare quotes, not one field with line breaks. (A quote that
        # opens in the last field is read by the standard: nothing after it looks like further columns.)
        return Row(at + 1, lenient(line, delimiter), BARE_QUOTE, 1)
    return Row(at + 1, fields, BARE_QUOTE if bare else None, span)


def _strict(lines: Sequence[str], at: int, delimiter: str) -> tuple[list[str], int, bool] | None:
    """Fields, lines used and whether an unquoted field held a quote; None if the quoting is broken."""
    fields: list[str] = []
    used, position, bare = 1, 0, False
    line = lines[at]
    while True:
        if line.startswith('"', position):
            quoted = _quoted(lines, at + used - 1, position + 1)
            if quoted is None:
                return None
            field, last, position = quoted
            used, line = last - at + 1, lines[last]
        else:
            end = line.find(delimiter, position)
            field, position = (line[position:], len(line)) if end < 0 else (line[position:end], end)
            bare |= '"' in field
        fields.append(field)
        if position == len(line):
            return fields, used, bare
        if not line.startswith(delimiter, position):
            return None
        position += len(delimiter)


def _quoted(lines: Sequence[str], at: int, position: int) -> tuple[str, int, int] | None:
    """Text of a quoted field from after its opening quote, the line and the position after its closing one."""
    parts: list[str] = []
    for number in range(at, min(len(lines), at + MAX_SPAN)):
        line = lines[number]
        while (end := line.find('"', position)) >= 0:
            parts.append(line[position:end])
            if not line.startswith('""', end):
                return "".join(parts), number, end + 1
            parts.append('"')
            position = end + 2
        parts.append(line[position:] + "\n")
        position = 0
    return None


def lenient(line: str, delimiter: str) -> list[str]:
    """Fields of one physical line: a quoted field ends at a quote before a delimiter or the line's end."""
    fields: list[str] = []
    position = 0
    closing = re.compile(r'"\s*(?=' + re.escape(delimiter) + r'|$)')
    while True:
        found = closing.search(line, position + 1) if line.startswith('"', position) else None
        if found:
            fields.append(line[position + 1:found.start()].replace('""', '"'))
            position = found.end()
        else:
            end = line.find(delimiter, position)
            fields.append(line[position:end if end >= 0 else len(line)])
            position = end if end >= 0 else len(line)
        if position >= len(line):
            return fields
        position += len(delimiter)


def guess_delimiter(text: str, known: set[str]) -> str | None:
    """The delimiter: the one whose header has most ``known`` column names, else the most regular one.

    Parameters
    ----------
    text : str
    known : set of str
        Normalised column names (see :func:`toolkit.datasets.columns.normalise`).

    Returns
    -------
    str or None
        None if nothing separates columns.
    """
    from toolkit.datasets.columns import normalise

    sample = [line for line in physical_lines(text[:100_000])[:50] if line.strip()][:20]
    if not sample:
        return None
    others = sorted({c for c in sample[0] if not c.isalnum() and c not in "\"'_-. @#()[]"} - set(DELIMITERS))
    candidates = [*DELIMITERS, *others, " "]
    scores = {c: sum(normalise(name) in known for name in lenient(sample[0], c)) for c in candidates}
    best = max(candidates, key=lambda c: scores[c])
    if scores[best] >= 2:
        return best
    widths = {c: Counter(len(lenient(line, c)) for line in sample).most_common(1)[0] for c in DELIMITERS}
    regular = [c for c in DELIMITERS if widths[c][0] >= 3]
    return max(regular, key=lambda c: (widths[c][1], widths[c][0])) if regular else None
