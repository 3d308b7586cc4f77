"""The embedded engine alone: index, files, search, sweep and memory, at 20,000 and 200,000 products.

All times are CPU seconds of one process (``time.process_time``) after a warm-up that compiles the kernels.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from toolkit.datasets import generate_catalogue
from toolkit.search import EmbeddedEngine, MultiMatch, sweep_rankings

WEIGHTS = {"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2}
CONFIGS = 218


def run(quick: bool = False) -> dict[str, float]:
    """Measure both sizes; names say the unit."""
    sizes = {"2k": 2_000, "20k": 20_000} if quick else {"20k": 20_000, "200k": 200_000}
    numbers: dict[str, float] = {}
    for name, products in sizes.items():
        catalogue = generate_catalogue(products, 1_000 if quick else 2_000, seed=1)
        queries = catalogue.queries.head(100 if quick else 500)
        numbers |= {f"embedded_{name}_{key}": value for key, value in measure(catalogue.products, queries).items()}
    return numbers


def measure(products: pd.DataFrame, queries: pd.DataFrame) -> dict[str, float]:
    """Everything about one catalogue."""
    warm = EmbeddedEngine.build(products.head(20), progress=False)
    for _ in searches(warm, queries.head(2)):
        pass
    seconds, engine = timed(lambda: EmbeddedEngine.build(products, progress=False))
    numbers = {"index_build_cpu_s": seconds, "index_megabytes": engine.index.nbytes / 1e6,
               "index_postings": len(engine.index.docs), "index_terms": len(engine.vocabulary)}
    with tempfile.TemporaryDirectory() as folder:
        numbers["save_cpu_s"], _ = timed(lambda: engine.save(Path(folder) / "index"))
        numbers["load_cpu_s"], engine = timed(lambda: EmbeddedEngine.load(Path(folder) / "index"))
        for name, work in searches(engine, queries):
            numbers[name], _ = timed(work, per=len(queries) / 1000)
        for depth in (10, 200):
            few = queries.head(100)
            seconds, _ = timed(lambda few=few, depth=depth: [None for _ in sweep_rankings(engine, few, configs(), depth, progress=False)])
            numbers[f"sweep_{CONFIGS}_top_{depth}_ms_a_query"] = seconds / len(few) * 1000
    return numbers | {"process_peak_megabytes": peak_megabytes()}


def searches(engine: EmbeddedEngine, queries: pd.DataFrame) -> Iterator[tuple[str, Callable[[], object]]]:
    """Named searches; ``new_tokens`` also pays for the fuzzy expansion of every token."""
    for fuzziness in (0, "AUTO"):
        for operator in ("or", "and"):
            config = MultiMatch(WEIGHTS, operator=operator, fuzziness=fuzziness)
            label = f"search_fuzzy_{str(fuzziness).lower()}_{operator}"
            if fuzziness == "AUTO" and operator == "or":
                yield f"{label}_new_tokens_ms_a_query", lambda config=config: engine.run(queries, config, 10)
            yield f"{label}_ms_a_query", lambda config=config: engine.run(queries, config, 10)
    sweep = configs()[:2]
    yield "sweep_2_ms_a_query", lambda: [None for _ in sweep_rankings(engine, queries, sweep, 10, progress=False)]


def configs() -> list[MultiMatch]:
    """Random weights, default fuzziness."""
    rng = np.random.default_rng(1)
    return [MultiMatch(dict(zip(WEIGHTS, row.round(2).tolist(), strict=True))) for row in rng.uniform(0, 10, (CONFIGS, len(WEIGHTS)))]


def timed(work: Callable[[], object], per: float = 1.0) -> tuple[float, object]:
    """CPU seconds of a call, divided by ``per``, and its result."""
    start = time.process_time()
    result = work()
    return (time.process_time() - start) / per, result


def peak_megabytes() -> float:
    """Largest resident memory of this process so far (kilobytes on Linux, bytes on macOS)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
