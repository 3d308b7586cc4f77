"""Small escaped HTML for notebooks, widgets and reports: pictures, tables, alerts.

Everything here is a pure function from data to a string without scripts. Text is always escaped;
pictures carry alternative text; tables carry a caption and header cells with a scope.

>>> line("3 < 4 queries fail")
'<p class="toolkit-line" role="status">3 &lt; 4 queries fail</p>'
>>> print(alert("depth 5 is below 10"))
<p class="toolkit-alert" role="alert" style="color:#a00000;border-left:4px solid #a00000;padding:4px 8px">depth 5 is below 10</p>

A picture and a table of one result, side by side in a cell::

    from IPython.display import HTML
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3))
    plot_buckets(table, ax=figure.subplots())
    HTML(figure_html(figure, "bars of failure buckets") + table_html(table, "Failure buckets"))
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNKNOWN = "–"  # how a null is shown: never 0, never "nan"

_CELL = "padding:2px 10px;text-align:{align};vertical-align:top"


def escape(value: object) -> str:
    """Text of ``value`` with ``& < > " '`` escaped, safe in content and in attributes."""
    return html.escape(str(value), quote=True)


def line(text: str) -> str:
    """One sentence that screen readers announce when it changes (``role="status"``)."""
    return f'<p class="toolkit-line" role="status">{escape(text)}</p>'


def alert(text: str) -> str:
    """A problem in words, marked ``role="alert"``: notebook runners and browser tests look for it."""
    style = "color:#a00000;border-left:4px solid #a00000;padding:4px 8px"
    return f'<p class="toolkit-alert" role="alert" style="{style}">{escape(text)}</p>'


def figure_html(fig: Figure, alt: str, *, dpi: int = 110) -> str:
    """A figure as an ``<img>`` with the picture inside.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Preferably one that pyplot does not know (``Figure(...)``): it is freed like any object.
    alt : str
        What the picture says, in words; must not be empty.
    dpi : int
        Dots per inch of the PNG.

    Raises
    ------
    ValueError
        If ``alt`` is empty.
    """
    if not alt.strip():
        raise ValueError("figure_html: alt is empty; say in words what the picture shows")
    buffer = io.BytesIO()
    # Without the Software entry equal figures give equal bytes.
    fig.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight", metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}" style="max-width:100%">'


def format_value(value: object, *, digits: int = 3) -> str:
    """A cell's value as unescaped text: nulls as an en dash, floats with ``digits`` decimals."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(str(item) for item in value)
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return UNKNOWN
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return f"{float(value):.{digits}f}"
    return str(value)


def table_html(frame: pd.DataFrame, caption: str, *, digits: int = 3, limit: int = 50,
               markup: Iterable[str] = ()) -> str:
    """A small table with caption and column headers; cells are escaped.

    Parameters
    ----------
    frame : DataFrame
        Columns become headers; the index is not shown (``reset_index()`` first if it matters).
    caption : str
        What the table holds.
    digits : int
        Decimals of floating-point numbers.
    limit : int
        Rows shown; the caption says so when there are more.
    markup : iterable of str
        Columns whose cells already are HTML made by this module (for example :func:`bar`).

    Raises
    ------
    ValueError
        If ``markup`` names a column that is not in the frame.
    """
    trusted = set(markup)
    if trusted - set(frame.columns):
        raise ValueError(f"table_html: markup column(s) {sorted(trusted - set(frame.columns))} not among {list(frame.columns)}")
    shown = frame.head(limit)
    if len(frame) > limit:
        caption = f"{caption} (first {limit} of {len(frame)} rows)"
    align = ["right" if pd.api.types.is_numeric_dtype(dtype) else "left" for dtype in frame.dtypes]
    head = "".join(f'<th scope="col" style="{_CELL.format(align=side)}">{escape(name)}</th>'
                   for name, side in zip(frame.columns, align))
    body = "".join(
        "<tr>" + "".join(
            f'<td style="{_CELL.format(align=side)}">{cell if name in trusted else escape(format_value(cell, digits=digits))}</td>'
            for name, side, cell in zip(frame.columns, align, row)) + "</tr>"
        for row in shown.itertuples(index=False, name=None))
    return ('<table class="toolkit-table" style="border-collapse:collapse;line-height:1.4">'
            f'<caption style="text-align:left;font-weight:bold;padding:4px 0">{escape(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def bar(value: float, largest: float, *, colour: str = "#0173b2", width: int = 120, digits: int = 2) -> str:
    """A number with a horizontal bar whose length is ``value / largest`` of ``width`` pixels.

    The number is always written beside the bar, so nothing depends on seeing colour or length.
    """
    share = 0.0 if not largest or pd.isna(value) else min(1.0, max(0.0, float(value) / float(largest)))
    return (f'<span style="white-space:nowrap"><span style="display:inline-block;width:{width}px"><span style="display:inline-block;height:0.8em;'
            f'width:{share * width:.0f}px;background:{escape(colour)}"></span></span> {escape(format_value(value, digits=digits))}</span>')


def details(summary: str, content: str) -> str:
    """HTML ``content`` folded under a ``summary`` line (escaped) that opens it."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"
