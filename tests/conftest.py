"""Fixtures that every test may use: the reference data, and the real components' rule.

Real components (Elasticsearch, a browser, Spark's Java) skip with a reason where they are
missing; with ``REQUIRE_ELASTICSEARCH=1``, ``REQUIRE_BROWSER=1``, ``REQUIRE_SPARK=1`` or
``REQUIRE_REFERENCE_DATA=1`` (all set by ``.ci/run``) a missing one fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def missing(component: str, reason: str) -> None:
    """Skip, or fail where the component is required."""
    if os.environ.get(f"REQUIRE_{component}") == "1":
        pytest.fail(f"REQUIRE_{component}=1, but {reason}", pytrace=False)
    pytest.skip(reason)


REFERENCE = Path(os.environ.get("TOOLKIT_REFERENCE_DATA", ROOT.parent / "shared" / "data")).absolute()


@pytest.fixture
def reference_variable(monkeypatch: pytest.MonkeyPatch) -> bool:
    """Sets ``TOOLKIT_REFERENCE_DATA`` where the reference data are; whether they are."""
    found = (REFERENCE / "README.md").is_file()
    if found:
        monkeypatch.setenv("TOOLKIT_REFERENCE_DATA", str(REFERENCE))
    return found


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Folder of the reference data; tests that read it skip elsewhere."""
    folder = REFERENCE
    if not (folder / "README.md").is_file():
        missing("REFERENCE_DATA", f"no reference data at {folder}; set TOOLKIT_REFERENCE_DATA")
    return folder


@pytest.fixture(scope="session")
def elasticsearch_url() -> Iterator[str]:
    """Address of a real Elasticsearch: ``ELASTICSEARCH_URL``, else a node built with Maven and a JDK."""
    from tests.elasticsearch_node.build import NodeUnavailable
    from tests.elasticsearch_node.node import running_url

    with ExitStack() as stack:
        try:
            url = stack.enter_context(running_url())
        except NodeUnavailable as reason:
            missing("ELASTICSEARCH", str(reason))
        yield url
