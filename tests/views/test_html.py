"""HTML helpers: escaped, accessible, without scripts."""

from __future__ import annotations

import base64
import doctest
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from toolkit.views import html as page

HOSTILE = '<script>alert("x")</script>&'


def test_docstring_examples_hold():
    assert doctest.testmod(page).failed == 0


@given(st.text())
def test_no_text_can_open_a_tag_or_leave_an_attribute(text):
    for made in (page.line(text), page.alert(text), page.details(text, "")):
        known = {"p", "div", "strong", "table", "tbody", "tr", "th", "td", "details", "summary"}
        assert {name.lower() for name in re.findall(r"<\s*/?\s*([a-zA-Z!?][^\s>]*)", made)} <= known
        assert made.count("<") == made.count(">")


def test_figure_carries_picture_and_alternative_text():
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot([0, 1])
    made = page.figure_html(figure, 'a "line" & more')
    alt, data = re.fullmatch(r'<img alt="([^"]*)" src="data:image/png;base64,([^"]+)" style="max-width:100%">', made).groups()
    assert alt == "a &quot;line&quot; &amp; more"
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert made == page.figure_html(figure, 'a "line" & more')
    with pytest.raises(ValueError, match="alt is empty"):
        page.figure_html(figure, " ")


def test_table_escapes_names_and_cells_and_shows_nulls_as_unknown():
    frame = pd.DataFrame({HOSTILE: [HOSTILE, None], "value": [0.12345, float("nan")], "n": [1, 2], "ok": [True, False]})
    made = page.table_html(frame, HOSTILE)
    assert "<script" not in made and made.count("&lt;script") == 3
    assert made.count('<th scope="col"') == 4 and made.count("<caption") == 1
    assert "0.123<" in made and made.count(f">{page.UNKNOWN}<") == 2 and "nan" not in made
    assert ">yes<" in made and ">no<" in made


def test_table_says_how_many_rows_it_leaves_out():
    frame = pd.DataFrame({"n": range(7)})
    assert "first 5 of 7 rows" in page.table_html(frame, "numbers", limit=5)
    assert page.table_html(frame, "numbers", limit=5).count("<tr>") == 6
    assert "rows" not in page.table_html(frame, "numbers")


def test_table_trusts_only_named_columns():
    frame = pd.DataFrame({"bar": [page.bar(1, 2)], "text": [page.bar(1, 2)]})
    assert page.table_html(frame, "bars", markup=["bar"]).count("<span") == 3
    with pytest.raises(ValueError, match="missing"):
        page.table_html(frame, "bars", markup=["missing"])


@pytest.mark.parametrize(("value", "largest", "pixels"), [(1, 2, 60), (3, 2, 120), (-1, 2, 0), (1, 0, 0), (None, 2, 0)])
def test_bar_length_is_the_share_and_the_number_is_written(value, largest, pixels):
    made = page.bar(value, largest)
    assert f"width:{pixels}px" in made
    assert made.endswith(page.format_value(value, digits=2) + "</span>")
