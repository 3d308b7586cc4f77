"""Field lists and judgments as arrays: what every exact weight question is answered from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from toolkit.evaluation.formulas import discount, ideal_dcg, relevant_counts
from toolkit.evaluation.gains import ESCI_LINEAR, GAINS, Gains
from toolkit.evaluation.measures import Measure
from toolkit.evaluation.pool import Judged, Pool, meet, positions, read_judgments
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
        Length at which lists were cut.
    doc : int32 array (queries, fields, depth)
        Local document numbers: position among the query's listed documents in product_id order.
    score : float64 array, same shape
        Unboosted scores (float32 values).
    length : int32 array (queries, fields)
    complete : bool array (queries, fields)
        No document matches beyond the list.
    zero_doc, zero_length, zero_known : arrays like doc, length, complete
        What a field of weight 0 adds: its first matches in product_id order; unknown where a list is cut
        and its first matches were not fetched.
    matrix : float64 array (documents, fields) or None
        All field scores of every listed document (NaN: no match), where they are known.
    failed : bool array (queries,)
        A list is missing: nothing can be said about the query.
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
    complete: np.ndarray
    zero_doc: np.ndarray
    zero_length: np.ndarray
    zero_known: np.ndarray
    matrix: np.ndarray | None
    failed: np.ndarray
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

    def take(self, query_ids: Sequence[str]) -> WeightSpace:
        """The same lists for some of the queries, in the order given."""
        position = {query: i for i, query in enumerate(self.query_ids)}
        unknown = [query for query in query_ids if query not in position]
        if unknown:
            raise ValueError(f"no field lists of {len(unknown)} queries, for example {unknown[0]!r}; fetch lists for all queries asked")
        rows = np.array([position[query] for query in query_ids], np.int64)
        sizes = np.diff(self.pointer)[rows]
        pointer = np.r_[0, np.cumsum(sizes)].astype(np.int64)
        docs = np.repeat(self.pointer[rows] - pointer[:-1], sizes) + np.arange(pointer[-1])
        per_query = {name: getattr(self, name)[rows] for name in ("doc", "score", "length", "complete", "zero_doc", "zero_length",
                                                                  "zero_known", "failed")}
        return replace(self, query_ids=tuple(query_ids), matrix=None if self.matrix is None else self.matrix[docs],
                       pointer=pointer, product_ids=self.product_ids[docs], **per_query)

    def weights(self, config: MultiMatch) -> np.ndarray:
        """The configuration's weights in the order of ``fields``; NaN where a field is left out.

        Weights are rounded to float32 first, as the engine does.

        Raises
        ------
        ValueError
            If the configuration weighs a field without lists.
        """
        unknown = [name for name in config.fields if name not in self.fields]
        if unknown:
            raise ValueError(f"{config}: no lists of field(s) {unknown}; listed: {list(self.fields)}")
        return np.array([np.float32(config.fields[name]) if name in config.fields else np.nan for name in self.fields], np.float64)


def weight_space(lists: object, *, depth: int | None = None, queries: object = None) -> WeightSpace:
    """Arrays of per-field lists.

    Parameters
    ----------
    lists : FieldLists, FieldScores, DataFrame or WeightSpace
        Anything with columns query_id, product_id, field, score (its ``.table`` is taken).
    depth : int, optional
        How deep the lists were fetched; default the object's own ``depth``, else (complete field
        scores) one more than the longest list.
    queries : DataFrame or sequence of str, optional
        All queries asked, so that one without any match counts; default the object's own
        ``query_ids``, else those in the table.

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
    first, known = getattr(lists, "first_matches", None), getattr(lists, "field_scores", None)
    names = _Names.of(query_ids, fields, [table, first, None if known is None else known.table])
    return _arrays(names, table, first, known, lists, getattr(lists, "depth", None) if depth is None else depth)


def _query_ids(lists: object, table: pd.DataFrame, queries: object) -> tuple[str, ...]:
    given = getattr(lists, "query_ids", None) if queries is None else queries
    given = table["query_id"] if given is None else given
    return tuple(dict.fromkeys(given["query_id"] if isinstance(given, pd.DataFrame) else given))


@dataclass(frozen=True)
class _Names:
    """Numbers of queries, fields and (query, product) pairs; pairs sorted by query, then product_id."""

    query_ids: tuple[str, ...]
    fields: tuple[str, ...]
    products: pd.Index
    pairs: np.ndarray

    @classmethod
    def of(cls, query_ids: tuple[str, ...], fields: tuple[str, ...], tables: list[pd.DataFrame | None]) -> _Names:
        given = [table for table in tables if table is not None and len(table)]
        ids = np.unique(np.concatenate([table["product_id"].unique().astype(object) for table in given] or [np.empty(0, object)]))
        empty = cls(query_ids, fields, pd.Index(ids, dtype=object), np.empty(0, np.int64))
        pairs = [empty.code(table) for table in given]
        found = np.unique(np.concatenate(pairs)) if pairs else np.empty(0, np.int64)
        return cls(query_ids, fields, empty.products, found[found >= 0])

    @property
    def width(self) -> int:
        return max(len(self.products), 1)

    def query(self, table: pd.DataFrame) -> np.ndarray:
        return pd.Categorical(table["query_id"], categories=list(self.query_ids)).codes.astype(np.int64)

    def field(self, table: pd.DataFrame) -> np.ndarray:
        return pd.Categorical(table["field"], categories=list(self.fields)).codes.astype(np.int64)

    def code(self, table: pd.DataFrame) -> np.ndarray:
        """query * width + product, -1 for another query's rows."""
        query, product = self.query(table), self.products.get_indexer(pd.Index(table["product_id"], dtype=object))
        return np.where(query >= 0, query * self.width + product, -1)

    def document(self, table: pd.DataFrame) -> np.ndarray:
        """Position of each row's (query, product) among all listed documents."""
        return np.searchsorted(self.pairs, self.code(table))

    @property
    def pointer(self) -> np.ndarray:
        return np.searchsorted(self.pairs // self.width, np.arange(len(self.query_ids) + 1)).astype(np.int64)


def _arrays(names: _Names, table: pd.DataFrame, first: pd.DataFrame | None, known: object, lists: object, depth: int | None) -> WeightSpace:
    """Long tables -> padded arrays."""
    table = table[(names.query(table) >= 0) & (names.field(table) >= 0)]
    score = table["score"].to_numpy(np.float64)
    if len(score) and not (np.isfinite(score).all() and (score > 0).all()):
        raise ValueError(f"field lists: score {score[~(np.isfinite(score) & (score > 0))][0]!r}; unboosted scores of matches are positive numbers")
    if table.duplicated(["query_id", "field", "product_id"]).any():
        raise ValueError("field lists: a product is twice in one field's list of a query; keep one row each")
    depth = int(table.groupby(["query_id", "field"]).size().max() if len(table) else 0) + 1 if depth is None else int(depth)
    doc, length, scores = _padded(names, table, score, depth)
    complete = length < depth
    if hasattr(lists, "coverage"):
        told = lists.coverage[lists.coverage["complete"]]
        complete[names.query(told), names.field(told)] = True
    zero_doc, zero_length, zero_known = np.sort(np.where(np.arange(depth) < length[:, :, None], doc, np.iinfo(np.int32).max)), length.copy(), complete.copy()
    if first is not None and len(first):
        first_doc, first_length, _ = _padded(names, first, np.zeros(len(first)), depth)
        use = ~complete & (first_length > 0)
        zero_doc[use], zero_length[use], zero_known[use] = first_doc[use], first_length[use], True
    failed = np.isin(np.array(names.query_ids, object), list(getattr(lists, "failed", ())))
    pointer = names.pointer
    return WeightSpace(names.query_ids, names.fields, depth, doc, scores, length, complete, zero_doc, zero_length, zero_known,
                       _matrix(names, table if known is None else known.table, known is not None or bool(complete.all())), failed,
                       pointer, names.products.to_numpy()[names.pairs % names.width])


def _padded(names: _Names, table: pd.DataFrame, score: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists sorted by score descending, then product: local documents, lengths, scores."""
    q, f, d = names.query(table), names.field(table), names.document(table)
    order = np.lexsort((d, -score, f, q))
    q, f, d, s = q[order], f[order], d[order], score[order]
    place = positions(q * len(names.fields) + f)
    keep = (place < depth) & (q >= 0) & (f >= 0)
    q, f, d, s, place = q[keep], f[keep], d[keep], s[keep], place[keep]
    shape = (len(names.query_ids), len(names.fields), depth)
    doc, scores = np.zeros(shape, np.int32), np.zeros(shape)
    doc[q, f, place], scores[q, f, place] = d - names.pointer[q], s
    length = np.bincount(q * len(names.fields) + f, minlength=shape[0] * shape[1]).reshape(shape[:2]).astype(np.int32)
    return doc, length, scores


def _matrix(names: _Names, table: pd.DataFrame, known: bool) -> np.ndarray | None:
    """All field scores of each listed document."""
    if not known:
        return None
    table = table[(names.query(table) >= 0) & (names.field(table) >= 0)]
    matrix = np.full((len(names.pairs), len(names.fields)), np.nan)
    matrix[names.document(table), names.field(table)] = table["score"].to_numpy(np.float64)
    return matrix


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
        False where the metric is undefined (nothing relevant was judged) or a list is missing:
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
        """The cut-off."""
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
                     np.ascontiguousarray(_aligned(space, judged, raw)), divisor, defined & ~space.failed)


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
