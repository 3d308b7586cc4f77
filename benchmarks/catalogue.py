"""The generated catalogue: seconds to make it, how hard its queries are, how true its plans."""

from __future__ import annotations

import time

from toolkit.datasets import generate_catalogue
from toolkit.diagnosis import diagnose_failures
from toolkit.search import EmbeddedEngine, MultiMatch

WEIGHTS = {"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2}


def run(quick: bool = False) -> dict[str, float]:
    """20,000 products and 10,000 queries (quick: 2,000 and 400); CPU seconds, means and shares."""
    products, queries = (2_000, 400) if quick else (20_000, 10_000)
    start = time.process_time()
    made = generate_catalogue(products, queries, seed=1)
    seconds = time.process_time() - start
    engine = EmbeddedEngine.build(made.products, progress=False)
    diagnosis = diagnose_failures(engine.run(made.queries, MultiMatch(WEIGHTS), depth=1_000), made.judgments, products=made.products)
    table = diagnosis.table.merge(made.causes, on="query_id")
    ordinary, outranked, hard = table[table["cause"] == "none"], table[table["cause"] == "outranked"], table[table["cause"] != "none"]
    return {
        "catalogue_products": products, "catalogue_queries": queries, "catalogue_generate_cpu_s": seconds,
        "catalogue_judgments_per_query": len(made.judgments) / queries,
        "catalogue_ordinary_ndcg_at_10": float(ordinary["ndcg"].mean()), "catalogue_ordinary_failing_share": float(ordinary["failing"].mean()),
        "catalogue_hard_failing_share": float(hard["failing"].mean()),
        "catalogue_outranked_in_planned_bucket_share": float((outranked["band"] == outranked["bucket"]).mean()),
    }
