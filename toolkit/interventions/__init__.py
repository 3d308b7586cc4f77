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
    "rejudged": "experiment",
    "GeneratedWorld": "measurement",
    "generated_world": "measurement",
    "measure": "measurement",
    "teach": "measurement",
    "lab_comparisons": "lab",
    "lab_coverage": "lab",
    "lab_effects": "lab",
    "lab_noise": "lab",
    "late_answers": "lab",
    "FeatureMaker": "features",
    "Prompts": "prompts",
})
