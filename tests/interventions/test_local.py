"""The embedded static model: offline, cached, and better than chance at what it is for."""

import subprocess
import sys
import types

import numpy as np
import pytest

from toolkit.interventions.models import EmbeddingCache, LocalModel, RerankRequest


def test_related_text_is_closer_than_unrelated(tmp_path):
    model = LocalModel(cache=EmbeddingCache(tmp_path / "cache" / "embeddings.sqlite"))
    reply = model.rerank(RerankRequest("q", "couch for living room", tuple("abc"), ("garden hose", "modern sofa, three seats", "")))
    assert reply.content[0] == 2 and sorted(reply.content) == [1, 2, 3]


def test_embeddings_come_from_the_cache_the_second_time(tmp_path):
    calls = []

    def encoder(texts):
        calls.extend(texts)
        return np.array([[len(text), 1.0] for text in texts])

    for _ in range(2):
        cache = EmbeddingCache(tmp_path / "embeddings.sqlite")
        vectors = cache.get("m", ["a", "bb", "a"], encoder)
        assert vectors.dtype == np.float32 and vectors.tolist() == [[1, 1], [2, 1], [1, 1]]
    assert calls == ["a", "bb"]
    cache.get("another model", ["a"], encoder)
    assert calls == ["a", "bb", "a"]


def test_unit_vectors_and_empty_text():
    vectors = LocalModel().embed(["usb charger", ""])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0], atol=1e-6)
    assert LocalModel().embed([]).shape[0] == 0
    np.testing.assert_array_equal(LocalModel().embed(["usb \ud800"]), LocalModel().embed(["usb ?"]))


def test_no_model_is_imported_unless_used():
    code = "import sys, toolkit.interventions as t; t.Rerank, t.RerankStatus; print([m for m in ('wordllama', 'sklearn', 'httpx', 'tokenizers') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_model_on_disk_is_asked_for_by_its_path_or_its_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # as if it were not installed
    with pytest.raises(ImportError, match="pip install sentence-transformers"):
        LocalModel(tmp_path / "some-model").embed(["usb"])

    class Stand:
        def __init__(self, path, local_files_only):
            assert local_files_only and path.endswith("some-model")

        def encode(self, texts):
            return [[len(text), 1.0] for text in texts]

    monkeypatch.setitem(sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=Stand))
    model = LocalModel(tmp_path / "some-model")
    assert model.model_id == "sentence-transformers:some-model" and model.embed(["usb", "x"]).shape == (2, 2)
