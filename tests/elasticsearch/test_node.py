"""The node that the other tests use."""

import json
import urllib.request

import pytest

from tests.elasticsearch_node import build

pytestmark = pytest.mark.elasticsearch


def test_the_node_answers_with_the_pinned_version(elasticsearch_url: str) -> None:
    with urllib.request.urlopen(elasticsearch_url, timeout=10) as answer:
        assert json.load(answer)["version"]["number"] == build.VERSION


def test_a_jdk_that_is_too_old_or_a_bare_java_runtime_is_not_taken(tmp_path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_392"\n')
    assert build.java_version(tmp_path) is None
    (tmp_path / "bin" / "javac").touch()
    assert build.java_version(tmp_path) == 8
    (tmp_path / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="25.0.3"\n')
    assert build.java_version(tmp_path) == 25


def test_without_a_jdk_the_reason_says_what_to_do(monkeypatch) -> None:
    monkeypatch.setattr(build, "_java_candidates", lambda: iter(()))
    with pytest.raises(build.NodeUnavailable, match="JDK >= 21.*ELASTICSEARCH_URL"):
        build.find_java()
