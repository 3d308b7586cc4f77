"""Outside data to canonical tables, with a report of every row; generators with known truth."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "ReadReport": "report",
})
