"""Any weights from per-field lists, without a search: values, rankings, and what rounding could change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.diagnosis import list_kernels as kernels
from toolkit.diagnosis.tied_kernels import evaluate_tied_query
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
        Bits of :mod:`list_kernels`: ``NEAR_TIE``, ``BORDER``, ``ZERO_PAGE``; 0 is certain.
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
        Without a tie breaker the lists decide every weight vector. With one, the listed documents are
        scored exactly and the result is flagged where an unlisted document could have won.
    objectives : sequence of Objective

    Raises
    ------
    ValueError
        If the lists are shallower than a metric's cut-off.
    """
    configs = list(configs)
    weights = weight_matrix(space, configs)
    ties = np.array([np.float32(config.tie) for config in configs], np.float64)
    k = max(one.k for one in objectives)
    check_depth(space, k)
    if ties.any() and space.matrix is None:
        raise ValueError("evaluate_lists: a tie breaker adds other fields' scores, and cut lists alone do not hold them; "
                         "give FieldLists (with their field_scores), complete field scores, or the engine")
    shape = (len(space.query_ids), len(configs))
    found = ListValues(np.full((*shape, len(objectives)), np.nan), np.zeros(shape, np.uint8), np.zeros(shape, np.uint64))
    goals = _Goals.of(objectives, k)
    for chosen, tied in ((np.flatnonzero(ties == 0), False), (np.flatnonzero(ties > 0), True)):
        if len(chosen):
            _fill(space, goals, weights[chosen], ties[chosen] if tied else None, k, chosen, found)
    for m, one in enumerate(objectives):
        found.values[~one.defined, :, m] = np.nan
    return found


@dataclass(frozen=True)
class _Goals:
    """Several objectives as stacked arrays, discounts padded with 0 to depth k."""

    discount: np.ndarray
    take_max: np.ndarray
    gain: np.ndarray
    divisor: np.ndarray

    @classmethod
    def of(cls, objectives: Sequence[Objective], k: int) -> _Goals:
        return cls(np.array([np.pad(one.discount, (0, k - one.k)) for one in objectives]), np.array([one.take_max for one in objectives]),
                   np.array([one.gain for one in objectives]), np.array([one.divisor for one in objectives]))


def _fill(space: WeightSpace, goals: _Goals, weights: np.ndarray, ties: np.ndarray | None, k: int, chosen: np.ndarray, found: ListValues) -> None:
    """Run the kernel of one kind of configurations on every query."""
    values = np.empty((len(weights), len(goals.gain)))
    flags, prints = np.empty(len(weights), np.uint8), np.empty(len(weights), np.uint64)
    for q in range(len(space.query_ids)):
        own = slice(space.pointer[q], space.pointer[q + 1])
        metric = (np.ascontiguousarray(goals.gain[:, own]), np.ascontiguousarray(goals.divisor[:, q]), space.marks[own])
        out = (goals.discount, goals.take_max, k, values, flags, prints)
        if ties is None:
            kernels.evaluate_query(space.doc[q], space.score[q], space.length[q], space.complete[q], space.zero_doc[q],
                                   space.zero_length[q], space.zero_known[q], *metric, weights, *out)
        else:
            last = np.array([space.score[q, f, n - 1] if n else 0.0 for f, n in enumerate(space.length[q])])
            evaluate_tied_query(space.matrix[own], last, space.complete[q], *metric, weights, ties, *out)
        found.values[q, chosen], found.flags[q, chosen], found.prints[q, chosen] = values, flags, prints


def list_rankings(space: WeightSpace, config: MultiMatch, depth: int = 10) -> pd.DataFrame:
    """The top ``depth`` of every query under one configuration: query_id, product_id, rank, score.

    The score is the float32 nearest to weight times unboosted score; the engine's own may differ
    in its last bits, because it rounds after each term.
    """
    return winning_fields(space, config, depth)[["query_id", "product_id", "rank", "score"]]


def winning_fields(space: WeightSpace, config: MultiMatch, depth: int = 10) -> pd.DataFrame:
    """As :func:`list_rankings`, with the field that gave each score (null where every weight is 0)."""
    check_depth(space, depth)
    check_best_fields([config])
    weights = weight_matrix(space, [config])[0]
    parts = []
    for q in range(len(space.query_ids)):
        seen = np.zeros(space.pointer[q + 1] - space.pointer[q], np.uint8)
        docs, scores, fields = np.empty(depth, np.int32), np.empty(depth), np.empty(depth, np.int32)
        n = kernels.merge(space.doc[q], space.score[q], space.length[q], weights, depth, seen, docs, scores, fields)
        n, _ = kernels.append_zero(space.zero_doc[q], space.zero_length[q], space.zero_known[q], weights, depth, n, seen, docs, scores, fields)
        parts.append((np.full(n, q), space.pointer[q] + docs[:n], np.arange(1, n + 1), scores[:n].astype(np.float32), fields[:n]))
    q, doc, rank, score, field = (np.concatenate(column) for column in zip(*parts)) if parts else (np.empty(0, np.int64),) * 5
    names = np.array([*space.fields, None], dtype=object)
    return pd.DataFrame({"query_id": pd.array(np.array(space.query_ids, dtype=object)[q.astype(np.int64)], dtype="str"),
                         "product_id": pd.array(space.product_ids[doc.astype(np.int64)], dtype="str"), "rank": rank, "score": score,
                         "field": pd.array(names[field.astype(np.int64)], dtype="str")})


def weight_matrix(space: WeightSpace, configs: Iterable[MultiMatch]) -> np.ndarray:
    """Weights of all configurations, float64 (configurations, fields), NaN = field left out."""
    rows = [space.weights(config) for config in configs]
    if not rows:
        raise ValueError("no configuration given; expected at least one MultiMatch")
    return np.array(rows)


def check_depth(space: WeightSpace, k: int) -> None:
    """Lists must reach as deep as what is asked from them, or be complete."""
    if k > space.depth and not space.complete.all():
        raise ValueError(f"field lists are {space.depth} deep, asked for the top {k}; the theorem needs lists as deep as "
                         f"the ranking: fetch them with depth {k + 1} (one more shows ties across the cut)")


def check_best_fields(configs: Iterable[MultiMatch]) -> None:
    """Exact curves and list rankings are for ``best_fields`` without a tie breaker."""
    for config in configs:
        if config.tie != 0:
            raise ValueError(f"{config} has tie {config.tie:g}; exact curves and merged lists hold for best_fields without tie_breaker; "
                             "use sweep() for this configuration")
