"""Write ``environment.yml`` from ``pyproject.toml``, so that the two cannot disagree."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def environment(pyproject: dict) -> str:
    """The text of ``environment.yml`` for the project's table of ``pyproject.toml``."""
    project = pyproject["project"]
    lines = [
        "# Generated from pyproject.toml by `make environment`; edit that file instead.",
        "# Use: conda env create --file environment.yml && conda activate " + project["name"],
        f"name: {project['name']}",
        "channels:",
        "  - conda-forge",
        "dependencies:",
        f"  - python{project['requires-python']}",
        "  - pip",
        "  - pip:",
        "      - --constraint constraints.txt",
        *(f"      - {requirement}" for requirement in project["dependencies"]),
        "      - --editable .",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = environment(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    (ROOT / "environment.yml").write_text(text, encoding="utf-8")
    print("environment.yml written")
