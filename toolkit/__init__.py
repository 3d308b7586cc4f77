"""Search relevance and agentic retrieval, analysed in Jupyter.

``import toolkit as tk`` gives the names a newcomer needs; the rest is imported by room,
for example ``from toolkit.diagnosis import weight_curve``. Names load when first used, so
the import itself is quick.
"""

from __future__ import annotations

from toolkit.lazy import attach

__version__ = "0.1.0"

# Public name -> room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "load_sample": "datasets",
    "load_esci": "datasets",
    "read_judgments": "datasets",
    "read_rankings": "datasets",
    "generate_catalogue": "datasets",
    "MultiMatch": "search",
    "EmbeddedEngine": "search",
    "ElasticsearchEngine": "search",
    "evaluate": "evaluation",
    "compare": "evaluation",
    "verdict": "evaluation",
    "diagnose_failures": "diagnosis",
    "run_intervention": "interventions",
})
