"""Metrics, resampling and calibration of the evaluation room."""

from __future__ import annotations

import resource
import time

import numpy as np
import pandas as pd

from toolkit.evaluation import evaluate
from toolkit.evaluation.calibration import false_promotions, interval_coverage, power_check
from toolkit.evaluation.resampling import bootstrap_interval, sign_flip_p


def run(quick: bool = False) -> dict[str, float]:
    """CPU seconds of the speed bars, and the rates of the calibration simulations.

    Parameters
    ----------
    quick : bool
        Smaller tables and fewer simulated runs.
    """
    return {**_metrics(100_000 if quick else 1_000_000), **_resampling(), **_calibration(200 if quick else 1000)}


def _metrics(rows: int) -> dict[str, float]:
    """A table of ``rows`` rows in, per-query NDCG@10, Recall@10 and RR out; memory is the process's peak, tables included."""
    rankings, judgments = _table(rows, depth=1000)
    wide, wide_judgments = _table(rows, depth=100)
    found = {"metrics_1m_rows_cpu_s": _cpu(lambda: evaluate(rankings, judgments, ["ndcg@10", "recall@10", "mrr"])),
             "metrics_1m_rows_10000_queries_cpu_s": _cpu(lambda: evaluate(wide, wide_judgments, ["ndcg@10", "recall@10", "mrr"]))}
    found["metrics_process_peak_memory_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {**found, "metrics_rows": float(rows)}


def _table(rows: int, depth: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Unsorted rankings of ``rows / depth`` queries, and 40 judgments a query."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(rows // depth), depth)
    product = np.concatenate([rng.choice(200_000, depth, replace=False) for _ in range(rows // depth)])
    frame = pd.DataFrame({"query_id": pd.Series(query.astype(str), dtype="str"), "product_id": pd.Series(product.astype(str), dtype="str"),
                          "score": rng.random(len(query)) * 30})
    judged = frame.groupby("query_id", sort=False).head(40)[["query_id", "product_id"]]
    return frame, judged.assign(grade=rng.integers(0, 4, len(judged)).astype(float))


def _resampling() -> dict[str, float]:
    """10,000 bootstraps of 36 metrics on 600 queries, and 10,000 sign flips of one."""
    differences = np.random.default_rng(0).normal(0.01, 0.2, (600, 36))
    return {"bootstrap_10000x36x600_cpu_s": _cpu(lambda: bootstrap_interval(differences)),
            "sign_flips_10000_cpu_s": _cpu(lambda: sign_flip_p(differences[:, :1]))}


def _calibration(runs: int) -> dict[str, float]:
    """Rates of the simulations, flat: calibration_<what>_n<n>_zeros<share>."""
    def name(what: str, row: tuple) -> str:
        return f"calibration_{what}_n{row.n}_zeros{round(100 * row.zero_share)}"
    found = {name("false_promotions", r): r.promoted for r in false_promotions(runs=runs).itertuples()}
    found |= {name("coverage", r): r.coverage for r in interval_coverage(runs=runs).itertuples()}
    for r in power_check(runs=runs).itertuples():
        found |= {name("power_predicted", r): r.predicted, name("power_found", r): r.found}
    return {**found, "calibration_runs": float(runs)}


def _cpu(work) -> float:
    """CPU seconds of this process for one call, the best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
