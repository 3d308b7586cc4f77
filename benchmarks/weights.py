"""Sweeps with metrics, field lists, exact curves and climbs on the embedded engine; a run at 200,000 products.

CPU seconds of one process after a warm-up that compiles the kernels. The comparison with
Elasticsearch (CPU of the same sweep, searches saved by field lists) is in ``engines.py``, which has the server.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from toolkit.datasets import generate_catalogue
from toolkit.diagnosis import best_weights, lab_218, sweep
from toolkit.diagnosis.climbing import mean_values
from toolkit.diagnosis.configs import LAB_BASE, Configurations
from toolkit.diagnosis.curves import field_curve
from toolkit.diagnosis.weight_space import objective, weight_space
from toolkit.search import EmbeddedEngine, FieldLists
from toolkit.views.widgets.weight_board import WeightBoard, render_weights

METRICS = ("ndcg@10", "recall@10", "mrr@10")


def run(quick: bool = False) -> dict[str, float]:
    """All measurements; with ``quick`` on a tenth of the products and queries."""
    data = generate_catalogue(2_000 if quick else 20_000, 300 if quick else 2_000, seed=1)
    engine = EmbeddedEngine.build(data.products, list(LAB_BASE.fields), progress=False)
    few = data.queries.head(5)
    sweep(engine, few, data.judgments, lab_218(), METRICS, progress=False)
    numbers = {"weights_queries": len(data.queries), "weights_products": len(data.products), "weights_configurations": len(lab_218())}
    numbers |= _sweeps(engine, data) | _exact(engine, data) | _sliders()
    numbers["weights_worker_peak_megabytes"] = _peak_megabytes()
    return numbers | _large(20_000 if quick else 200_000, 50 if quick else 300)


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of this process, and the result."""
    start = time.process_time()
    made = work()
    return time.process_time() - start, made


def _peak_megabytes() -> float:
    """Largest resident size so far."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1e6 if sys.platform == "darwin" else 1e3)


def _sweeps(engine: EmbeddedEngine, data) -> dict[str, float]:
    """218 configurations on all queries, three metrics: kernel against field lists."""
    numbers = {}
    for name, fuzziness in (("fuzzy_0", 0), ("fuzzy_auto", "AUTO")):
        made = lab_218()
        configs = Configurations(tuple(replace(config, fuzziness=fuzziness) for config in made), made.stages)
        kernel_s, kernel = _timed(lambda c=configs: sweep(engine, data.queries, data.judgments, c, METRICS, progress=False))
        fetch_s, lists = _timed(lambda c=configs[0]: FieldLists.from_engine(engine, data.queries, c, 11, first_matches=False, progress=False))
        lists_s, found = _timed(lambda c=configs, fetched=lists: sweep(fetched, None, data.judgments, c, METRICS, progress=False))
        differ = (kernel.values != found.values) & ~np.isnan(kernel.values)
        numbers |= {f"weights_sweep_kernel_{name}_cpu_s": kernel_s, f"weights_lists_fetch_{name}_cpu_s": fetch_s,
                    f"weights_sweep_lists_{name}_cpu_s": lists_s, f"weights_lists_unequal_values_{name}": float(differ.sum()),
                    f"weights_lists_uncertain_pairs_{name}": float(found.table["uncertain"].sum() / len(METRICS)),
                    f"weights_values_compared_{name}": float(differ.size),
                    f"weights_different_rankings_{name}": float(len({row.tobytes() for row in kernel.ranking_prints}))}
        if fuzziness == "AUTO":
            wide = sweep(engine, data.queries.head(200), data.judgments, configs, ("ndcg@200",), progress=False)
            numbers["weights_sweep_top_200_values"] = float(wide.values.size)
    return numbers


def _exact(engine: EmbeddedEngine, data) -> dict[str, float]:
    """Curves on all queries; a climb on a part of them, against the best of the grid there."""
    space = weight_space(FieldLists.from_engine(engine, data.queries, LAB_BASE, 11, first_matches=True, progress=False))
    goal = objective(space, data.judgments, "ndcg@10")
    field_curve(space, goal, "title", LAB_BASE)
    curve_s, curve = _timed(lambda: field_curve(space, goal, "title", LAB_BASE))
    part = space.take(space.query_ids[:300])
    climb_s, climb = _timed(lambda: best_weights(part, data.judgments, LAB_BASE, restarts=0))
    grid = mean_values(part, objective(part, data.judgments, "ndcg@10"), lab_218()).max()
    return {"weights_curve_cpu_s": curve_s, "weights_curve_pieces": float(len(curve.pieces)), "weights_climb_300_queries_cpu_s": climb_s,
            "weights_climb_value": climb.value, "weights_climb_best_of_grid": float(grid), "weights_climb_certified": float(climb.certified)}


def _sliders() -> dict[str, float]:
    """One answer of the weight sliders on the shipped data."""
    from toolkit.datasets import load_sample

    products, queries, judgments = load_sample()
    engine = EmbeddedEngine.build(products, progress=False)
    base = LAB_BASE
    board = WeightBoard.of(FieldLists.from_engine(engine, queries, base, 11, progress=False), judgments, queries, products, base)
    query = queries["query_id"].iloc[0]
    times = []
    for i in range(12):
        seconds, _ = _timed(lambda step=i: render_weights(board, field="title", query_id=query, **{**base.fields, "title": 1 + 0.3 * step}))
        times.append(seconds)
    return {"weights_slider_answer_cpu_ms": float(np.median(times[2:]) * 1000)}


def _large(products: int, queries: int) -> dict[str, float]:
    """A sweep of 218 configurations on a large catalogue, start to end."""
    data = generate_catalogue(products, queries, seed=2)
    build_s, engine = _timed(lambda: EmbeddedEngine.build(data.products, list(LAB_BASE.fields), progress=False))
    sweep_s, found = _timed(lambda: sweep(engine, data.queries, data.judgments, lab_218(), METRICS, progress=False))
    return {"weights_large_products": products, "weights_large_queries": queries, "weights_large_index_cpu_s": build_s,
            "weights_large_sweep_cpu_s": sweep_s, "weights_large_values": float(found.values.size), "weights_large_peak_megabytes": _peak_megabytes()}
