"""Notebooks 06 and 07 on the reference log, and where the given file is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def said(made) -> str:
    """Everything the cells printed or showed as HTML."""
    return "".join(output.get("text", "") + str(output.get("data", {}).get("text/html", "")) for cell in made.cells if cell.cell_type == "code"
                   for output in cell.outputs)


@pytest.mark.reference
def test_attribution_gap_on_the_reference_log(runner, reference_data):
    path = reference_data / "ubi" / "ubi_queries_events.ndjson.gz"
    made = runner.execute(NOTEBOOKS / "06_attribution_gap.ipynb", {"log_file": str(path), "producer": "Chorus", "users": 8})
    assert runner.problems(made) == []
    assert "Of 84 retrievals, 82.1 % succeed by any_touch" in said(made) and "44.0 % by lineage" in said(made)


@pytest.mark.reference
def test_log_readiness_on_the_reference_log(runner, reference_data, tmp_path):
    path = reference_data / "ubi" / "ubi_queries_events.ndjson.gz"
    made = runner.execute(NOTEBOOKS / "07_log_readiness.ipynb", {"log_file": str(path), "output_folder": str(tmp_path), "log_name": "reference log"})
    assert runner.problems(made) == []
    assert "# What to log: reference log" in (tmp_path / "what_to_log.md").read_text(encoding="utf-8")
    assert "Log retrievals.returned_asset_ids first" in said(made)


def test_a_missing_file_is_said_and_the_notebook_goes_on(runner, tmp_path):
    made = runner.execute(NOTEBOOKS / "07_log_readiness.ipynb", {"log_file": "no/such/file.ndjson", "output_folder": str(tmp_path)})
    assert runner.problems(made) == []
    assert "log_file is 'no/such/file.ndjson', no file: going on with a simulated search log" in said(made)
    assert (tmp_path / "what_to_log.html").is_file()
