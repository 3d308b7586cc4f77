"""The house rules that a test can see: who imports whom, documentation, sizes, quick imports, pins."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "toolkit"
MODULES = sorted(PACKAGE.rglob("*.py"))
# A room may import the rooms of smaller numbers and itself; equals do not know each other.
ORDER = {"tables": 0, "lazy": 0, "datasets": 1, "search": 2, "evaluation": 3, "diagnosis": 4, "lineage": 4, "agent_logs": 4,
         "interventions": 5, "governance": 6, "views": 7, "exercises": 8, "__main__": 8, "cli": 8}
HEAVY = ("numba", "matplotlib", "scipy", "sklearn", "seaborn", "elasticsearch", "duckdb", "pyarrow", "ipywidgets", "wordllama",
         "tokenizers", "IPython", "papermill", "rapidfuzz")
MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_.])/(work|root|farm|home/\w+|Users/\w+)/")
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".ipynb", ".json", ".csv", ".tsv", ".sql", ".cfg", ".sh", ""}


def name_of(path: Path) -> str:
    """``toolkit/views/html.py`` as ``views/html.py``, for test names."""
    return path.relative_to(PACKAGE).as_posix()


def room_of(dotted: str) -> str | None:
    """``toolkit.views.html`` -> ``views``; None for the package itself."""
    return next(iter(dotted.split(".")[1:2]), None)


def imported(path: Path) -> Iterator[str]:
    """Dotted names of what a module imports anywhere in it, relative imports resolved."""
    package = ["toolkit", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield from [stem] if stem != "toolkit" else (f"toolkit.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", [p for p in MODULES if p.parent != PACKAGE or p.stem != "__init__"], ids=name_of)
def test_imports_point_one_way(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in ORDER, f"{own} has no place in the house; add it to ORDER and to ARCHITECTURE.md"
    names = {name for name in imported(path) if name.split(".")[0] == "toolkit"}
    rooms = {room_of(name) for name in names} - {own}
    assert rooms <= set(ORDER), f"{name_of(path)} imports the public face ({rooms - set(ORDER)}); import the room"
    wrong = sorted(room for room in rooms if ORDER[room] >= ORDER[own])
    assert not wrong, f"{name_of(path)} imports from {wrong}, which come after {own} (or beside it)"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_are_short_and_say_what_they_are(path):
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no module docstring"
    assert len(text.splitlines()) <= 400


def undocumented(path: Path) -> Iterator[str]:
    """Public functions, classes and methods of a module that lack a docstring or a type hint."""
    def inspect_function(node: ast.FunctionDef, prefix: str = "", *, method: bool = False) -> Iterator[str]:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
        bare = [a.arg for a in arguments if a is not None and a.annotation is None]
        bare = bare[1:] if method and not static and bare else bare
        if not ast.get_docstring(node):
            yield f"{prefix}{node.name}: no docstring"
        if bare or node.returns is None:
            yield f"{prefix}{node.name}: no type hint for {bare or 'the result'}"

    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, functions) and not node.name.startswith("_"):
            yield from inspect_function(node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                yield f"{node.name}: no docstring"
            for member in node.body:
                if isinstance(member, functions) and not member.name.startswith("_"):
                    yield from inspect_function(member, f"{node.name}.", method=True)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_functions_are_documented_and_typed(path):
    assert list(undocumented(path)) == []


def plot_functions() -> list:
    """Every public function defined in a module of ``toolkit.views.plots`` (``base`` holds no plots)."""
    found = []
    for path in sorted((PACKAGE / "views" / "plots").glob("*.py")):
        if path.stem in ("__init__", "base"):
            continue
        module = importlib.import_module(f"toolkit.views.plots.{path.stem}")
        found += [function for name, function in inspect.getmembers(module, inspect.isfunction)
                  if not name.startswith("_") and function.__module__ == module.__name__]
    return found


@pytest.mark.parametrize("function", plot_functions(), ids=lambda f: f"{f.__module__.rsplit('.', 1)[-1]}.{f.__name__}")
def test_plots_are_functions_of_a_table_with_named_documented_options(function):
    parameters = inspect.signature(function).parameters
    kinds = [parameter.kind for parameter in parameters.values()]
    assert inspect.Parameter.VAR_KEYWORD not in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[1:]), "options after the table must be keyword-only"
    assert parameters["ax"].default is None
    documented = inspect.getdoc(function)
    missing = [name for name in parameters if not re.search(rf"^\s*(\w+, )*{name}(, \w+)* :", documented, re.MULTILINE)]
    assert not missing, f"parameters without a line in the docstring: {missing}"


def test_import_is_quick():
    code = ("import sys, toolkit, toolkit.datasets, toolkit.search, toolkit.evaluation, toolkit.diagnosis, toolkit.views, "
            f"toolkit.lineage, toolkit.interventions; print(*sorted({set(HEAVY)!r} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == []


def test_every_public_name_resolves():
    for package in [PACKAGE, *(p.parent for p in PACKAGE.glob("*/__init__.py"))]:
        module = importlib.import_module(".".join(package.relative_to(ROOT).parts))
        broken = [name for name in getattr(module, "__all__", []) if not hasattr(module, name)]
        assert not broken, f"{module.__name__} promises {broken}"


def tracked() -> list[Path]:
    """Files under version control that are still there; skips where there is no git."""
    done = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        pytest.skip(f"not a git checkout: {done.stderr.strip()}")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_path_of_one_machine():
    found = [f"{path.relative_to(ROOT)}:{number}" for path in tracked() if path.suffix in TEXT
             for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
             if MACHINE_PATH.search(text)]
    assert found == []


def test_no_module_hides_a_public_name_of_its_package():
    """Importing the submodule ``x.y`` sets the attribute ``y`` of ``x``: a function of that name would be hidden by it."""
    hidden = []
    for folder in {path.parent for path in (ROOT / "toolkit").rglob("__init__.py")}:
        package = importlib.import_module(".".join(folder.relative_to(ROOT).parts))
        modules = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.iterdir() if path.is_dir()}
        hidden += [f"{package.__name__}.{name}" for name in modules & set(getattr(package, "__all__", ()))]
    assert hidden == []


def requirements(pyproject: dict) -> list[str]:
    """Requirements of the project and of its optional parts."""
    project = pyproject["project"]
    return [*project["dependencies"], *(r for group in project["optional-dependencies"].values() for r in group)]


@pytest.fixture(scope="module")
def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_environment_file_is_generated_from_pyproject(pyproject):
    spec = importlib.util.spec_from_file_location("environment", ROOT / "scripts" / "environment.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (ROOT / "environment.yml").read_text(encoding="utf-8") == script.environment(pyproject), "run `make environment`"


def test_constraints_pin_every_requirement(pyproject):
    from packaging.requirements import Requirement

    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert not [text for text in lines if "://" in text or " @ " in text], "constraints must not hold addresses"
    pins = {name.lower().replace("_", "-"): version
            for name, _, version in (text.partition("==") for text in lines if text and not text.startswith("#"))}
    for wanted in map(Requirement, requirements(pyproject)):
        assert pins.get(wanted.name.lower().replace("_", "-")) in wanted.specifier, f"{wanted}: run `make constraints`"
