"""The notebook runner, and the notebooks it is pointed at."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_script(name: str) -> ModuleType:
    """A module of ``scripts/``, which is not a package; scripts import each other by their bare names."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def runner() -> ModuleType:
    """``scripts/notebook_runner.py``."""
    return load_script("notebook_runner")


@pytest.fixture(scope="session")
def run_notebooks(runner: ModuleType) -> ModuleType:
    """``scripts/run_notebooks.py``."""
    return load_script("run_notebooks")


@pytest.fixture
def write(tmp_path: Path):
    """``write(*sources)`` makes a notebook of code cells; a source that starts with ``# parameters`` gets the tag."""
    def make(*sources: str, name: str = "made.ipynb") -> Path:
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        for cell in cells:
            if cell.source.startswith("# parameters"):
                cell.metadata["tags"] = ["parameters"]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / name)
        return tmp_path / name
    return make
