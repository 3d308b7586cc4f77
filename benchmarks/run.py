"""Run the benchmarks and write ``build/bench.json``: flat names to numbers, with machine, versions and sizes.

Each module beside this one has ``run(quick=False) -> dict[str, float]``. Results of finished modules
are kept when a later one is interrupted or fails.

Usage: ``python benchmarks/run.py [--quick] [module ...]``
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
import time
import traceback
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUTPUT = ROOT / "build" / "bench.json"
LIBRARIES = ("numpy", "numba", "pandas", "duckdb", "scipy", "elasticsearch")


def modules() -> list[str]:
    """Names of the benchmark modules, in order."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run" and not path.stem.startswith("_"))


def load(name: str):
    """Import one benchmark module by its file."""
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    return {
        "machine": platform.machine(), "system": platform.system(), "cores": os.cpu_count(),
        "python": platform.python_version(), **{name: version(name) for name in LIBRARIES},
    }


def record(numbers: dict[str, float]) -> None:
    """Merge numbers into the output file, atomically; ratios stand first."""
    OUTPUT.parent.mkdir(exist_ok=True)
    old = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {}
    merged = {key: value for key, value in {**old, **numbers}.items() if key != "measured_on"}
    ratios = {key: merged[key] for key in sorted(merged, key=lambda name: (not ("_vs_" in name or name.endswith("_ratio")), name))}
    partial = OUTPUT.with_suffix(".partial")
    partial.write_text(json.dumps({**ratios, "measured_on": machine()}, indent=1))
    partial.replace(OUTPUT)


def main() -> int:
    """Run the chosen modules; the exit code is the number that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("modules", nargs="*", help=f"from {', '.join(modules())}; default all")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    failed = 0
    for name in arguments.modules or modules():
        print(f"{name} …", flush=True)
        start = time.perf_counter()
        try:
            numbers = load(name).run(quick=arguments.quick)
        except Exception:
            traceback.print_exc()
            failed += 1
            continue
        record(numbers)
        for key, value in numbers.items():
            print(f"  {key} = {value:.6g}" if isinstance(value, (int, float)) else f"  {key} = {value}")
        print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
