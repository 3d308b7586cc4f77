"""Attributing outcomes to retrievals: Layers 0-3, the attribution gap, bounds and readiness."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
})
