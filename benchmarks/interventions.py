"""What rerank and rewrite bring and cost: generated catalogue, real test collection, 600 queries of 100 candidates."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from toolkit.datasets import load_esci
from toolkit.interventions import Experiment, Rerank, generated_world, measure, teach
from toolkit.interventions.measurement import Taught
from toolkit.interventions.models import LocalModel
from toolkit.search import EmbeddedEngine, MultiMatch

CONFIG = MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1})
DECISIONS = {"promote": 1.0, "insufficient_evidence": 0.0, "block": -1.0}
Result = TypeVar("Result")


def run(quick: bool = False) -> dict[str, float]:
    """Effects with intervals and verdicts (1 promote, 0 insufficient evidence, -1 block), effects per planted cause, and seconds."""
    numbers = rerank_speed(60 if quick else 600)  # first, so that the peak of memory is its own
    world = generated_world(1_500, 700, test=150) if quick else generated_world(3_000, 2_400, test=800)
    embedder, products = LocalModel(), world.catalogue.products
    taught, seconds = timed(lambda: teach(world.engine, world.train, world.catalogue.judgments, products, CONFIG, embedder=embedder, progress=False))
    numbers |= {"interventions_teach_s": seconds, "interventions_bridges": len(taught.bridges)}
    baseline = world.engine.run(world.test, CONFIG, 200)
    made, numbers["interventions_measure_s"] = timed(lambda: measure(
        world.engine, world.test, world.judgments_of(baseline.rankings), products, CONFIG, taught, embedder=embedder, baseline=baseline, progress=False))
    numbers |= effects("generated", made)
    for row in made.by_group(world.causes).query("group in ('outranked', 'vocabulary_gap', 'misspelling')").itertuples():
        name = f"interventions_generated_{flat(row.arm)}_{row.group}"
        numbers |= {f"{name}_delta": row.delta, f"{name}_ci_low": row.ci_low, f"{name}_ci_high": row.ci_high, f"{name}_n": row.n}
    return numbers | on_reference_data(taught)


def on_reference_data(taught: Taught) -> dict[str, float]:
    """Effects on real queries, nothing fitted on them; empty where the reference data is absent."""
    folder = Path(os.environ.get("TOOLKIT_REFERENCE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "esci150"
    if not folder.is_dir():
        return {}
    products, queries, judgments = load_esci(folder)
    engine = EmbeddedEngine.build(products, progress=False)
    return effects("esci150", measure(engine, queries, judgments, products, CONFIG, taught, progress=False))


def effects(name: str, experiment: Experiment) -> dict[str, float]:
    """The primary metric of every arm."""
    numbers: dict[str, float] = {}
    for row in experiment.to_frame().query("metric == 'ndcg@10'").itertuples():
        prefix = f"interventions_{name}_{flat(row.arm)}"
        numbers |= {f"{prefix}_delta": row.delta, f"{prefix}_ci_low": row.ci_low, f"{prefix}_ci_high": row.ci_high,
                    f"{prefix}_condensed_delta": row.condensed_delta, f"{prefix}_verdict": DECISIONS[row.verdict], f"{prefix}_n": row.n}
    return numbers


def rerank_speed(queries: int) -> dict[str, float]:
    """Embedding rerank of the top 100: first with an empty cache, then with products embedded."""
    world = generated_world(5_000, queries + 400, test=queries)
    model, status = Rerank(LocalModel()), Path("/proc/self/status")  # Linux only
    rankings = world.engine.run(world.test, CONFIG, 100).rankings
    rankings = rankings[rankings["rank"] <= 100]
    first, again = (timed(lambda: model.apply(rankings, world.test, world.catalogue.products, 100, progress=False))[1] for _ in range(2))
    return {"local_rerank_queries": queries, "local_rerank_pairs": len(rankings), "local_rerank_first_s": first, "local_rerank_again_s": again,
            **({"local_rerank_peak_megabytes": int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) / 1024} if status.is_file() else {})}


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """A result and its wall seconds."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def flat(arm: str) -> str:
    """An arm's label as part of a name."""
    return arm.replace(" ", "_")
