"""The widget base as a user meets it: in Voila and in JupyterLab, by keyboard and accessible name."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

CODE = """
import ipywidgets as widgets
import pandas as pd
from matplotlib.figure import Figure
from toolkit.views.box import Explorer
from toolkit.views.html import figure_html, line, table_html

def render(*, rows, power):
    if rows == 7:
        raise ValueError("7 rows are refused")
    frame = pd.DataFrame({"n": range(1, rows + 1)}).assign(value=lambda t: t["n"] ** int(power))
    figure = Figure(figsize=(4, 2))
    figure.subplots().plot(frame["n"], frame["value"])
    return {"summary": line(f"{rows} rows to the power {power}"),
            "picture": figure_html(figure, f"{rows} powers"), "table": table_html(frame, "Powers")}

Explorer({"rows": widgets.IntSlider(value=5, min=1, max=9, description="number of rows"),
          "power": widgets.Dropdown(options=["1", "2", "3"], description="power")}, render, css_class="power-explorer")
"""


def check_controls(box: Locator) -> None:
    """Move each control by keyboard and see everything follow."""
    picture = box.get_by_role("img")
    expect(box.get_by_role("status")).to_have_text("5 rows to the power 1")
    before = picture.get_attribute("src")
    rows = box.get_by_role("spinbutton", name="number of rows")
    rows.fill("3")
    rows.press("Enter")
    expect(box.get_by_role("status")).to_have_text("3 rows to the power 1")
    expect(picture).not_to_have_attribute("src", before)
    expect(picture).to_have_attribute("alt", "3 powers")
    expect(box.locator("table.toolkit-table tbody tr")).to_have_count(3)
    box.get_by_role("combobox", name="power").select_option("2")
    expect(box.locator("table.toolkit-table tbody tr").last).to_have_text(re.compile("9"))


def test_controls_move_everything_in_voila(voila_page):
    box = voila_page(CODE, ".power-explorer").locator(".power-explorer")
    check_controls(box)
    slider = box.locator(".noUi-handle")
    slider.focus()
    slider.press("ArrowRight")
    expect(box.get_by_role("status")).to_have_text("4 rows to the power 2")
    expect(box.get_by_role("spinbutton", name="number of rows")).to_have_value("4")


def test_a_callback_error_is_announced_in_voila(voila_page):
    box = voila_page(CODE, ".power-explorer").locator(".power-explorer")
    rows = box.get_by_role("spinbutton", name="number of rows")
    rows.fill("7")
    rows.press("Enter")
    expect(box.get_by_role("alert")).to_have_text("ValueError: 7 rows are refused")
    expect(box.get_by_role("img")).to_have_count(0)


def test_controls_move_everything_in_jupyterlab(lab_page, tmp_path: Path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(CODE).strip())])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "box.ipynb")
    check_controls(lab_page(tmp_path / "box.ipynb", ".power-explorer").locator(".power-explorer"))
