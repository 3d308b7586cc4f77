"""Pictures: one function per finding, each a function of a result's table.

All are keyword-only after the table, take ``ax=None`` (a new figure) and return the Axes; none shows
anything. The title states the finding. In a notebook cell: ``picture(plot_something(table))``.
"""

from toolkit.lazy import attach

# Public name -> module of this package that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "plot_differences": "comparison",
    "plot_deltas": "comparison",
    "plot_movements": "comparison",
    "plot_power": "comparison",
    "plot_holes": "comparison",
    "plot_query_values": "query_values",
    "plot_explanation": "explanation",
    "new_axes": "base",
    "PALETTE": "base",
    "picture": "base",
    "plot_buckets": "diagnosis",
    "plot_first_ranks": "diagnosis",
    "plot_headroom": "diagnosis",
    "plot_reasons": "diagnosis",
    "plot_traits": "diagnosis",
    "plot_coverage": "interventions",
    "plot_effects": "interventions",
    "plot_group_effects": "interventions",
    "plot_promise": "interventions",
    "plot_bounds": "lineage",
    "plot_cross_reading": "lineage",
    "plot_definition_sensitivity": "lineage",
    "plot_gap": "lineage",
    "plot_layer_rates": "lineage",
    "plot_session_timeline": "lineage",
    "plot_field_coverage": "readiness",
    "plot_masking": "readiness",
    "plot_field_ranges": "weights",
    "plot_hinges": "weights",
    "plot_pair_map": "weights",
    "plot_sweep": "weights",
    "plot_weight_curve": "weights",
})
