"""Static sentence embeddings that ship inside a Python package: no download, no server.

The default weights are wordllama's (256 dimensions), loaded from its own package folder with
downloads disabled. Any sentence-transformers model works by path where that package is installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from toolkit.interventions.models.embedding_cache import EmbeddingCache
from toolkit.interventions.models.protocol import Reply, RerankRequest

Encoder = Callable[[Sequence[str]], np.ndarray]


def wordllama_encoder() -> tuple[str, Encoder]:
    """Identity and encoder of the embedded static model.

    Returns
    -------
    tuple of str and callable
        The callable maps n texts to float32 (n, 256), not normalised.
    """
    import wordllama

    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    # Half characters (lone surrogates) have no UTF-8 form, which the tokenizer needs.
    return f"wordllama-{wordllama.__version__}-256", lambda texts: model.embed([text.encode("utf-8", "replace").decode() for text in texts], norm=False)


def sentence_transformers_encoder(path: Path | str) -> tuple[str, Encoder]:
    """Identity and encoder of a sentence-transformers model on disk.

    Raises
    ------
    ImportError
        Naming the install line where the optional package is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ImportError("a sentence-transformers model needs the package: pip install sentence-transformers") from error
    model = SentenceTransformer(str(path), local_files_only=True)
    return f"sentence-transformers:{Path(path).name}", lambda texts: np.asarray(model.encode(list(texts)), dtype=np.float32)


class LocalModel:
    """Orders candidates by the cosine of query and candidate embeddings.

    Parameters
    ----------
    path : path, optional
        A sentence-transformers model on disk; default the static model that ships with wordllama.
    cache : EmbeddingCache, optional
        Where embeddings are kept between runs; default in memory.

    Notes
    -----
    The model loads when first asked. Ties in the cosine keep the engine's order (stable sort).
    """

    concurrency = 1

    def __init__(self, path: Path | str | None = None, *, cache: EmbeddingCache | None = None) -> None:
        self._path, self._cache = path, cache or EmbeddingCache()
        self._loaded: tuple[str, Encoder] | None = None
        self._ready: dict[RerankRequest, Reply] = {}

    @property
    def model_id(self) -> str:
        """Identity of the weights."""
        return self._load()[0]

    def _load(self) -> tuple[str, Encoder]:
        if self._loaded is None:
            self._loaded = sentence_transformers_encoder(self._path) if self._path else wordllama_encoder()
        return self._loaded

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors of texts, float32 (n, dimensions); an empty text is the zero vector."""
        name, encoder = self._load()
        vectors = self._cache.get(name, texts, encoder)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)

    def similarity(self, query: str, texts: Sequence[str]) -> np.ndarray:
        """Cosine of the query with each text, float32 (n,), in [-1, 1]."""
        return self.embed(texts) @ self.embed([query])[0]

    def prepare(self, requests: Sequence[RerankRequest]) -> None:
        """Embed all texts of these requests together and keep their answers ready."""
        start = time.perf_counter()
        self.embed(sorted({text for request in requests for text in (request.query, *request.texts)}))
        orders = [self._order(request) for request in requests]
        each = (time.perf_counter() - start) / max(1, len(requests))
        self._ready = {request: Reply(order, each, model=self.model_id) for request, order in zip(requests, orders)}

    def rerank(self, request: RerankRequest) -> Reply:
        """Candidate numbers by falling similarity."""
        start = time.perf_counter()
        return self._ready.pop(request, None) or Reply(self._order(request), time.perf_counter() - start, model=self.model_id)

    def _order(self, request: RerankRequest) -> list[int]:
        return (np.argsort(-self.similarity(request.query, request.texts), kind="stable") + 1).tolist()
