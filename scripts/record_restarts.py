"""Record Elasticsearch disagreeing with itself: the same index and queries after each of several starts.

Writes ``toolkit/datasets/data/elasticsearch_restarts.json``. Needs Maven and a JDK of 21 or newer.
Usage: ``python scripts/record_restarts.py``
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.elasticsearch_node.node import LocalNode, free_port  # noqa: E402
from toolkit.datasets import load_sample  # noqa: E402
from toolkit.search import ElasticsearchEngine, EmbeddedEngine, MultiMatch  # noqa: E402

OUTPUT = ROOT / "toolkit" / "datasets" / "data" / "elasticsearch_restarts.json"
CONFIG = MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2})
STARTS, FLAGGED, OTHERS, DEPTH = 8, 16, 8, 10


def choose_queries(engine: EmbeddedEngine, products: pd.DataFrame) -> pd.DataFrame:
    """Beginnings of titles with one word's plural or singular added: some reach one term from two words."""
    rows, wanted = [], {True: FLAGGED, False: OTHERS}
    for title in products["title"]:
        words = title.replace(",", "").lower().split()[:3]
        last = words[-1]
        text = " ".join([*words, last[:-1] if last.endswith("s") else last + "s"])
        flagged = engine.plan(text, CONFIG).irreproducible
        if wanted[flagged] and text not in {row[1] for row in rows}:
            wanted[flagged] -= 1
            rows.append((f"r{len(rows) + 1:02}", text, flagged))
    queries = pd.DataFrame(rows, columns=["query_id", "query", "flagged"])
    return queries.sort_values("flagged", ascending=False, kind="stable").reset_index(drop=True)


def record(node: LocalNode, queries: pd.DataFrame, products: pd.DataFrame) -> dict[str, list]:
    """Top lists per query and start: ``{query_id: [[[product_id, score], ...], ...]}``."""
    hits: dict[str, list] = {query_id: [] for query_id in queries["query_id"]}
    for start in range(STARTS):
        node.start()
        engine = ElasticsearchEngine(node.url, "sample")
        if start == 0:
            engine.create_index(products, progress=False)
        engine.connection.client.cluster.health(index=engine.index, wait_for_status="green")
        run = engine.run(queries, CONFIG, DEPTH)
        if run.counts()["failed"]:
            raise RuntimeError(run.summary())
        print(f"start {start + 1}: {run.summary()}")
        for query_id, part in run.rankings.groupby("query_id"):
            hits[query_id].append([[row.product_id, round(row.score, 6)] for row in part.itertuples()])
        node.stop()
    return hits


def main() -> None:
    """Choose the queries, restart the server, write the record."""
    products, _, _ = load_sample()
    queries = choose_queries(EmbeddedEngine.build(products), products)
    folder = Path(tempfile.mkdtemp())
    node = LocalNode(folder, free_port())
    try:
        hits = record(node, queries, products)
    finally:
        node.stop()
        shutil.rmtree(folder, ignore_errors=True)
    content = {
        "about": f"Elasticsearch 9.2.0, one shard, the {len(products):,} products of the shipped sample, one segment; {STARTS} starts of the "
                 "server on the same data folder, the same searches after each.",
        "config": {"fields": dict(CONFIG.fields), "type": CONFIG.type, "operator": CONFIG.operator, "fuzziness": CONFIG.fuzziness},
        "queries": queries.to_dict("records"), "hits": hits,
    }
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{OUTPUT.relative_to(ROOT)}: {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
