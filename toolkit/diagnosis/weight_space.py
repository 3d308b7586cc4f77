"""Field lists and judgments as arrays: what every exact weight question is answered from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from toolkit.evaluation.formulas import discount, ideal_dcg, relevant_counts
from toolkit.evaluation.gains import ESCI_LINEAR, GAINS, Gains
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Judged, Pool, meet, read_judgments
from toolkit.search.config import MultiMatch
from toolkit.tables import TableError


@dataclass(frozen=True)
class WeightSpace:
    """Per query and field, the best documents by unboosted score.

    Attributes
    ----------
    query_ids : tuple of str
        In the order asked for, including queries without any match.
    fields : tuple of str
    depth : int
        A list of this length may have been cut; a shorter one is complete.
    doc : int32 array (queries, fields, depth)
        Local document numbers: position among the query's listed documents in product_id order.
    score : float64 array, same shape
        Unboosted scores (float32 values).
    length : int32 array (queries, fields)
    pointer : int64 array (queries + 1,)
        Local document j of query i is ``product_ids[pointer[i] + j]``.
    product_ids : object array
    """

    query_ids: tuple[str, ...]
    fields: tuple[str, ...]
    depth: int
    doc: np.ndarray
    score: np.ndarray
    length: np.ndarray
    pointer: np.ndarray
    product_ids: np.ndarray

    def __repr__(self) -> str:
        return f"WeightSpace({len(self.query_ids)} queries, fields {list(self.fields)}, {self.depth} deep)"

    @cached_property
    def marks(self) -> np.ndarray:
        """A hash of each listed document's product_id (uint64)."""
        return pd.util.hash_array(self.product_ids)

    @cached_property
    def owner(self) -> np.ndarray:
        """Index of the query of each listed document (int64, like ``product_ids``)."""
        return np.repeat(np.arange(len(self.query_ids)), np.diff(self.pointer))

    def weights(self, config: MultiMatch) -> np.ndarray:
        """The configuration's weights in the order of ``fields``; NaN where a field is left out.

        Weights are rounded to float32 first, as the engine does.

        Raises
        ------
        ValueError
            If the configuration weighs a field without lists, or is not ``best_fields`` with tie 0.
        """
        if config.tie != 0:
            raise ValueError(f"{config}: per-field lists decide best_fields without tie_breaker only; "
                             "give sweep() the engine (or complete field scores) for this configuration")
        unknown = [name for name in config.fields if name not in self.fields]
        if unknown:
            raise ValueError(f"{config}: no lists of field(s) {unknown}; listed: {list(self.fields)}")
        return np.array([np.float32(config.fields[name]) if name in config.fields else np.nan for name in self.fields], np.float64)


def weight_space(lists: object, *, depth: int | None = None, queries: object = None) -> WeightSpace:
    """Arrays of per-field lists.

    Parameters
    ----------
    lists : FieldLists, FieldScores or DataFrame
        Anything with columns query_id, product_id, field, score (its ``.table`` is taken).
    depth : int, optional
        How deep the lists were fetched; default the object's own ``depth``, else (complete field
        scores) one more than the longest list.
    queries : DataFrame or sequence of str, optional
        All queries asked, so that one without any match counts; default the object's own
        ``queries`` or ``query_ids``, else those in the table.

    Raises
    ------
    TableError, ValueError
        Missing columns; a product twice in one list; scores that are not positive numbers.
    """
    if isinstance(lists, WeightSpace):
        return lists
    table = lists if isinstance(lists, pd.DataFrame) else lists.table
    missing = [name for name in ("query_id", "product_id", "field", "score") if name not in table.columns]
    if missing:
        raise TableError(f"field lists: missing column(s) {missing}; got {list(table.columns)}")
    fields = tuple(getattr(lists, "fields", None) or pd.unique(table["field"].astype(str)))
    query_ids = _query_ids(lists, table, queries)
    q = pd.Categorical(table["query_id"], categories=list(query_ids)).codes.astype(np.int64)
    f = pd.Categorical(table["field"], categories=list(fields)).codes.astype(np.int64)
    known = (q >= 0) & (f >= 0)
    ids, p = np.unique(table["product_id"].to_numpy(dtype=object), return_inverse=True)
    q, f, p, s = q[known], f[known], p[known].astype(np.int64), table["score"].to_numpy(np.float64)[known]
    if len(s) and not (np.isfinite(s).all() and (s > 0).all()):
        raise ValueError(f"field lists: score {s[~(np.isfinite(s) & (s > 0))][0]!r}; unboosted scores of matches are positive numbers")
    order = np.lexsort((p, -s, f, q))
    q, f, p, s = q[order], f[order], p[order], s[order]
    return _arrays(query_ids, fields, q, f, p, s, ids, getattr(lists, "depth", None) if depth is None else depth)


def _query_ids(lists: object, table: pd.DataFrame, queries: object) -> tuple[str, ...]:
    given = queries
    for name in ("query_ids", "queries"):
        given = getattr(lists, name, None) if given is None and not isinstance(lists, pd.DataFrame) else given
    if given is None:
        given = table["query_id"]
    return tuple(dict.fromkeys(given["query_id"] if isinstance(given, pd.DataFrame) else given))


def _arrays(query_ids: tuple[str, ...], fields: tuple[str, ...], q, f, p, s, ids, depth: int | None) -> WeightSpace:
    """Rows sorted by query, field, score descending, product -> padded arrays."""
    group = q * len(fields) + f
    start = np.flatnonzero(np.diff(group, prepend=-1)) if len(group) else np.empty(0, np.int64)
    counts = np.diff(np.append(start, len(group)))
    place = np.arange(len(group)) - np.repeat(start, counts)
    depth = int(counts.max(initial=0)) + 1 if depth is None else int(depth)
    keep = place < depth
    q, f, p, s, place, group = q[keep], f[keep], p[keep], s[keep], place[keep], group[keep]
    pairs, local = np.unique(q * max(len(ids), 1) + p, return_inverse=True)
    pointer = np.searchsorted(pairs // max(len(ids), 1), np.arange(len(query_ids) + 1))
    if len(np.unique(group * max(len(ids), 1) + p)) < len(p):
        raise ValueError("field lists: a product is twice in one field's list of a query; keep one row each")
    shape = (len(query_ids), len(fields), depth)
    doc, score = np.zeros(shape, np.int32), np.zeros(shape, np.float64)
    doc[q, f, place] = local - pointer[q]
    score[q, f, place] = s
    length = np.bincount(group, minlength=shape[0] * shape[1]).reshape(shape[:2]).astype(np.int32)
    return WeightSpace(query_ids, fields, depth, doc, score, length, pointer.astype(np.int64), ids[pairs % max(len(ids), 1)])


@dataclass(frozen=True)
class Objective:
    """A metric as numbers: ``sum`` (or max) over ranks of ``gain[document] * discount[rank]``, over ``divisor``.

    The order of operations is that of :mod:`toolkit.evaluation.formulas`, so values agree to the last bit.

    Attributes
    ----------
    measure : Measure
    definition : str
    discount : float64 array (k,)
    take_max : bool
    gain : float64 array, aligned with ``WeightSpace.product_ids``
    divisor : float64 array (queries,)
        The query's ideal (or k, or 1); 1 where the metric is undefined.
    defined : bool array (queries,)
        False where the metric is undefined (nothing relevant was judged) or nothing was judged:
        these queries stay outside every mean.
    """

    measure: Measure
    definition: str
    discount: np.ndarray
    take_max: bool
    gain: np.ndarray
    divisor: np.ndarray
    defined: np.ndarray

    @property
    def k(self) -> int:
        return len(self.discount)


def objective(space: WeightSpace, judgments: pd.DataFrame, metric: str | Measure = "ndcg@10", *,
              gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0) -> Objective:
    """Turn a measure of :mod:`toolkit.evaluation` into per-document numbers for these lists.

    Parameters
    ----------
    space : WeightSpace
    judgments : DataFrame
        query_id, product_id, grade. Unjudged products count as gain 0.
    metric : str or Measure
        ndcg, ndcg_full_ideal, recall, precision, mrr or success, with a cut-off.
    gains, relevant_grade
        As in :func:`toolkit.evaluation.evaluate`, whose values these are.

    Raises
    ------
    ValueError
        For a measure that is not a sum or maximum over ranks (ap, err, …), or without cut-off.
    """
    measure = Measure.parse(metric)
    if measure.name not in ("ndcg", "ndcg_full_ideal", "recall", "precision", "mrr", "success") or measure.k is None:
        raise ValueError(f"exact weight curves of {measure}: offered are ndcg, ndcg_full_ideal, recall, precision, mrr "
                         "and success, each with a cut-off, for example 'ndcg@10'")
    used = GAINS[measure.gains] if measure.gains else gains
    threshold = relevant_grade if measure.relevant is None else measure.relevant
    judged = read_judgments(judgments, list(space.query_ids))
    raw, weights, divisor, defined = metric_parts(judged, measure, used, threshold)
    return Objective(measure, measure.definition(used, threshold), weights, measure.name in ("mrr", "success"),
                     np.ascontiguousarray(_aligned(space, judged, raw)), divisor, defined)


def metric_parts(judged: Judged, measure: Measure, gains: Gains, threshold: float) -> tuple[np.ndarray, ...]:
    """Gain of each judgment, discount of each rank, divisor of each query, and where the measure is defined."""
    position = np.arange(measure.k)
    if measure.name.startswith("ndcg"):
        ideal = ideal_dcg(_only_judged(judged), measure.k if measure.name == "ndcg" else None, gains)
        return gains.of(judged.grade), discount(position), np.where(ideal > 0, ideal, 1.0), ideal > 0
    value = (judged.grade >= threshold).astype(np.float64)
    relevant = relevant_counts(_only_judged(judged), threshold)
    weights = 1.0 / (position + 1.0) if measure.name == "mrr" else np.ones(measure.k)
    divisor = {"recall": np.where(relevant > 0, relevant, 1.0), "precision": np.full(len(relevant), float(measure.k))}
    return value, weights, divisor.get(measure.name, np.ones(len(relevant))), relevant > 0


def _only_judged(judged: Judged) -> Pool:
    """A pool without any ranking: enough for ideals and counts of relevant products."""
    return meet(pd.DataFrame({"query_id": [], "product_id": [], "score": []}), judged, on_no_overlap="zero")


def _aligned(space: WeightSpace, judged: Judged, value: np.ndarray) -> np.ndarray:
    """The value of each listed document, shape (documents,); 0 where it is not judged."""
    width = max(len(judged.product_ids), 1)
    product = judged.product_ids.get_indexer(pd.Index(space.product_ids))
    pairs = pd.Index(judged.query.astype(np.int64) * width + judged.product)
    found = pairs.get_indexer(np.where(product >= 0, space.owner * width + product, -1))
    return np.append(value, 0.0)[found]
