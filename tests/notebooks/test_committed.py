"""Committed notebooks: stripped, one question, parameters, short cells, no forbidden widgets."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path, kind: str) -> list:
    """Cells of one type."""
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def test_no_outputs_counts_or_widget_state(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    for cell in cells(path, "code"):
        assert cell.outputs == [] and cell.execution_count is None, cell.source


def test_cell_ids_are_unique_and_readable(path):
    ids = [cell["id"] for cell in nbformat.read(path, as_version=4).cells]
    assert len(set(ids)) == len(ids)
    assert not [name for name in ids if re.fullmatch(r"[0-9a-f]{8}", name)], "give cells names that stay"


def test_one_question_as_title_and_headings_in_order(path):
    text = "\n".join(re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL) for cell in cells(path, "markdown"))
    levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
    assert levels.count(1) == 1 and levels[0] == 1
    assert re.search(r"^# .*\?$", text, re.MULTILINE), "the title is the question"
    assert all(later - earlier <= 1 for earlier, later in zip(levels, levels[1:]))
    assert "minutes" in text and "What you learned" in text


def test_parameters_come_first(path):
    code = cells(path, "code")
    assert code[0].metadata.get("tags") == ["parameters"]
    assert all("parameters" not in cell.metadata.get("tags", []) for cell in code[1:])
    assert "import" in code[1].source, "the imports follow the parameters"


def test_papermill_sees_the_same_parameters(runner, path):
    from papermill import inspect_notebook

    names = runner.parameter_names(nbformat.read(path, as_version=4))
    assert names and list(inspect_notebook(str(path))) == names


def test_steps_are_short_and_define_nothing_big(path):
    for cell in cells(path, "code"):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert len(lines) <= 15, cell.source
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                assert node.end_lineno - node.lineno < 4, f"{node.name} belongs into the toolkit"


def test_exercises_have_a_check_and_a_folded_solution(path):
    checks = sum(len(re.findall(r"\.check_\w+\(|^check_\w+\(", cell.source, re.MULTILINE)) for cell in cells(path, "code"))
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    folded = re.findall(r"<details>(.*?)</details>", text, re.DOTALL)
    assert checks >= 2 and len(folded) >= checks
    # Markdown inside the fold ends it in exported pages: plain HTML without blank lines stays folded everywhere.
    assert not [part for part in folded if "\n\n" in part or "```" in part]


def test_nothing_that_stalls_or_leaks(path):
    text = "\n".join(cell.source for cell in cells(path, "code"))
    forbidden = re.findall(r"\binteract\b|interactive_output|\bOutput\(|\bThread\(|plt\.|pyplot|itables", text)
    assert forbidden == []
