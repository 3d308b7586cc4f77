"""Models behind one protocol: local embeddings, a learned reranker, lexical rewrites, endpoints, recordings."""

from toolkit.lazy import attach

# Public name -> module of this package that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "RerankModel": "protocol",
    "RerankRequest": "protocol",
    "RewriteModel": "protocol",
    "RewriteRequest": "protocol",
    "Reply": "protocol",
    "LocalModel": "local",
    "LearnedReranker": "learned",
    "LexicalModel": "lexical",
    "learn_bridges": "bridges",
    "EmbeddingCache": "embedding_cache",
    "OpenAICompatibleModel": "openai_compatible",
    "RecordedModel": "recorded",
    "RecordingModel": "recorded",
})
