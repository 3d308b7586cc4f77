"""Execute all notebooks headless and write them as HTML with outputs.

``make notebooks`` calls this; ``python scripts/run_notebooks.py --help`` lists what else it can do, for
example run two notebooks on your own data::

    python scripts/run_notebooks.py 01 02 --data-folder ~/esci
    python scripts/run_notebooks.py 02 --set depth=200

The exit code is 1 when a notebook shows a problem. Every notebook is run, also after a problem.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from pathlib import Path

import nbformat
import notebook_runner as runner
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from tqdm.auto import tqdm

ROOT = Path(__file__).resolve().parents[1]


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Execute notebooks headless; write HTML with outputs.")
    parser.add_argument("names", nargs="*", help="beginnings of notebook names, for example 00 01; default all")
    parser.add_argument("--data-folder", help="folder with your own data, for notebooks with that parameter")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of every chosen notebook; VALUE is a Python literal, else text")
    parser.add_argument("--folder", type=Path, default=ROOT / "notebooks", help="folder of the notebooks")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "notebooks", help="folder of the HTML pages")
    parser.add_argument("--timeout", type=float, default=300, help="seconds one cell may take")
    return parser.parse_args(argv)


def chosen(names: list[str], folder: Path) -> list[Path]:
    """Notebooks whose name begins with one of ``names`` (all for no names), sorted."""
    paths = sorted(folder.glob("*.ipynb"))
    for name in names:
        if not any(path.name.startswith(name) for path in paths):
            raise SystemExit(f"no notebook begins with {name!r}; there are {', '.join(path.stem for path in paths)}")
    return [path for path in paths if not names or path.name.startswith(tuple(names))]


def settings(pairs: list[str]) -> dict[str, object]:
    """``["depth=200", "seed=1"]`` as ``{"depth": 200, "seed": 1}``."""
    made: dict[str, object] = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator:
            raise SystemExit(f"--set {pair!r}: expected NAME=VALUE")
        try:
            made[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            made[name] = text
    return made


def parameters_for(path: Path, options: argparse.Namespace) -> dict[str, object]:
    """The parameters of one notebook: ``--set`` as given, ``--data-folder`` where the notebook has it."""
    made = settings(options.set)
    if options.data_folder and "data_folder" in runner.parameter_names(nbformat.read(path, as_version=4)):
        made["data_folder"] = str(Path(options.data_folder).expanduser().resolve())
    return made


def run(path: Path, options: argparse.Namespace) -> list[str]:
    """Execute one notebook, write its page, return its problems; a dead kernel or a stuck cell is one."""
    try:
        notebook = runner.execute(path, parameters_for(path, options), timeout=options.timeout)
    except (CellTimeoutError, DeadKernelError, ValueError) as error:
        return [f"not finished: {type(error).__name__}: {error}"]
    options.output.mkdir(parents=True, exist_ok=True)
    page = options.output / f"{path.stem}.html"
    page.write_text(runner.to_html(notebook, path.stem), encoding="utf-8")
    return runner.problems(notebook)


def main(argv: list[str] | None = None) -> int:
    """Run the chosen notebooks; 0 when none shows a problem."""
    options = arguments(argv)
    paths, failed = chosen(options.names, options.folder), 0
    with tqdm(paths, unit="notebook", disable=None) as bar:
        for path in bar:
            bar.set_postfix_str(path.stem)
            start = time.perf_counter()
            found = run(path, options)
            failed += bool(found)
            bar.write(f"{path.stem}: {'problem' if found else 'clean'}, {time.perf_counter() - start:.1f} s")
            for problem in found:
                bar.write(f"    {problem}")
    print(f"{len(paths) - failed} clean, {failed} with problems; pages in {options.output}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
