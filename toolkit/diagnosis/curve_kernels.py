"""Numeric steps behind exact weight curves: find breakpoints, evaluate pieces, bound what rounding can do.

Conventions as in :mod:`toolkit.diagnosis.list_kernels`.
"""

from __future__ import annotations

import numpy as np

from toolkit.diagnosis.list_kernels import EQUAL, MARGIN, Array, append_zero, merge, metric_value, near_tie
from toolkit.search.jit import kernel


@kernel
def breakpoints(doc: Array, score: Array, length: Array, power: Array, gain: Array) -> Array:
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
def line_pieces(doc: Array, score: Array, length: Array, power: Array, extra: Array, gain: Array, divisor: float, discount: Array,
                take_max: bool, k: int) -> tuple[Array, Array, Array]:
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
def piece_point(edges: Array, i: int) -> float:
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
def group_lists(doc: Array, score: Array, length: Array, weight: Array, power: Array, gain: Array, k: int) -> tuple:
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
def line_query(doc: Array, score: Array, length: Array, zero_doc: Array, zero_length: Array, zero_known: Array, weight: Array,
               power: Array, gain: Array, divisor: float, discount: Array, take_max: bool, k: int) -> tuple:
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
def upper_envelope(edges: Array, inside: Array, at: Array) -> tuple[Array, Array]:
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
def line_queries(doc: Array, score: Array, length: Array, zero_doc: Array, zero_length: Array, zero_known: Array, pointer: Array,
                 chosen: Array, weight: Array, power: Array, gain: Array, divisor: Array, discount: Array, take_max: bool, k: int) -> tuple:
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
