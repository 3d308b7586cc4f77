"""Every notebook runs clean on the shipped data; the first family also on real data."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
ON_ESCI = [path for path in NOTEBOOKS if path.stem[:2] in ("00", "01", "02")]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_clean(runner, path):
    assert runner.problems(runner.execute(path)) == []


@pytest.mark.reference
@pytest.mark.parametrize("path", ON_ESCI, ids=lambda path: path.stem)
def test_notebook_runs_on_real_data_through_its_parameter(runner, path, reference_data):
    made = runner.execute(path, {"data_folder": str(reference_data / "esci150")})
    assert runner.problems(made) == []
    assert "6,764 products" in "".join(output.get("text", "") for cell in made.cells if cell.cell_type == "code" for output in cell.outputs)
