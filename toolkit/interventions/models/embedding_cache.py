"""Embeddings by text hash and model, in memory or in one SQLite file, so that each text is embedded once."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

BATCH = 2_000  # texts embedded and stored at once: what an interruption can lose at most


class EmbeddingCache:
    """A store of embeddings.

    Parameters
    ----------
    path : path, optional
        A SQLite file, created where absent; default none, which keeps embeddings in memory.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._memory: dict[tuple[str, bytes], np.ndarray] = {}
        self._file = sqlite3.connect(path, check_same_thread=False) if path is not None else None
        if self._file:
            self._file.execute("CREATE TABLE IF NOT EXISTS embeddings (model TEXT, text BLOB, vector BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID")

    def get(self, model: str, texts: Sequence[str], encoder: Callable[[Sequence[str]], np.ndarray]) -> np.ndarray:
        """Vectors of texts, float32 (n, dimensions); those not stored yet are encoded and stored."""
        keys = [(model, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()) for text in texts]
        self._read([key for key in keys if key not in self._memory])
        todo = {key: text for key, text in zip(keys, texts) if key not in self._memory}
        pending = list(todo.items())
        for start in range(0, len(pending), BATCH):
            batch = pending[start : start + BATCH]
            vectors = np.asarray(encoder([text for _, text in batch]), dtype=np.float32)
            self._write([key for key, _ in batch], vectors)
        return np.stack([self._memory[key] for key in keys]) if keys else np.zeros((0, 1), np.float32)

    def _read(self, keys: list[tuple[str, bytes]]) -> None:
        """Bring stored vectors into memory."""
        if not self._file:
            return
        for key in keys:
            row = self._file.execute("SELECT vector FROM embeddings WHERE model = ? AND text = ?", key).fetchone()
            if row:
                self._memory[key] = np.frombuffer(row[0], dtype=np.float32)

    def _write(self, keys: list[tuple[str, bytes]], vectors: np.ndarray) -> None:
        """Keep new vectors in memory and, with a file, on disk."""
        self._memory.update(zip(keys, vectors))
        if self._file:
            rows = [(*key, vector.tobytes()) for key, vector in zip(keys, vectors)]
            self._file.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", rows)
            self._file.commit()
