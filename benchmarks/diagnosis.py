"""How well the diagnosis recovers planted causes, and what it costs."""

from __future__ import annotations

import time

from toolkit.datasets import generate_catalogue
from toolkit.diagnosis import diagnose_failures, explain_missing, headroom, recovery
from toolkit.search import EmbeddedEngine, MultiMatch

WEIGHTS = {"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2}


def run(quick: bool = False) -> dict[str, float]:
    """Precision and recall per cause for fuzziness AUTO and 0, with their counts; CPU seconds of each step."""
    products, queries = (2_000, 400) if quick else (20_000, 4_000)
    made = generate_catalogue(products, queries, seed=2)
    engine = EmbeddedEngine.build(made.products, progress=False)
    numbers: dict[str, float] = {"diagnosis_products": products, "diagnosis_queries": queries}
    for name, fuzziness in (("auto", "AUTO"), ("0", 0)):
        config = MultiMatch(WEIGHTS, fuzziness=fuzziness)
        searched = engine.run(made.queries, config, depth=1_000)
        clock = [time.process_time()]
        diagnosis = diagnose_failures(searched, made.judgments, queries=made.queries, products=made.products, vocabulary=engine.vocabulary)
        clock.append(time.process_time())
        headroom(searched, made.judgments, products=made.products)
        clock.append(time.process_time())
        missing = explain_missing(engine, made.queries, made.judgments, diagnosis, config)
        clock.append(time.process_time())
        for step, start, end in zip(("buckets_and_traits", "headroom", "explain"), clock, clock[1:], strict=False):
            numbers[f"diagnosis_fuzziness_{name}_{step}_cpu_s"] = end - start
        for row in recovery(missing.queries, made.causes).table.itertuples():
            prefix = f"diagnosis_fuzziness_{name}_{row.cause}"
            numbers |= {f"{prefix}_precision": row.precision, f"{prefix}_found": row.found, f"{prefix}_recall": row.recall, f"{prefix}_failing": row.failing}
    return numbers
