"""Layers 0 to 3 and the attribution gap of a log larger than memory: seconds, peak memory, and the ratio to a plain scan of its files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from toolkit.lineage.scale_generator import generate_log

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "lineage_scale"
FLAGS = {"GPR": "active_use", "ACR": "agent_use", "ORF: said wrong": "said_wrong", "ORF: retried": "retried", "ORF: other asset used": "used_other",
         "downstream correction": "corrected", "goal by lineage": "goal"}
# Each measurement has a process of its own, whose peak is its own.
MEASURE = """
import json, re, sys, time
from toolkit.lineage.scale_duckdb import DuckDBEngine
work, folder, temp = sys.argv[1:]
start = time.perf_counter()
if work == "scan":
    with DuckDBEngine(memory_limit="2GB", temp_directory=temp) as engine:
        for name in ("prompts", "retrievals", "actions", "judgments"):
            engine.frame(f"SELECT count(COLUMNS(*)) FROM read_parquet('{folder}/{name}.parquet')")
    found = {}
elif work == "layers":
    from toolkit.lineage.scale import count_log
    counts = count_log(folder, memory_limit="2GB", temp_directory=temp, progress=False)
    table = counts.to_frame()
    found = {"sizes": counts.sizes, "counts": {row.metric: row.count for row in table[table["role"] == "all roles"].itertuples(index=False)}}
else:
    from toolkit.lineage.scale_gap import count_gap
    found = {rule: count_gap(folder, rule, memory_limit="2GB", temp_directory=temp, progress=False).table["retrievals"].sum().item() for rule in ("any_touch", "last_touch")}
print(json.dumps(found | {"seconds": time.perf_counter() - start,
                          "peak_gb": int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024**2}))
"""


def run(quick: bool = False) -> dict[str, float]:
    """Generate, scan, count; ``lineage_scale_wrong_counts`` says how many counts differ from what was drawn."""
    retrievals, events = (50_000, 200_000) if quick else (5_000_000, 20_000_000)
    start = time.perf_counter()
    made = generate_log(FOLDER, retrievals=retrievals, events=events)
    numbers = {"lineage_scale_generate_s": time.perf_counter() - start, "lineage_scale_retrievals": made.retrievals,
               "lineage_scale_events": made.actions, "lineage_scale_prompts": made.prompts, "lineage_scale_judgments": made.judgments}
    try:
        scan, layers, gap = (measure(work, made.folder) for work in ("scan", "layers", "gap"))
        numbers |= {"lineage_scale_wrong_counts": wrong_counts(layers["counts"], made.truth)}
    finally:
        shutil.rmtree(FOLDER)
    return numbers | {"lineage_scale_vs_scan_ratio": layers["seconds"] / scan["seconds"], "lineage_scale_s": layers["seconds"],
                      "lineage_scale_scan_s": scan["seconds"], "lineage_scale_peak_gb": layers["peak_gb"],
                      "lineage_scale_gap_vs_scan_ratio": gap["seconds"] / scan["seconds"], "lineage_scale_gap_s": gap["seconds"],
                      "lineage_scale_gap_peak_gb": gap["peak_gb"]}


def measure(work: str, folder: Path) -> dict:
    """Seconds (imports left out) and peak memory of one work, and what it found."""
    done = subprocess.run([sys.executable, "-c", MEASURE, work, str(folder), str(FOLDER)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{work}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def wrong_counts(counts: dict[str, int], truth: Path) -> int:
    """Counts that differ from the truth."""
    import duckdb

    true = duckdb.sql(f"SELECT {', '.join(f'count_if({flag}) AS {flag}' for flag in FLAGS.values())} FROM read_parquet('{truth}')").df().iloc[0]
    return sum(int(true[flag]) != counts[metric] for metric, flag in FLAGS.items())
