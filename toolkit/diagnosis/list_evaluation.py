"""Any weights from per-field lists, without a search: values, rankings, and what rounding could change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.diagnosis import curve_kernels as kernels
from toolkit.diagnosis.weight_space import Objective, WeightSpace
from toolkit.search.config import MultiMatch


@dataclass(frozen=True)
class ListValues:
    """Metric values of every query under every configuration.

    Attributes
    ----------
    values : float64 array (queries, configurations, metrics)
        NaN where the metric is undefined for the query.
    flags : uint8 array (queries, configurations)
        Bits of :mod:`curve_kernels`: ``NEAR_TIE``, ``BORDER``, ``ZERO_PAGE``; 0 is certain.
    prints : uint64 array (queries, configurations)
        Fingerprint of the ordered top k: equal prints, equal rankings.
    """

    values: np.ndarray
    flags: np.ndarray
    prints: np.ndarray

    def counts(self) -> dict[str, int]:
        """Number of (query, configuration) pairs in all, certain, and with each reason for doubt."""
        return {"pairs": self.flags.size, "certain": int((self.flags == 0).sum()),
                "near_tie": int((self.flags & kernels.NEAR_TIE > 0).sum()),
                "border": int((self.flags & kernels.BORDER > 0).sum()),
                "zero_page": int((self.flags & kernels.ZERO_PAGE > 0).sum())}


def evaluate_lists(space: WeightSpace, configs: Iterable[MultiMatch], objectives: Sequence[Objective]) -> ListValues:
    """Values of all configurations, by merging each query's field lists.

    Parameters
    ----------
    space : WeightSpace
        As deep as the deepest metric, or deeper.
    configs : iterable of MultiMatch
        ``best_fields`` without tie breaker.
    objectives : sequence of Objective

    Raises
    ------
    ValueError
        If the lists are shallower than a metric's cut-off.
    """
    weights = weight_matrix(space, configs)
    k = max(one.k for one in objectives)
    check_depth(space, k)
    discounts = np.array([np.pad(one.discount, (0, k - one.k)) for one in objectives])
    take_max = np.array([one.take_max for one in objectives])
    gain = np.array([one.gain for one in objectives])
    shape = (len(space.query_ids), len(weights))
    values, flags, prints = np.empty((*shape, len(objectives))), np.empty(shape, np.uint8), np.empty(shape, np.uint64)
    divisor = np.array([one.divisor for one in objectives])
    for q in range(shape[0]):
        own = slice(space.pointer[q], space.pointer[q + 1])
        kernels.evaluate_query(space.doc[q], space.score[q], space.length[q], np.ascontiguousarray(gain[:, own]),
                               np.ascontiguousarray(divisor[:, q]), space.marks[own], weights, discounts, take_max, k,
                               values[q], flags[q], prints[q])
    for m, one in enumerate(objectives):
        values[~one.defined, :, m] = np.nan
    return ListValues(values, flags, prints)


def list_rankings(space: WeightSpace, config: MultiMatch, depth: int = 10) -> pd.DataFrame:
    """The top ``depth`` of every query under one configuration: query_id, product_id, rank, score.

    The score is the float32 nearest to weight times unboosted score; the engine's own may differ
    in its last bits, because it rounds after each term.
    """
    check_depth(space, depth)
    weights = weight_matrix(space, [config])[0]
    width = max(depth, 1)
    parts = []
    for q in range(len(space.query_ids)):
        seen = np.zeros(space.pointer[q + 1] - space.pointer[q], np.uint8)
        docs, scores, fields = np.empty(width, np.int32), np.empty(width), np.empty(width, np.int32)
        n = kernels.merge(space.doc[q], space.score[q], space.length[q], weights, depth, seen, docs, scores, fields)
        n, _ = kernels.append_zero(space.doc[q], space.length[q], weights, depth, n, seen, docs, scores, fields)
        parts.append((np.full(n, q), space.pointer[q] + docs[:n], np.arange(1, n + 1), scores[:n].astype(np.float32)))
    q, doc, rank, score = (np.concatenate(column) for column in zip(*parts)) if parts else (np.empty(0, np.int64),) * 4
    return pd.DataFrame({"query_id": np.array(space.query_ids, dtype=object)[q.astype(np.int64)],
                         "product_id": space.product_ids[doc.astype(np.int64)], "rank": rank, "score": score}
                        ).astype({"query_id": "str", "product_id": "str"})


def weight_matrix(space: WeightSpace, configs: Iterable[MultiMatch]) -> np.ndarray:
    """Weights of all configurations, float64 (configurations, fields), NaN = field left out."""
    rows = [space.weights(config) for config in configs]
    if not rows:
        raise ValueError("no configuration given; expected at least one MultiMatch")
    return np.array(rows)


def check_depth(space: WeightSpace, k: int) -> None:
    """Lists must reach as deep as what is asked from them."""
    if k > space.depth:
        raise ValueError(f"field lists are {space.depth} deep, asked for the top {k}; the theorem needs lists as deep as "
                         f"the ranking: fetch them with depth {k + 1} (one more shows ties across the cut)")
