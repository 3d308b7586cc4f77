"""Numeric steps behind exact weight curves: merge field lists, find breakpoints, evaluate pieces.

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
def merge(doc, score, length, weight, k, seen, out_doc, out_score, out_field):
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
def append_zero(zero_doc, zero_length, zero_known, weight, k, n, seen, out_doc, out_score, out_field):
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
def metric_value(docs, n, gain, discount, take_max, divisor):
    """``sum`` (or max) over ranks of ``gain[document] * discount[rank]``, from rank 1, over ``divisor``."""
    value = 0.0
    for rank in range(min(n, len(discount))):
        part = gain[docs[rank]] * discount[rank]
        value = max(value, part) if take_max else value + part
    return value / divisor


@kernel
def near_tie(docs, scores, fields, n, k, gain, same_field_equal_is_stable):
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
def evaluate_query(doc, score, length, complete, zero_doc, zero_length, zero_known, gain, divisor, marks, weights, discount,
                   take_max, k, values, flags, prints):
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


@kernel
def breakpoints(doc, score, length, power, gain):
    """Weights at which a document of one group passes one of another group, sorted, without repeats.

    Group g's documents score ``score[g] * x ** power[g]``; two of them are equal where
    ``x ** (power[g] - power[h]) = score[h] / score[g]``. Two documents of equal gain may change
    places without changing the metric, so only pairs of different gain count.
    """
    groups = score.shape[0]
    count = 0
    for g in range(groups):
        for h in range(g):
            count += length[g] * length[h]
    found = np.empty(count)
    n = 0
    for g in range(groups):
        for h in range(g):
            for i in range(length[g]):
                for j in range(length[h]):
                    if gain[doc[g, i]] != gain[doc[h, j]]:
                        found[n] = (score[h, j] / score[g, i]) ** (1.0 / (power[g] - power[h]))
                        n += 1
    found = found[:n]
    found.sort()
    kept = 0
    for i in range(n):
        if kept == 0 or found[i] > found[kept - 1] * (1 + EQUAL):
            found[kept] = found[i]
            kept += 1
    return found[:kept]


@kernel
def line_pieces(doc, score, length, power, extra, gain, divisor, discount, take_max, k):
    """One query's metric along a line in weight space: every piece and every breakpoint.

    Parameters
    ----------
    doc, score, length : merged group lists (groups, k), scores at x = 1, all > 0
    power : float64 array (groups,)
        How the group's scores grow with x: 0 (held still), 1 or -1.
    extra : int32 array
        Documents that match with score 0 at every x, in product_id order.
    gain : float64 array (documents,)
    divisor, discount, take_max, k
        The metric.

    Returns
    -------
    tuple of arrays
        ``(edges, inside, at)``: breakpoints where the value changes (or differs on the point
        itself), the values of the len(edges) + 1 open pieces, the value on each edge.
    """
    edges = breakpoints(doc, score, length, power, gain)
    m = len(edges)
    inside, at = np.empty(m + 1), np.empty(m)
    groups = doc.shape[0]
    weight = np.empty(groups)
    seen = np.zeros(len(gain), np.uint8)
    docs, scores, fields = np.empty(k, np.int32), np.empty(k), np.empty(k, np.int32)
    for i in range(2 * m + 1):
        x = piece_point(edges, i)
        for g in range(groups):
            weight[g] = x ** power[g]
        n = merge(doc, score, length, weight, k, seen, docs, scores, fields)
        for d in extra:
            if n < k and not seen[d]:
                docs[n] = d
                n += 1
        value = metric_value(docs, n, gain, discount, take_max, divisor)
        if i % 2 == 1:
            at[i // 2] = value
        else:
            inside[i // 2] = value
    kept = 0
    for i in range(m):
        if inside[i + 1] != inside[i] or at[i] != inside[i]:
            edges[kept], at[kept], inside[kept + 1] = edges[i], at[i], inside[i + 1]
            kept += 1
    return edges[:kept], inside[:kept + 1], at[:kept]


@kernel
def piece_point(edges, i):
    """A point of the i-th part of the line: even i an open piece (its log-middle), odd i an edge."""
    m = len(edges)
    if i % 2 == 1:
        return edges[i // 2]
    if m == 0:
        return 1.0
    if i == 0:
        return edges[0] / 2
    if i == 2 * m:
        return edges[m - 1] * 2
    return np.sqrt(edges[i // 2 - 1] * edges[i // 2])


@kernel
def group_lists(doc, score, length, weight, power, gain, k):
    """Merge each power's fields into one list, and tell whether rounding may reorder it anywhere.

    Returns ``(doc, score, length, powers, near)`` with three groups: powers 0, 1 and -1.
    """
    powers = np.array([0.0, 1.0, -1.0])
    width = k + 1
    out_doc, out_score = np.zeros((3, k), np.int32), np.zeros((3, k))
    out_length = np.zeros(3, np.int32)
    seen = np.zeros(len(gain), np.uint8)
    docs, scores, fields = np.empty(width, np.int32), np.empty(width), np.empty(width, np.int32)
    masked = np.empty(len(weight))
    near = False
    for g in range(3):
        for f in range(len(weight)):
            masked[f] = weight[f] if power[f] == powers[g] else np.nan
        n = merge(doc, score, length, masked, width, seen, docs, scores, fields)
        near |= near_tie(docs, scores, fields, n, k, gain, True)
        out_length[g] = min(n, k)
        for i in range(out_length[g]):
            out_doc[g, i], out_score[g, i] = docs[i], scores[i]
    return out_doc, out_score, out_length, powers, near


@kernel
def line_query(doc, score, length, zero_doc, zero_length, zero_known, weight, power, gain, divisor, discount, take_max, k):
    """Everything about one query along one line; see :func:`line_pieces` and :func:`upper_envelope`.

    Parameters
    ----------
    weight, power : float64 arrays (fields,)
        Field f weighs ``weight[f] * x ** power[f]``; NaN leaves it out, 0 (with power 0) matches.

    Returns
    -------
    tuple
        ``(edges, inside, at, starts, bounds, doubtful)``.
    """
    g_doc, g_score, g_length, powers, doubtful = group_lists(doc, score, length, weight, power, gain, k)
    seen = np.zeros(len(gain), np.uint8)
    extra, nothing, none = np.empty(len(gain), np.int32), np.empty(len(gain)), np.empty(len(gain), np.int32)
    count, hidden = append_zero(zero_doc, zero_length, zero_known, weight, len(gain), 0, seen, extra, nothing, none)
    if hidden and g_length.max() < k:
        doubtful = True
    edges, inside, at = line_pieces(g_doc, g_score, g_length, powers, extra[:count], gain, divisor, discount, take_max, k)
    starts, bounds = upper_envelope(edges, inside, at)
    if doubtful:
        starts, bounds = starts[:1], np.ones(1)
    return edges, inside, at, starts, bounds, doubtful


@kernel
def upper_envelope(edges, inside, at):
    """The largest value float32 rounding can bring out, as a step function: (starts, values).

    Near an edge (within the margin) the two documents may come out in either order; where two
    edges are that close, orders may mix that no piece shows, so the bound is 1 there.
    ``values[i]`` holds from ``starts[i]`` on; ``starts[0]`` is 0.
    """
    m = len(edges)
    starts, values = np.empty(2 * m + 1), np.empty(2 * m + 1)
    starts[0], values[0] = 0.0, inside[0]
    n, i = 1, 0
    while i < m:
        last = i
        while last + 1 < m and edges[last + 1] * (1 - MARGIN) <= edges[last] * (1 + MARGIN):
            last += 1
        bound = max(inside[i], at[i], inside[i + 1]) if last == i else 1.0
        starts[n], values[n] = edges[i] * (1 - MARGIN), bound
        starts[n + 1], values[n + 1] = edges[last] * (1 + MARGIN), inside[last + 1]
        n += 2
        i = last + 1
    return starts[:n], values[:n]


@kernel
def line_queries(doc, score, length, zero_doc, zero_length, zero_known, pointer, chosen, weight, power, gain, divisor, discount,
                 take_max, k):
    """:func:`line_query` for many queries (axis 0 of the lists), their steps put one after the other.

    Parameters
    ----------
    chosen : int64 array
        Which queries.
    gain : float64 array (documents of all queries,)
    divisor : float64 array (queries,)

    Returns
    -------
    tuple of arrays
        Query of every step; its (edge, before, at, after); (start, step) of the upper envelopes
        behind their first value; and per chosen query the first value, the first bound, doubtful.
    """
    owner, steps, n = np.empty(1024, np.int64), np.empty((1024, 4)), 0
    bends, b = np.empty((1024, 2)), 0
    first, bound, doubtful = np.empty(len(chosen)), np.empty(len(chosen)), np.zeros(len(chosen), np.bool_)
    for i, q in enumerate(chosen):
        own = gain[pointer[q]:pointer[q + 1]]
        edges, inside, at, starts, bounds, doubt = line_query(
            doc[q], score[q], length[q], zero_doc[q], zero_length[q], zero_known[q], weight, power, own, divisor[q], discount, take_max, k)
        first[i], bound[i], doubtful[i] = inside[0], bounds[0], doubt
        while n + len(edges) > len(owner):
            owner, steps = np.concatenate((owner, owner)), np.concatenate((steps, steps))
        for e in range(len(edges)):
            owner[n] = q
            steps[n, 0], steps[n, 1], steps[n, 2], steps[n, 3] = edges[e], inside[e], at[e], inside[e + 1]
            n += 1
        while b + len(starts) > len(bends):
            bends = np.concatenate((bends, bends))
        for e in range(1, len(starts)):
            bends[b, 0], bends[b, 1] = starts[e], bounds[e] - bounds[e - 1]
            b += 1
    return owner[:n], steps[:n], bends[:b], first, bound, doubtful
