"""The embedded engine, the sweep kernel and five lists against a running Elasticsearch: CPU time of both, one run.

Elasticsearch's time is the CPU clock of its process (all threads) over warm ``_msearch`` batches; ours is
``time.process_time``. A whole sweep on Elasticsearch takes core-hours, so its cost is the measured mean of a
sample of (query, configuration) pairs times their number. Needs Linux, Maven and a JDK (see tests/elasticsearch_node).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from tests.elasticsearch_node.node import LocalNode, start_node
from toolkit.datasets import generate_catalogue
from toolkit.diagnosis import lab_218
from toolkit.diagnosis.list_evaluation import evaluate_lists
from toolkit.diagnosis.weight_space import objective, weight_space
from toolkit.evaluation import evaluate
from toolkit.search import ElasticsearchEngine, EmbeddedEngine, FieldLists, MultiMatch, sweep_rankings

WEIGHTS = {"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2}
WARM_SEARCHES = 1_500
"""Searches before the first measurement of a kind: Java compiles its hot code meanwhile, at the server's cost."""

FUZZINESS = {"fuzzy_0": 0, "fuzzy_auto": "AUTO"}
METRIC = "ndcg@10"


def run(quick: bool = False) -> dict[str, float]:
    """All comparisons; with ``quick`` on a tenth of the products and queries."""
    products, queries = (2_000, 300) if quick else (20_000, 3_000)
    data = generate_catalogue(products, queries, seed=1)
    ours = EmbeddedEngine.build(data.products, list(WEIGHTS), progress=False)
    with start_node(heap="2g") as node:
        theirs = ElasticsearchEngine(node.url, "bench", timeout=300)
        start = node.cpu_seconds()
        theirs.create_index(data.products, list(WEIGHTS), progress=False)
        numbers = {"elasticsearch_index_cpu_s": node.cpu_seconds() - start}
        numbers |= _single(node, ours, theirs, data.queries)
        numbers |= _sweep(node, ours, theirs, data.queries)
        numbers |= _five_lists(node, theirs, data, 10 if quick else 40)
        numbers["elasticsearch_resident_megabytes"] = node.resident_bytes() / 1e6
    return numbers


def _elasticsearch_cpu(node: LocalNode, work: Callable[[], object], searches: int) -> float:
    """CPU milliseconds of the server per search."""
    start = node.cpu_seconds()
    work()
    return (node.cpu_seconds() - start) / searches * 1000


def _our_cpu(work: Callable[[], object], searches: int) -> float:
    """CPU milliseconds of this process per search."""
    start = time.process_time()
    work()
    return (time.process_time() - start) / searches * 1000


def _single(node: LocalNode, ours: EmbeddedEngine, theirs: ElasticsearchEngine, queries: pd.DataFrame) -> dict[str, float]:
    """One search after the other with one configuration; both are warmed on other queries than the measured ones."""
    numbers = {}
    half = len(queries) // 2
    for name, fuzziness in FUZZINESS.items():
        config = MultiMatch(WEIGHTS, fuzziness=fuzziness)
        warm, asked = queries.iloc[:half], queries.iloc[half:half + 500]
        for _ in range(-(-WARM_SEARCHES // len(warm))):
            theirs.run(warm, config, 10)
        ours.run(warm.head(100), config, 10)
        cost = {"elasticsearch": _elasticsearch_cpu(node, lambda: theirs.run(asked, config, 10), len(asked)),
                "embedded": _our_cpu(lambda: ours.run(asked, config, 10), len(asked))}
        numbers |= {f"{engine}_{name}_cpu_ms_a_search": value for engine, value in cost.items()}
        numbers[f"embedded_vs_elasticsearch_cpu_{name}"] = cost["elasticsearch"] / cost["embedded"]
    return numbers


def _sweep(node: LocalNode, ours: EmbeddedEngine, theirs: ElasticsearchEngine, queries: pd.DataFrame) -> dict[str, float]:
    """218 configurations x 2,000 queries: the kernel in full, Elasticsearch on a sample of the pairs."""
    numbers: dict[str, float] = {}
    base = list(lab_218())
    asked = queries.head(2_000)
    few, sample = asked.iloc[::max(1, len(asked) // 25)], base[::18]
    for name, fuzziness in FUZZINESS.items():
        configs = [MultiMatch(dict(config.fields), fuzziness=fuzziness) for config in base]
        for depth in (10, 200):
            pairs = len(asked) * len(configs)
            list(sweep_rankings(ours, asked.head(2), configs, depth, progress=False))
            kernel = _our_cpu(lambda c=configs, d=depth: _consume(ours, asked, c, d), pairs)
            server = _elasticsearch_cpu(node, lambda d=depth, f=fuzziness: [
                theirs.run(few, MultiMatch(dict(config.fields), fuzziness=f), d) for config in sample], len(few) * len(sample))
            label = f"{name}_top_{depth}"
            numbers |= {f"sweep_kernel_{label}_cpu_s": kernel * pairs / 1000, f"elasticsearch_{label}_cpu_ms_a_pair": server,
                        f"elasticsearch_sweep_{label}_cpu_s_extrapolated": server * pairs / 1000,
                        f"sweep_kernel_vs_elasticsearch_cpu_{label}": server / kernel}
    numbers["sweep_pairs"], numbers["sweep_pairs_sampled_on_elasticsearch"] = len(asked) * len(base), len(few) * len(sample)
    numbers["sweep_kernel_vs_elasticsearch_cpu"] = numbers["sweep_kernel_vs_elasticsearch_cpu_fuzzy_auto_top_10"]
    return numbers


def _consume(engine: EmbeddedEngine, queries: pd.DataFrame, configs: Sequence[MultiMatch], depth: int) -> None:
    for _ in sweep_rankings(engine, queries, configs, depth, progress=False):
        pass


def _five_lists(node: LocalNode, theirs: ElasticsearchEngine, data, n_queries: int) -> dict[str, float]:
    """A sweep on Elasticsearch by five lists against a search per configuration: searches, CPU, equal metrics."""
    configs = list(lab_218())
    queries = data.queries.iloc[:: len(data.queries) // n_queries].head(n_queries)
    sample = configs[::9]
    lists: list[FieldLists] = []
    fetch = _elasticsearch_cpu(node, lambda: lists.append(
        FieldLists.from_engine(theirs, queries, configs[0], 11, first_matches=False, progress=False)), len(queries))
    runs: list[pd.DataFrame] = []
    search = _elasticsearch_cpu(node, lambda: runs.extend(theirs.search(queries, config, 10) for config in sample), len(queries) * len(sample))
    space = weight_space(lists[0])
    values = evaluate_lists(space, sample, [objective(space, data.judgments, METRIC)]).values[:, :, 0]
    expected = np.array([_values(ranking, data.judgments, space.query_ids) for ranking in runs]).T
    return {
        "five_lists_search_ratio": len(configs) * len(queries) / lists[0].searches,
        "five_lists_vs_full_sweep_elasticsearch_cpu": search * len(configs) / fetch,
        "five_lists_equal_metrics_share": float(np.isclose(values, expected, rtol=0, atol=1e-12, equal_nan=True).mean()),
        "five_lists_compared_pairs": values.size,
    }


def _values(ranking: pd.DataFrame, judgments: pd.DataFrame, query_ids: Sequence[str]) -> np.ndarray:
    asked = pd.DataFrame({"query_id": list(query_ids)})
    table = evaluate(ranking, judgments[judgments["query_id"].isin(query_ids)], [METRIC], queries=asked).to_frame()
    return table.set_index("query_id")["value"].reindex(list(query_ids)).to_numpy(np.float64)
