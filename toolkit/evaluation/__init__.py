"""Metrics, comparison of rankers, holes in the judgments, and the verdict."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "ESCI_LINEAR": "gains",
    "ESCI_OFFICIAL": "gains",
    "EXPONENTIAL": "gains",
    "Gains": "gains",
    "Measure": "measures",
    "Evaluation": "evaluation",
    "EvaluationError": "pool",
    "EvaluationWarning": "evaluating",
    "evaluate": "evaluating",
    "rank_biased_overlap": "overlap",
    "Split": "splitting",
    "split": "splitting",
    "HoldoutLog": "looks",
    "Comparison": "comparison",
    "adjust_together": "comparison",
    "compare": "comparing",
    "Policy": "deciding",
    "Verdict": "deciding",
    "verdict": "deciding",
    "Selection": "selecting",
    "select_best": "selecting",
    "minimal_detectable": "effects",
    "power_of": "effects",
    "queries_needed": "effects",
    "p_floor": "resampling",
    "tool_table": "tool_definitions",
    "public_cases": "tool_definitions",
})
