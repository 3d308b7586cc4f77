"""Evaluate many weight configurations: one row per (configuration, metric), per-query values on demand.

Three ways to the same numbers: the sweep kernel (every configuration, scores equal to single
searches to the last bit), the field lists (``best_fields`` without tie breaker, on any engine, a
handful of searches a query however many configurations), and plain searches. A sweep only reads:
it searches copies of configurations and touches nothing that is published.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.diagnosis.configs import Configurations
from toolkit.diagnosis.fingerprints import config_fingerprint, source_fingerprint, table_fingerprint
from toolkit.diagnosis.list_evaluation import evaluate_lists
from toolkit.diagnosis.list_kernels import BASIS, PRIME
from toolkit.diagnosis.sweep_file import Block, SweepFile
from toolkit.diagnosis.weight_space import WeightSpace, metric_parts, objective, weight_space
from toolkit.evaluation.evaluating import evaluate
from toolkit.evaluation.gains import ESCI_LINEAR, GAINS, Gains
from toolkit.evaluation.measures import Measure, parse_measures
from toolkit.evaluation.pool import read_judgments
from toolkit.search.config import MultiMatch
from toolkit.search.embedded import EmbeddedEngine
from toolkit.search.field_lists import FieldLists
from toolkit.search.sweep_kernel import sweep_rankings

#: Queries per block of a kernel sweep: what an interruption can lose.
BLOCK = 64


@dataclass(frozen=True)
class Sweep:
    """Metrics of every configuration.

    Attributes
    ----------
    table : DataFrame
        One row per (configuration, metric): index, stage, configuration, metric, mean, n (queries in the mean),
        undefined (queries outside it), uncertain (queries whose value float32 rounding at near
        ties could change; 0 for the kernel and for searches), method (kernel, lists or search),
        and the fingerprints index, analyzer, judgments, config.
    values : float64 array (queries, configurations, metrics)
        NaN where the metric is undefined, or the search failed.
    ranking_prints : uint64 array (configurations, queries)
        Equal prints, equal top results.
    configs : tuple of MultiMatch
    query_ids : tuple of str
    metrics : tuple of str
    definitions : tuple of str
    searches : int
        Queries sent to an engine (0 for the kernel, which prepares each query once).
    """

    table: pd.DataFrame
    values: np.ndarray
    ranking_prints: np.ndarray
    configs: tuple[MultiMatch, ...]
    query_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    definitions: tuple[str, ...]
    searches: int

    def per_query(self, index: int) -> pd.DataFrame:
        """Per-query values of one configuration: query_id, metric, value."""
        parts = [pd.DataFrame({"query_id": pd.Series(self.query_ids, dtype="str"), "metric": metric, "value": self.values[:, index, m]})
                 for m, metric in enumerate(self.metrics)]
        return pd.concat(parts, ignore_index=True)

    def changed(self, index: int, against: int = 0) -> int:
        """Number of queries whose top results differ from those of another configuration."""
        return int((self.ranking_prints[index] != self.ranking_prints[against]).sum())

    def best(self, metric: str | None = None) -> int:
        """Index of the configuration with the largest mean (the first of equals)."""
        rows = self.table[self.table["metric"] == (metric or self.metrics[0])]
        if rows.empty:
            raise ValueError(f"Sweep.best: metric {metric!r} was not swept; swept: {list(self.metrics)}")
        return int(rows["index"].iloc[int(np.nanargmax(rows["mean"]))])

    def to_frame(self) -> pd.DataFrame:
        """One row per (configuration, metric)."""
        return self.table

    def summary(self) -> str:
        """Size, range and best of the first metric, and how many rankings are different."""
        metric, means = self.metrics[0], self.table[self.table["metric"] == self.metrics[0]]["mean"]
        distinct = len({row.tobytes() for row in self.ranking_prints})
        return (f"{len(self.configs)} configurations × {len(self.query_ids)} queries: {distinct} different rankings; mean {metric} from "
                f"{means.min():.4f} to {means.max():.4f}, best {self.configs[self.best()]}; {self.searches} searches.")

    def _repr_html_(self) -> str:
        top = self.table.sort_values("mean", ascending=False, kind="stable").head(8)
        return f"<p>{html.escape(self.summary())}</p>{top[['index', 'configuration', 'metric', 'mean', 'n']].to_html(index=False)}"


def sweep(source: object, queries: pd.DataFrame | None, judgments: pd.DataFrame, configs: Iterable[MultiMatch] | Configurations,
          metrics: Sequence[str] | str = ("ndcg@10", "recall@10", "mrr@10"), *, gains: Gains = ESCI_LINEAR,
          relevant_grade: float = 2.0, method: str = "auto", file: str | Path | None = None, progress: bool = True) -> Sweep:
    """Evaluate every configuration on every query.

    Parameters
    ----------
    source : EmbeddedEngine, ElasticsearchEngine, FieldLists or WeightSpace
    queries : DataFrame or None
        query_id, query; None for field lists, which know theirs.
    judgments : DataFrame
        Queries without judgments are searched but stay outside the means.
    configs : iterable of MultiMatch
        Repeats are allowed and give bit-identical rows.
    metrics : sequence of str
        Sums or maxima over ranks with a cut-off: ndcg, recall, precision, mrr, success.
    gains, relevant_grade
        As in :func:`toolkit.evaluation.evaluate`, whose values these are.
    method : {"auto", "kernel", "lists", "search"}
        ``auto``: the kernel on an embedded engine; elsewhere field lists for ``best_fields`` without
        tie breaker and one search per query and configuration for the rest.
    file : path, optional
        Finished blocks are kept there (JSON lines); a later call with the same input goes on after
        the last one. A file of another sweep is refused, naming what differs.
    progress : bool

    Raises
    ------
    ValueError
        For an unknown method, a configuration the source cannot decide, or a foreign file.
    """
    work = _Work(source, queries, judgments, configs, parse_measures(metrics), gains, relevant_grade, method)
    store = SweepFile(file, work.header())
    for block in work.blocks(store.done, progress):
        store.add(block)
    return work.result(store.blocks)


class _Work:
    """One sweep's input, and how its blocks are computed."""

    def __init__(self, source, queries, judgments, configs, measures, gains, relevant_grade, method) -> None:
        self.source, self.judgments, self.measures, self.gains, self.relevant = source, judgments, measures, gains, relevant_grade
        self.configs, self.stages = tuple(configs), getattr(configs, "stages", None)
        if not self.configs:
            raise ValueError("sweep: no configuration given; expected at least one MultiMatch")
        self.space = None if hasattr(source, "run") else weight_space(source)
        if self.space is None and queries is None:
            raise ValueError("sweep: an engine needs queries (query_id, query); None is for field lists only")
        self.queries = queries
        self.query_ids = tuple(queries["query_id"]) if self.space is None else self.space.query_ids
        self.k = max(_cut(measure) for measure in measures)
        self.methods = [self._method(config, method) for config in self.configs]

    def _method(self, config: MultiMatch, wanted: str) -> str:
        if wanted not in ("auto", "kernel", "lists", "search"):
            raise ValueError(f"sweep: method {wanted!r}; expected auto, kernel, lists or search")
        embedded = isinstance(self.source, EmbeddedEngine)
        if wanted == "kernel" and not embedded or wanted in ("kernel", "search") and self.space is not None:
            raise ValueError(f"sweep: method {wanted!r} needs an {'embedded ' if wanted == 'kernel' else ''}engine, got {type(self.source).__name__}")
        if self.space is not None or wanted == "lists":
            return "lists"
        if wanted != "auto":
            return wanted
        return "kernel" if embedded else "lists" if config.tie == 0 else "search"

    def header(self) -> dict:
        """What must be equal for a file to be continued."""
        return {**source_fingerprint(self.source), "judgments": table_fingerprint(self.judgments, ["query_id", "product_id", "grade"]),
                "queries": table_fingerprint(self.queries, ["query_id", "query"]) if self.space is None else "",
                "configs": [config_fingerprint(config) for config in self.configs], "methods": self.methods,
                "metrics": [measure.definition(self.gains, self.relevant) for measure in self.measures]}

    def blocks(self, done: set[tuple[str, int]], progress: bool) -> Iterator[Block]:
        """Missing blocks, one after the other."""
        kernel = [i for i, method in enumerate(self.methods) if method == "kernel"]
        if kernel:
            yield from self._kernel_blocks(kernel, done, progress)
        lists: dict[tuple, list[int]] = {}
        for i, method in enumerate(self.methods):
            if method == "lists":
                lists.setdefault(_family(self.configs[i]), []).append(i)
        for number, members in enumerate(lists.values()):
            if ("lists", number) not in done:
                yield self._lists_block(number, members, progress)
        searched = [i for i, method in enumerate(self.methods) if method == "search"]
        for i in tqdm(searched, desc="configurations", unit="configuration", disable=not progress or not searched):
            if ("search", i) not in done:
                yield self._search_block(i)

    def _kernel_blocks(self, members: list[int], done: set[tuple[str, int]], progress: bool) -> Iterator[Block]:
        """The sweep kernel, ``BLOCK`` queries a block."""
        lookup = _Lookup(self, members)
        configs = [self.configs[i] for i in members]
        starts = [start for start in range(0, len(self.query_ids), BLOCK) if ("kernel", start) not in done]
        with tqdm(total=len(self.query_ids), initial=len(self.query_ids) - sum(min(BLOCK, len(self.query_ids) - s) for s in starts),
                  desc="sweep", unit="query", disable=not progress) as bar:
            for start in starts:
                part = self.queries.iloc[start:start + BLOCK]
                swept = sweep_rankings(self.source, part, configs, self.k, progress=False)
                rows = [lookup.values(start + i, one.positions) for i, one in enumerate(swept)]
                bar.update(len(part))
                values, prints = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
                yield Block("kernel", start, members, list(range(start, start + len(part))), values, prints,
                            np.zeros(prints.shape, np.uint8), 0)

    def _lists_block(self, number: int, members: list[int], progress: bool) -> Block:
        """Field lists of one family of configurations, fetched where the source is an engine."""
        space, searches = self.space, 0
        if space is None:
            fields = list(dict.fromkeys(name for i in members for name in self.configs[i].fields))
            shape = self.configs[members[0]]
            needs_zero = any(0.0 in self.configs[i].fields.values() for i in members)
            lists = FieldLists.from_engine(self.source, self.queries, replace(shape, fields=dict.fromkeys(fields, 1.0)), self.k + 1,
                                           first_matches=needs_zero, progress=progress)
            space, searches = weight_space(lists), lists.searches
        goals = [objective(space, self.judgments, measure, gains=self.gains, relevant_grade=self.relevant) for measure in self.measures]
        found = evaluate_lists(space, [self.configs[i] for i in members], goals)
        return Block("lists", number, members, list(range(len(self.query_ids))), found.values, found.prints, found.flags, searches)

    def _search_block(self, index: int) -> Block:
        """One search per query."""
        run = self.source.run(self.queries, self.configs[index], self.k)
        table = evaluate(run, self.judgments, self.measures, gains=self.gains, relevant_grade=self.relevant,
                         queries=self.queries, on_no_overlap="zero").to_frame()
        wide = table.pivot(index="query_id", columns="metric", values="value").reindex(list(self.query_ids))
        prints = dict.fromkeys(self.query_ids, BASIS)
        for query, ids in run.rankings.sort_values("rank", kind="stable").groupby("query_id", sort=False)["product_id"]:
            prints[query] = ranking_print(pd.util.hash_array(ids.to_numpy(object)))
        values = wide[[str(measure) for measure in self.measures]].to_numpy(np.float64)[:, None, :]
        marks = np.array([prints[query] for query in self.query_ids], np.uint64)[:, None]
        return Block("search", index, [index], list(range(len(self.query_ids))), values, marks, np.zeros(marks.shape, np.uint8), len(values))

    def result(self, blocks: Iterable[Block]) -> Sweep:
        """Put the blocks together."""
        shape = (len(self.query_ids), len(self.configs))
        values, prints, flags = np.full((*shape, len(self.measures)), np.nan), np.zeros(shape, np.uint64), np.zeros(shape, np.uint8)
        searches = 0
        for block in blocks:
            cells = np.ix_(block.queries, block.configs)
            values[cells], prints[cells], flags[cells] = block.values, block.prints, block.flags
            searches += block.searches
        header = self.header()
        names = tuple(str(measure) for measure in self.measures)
        table = _table(self, values, flags, names, header)
        return Sweep(table, values, prints.T.copy(), self.configs, self.query_ids, names, tuple(header["metrics"]), searches)


class _Lookup:
    """Gains of products by index position, for the rankings of the sweep kernel."""

    def __init__(self, work: _Work, members: list[int]) -> None:
        ids = work.source.product_ids
        judged = read_judgments(work.judgments, list(work.query_ids))
        parts = [metric_parts(judged, m, GAINS[m.gains] if m.gains else work.gains, work.relevant if m.relevant is None else m.relevant)
                 for m in work.measures]
        self.gain = [part[0] for part in parts]
        self.discount, self.divisor, self.defined = ([part[i] for part in parts] for i in (1, 2, 3))
        self.take_max = [m.name in ("mrr", "success") for m in work.measures]
        self.position = pd.Index(ids).get_indexer(judged.product_ids)[judged.product]
        self.bounds = np.searchsorted(judged.query, np.arange(len(work.query_ids) + 1))
        self.dense = np.zeros(len(ids) + 1)  # the last cell stands for position -1: the end of a short list
        self.marks = pd.util.hash_array(np.asarray(ids, object))

    def values(self, query: int, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Metric values (configurations, metrics) and prints (configurations,) of one query's rankings."""
        own = slice(self.bounds[query], self.bounds[query + 1])
        known = self.position[own] >= 0
        at = self.position[own][known]
        values = np.empty((len(positions), len(self.gain)))
        for m, gain in enumerate(self.gain):
            self.dense[at] = gain[own][known]
            total = np.zeros(len(positions))
            for rank, weight in enumerate(self.discount[m]):
                part = self.dense[positions[:, rank]] * weight
                total = np.maximum(total, part) if self.take_max[m] else total + part
            values[:, m] = total / self.divisor[m][query] if self.defined[m][query] else np.nan
            self.dense[at] = 0.0
        prints = np.full(len(positions), BASIS)
        for rank in range(positions.shape[1]):
            prints = np.where(positions[:, rank] >= 0, (prints ^ self.marks[positions[:, rank]]) * PRIME, prints)
        return values, prints


def ranking_print(marks: np.ndarray) -> np.uint64:
    """Fingerprint of a ranking from the hashes of its product ids, as in ``list_kernels``."""
    value = BASIS
    with np.errstate(over="ignore"):
        for mark in marks:
            value = (value ^ mark) * PRIME
    return value


def _cut(measure: Measure) -> int:
    if measure.k is None:
        raise ValueError(f"sweep: {measure} has no cut-off; give one, for example '{measure}@10'")
    return measure.k


def _family(config: MultiMatch) -> tuple:
    """Configurations that share this share their field lists."""
    return config.operator, config.fuzziness, *((config.prefix_length, config.max_expansions) if config.fuzziness else ())


def _table(work: _Work, values: np.ndarray, flags: np.ndarray, names: tuple[str, ...], header: dict) -> pd.DataFrame:
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)
    uncertain = ((flags != 0)[:, :, None] & known).sum(axis=0)
    rows = [{"index": i, "stage": work.stages[i] if work.stages else "", "configuration": str(config), "metric": name,
             "mean": means[i, m], "n": int(known[:, i, m].sum()), "undefined": int((~known[:, i, m]).sum()),
             "uncertain": int(uncertain[i, m]), "method": work.methods[i], "index_fingerprint": header["index"],
             "analyzer": header["analyzer"], "judgments_fingerprint": header["judgments"], "config_fingerprint": header["configs"][i]}
            for i, config in enumerate(work.configs) for m, name in enumerate(names)]
    return pd.DataFrame(rows)
