"""Rerank and rewrite: typed statuses, one fair comparison."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "Rerank": "rerank",
    "Rewrite": "rewrite",
    "RewriteGuard": "guard",
    "RerankStatus": "statuses",
    "RewriteStatus": "statuses",
    "Outcome": "outcome",
    "Experiment": "experiment",
    "run_intervention": "experiment",
    "combine": "experiment",
    "renamed": "experiment",
    "FeatureMaker": "features",
    "Prompts": "prompts",
})
