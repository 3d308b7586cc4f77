"""Widgets in a real browser: a Voila and a JupyterLab server, Chromium, screenshots.

To test a widget, write ``tests/browser/test_<widget>.py``::

    import pytest
    from playwright.sync_api import expect

    pytestmark = pytest.mark.browser

    CODE = '''
    import toolkit as tk
    from toolkit.views.widgets import my_explorer
    my_explorer(tk.load_sample())
    '''

    def test_my_explorer_follows_its_controls(voila_page):
        page = voila_page(CODE, ".my-explorer")                   # waits until the box is shown
        box = page.locator(".my-explorer")
        depth = box.get_by_label("search depth")                  # controls are found by accessible name
        picture = box.get_by_role("img", name=re.compile("failure buckets"))
        before = picture.get_attribute("src")
        depth.fill("20")
        depth.press("Enter")                                      # the keyboard, as users do
        expect(box.get_by_role("status")).to_contain_text("to depth 20")
        expect(picture).not_to_have_attribute("src", before)
        expect(box.locator("table.toolkit-table tbody tr")).to_have_count(5)

``voila_page(code, ready)`` puts the code (imports and one widget call) into a one-cell notebook that one
Voila server of the session serves. ``lab_page(path, ready)`` opens a committed notebook in JupyterLab and
runs all its cells (slower: one per family of notebooks). Both fail on a JavaScript error and on a
``role="alert"``, and each test leaves ``build/screenshots/<test name>.png``; look at it.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Error, Page, expect

from tests.conftest import ROOT, missing

SCREENSHOTS = ROOT / "build" / "screenshots"
READY = 90_000  # ms; a cold kernel imports the toolkit and may compile kernels
# Waiting for the idle marker and clicking Run is unreliable on cold kernels; the command is not.
RUN_ALL = """async (limit) => {
  const run = async () => {
    const app = window.jupyterapp; await app.restored;
    const panel = app.shell.currentWidget; await panel.context.ready; await panel.sessionContext.ready;
    while (panel.sessionContext.session?.kernel?.connectionStatus !== 'connected') await new Promise(done => setTimeout(done, 100));
    return app.commands.execute('notebook:run-all-cells'); };
  return Promise.race([run(), new Promise(done => setTimeout(done, limit, 'timeout'))]); }"""
expect.set_options(timeout=20_000)  # a callback may wait for a busy machine; a passing expectation costs nothing
QUIET_NEWS = '{"fetchNews": "false", "checkForUpdates": false}'


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """Launch the system's Chromium; ``BROWSER_BIN`` names another one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("BROWSER_BIN") or next(filter(None, map(shutil.which, names)), None)
    if not found:
        missing("BROWSER", "no Chromium on PATH; install chromium or set BROWSER_BIN")
    flags = ["--disable-dev-shm-usage", "--disable-gpu"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")
    return {**browser_type_launch_args, "executable_path": found, "args": flags}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict) -> dict:
    """A window wide enough for a notebook, without animations."""
    return {**browser_context_args, "viewport": {"width": 1280, "height": 1400}, "reduced_motion": "reduce"}


@pytest.fixture
def watched_page(page: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that fails its test on JavaScript errors and leaves a screenshot."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(30_000)
    yield page
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "-", request.node.name.removesuffix("[chromium]"))
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    page.goto("about:blank")  # leaving the page lets Voila shut its kernel down
    assert not errors, f"JavaScript errors on the page: {errors}"


@pytest.fixture
def voila_page(watched_page: Page, voila_server: tuple[str, Path], request: pytest.FixtureRequest) -> Callable[[str, str], Page]:
    """``voila_page(code, ready)`` serves ``code`` as a notebook and waits for the CSS selector ``ready``."""
    url, folder = voila_server

    def show(code: str, ready: str) -> Page:
        name = re.sub(r"\W+", "-", request.node.name)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(code).strip())])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, folder / f"{name}.ipynb")
        watched_page.goto(f"{url}/voila/render/{name}.ipynb", timeout=READY)
        return _shown(watched_page, ready)

    return show


@pytest.fixture
def lab_page(watched_page: Page, lab_server: tuple[str, str, Path], request: pytest.FixtureRequest) -> Callable[[Path, str], Page]:
    """``lab_page(path, ready)`` opens a copy of a notebook in JupyterLab, runs all its cells, waits for ``ready``."""
    url, token, folder = lab_server

    def show(path: Path, ready: str) -> Page:
        shutil.copy(path, folder / path.name)
        workspace = re.sub(r"\W+", "-", request.node.name)
        watched_page.goto(f"{url}/lab/workspaces/{workspace}/tree/{path.name}?reset&token={token}", timeout=READY)
        watched_page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.sessionContext", timeout=READY)
        ended = watched_page.evaluate(RUN_ALL, READY)
        assert ended is True, f"{path.name}: run-all-cells answered {ended!r}, expected True"
        return _shown(watched_page, ready)

    return show


def _shown(page: Page, ready: str) -> Page:
    """Wait for the selector; no alert may stand beside it."""
    box = page.locator(ready).first
    try:
        box.wait_for(state="attached", timeout=READY)
    except Error as error:
        raise AssertionError(f"{ready} did not appear; the page says: {page.locator('body').inner_text()[-2000:]}") from error
    box.scroll_into_view_if_needed()
    expect(box).to_be_visible()
    expect(page.locator(f"{ready} [role=alert]")).to_have_count(0)
    return page


@pytest.fixture(scope="session")
def server_environment() -> Iterator[dict[str, str]]:
    """Environment of the servers: every Jupyter and IPython folder is temporary, with a short name for kernels' sockets."""
    home = Path(tempfile.mkdtemp(prefix="jup-"))
    news = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    news.parent.mkdir(parents=True)
    news.write_text(QUIET_NEWS, encoding="utf-8")
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "run", "JUPYTER_DATA_DIR": "data",
               "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "JUPYTERLAB_SETTINGS_DIR": "settings", "IPYTHONDIR": "ipython"}
    yield {**os.environ, "TQDM_DISABLE": "1", **{name: str(home / folder) for name, folder in folders.items()}}
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def voila_server(tmp_path_factory: pytest.TempPathFactory, server_environment: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """Address and folder of a running Voila."""
    folder, port = tmp_path_factory.mktemp("voila"), _free_port()
    options = [str(folder), f"--port={port}", "--Voila.ip=127.0.0.1", "--no-browser", "--Voila.port_retries=0",
               "--show_tracebacks=True", "--strip_sources=True"]
    yield from _served("voila", options, f"http://127.0.0.1:{port}", "/", server_environment, (folder,))


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory, server_environment: dict[str, str]) -> Iterator[tuple[str, str, Path]]:
    """Address, token and folder of a running JupyterLab."""
    folder, port, token = tmp_path_factory.mktemp("lab"), _free_port(), os.urandom(12).hex()
    # Sockets as files avoid races for ports, where their paths fit into the system's limit of about 100 characters.
    transport = "ipc" if len(server_environment["JUPYTER_RUNTIME_DIR"]) < 45 else "tcp"
    options = ["--no-browser", "--allow-root", "--expose-app-in-browser", f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1",
               "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}",
               "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
               f"--KernelManager.transport={transport}"]
    yield from _served("jupyterlab", options, f"http://127.0.0.1:{port}", "/api", server_environment, (token, folder))


def _free_port() -> int:
    """A loopback port that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _served(module: str, options: list[str], url: str, probe: str, environment: dict[str, str], extra: tuple) -> Iterator[tuple]:
    """Run ``python -m module`` until the session ends; yields ``(url, *extra)`` when it answers."""
    log = Path(environment["JUPYTER_CONFIG_DIR"]).parent / f"{module}.log"
    with log.open("wb") as sink:
        process = subprocess.Popen([sys.executable, "-m", module, *options], stdout=sink, stderr=subprocess.STDOUT, env=environment)
    try:
        _wait(process, url + probe, log)
        yield (url, *extra)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen, url: str, log: Path, seconds: float = 60) -> None:
    """Until ``url`` answers; a dead or silent server fails with the end of its log."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{url} did not answer (exit code {process.poll()}); the log ends: {log.read_text(errors='replace')[-2000:]}")
