"""Execute notebooks headless and list every failure they show, wherever they show it.

``make notebooks`` and the tests both use this module; it knows nothing of the toolkit.
Ordinary runners pass notebooks whose widget callbacks fail: the error lies in the widget's state, in an
Output widget or on stderr. :func:`problems` looks in all of these places.
"""

from __future__ import annotations

import ast
import copy
import os
import queue
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import nbformat
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from traitlets import Type

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
ALERT = 'role="alert"'
CREDENTIAL = re.compile(r"passw|secret|token$|api_?key|credential", re.IGNORECASE)
# Where a page runs no widgets, their HTML snapshot comes before the dead view.
DISPLAY_PRIORITY = ["text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/latex", "text/plain"]


class _RepollingChannel(AsyncZMQSocketChannel):
    """Looks at the socket twice a second.

    nbclient answers an Output widget by sending on the socket it waits to read; that can swallow the
    wake-up, and the wait then lasts for the whole timeout of the cell (nbclient issue 312).
    """

    async def get_msg(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = 0.5 if end is None else min(0.5, max(0.0, end - time.monotonic()))
            try:
                return await super().get_msg(timeout=left)
            except queue.Empty:
                if end is not None and time.monotonic() >= end:
                    raise


class _Client(AsyncKernelClient):
    shell_channel_class = Type(_RepollingChannel)


class _Manager(AsyncKernelManager):
    client_factory = Type(_Client)


def parameter_names(notebook: nbformat.NotebookNode) -> list[str]:
    """Names assigned in the cell tagged ``parameters``; empty where there is no such cell."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and "parameters" in cell.metadata.get("tags", []):
            body = ast.parse(cell.source).body
            targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
            targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def load(path: Path, parameters: Mapping[str, object]) -> nbformat.NotebookNode:
    """Read a notebook; with parameters, papermill's ``injected-parameters`` cell follows its own.

    Raises
    ------
    ValueError
        For a name that the notebook's parameters cell does not set (papermill itself accepts a misspelt
        name silently), and for one that looks like a credential (papermill writes values into its output).
    """
    secret = [name for name in parameters if CREDENTIAL.search(name)]
    if secret:
        raise ValueError(f"parameter(s) {secret} look like credentials and would be written into the output; "
                         "set them in the environment instead")
    notebook = nbformat.read(path, as_version=4)
    known = parameter_names(notebook)
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise ValueError(f"unknown parameter(s) {unknown}; {path.name} has {known}")
    if not parameters:
        return notebook
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    return parameterize_notebook(load_notebook_node(str(path)), dict(parameters), kernel_name="python3", language="python")


def execute(path: Path, parameters: Mapping[str, object] | None = None, *, timeout: float = 300,
            folder: Path | None = None) -> nbformat.NotebookNode:
    """Run all cells, also after errors, and return the notebook with outputs and widget state.

    Parameters
    ----------
    path : Path
        The notebook; the file is not changed.
    parameters : mapping, optional
        Values for names of its parameters cell.
    timeout : float
        Seconds that one cell may take.
    folder : Path, optional
        Working folder of the kernel; default the notebook's.
    """
    notebook = load(path, parameters or {})
    # Sockets are files where there are such: no port races, nothing to listen in on.
    with tempfile.TemporaryDirectory(prefix="nb-") as sockets:
        manager = _Manager(kernel_name="python3", transport="tcp" if os.name == "nt" else "ipc",
                           connection_file=os.path.join(sockets, "kernel.json"))
        client = NotebookClient(notebook, km=manager, timeout=timeout, allow_errors=True,
                                resources={"metadata": {"path": str(folder or path.parent)}})
        client.execute(env={**os.environ, "TQDM_DISABLE": "1"}, cleanup_kc=True)
    return notebook


def problems(notebook: nbformat.NotebookNode) -> list[str]:
    """Every failure an executed notebook shows, one sentence each.

    Looks at errors and alerts in outputs, tracebacks on stderr, Output widgets, alerts in HTML widgets,
    and views whose model was not saved. Cells tagged ``raises-exception`` may raise.
    """
    found: list[str] = []
    models = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", []):
            continue
        found += _output_problems(f"cell {number}", cell.outputs)
        views = [output.get("data", {}).get(VIEW) for output in cell.outputs]
        found += [f"cell {number}: widget {view['model_id'][:8]} has no saved state"
                  for view in views if view and view["model_id"] not in models]
    for model_id, model in models.items():
        if model["model_name"] == "OutputModel":
            found += _output_problems(f"output widget {model_id[:8]}", model["state"].get("outputs", []))
        elif ALERT in str(model["state"].get("value", "")):
            found.append(f"widget {model_id[:8]}: shows an alert: {_text(model['state']['value'])}")
    return found


def _output_problems(where: str, outputs: list) -> list[str]:
    """Errors, tracebacks on stderr and alerts among a list of outputs."""
    found = []
    for output in outputs:
        page = str(output.get("data", {}).get("text/html", ""))
        if output["output_type"] == "error":
            found.append(f"{where}: {output['ename']}: {output['evalue']}")
        elif output["output_type"] == "stream" and output["name"] == "stderr" and "Traceback" in output["text"]:
            found.append(f"{where}: {output['text'].strip().splitlines()[-1]} (on stderr)")
        elif ALERT in page and VIEW not in output.get("data", {}):
            found.append(f"{where}: shows an alert: {_text(page[page.index(ALERT):])}")
    return found


def _text(page: str) -> str:
    """The words of a piece of HTML, shortened."""
    return " ".join(re.sub(r"<[^>]*>|role=\"alert\"[^>]*>", " ", page).split())[:200]


def to_html(notebook: nbformat.NotebookNode, title: str) -> str:
    """A page with all outputs that needs neither network nor kernel.

    Widgets appear as their snapshots; views without one (progress bars) have nothing left to show.
    """
    from nbconvert import HTMLExporter

    still = copy.deepcopy(notebook)
    still.metadata.pop("widgets", None)
    still.metadata["title"] = title
    for cell in still.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs
                            if VIEW not in output.get("data", {}) or "text/html" in output["data"]]
    exporter = HTMLExporter(embed_images=True, require_js_url="", mathjax_url="", mermaid_js_url="", jquery_url="")
    for part in (exporter, *exporter._preprocessors):
        if part.has_trait("display_data_priority"):
            part.display_data_priority = DISPLAY_PRIORITY
    page, _ = exporter.from_notebook_node(still)
    return re.sub(r'<script src=""[^>]*>\s*</script>', "", page)
