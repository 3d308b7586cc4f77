"""Broken quoting never swallows a row."""

import csv
import io

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toolkit.datasets.columns import JUDGMENT_ROLES, known_names
from toolkit.datasets.delimited import BARE_QUOTE, guess_delimiter, split_rows


def fields(text, delimiter=","):
    return [row.fields for row in split_rows(text, delimiter)]


@pytest.mark.parametrize(("text", "expected"), [
    ('q,d,r\n"27"" monitor",a,3\n', [["q", "d", "r"], ['27" monitor', "a", "3"]]),
    ('q,d,r\n27" monitor,a,3\nx,b,1\n', [["q", "d", "r"], ['27" monitor', "a", "3"], ["x", "b", "1"]]),
    ('q,d,r\n"27" monitor",a,3\nx,b,1\n', [["q", "d", "r"], ['27" monitor', "a", "3"], ["x", "b", "1"]]),
    ('q,d,r\n" wrench,a,3\nx,b,1\n', [["q", "d", "r"], ['" wrench', "a", "3"], ["x", "b", "1"]]),
    ('q,d,r\n"27 monitor,a,3\nmonitor 32",b,1\n', [["q", "d", "r"], ['"27 monitor', "a", "3"], ['monitor 32"', "b", "1"]]),
    ('q,d,r\n"two\nlines",a,3\n', [["q", "d", "r"], ["two\nlines", "a", "3"]]),
    ('q,d,r\n"a, b",a,3\n', [["q", "d", "r"], ["a, b", "a", "3"]]),
    ('q,d,r\r\n"two\r\nlines",a,3\r\n\r\n', [["q", "d", "r"], ["two\nlines", "a", "3"]]),
    ('q,d,r\rx,a,3\r', [["q", "d", "r"], ["x", "a", "3"]]),
    ('q,d,r\na,b,"c\nd,e,f"\n', [["q", "d", "r"], ["a", "b", "c\nd,e,f"]]),
    ('q,d,r\nx,"",\n', [["q", "d", "r"], ["x", "", ""]]),
    ('q,d,r\n"""",a,3\n', [["q", "d", "r"], ['"', "a", "3"]]),
    ('q,d,r\nline\u2028separator,a,3\n', [["q", "d", "r"], ["line\u2028separator", "a", "3"]]),
])
def test_rows(text, expected):
    assert fields(text) == expected


def test_rows_know_their_line_and_repair():
    rows = list(split_rows('q,d\n\n"two\nlines",a\n27" x,b\n', ","))
    assert [(row.line, row.span, row.repair) for row in rows] == [(1, 1, None), (3, 2, None), (5, 1, BARE_QUOTE)]


CELL = st.text(st.characters(exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8), st.sampled_from([",", "\t", ";", "|"]))
def test_whatever_the_csv_module_writes_is_read_back(rows, delimiter):
    # A cell whose every line looks like a whole row is ambiguous: see the two inch marks in test_rows.
    assume(not any("\n" in cell and delimiter in cell for row in rows for cell in row))
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("q", "d", "r"), *rows])
    assert fields(stream.getvalue(), delimiter)[1:] == [list(row) for row in rows]


@settings(deadline=None)
@given(st.lists(st.text('ab",; \n', max_size=30), max_size=20))
def test_no_physical_line_is_lost(lines):
    text = "q,d,r\n" + "\n".join(lines)
    rows = list(split_rows(text, ","))
    physical = text.split("\n")
    covered = {number for row in rows for number in range(row.line, row.line + row.span)}
    assert {number for number, line in enumerate(physical, 1) if line.strip()} <= covered
    assert sum(row.span for row in rows) == len(covered)
    assert [row.line for row in rows] == sorted(row.line for row in rows)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", "~", "\x01", "^", ":"])
def test_the_header_names_the_delimiter(delimiter):
    text = delimiter.join(["query", "docid", "rating"]) + "\n" + delimiter.join(["a, b; c", "d", "3"]) + "\n"
    assert guess_delimiter(text, known_names(JUDGMENT_ROLES)) == delimiter
