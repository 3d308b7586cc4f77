"""Numeric steps behind any weights from field lists: merge the lists, evaluate the merged top k.

All functions work on one query's lists: for each field, the best documents by unboosted score
(descending, then product_id ascending). Documents are *local* numbers in product_id order, so
"smaller number" is the tie-break. ``merge`` is the five-lists theorem made executable:
with ``best_fields`` and no tie breaker the top k under any weights is found by merging the
fields' lists, because whatever is above a document in its best field's list is above it overall.

Sums over the top k and maxima over the top k are the two shapes of metric: NDCG, recall and
precision are sums of ``discount[rank] * gain``; the reciprocal rank is a maximum of them.
"""

from __future__ import annotations

import numpy as np

from toolkit.search.jit import kernel

Array = np.ndarray

#: Relative distance under which float32 rounding may order two scores either way: 64 half-ulps.
#: A term's score takes four rounded products and a subtraction whose error grows with field
#: length over average length; 64 half-ulps cover fields up to about 25 times the average.
MARGIN = 2.0 ** -18
#: Relative distance under which two float64 products count as the same number.
EQUAL = 1e-12

NEAR_TIE, BORDER, ZERO_PAGE = 1, 2, 4
#: Constants of the 64-bit FNV-1a hash, for fingerprints of rankings.
BASIS, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)


@kernel
def merge(doc: Array, score: Array, length: Array, weight: Array, k: int, seen: Array, out_doc: Array, out_score: Array,
          out_field: Array) -> int:
    """Best ``k`` documents of weighted lists; returns how many there are.

    Parameters
    ----------
    doc, score : int32 and float64 arrays (fields, list depth)
    length : int32 array (fields,)
    weight : float64 array (fields,)
        NaN leaves the field out; 0 keeps its documents, with score 0 (see :func:`append_zero`).
    k : int
    seen : uint8 array (documents of the query,)
        Scratch; cleared here, marks the returned documents.
    out_doc, out_score, out_field : arrays (>= k,)
        Filled; the field is the one whose list supplied the document, its best.
    """
    fields = doc.shape[0]
    position = np.zeros(fields, np.int64)
    seen[:] = 0
    n = 0
    while n < k:
        best, best_score, best_doc = -1, 0.0, 0
        for f in range(fields):
            w = weight[f]
            if not w > 0.0:
                continue
            while position[f] < length[f] and seen[doc[f, position[f]]]:
                position[f] += 1
            if position[f] == length[f]:
                continue
            s, d = w * score[f, position[f]], doc[f, position[f]]
            if best < 0 or s > best_score * (1 + EQUAL) or (s >= best_score * (1 - EQUAL) and d < best_doc):
                best, best_score, best_doc = f, s, d
        if best < 0:
            break
        out_doc[n], out_score[n], out_field[n] = best_doc, best_score, best
        seen[best_doc] = 1
        n += 1
    return n


@kernel
def append_zero(zero_doc: Array, zero_length: Array, zero_known: Array, weight: Array, k: int, n: int, seen: Array, out_doc:
                Array, out_score: Array, out_field: Array) -> tuple[int, bool]:
    """Fill up with documents that match only in fields of weight 0: score 0, product_id order.

    Returns the new count, and whether an unknown document may have belonged here.
    """
    hidden = False
    for f in range(zero_doc.shape[0]):
        if weight[f] == 0.0:
            hidden |= n < k and not zero_known[f]
            for i in range(zero_length[f]):
                if not seen[zero_doc[f, i]]:
                    seen[zero_doc[f, i]] = 2
    for d in range(len(seen)):
        if n == k:
            break
        if seen[d] == 2:
            out_doc[n], out_score[n], out_field[n] = d, 0.0, -1
            n += 1
    return n, hidden


@kernel
def metric_value(docs: Array, n: int, gain: Array, discount: Array, take_max: bool, divisor: float) -> float:
    """``sum`` (or max) over ranks of ``gain[document] * discount[rank]``, from rank 1, over ``divisor``."""
    value = 0.0
    for rank in range(min(n, len(discount))):
        part = gain[docs[rank]] * discount[rank]
        value = max(value, part) if take_max else value + part
    return value / divisor


@kernel
def near_tie(docs: Array, scores: Array, fields: Array, n: int, k: int, gain: Array, same_field_equal_is_stable: bool) -> bool:
    """Could rounding change the metric? True if two neighbours with different gains are within the margin.

    Equal scores from the same field are a tie at every weight and never count.
    """
    for i in range(min(n - 1, k)):
        if gain[docs[i]] == gain[docs[i + 1]]:
            continue
        if scores[i] == scores[i + 1] and fields[i] == fields[i + 1] and same_field_equal_is_stable:
            continue
        if scores[i + 1] > 0.0 and scores[i + 1] >= scores[i] * (1 - MARGIN):
            return True
    return False


@kernel
def evaluate_query(doc: Array, score: Array, length: Array, complete: Array, zero_doc: Array, zero_length: Array, zero_known:
                   Array, gain: Array, divisor: Array, marks: Array, weights: Array, discount: Array, take_max: Array, k: int,
                   values: Array, flags: Array, prints: Array) -> None:
    """Metric values, flags and ranking fingerprints of one query under many weight vectors.

    Parameters
    ----------
    doc, score, length, complete, zero_doc, zero_length, zero_known : the query's part of a WeightSpace
    gain : float64 array (metrics, documents)
    divisor : float64 array (metrics,)
    marks : uint64 array (documents,)
        A hash of each product_id.
    weights : float64 array (configurations, fields)
    discount : float64 array (metrics, >= k)
    take_max : bool array (metrics,)
    k : int
        Depth of the ranking.
    values : float64 array (configurations, metrics), filled
    flags : uint8 array (configurations,), filled
        Bits ``NEAR_TIE``, ``BORDER`` (an unlisted document may be within the margin of rank k),
        ``ZERO_PAGE`` (a list of weight 0 was too short to fill the page).
    prints : uint64 array (configurations,), filled
        Fingerprint of the ordered top k: ``print = (print ^ mark) * PRIME`` from ``BASIS`` on.
    """
    width = k + 1
    seen = np.zeros(gain.shape[1], np.uint8)
    docs, scores, fields = np.empty(width, np.int32), np.empty(width), np.empty(width, np.int32)
    for c in range(weights.shape[0]):
        n = merge(doc, score, length, weights[c], width, seen, docs, scores, fields)
        flag = 0
        for m in range(gain.shape[0]):
            if near_tie(docs, scores, fields, n, k, gain[m], True):
                flag = NEAR_TIE
        if n >= k and doc.shape[1] <= k:
            for f in range(doc.shape[0]):
                if not complete[f] and weights[c, f] * score[f, length[f] - 1] >= scores[k - 1] * (1 - MARGIN):
                    flag |= BORDER
        n, hidden = append_zero(zero_doc, zero_length, zero_known, weights[c], k, min(n, k), seen, docs, scores, fields)
        if hidden:
            flag |= ZERO_PAGE
        flags[c] = flag
        mark = BASIS
        for i in range(n):
            mark = (mark ^ marks[docs[i]]) * PRIME
        prints[c] = mark
        for m in range(gain.shape[0]):
            values[c, m] = metric_value(docs, n, gain[m], discount[m], take_max[m], divisor[m])
