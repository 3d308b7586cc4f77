"""Every notebook runs clean on the shipped data, its folded solutions pass their checks; the first family also on real data."""

from __future__ import annotations

import html
import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
ON_ESCI = [path for path in NOTEBOOKS if path.stem[:2] in ("00", "01", "02", "05")]
WITH_REFERENCE = {"04_compare_and_decide": "relevant products per query: at least 1.83; the article says 1.68",
                  "05_rerank_vs_rewrite": "differs on 49 of 600 queries"}
"""What a notebook prints only where it finds the reference data."""
CHECK = re.compile(r"\bcheck_\w+\(")
SOLUTION = re.compile(r"<details>.*?<pre><code>(.*?)</code></pre>", re.DOTALL)


def solved(path: Path, folder: Path) -> Path:
    """A copy whose exercises are followed by a cell with their folded solution and the same check."""
    notebook = nbformat.read(path, as_version=4)
    cells = []
    for number, cell in enumerate(notebook.cells):
        cells.append(cell)
        if cell.cell_type == "code" and CHECK.search(cell.source):
            folded = SOLUTION.search(notebook.cells[number + 1].source)
            assert folded, f"the cell after {cell['id']} has no <details> with <pre><code>"
            open_answer = re.sub(r"^\w+ = None\n", "", cell.source, flags=re.MULTILINE)
            made = nbformat.v4.new_code_cell(html.unescape(folded[1]) + "\n" + open_answer)
            made.metadata["solution_of"] = cell["id"]
            cells.append(made)
    notebook.cells = cells
    nbformat.write(notebook, folder / path.name)
    return folder / path.name


def feedback(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """What the checks say about the solutions, by exercise cell."""
    return {cell.metadata["solution_of"]: "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
            for cell in notebook.cells if "solution_of" in cell.metadata}


def printed(notebook: nbformat.NotebookNode) -> str:
    """Everything the notebook prints."""
    return "".join(output.get("text", "") for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)


def speechless(notebook: nbformat.NotebookNode) -> list[str]:
    """Cells that show a picture without alternative text."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            bare = "image/png" in data or re.search(r'<img(?![^>]*\balt="[^"]+")', str(data.get("text/html", "")))
            found += [cell["id"]] if bare else []
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_clean_and_its_solutions_are_right(runner, path, tmp_path, reference_variable):
    made = runner.execute(solved(path, tmp_path), folder=path.parent)
    assert runner.problems(made) == []
    assert speechless(made) == []
    said = feedback(made)
    assert said and not {cell: text for cell, text in said.items() if not text.startswith("✓")}
    if reference_variable:
        assert WITH_REFERENCE.get(path.stem, "") in printed(made)


@pytest.mark.reference
@pytest.mark.parametrize("path", ON_ESCI, ids=lambda path: path.stem)
def test_notebook_runs_on_real_data_through_its_parameter(runner, path, reference_data):
    made = runner.execute(path, {"data_folder": str(reference_data / "esci150")})
    assert runner.problems(made) == []
    assert "6,764 products" in printed(made)
