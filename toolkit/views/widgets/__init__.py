"""Thin widgets around pure ``render_...`` functions; each is one call in a notebook."""

from toolkit.lazy import attach

# Public name -> module of this package that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "gate_explorer": "gate",
    "render_gate": "gate",
    "difference_explorer": "difference_strip",
    "render_difference": "difference_strip",
    "holes_explorer": "holes",
    "render_holes": "holes",
    "active_use_explorer": "active_use",
    "render_active_use": "active_use",
    "lineage_explorer": "timeline",
    "render_lineage": "timeline",
    "masking_explorer": "masking",
    "render_masking": "masking",
    "bucket_explorer": "buckets",
    "render_buckets": "buckets",
    "rerank_explorer": "rerank_viewer",
    "render_rerank": "rerank_viewer",
    "rewrite_explorer": "rewrite_table",
    "render_rewrites": "rewrite_table",
    "query_explorer": "queries",
    "render_query": "queries",
    "weight_sliders": "weight_board",
    "render_weights": "weight_board",
    "pair_map_explorer": "pair_maps",
    "render_pair_map": "pair_maps",
})
