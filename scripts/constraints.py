"""Write ``constraints.txt``: the version of every package installed in this environment, without URLs."""

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Tools of the environment itself and the project are not pinned.
UNPINNED = {"pip", "setuptools", "wheel", "search-relevance-toolkit"}


def constraints() -> str:
    """One ``name==version`` a line, sorted by name."""
    found = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in distributions()}
    pins = [f"{name}=={version}" for name, version in sorted(found.items()) if name not in UNPINNED]
    return "# Written by `make constraints`: the versions the tests passed with.\n" + "\n".join(pins) + "\n"


if __name__ == "__main__":
    (ROOT / "constraints.txt").write_text(constraints(), encoding="utf-8")
    print("constraints.txt written")
