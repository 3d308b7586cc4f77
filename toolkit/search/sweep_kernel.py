"""Rank every query under many weight configurations at once, exactly as single searches would.

A query is prepared once: its plan does not depend on weights, and its postings are turned into
one list per product. Then each product is scored under all configurations together, the
configurations lying side by side in SIMD lanes. Products are visited by decreasing upper bound;
a block of them is skipped when no configuration could still take one of its products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.search.config import MultiMatch
from toolkit.search.plan import QueryPlan
from toolkit.search.query_table import check_queries
from toolkit.search.sweep_loops import BLOCK, bound_products, drop_incomplete, gather_entries, rank_products

if TYPE_CHECKING:
    from toolkit.search.embedded import EmbeddedEngine

LANES = 256
"""Configurations scored together: their working values stay in the nearest cache."""


class SweptQuery(NamedTuple):
    """Rankings of one query under C configurations.

    Attributes
    ----------
    query_id : str
    positions : ndarray, int32, shape (C, depth)
        Product positions (into ``engine.product_ids``), best first; -1 where a list is shorter.
    scores : ndarray, float32, shape (C, depth)
        Scores, bit-equal to those of a single search; NaN where a list is shorter.
    irreproducible : ndarray, bool, shape (C,)
        Whether Elasticsearch's own scores of this query depend on its JVM's start.
    """

    query_id: str
    positions: np.ndarray
    scores: np.ndarray
    irreproducible: np.ndarray


def sweep_rankings(engine: EmbeddedEngine, queries: pd.DataFrame, configs: Sequence[MultiMatch], depth: int = 10, *,
                   progress: bool = True) -> Iterator[SweptQuery]:
    """Rank each query under every configuration; one query after the other, in the given order.

    Parameters
    ----------
    engine : EmbeddedEngine
    queries : DataFrame
        query_id and query, as for a search.
    configs : sequence of MultiMatch
        Any mixture. Configurations that share operator, fuzziness, prefix_length and
        max_expansions share all preparation: fields (any subsets), weights, types and tie
        breakers are free. An absent field differs from weight 0, as in a search.
    depth : int
        Length of each list.
    progress : bool
        Show a progress bar.

    Yields
    ------
    SweptQuery
        Row i of its arrays is ``configs[i]``'s. The arrays are the caller's to keep.

    Raises
    ------
    ValueError
        For no configuration, an unindexed field, or a depth below 1 (before the first query).
    TableError
        For queries that are not what they must be.

    Examples
    --------
    >>> for swept in sweep_rankings(engine, queries, configs, depth=10):  # doctest: +SKIP
    ...     ids = engine.product_ids[swept.positions[0]]  # ranking under configs[0]
    """
    check_queries(queries, depth)
    families = [Family.of(engine, [configs[i] for i in members], members) for members in _families(configs)]
    if not families:
        raise ValueError("sweep_rankings: configs is empty; give at least one MultiMatch")
    return _swept(engine, queries, families, len(configs), depth, progress)


def _swept(engine: EmbeddedEngine, queries: pd.DataFrame, families: list[Family], n_configs: int, depth: int,
           progress: bool) -> Iterator[SweptQuery]:
    pairs = zip(queries["query_id"], queries["query"], strict=True)
    for query_id, text in tqdm(pairs, total=len(queries), desc="sweep", unit="query", disable=not progress):
        positions = np.empty((n_configs, depth), np.int32)
        scores = np.empty((n_configs, depth), np.float32)
        doubtful = np.empty(n_configs, np.bool_)
        for family in families:
            prepared = prepare(engine, text, family.example, family.fields)
            positions[family.members], scores[family.members] = rank_prepared(prepared, family, depth)
            doubtful[family.members] = prepared.doubtful(family)
        yield SweptQuery(query_id, positions, scores, doubtful)


def _families(configs: Sequence[MultiMatch]) -> list[list[int]]:
    """Positions of the configurations that share their plans."""
    families: dict[tuple, list[int]] = {}
    for i, config in enumerate(configs):
        key = (config.operator, config.fuzziness, *((config.prefix_length, config.max_expansions) if config.fuzziness else ()))
        families.setdefault(key, []).append(i)
    return list(families.values())


@dataclass(frozen=True)
class Family:
    """Configurations that share one plan a query, as arrays (C configurations, F fields).

    Attributes
    ----------
    members : ndarray, int64, shape (C,)
        Their positions in the sweep.
    example : MultiMatch
        Any of them: it gives operator and fuzziness.
    fields : tuple of int
        Index positions of all fields that any of them searches, ascending.
    weights : ndarray, float32, shape (F, C)
        0 where a configuration does not have the field.
    has : ndarray, bool, shape (F, C)
    ties : ndarray, float64, shape (C,)
        Tie breakers rounded to float32.
    """

    members: np.ndarray
    example: MultiMatch
    fields: tuple[int, ...]
    weights: np.ndarray
    has: np.ndarray
    ties: np.ndarray

    @classmethod
    def of(cls, engine: EmbeddedEngine, configs: Sequence[MultiMatch], members: Sequence[int] | None = None) -> Family:
        """Lay configurations of equal operator, fuzziness, prefix_length and max_expansions side by side."""
        for config in configs:
            engine.check_fields(config)
        names = [name for name in engine.fields if any(name in config.fields for config in configs)]
        return cls(
            np.arange(len(configs)) if members is None else np.array(members), configs[0],
            tuple(engine.index.field_ids[name] for name in names),
            np.array([[config.fields.get(name, 0.0) for config in configs] for name in names], np.float32),
            np.array([[name in config.fields for config in configs] for name in names], np.bool_),
            np.array([config.tie for config in configs], np.float32).astype(np.float64))


@dataclass(frozen=True)
class PreparedQuery:
    """One query's postings by product: E entries of n candidate products.

    Attributes
    ----------
    plan : QueryPlan
    row_clause : ndarray, int32, shape (R,)
        Clause of each term row.
    docs : ndarray, int32, shape (n,)
        Positions of the candidates.
    ptr : ndarray, int64, shape (n + 1,)
        Entries of each candidate, in row order.
    row : ndarray, int32, shape (E,)
    den : ndarray, float32, shape (E,)
    order : ndarray, int32, shape (n,)
        Candidates by decreasing bound.
    block_bounds : ndarray, float64, shape (blocks, fields of the plan)
        Largest field bound at weight 1 of each block of ``BLOCK`` candidates in that order.
    """

    plan: QueryPlan
    row_clause: np.ndarray
    docs: np.ndarray
    ptr: np.ndarray
    row: np.ndarray
    den: np.ndarray
    order: np.ndarray
    block_bounds: np.ndarray

    def doubtful(self, family: Family) -> np.ndarray:
        """Which configurations search a field whose Elasticsearch score is irreproducible: bool, shape (C,)."""
        at = [family.fields.index(field.field) for field in self.plan.fields if field.irreproducible]
        return family.has[at].any(axis=0)


def prepare(engine: EmbeddedEngine, text: str, config: MultiMatch, fields: Sequence[int]) -> PreparedQuery:
    """Plan a query over some fields and lay its postings out by product.

    Parameters
    ----------
    engine : EmbeddedEngine
    text : str
    config : MultiMatch
        Operator, fuzziness, prefix_length and max_expansions are used.
    fields : sequence of int
        Index positions of the fields.
    """
    plan = engine.plan_fields(text, config, fields)
    row_clause = np.repeat(np.arange(len(plan.clause_start) - 1, dtype=np.int32), np.diff(plan.clause_start))
    entries = gather_entries(plan.start, plan.stop, engine.index.docs, engine.index.den, len(engine.product_ids))
    if any(field.require_all for field in plan.fields):
        needed = np.array([len(field.clauses) if field.require_all else 0 for field in plan.fields], np.int32)
        entries = drop_incomplete(*entries, plan.row_field, row_clause, needed)
    docs, ptr, row, den = entries
    bounds = bound_products(ptr, row, den, plan.weights(np.ones(len(plan.fields), np.float32)), plan.row_field, len(plan.fields))
    order = _descending(bounds.sum(axis=1))
    starts = np.arange(0, len(docs), BLOCK)
    blocks = np.maximum.reduceat(bounds[order], starts) if len(docs) else bounds
    return PreparedQuery(plan, row_clause, docs, ptr, row, den, order, blocks)


def _descending(bounds: np.ndarray) -> np.ndarray:
    """Nearly descending order by a 16-bit key: any order is correct, this one only has to be quick."""
    scale = 65535 / max(float(bounds.max(initial=0)), 1e-30)
    return np.argsort((65535 - bounds * scale).astype(np.uint16), kind="stable").astype(np.int32)


def rank_prepared(prepared: PreparedQuery, family: Family, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """The best products of one prepared query under every configuration of a family.

    Returns
    -------
    tuple of ndarray
        Positions (int32) and scores (float32), both of shape (C, depth); -1 and NaN fill short lists.
    """
    n_configs = len(family.ties)
    positions = np.full((n_configs, depth), np.iinfo(np.int32).max, np.int32)
    scores = np.full((n_configs, depth), -1, np.float32)
    for first in range(0, n_configs if len(prepared.docs) else 0, LANES):
        lanes = slice(first, first + LANES)
        _rank_lanes(prepared, family, lanes, positions[lanes], scores[lanes])
    order = np.lexsort((positions, -scores), axis=-1)
    positions, scores = np.take_along_axis(positions, order, -1), np.take_along_axis(scores, order, -1)
    missing = scores < 0
    return np.where(missing, np.int32(-1), positions), np.where(missing, np.float32(np.nan), scores)


def _rank_lanes(prepared: PreparedQuery, family: Family, lanes: slice, positions: np.ndarray, scores: np.ndarray) -> None:
    """Fill the heaps of some configurations."""
    plan = prepared.plan
    at = [family.fields.index(field.field) for field in plan.fields]
    weights, has, ties = family.weights[at, lanes], family.has[at, lanes], family.ties[lanes]
    plain = np.array([field.inlinable for field in plan.fields], np.bool_)
    exact = plain[:, None] & (weights == 1) & (ties == 1.0)
    rank_products(
        prepared.docs, prepared.ptr, prepared.row, prepared.den, prepared.order, prepared.block_bounds, plan.row_field,
        prepared.row_clause, np.ascontiguousarray(plan.weights(weights)), weights, has, exact, ties, positions, scores)
