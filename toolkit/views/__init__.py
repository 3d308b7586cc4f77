"""Plots (functions of a table), thin widgets, and small HTML."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "alert": "html",
    "figure_html": "html",
    "line": "html",
    "table_html": "html",
    "Explorer": "box",
})
