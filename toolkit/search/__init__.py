"""MultiMatch, engines, and the scores of Elasticsearch to the last bit."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "MultiMatch": "config",
    "SearchEngine": "protocol",
    "SearchRun": "protocol",
    "SearchWarning": "protocol",
    "EmbeddedEngine": "embedded",
    "ElasticsearchEngine": "elasticsearch",
    "Explanation": "explain",
    "FieldLists": "field_lists",
    "FieldScores": "field_scores",
    "IndexFileError": "storage",
    "sweep_rankings": "sweep_kernel",
})
