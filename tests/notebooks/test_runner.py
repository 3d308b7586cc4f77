"""The notebook runner sees failures wherever they show, and refuses what papermill lets pass."""

from __future__ import annotations

import re

import nbformat
import pytest

WIDGET = """
import ipywidgets as widgets
from toolkit.views.box import Explorer
from toolkit.views.html import line
box = Explorer({"n": widgets.IntText(value=4, description="n")}, lambda n: {"s": line(str(8 / n))}, css_class="divider")
box"""
OUTPUT_WIDGET = """
import ipywidgets as widgets
out = widgets.Output()
with out:
    raise KeyError("inside an Output widget")
out"""
THREAD = """
import threading
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()"""


def test_a_clean_notebook_has_no_problems(runner, write):
    assert runner.problems(runner.execute(write("1 + 1", WIDGET))) == []


@pytest.mark.parametrize(("sources", "found"), [
    (("raise ValueError('plain')",), "ValueError: plain"),
    ((WIDGET, "box.controls['n'].value = 0"), "shows an alert: ZeroDivisionError"),
    (("from IPython.display import HTML\nHTML('<p role=\"alert\">by hand</p>')",), "shows an alert: by hand"),
    ((OUTPUT_WIDGET,), "KeyError"),
    ((THREAD,), "ZeroDivisionError"),
], ids=["cell", "callback", "alert", "output", "thread"])
def test_every_kind_of_failure_is_found(runner, write, sources, found):
    problems = runner.problems(runner.execute(write(*sources)))
    assert problems and any(found in problem for problem in problems), problems


def test_cells_after_an_error_still_run_and_tagged_errors_may_happen(runner, write):
    path = write("1 / 0", "print('later')")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].metadata["tags"] = ["raises-exception"]
    nbformat.write(notebook, path)
    made = runner.execute(path)
    assert runner.problems(made) == [] and made.cells[1].outputs[0]["text"] == "later\n"


def test_parameters_replace_the_defaults(runner, write):
    path = write("# parameters\ndepth = 10\nname: str = 'a'", "print(depth, name)")
    assert runner.parameter_names(nbformat.read(path, as_version=4)) == ["depth", "name"]
    made = runner.execute(path, {"depth": 20})
    assert made.cells[-1].outputs[0]["text"] == "20 a\n"
    assert "depth = 10" in nbformat.read(path, as_version=4).cells[0].source, "the file must not change"


@pytest.mark.parametrize(("parameters", "complaint"), [
    ({"dept": 20}, r"unknown parameter\(s\) \['dept'\]"), ({"api_key": "x"}, "look like credentials"), ({"db_password": "x"}, "credentials")])
def test_misspelt_names_and_credentials_are_refused(runner, write, parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        runner.execute(write("# parameters\ndepth = 10\napi_key = None"), parameters)


def test_page_needs_no_network_and_shows_widgets_as_snapshots(runner, write):
    progress = "import ipywidgets as widgets\nwidgets.IntProgress(value=3)"
    page = runner.to_html(runner.execute(write(WIDGET, progress)), "A title")
    assert re.search(r'class="toolkit-snapshot divider"', page) and "<title>A title</title>" in page
    assert "IntProgress(value=3" not in page
    assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', page)


def test_command_line_writes_pages_and_reports_problems(run_notebooks, write, tmp_path, capsys):
    write("# parameters\ndata_folder = None\ndepth = 1", "print(data_folder, depth)", name="00_good.ipynb")
    write("raise ValueError('bad')", name="01_bad.ipynb")
    folders = ["--folder", str(tmp_path), "--output", str(tmp_path / "pages")]
    good = run_notebooks.main(["00", "--set", "depth=7", "--data-folder", str(tmp_path), *folders])
    assert good == 0 and f"{tmp_path} 7" in (tmp_path / "pages" / "00_good.html").read_text(encoding="utf-8")
    assert run_notebooks.main(folders) == 1
    assert "ValueError: bad" in capsys.readouterr().out
    assert (tmp_path / "pages" / "01_bad.html").is_file()
    with pytest.raises(SystemExit, match="no notebook begins with '99'"):
        run_notebooks.main(["99", *folders])


def test_a_stuck_cell_a_dead_kernel_and_a_wrong_parameter_do_not_end_the_run(run_notebooks, write, tmp_path, capsys):
    write("import time\ntime.sleep(60)", name="00_stuck.ipynb")
    write("import os\nos._exit(1)", name="01_dead.ipynb")
    write("# parameters\ndepth = 1", "depth", name="02_good.ipynb")
    folders = ["--folder", str(tmp_path), "--output", str(tmp_path / "pages")]
    assert run_notebooks.main(["--timeout", "3", *folders]) == 1
    said = capsys.readouterr().out
    assert "CellTimeoutError" in said and "DeadKernelError" in said and "1 clean, 2 with problems" in said
    assert run_notebooks.main(["02", "--set", "dept=2", *folders]) == 1
    assert "unknown parameter(s) ['dept']" in capsys.readouterr().out
