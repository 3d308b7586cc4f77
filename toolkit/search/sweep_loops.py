"""The compiled loops of the sweep: gather, filter, bound, rank."""

from __future__ import annotations

import numpy as np

from toolkit.search.jit import kernel

Array = np.ndarray

BLOCK = 64
"""Products whose bounds are tested together."""

_HALF_ULP = 2.0 ** -24
_TERM_SLACK = 16 * _HALF_ULP
"""Share of a row's weight that the float32 roundings of its score may add: 4 in each of the two weights that are
compared, 1 in the division, 1 in the difference; rounded up to 16."""
_SLACK = 1 + 2e-6
"""Factor for the roundings of a clause, a field and the score (3, rounded up to 33)."""
_TINY = 1e-36
"""Below this, float32 loses its relative precision; bounds are kept above it."""


@kernel
def gather_entries(start: Array, stop: Array, docs: Array, den: Array, products: int) -> tuple[Array, Array, Array, Array]:
    """Postings of all rows, product by product (products in order of first appearance).

    Returns candidates (int32), their entry offsets (int64), and row and den of each entry.
    """
    count = np.zeros(products, np.int32)
    total = 0
    for r in range(len(start)):
        for p in range(start[r], stop[r]):
            count[docs[p]] += 1
        total += stop[r] - start[r]
    candidates = np.empty(min(total, products), np.int32)
    slot = np.empty(products, np.int64)
    n, used = 0, 0
    for r in range(len(start)):
        for p in range(start[r], stop[r]):
            doc = docs[p]
            if count[doc] > 0:
                candidates[n] = doc
                n += 1
                slot[doc] = used
                used += count[doc]
                count[doc] = 0
    row, value = np.empty(total, np.int32), np.empty(total, np.float32)
    for r in range(len(start)):
        for p in range(start[r], stop[r]):
            doc = docs[p]
            row[slot[doc]] = r
            value[slot[doc]] = den[p]
            slot[doc] += 1
    ptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        ptr[i + 1] = slot[candidates[i]]
    return candidates[:n].copy(), ptr, row, value


@kernel
def drop_incomplete(candidates: Array, ptr: Array, row: Array, den: Array, row_field: Array, row_clause: Array,
                    needed: Array) -> tuple[Array, Array, Array, Array]:
    """Keep a field's entries only where the product matches as many clauses as the field needs."""
    kept, used = 0, 0
    out_ptr = np.zeros(len(ptr), np.int64)
    for i in range(len(candidates)):
        p, end = ptr[i], ptr[i + 1]
        first_used = used
        while p < end:
            field, clauses, q = row_field[row[p]], 0, p
            while q < end and row_field[row[q]] == field:
                if q == p or row_clause[row[q]] != row_clause[row[q - 1]]:
                    clauses += 1
                q += 1
            if clauses >= needed[field]:
                for e in range(p, q):
                    row[used] = row[e]
                    den[used] = den[e]
                    used += 1
            p = q
        if used > first_used:
            candidates[kept] = candidates[i]
            kept += 1
            out_ptr[kept] = used
    return candidates[:kept].copy(), out_ptr[:kept + 1].copy(), row[:used].copy(), den[:used].copy()


@kernel
def bound_products(ptr: Array, row: Array, den: Array, weight: Array, row_field: Array, fields: int) -> Array:
    """No less than any field's score at weight 1, roundings of any weight included: float64 (n, fields)."""
    bounds = np.zeros((len(ptr) - 1, fields))
    for i in range(len(ptr) - 1):
        for p in range(ptr[i], ptr[i + 1]):
            w = np.float64(weight[row[p]])
            bounds[i, row_field[row[p]]] += w - w / den[p] + w * _TERM_SLACK
    return bounds


@kernel
def rank_products(docs: Array, ptr: Array, row: Array, den: Array, order: Array, block_bounds: Array, row_field: Array,
                  row_clause: Array, weight: Array, field_weight: Array, has: Array, exact: Array, tie: Array,
                  out_docs: Array, out_scores: Array) -> None:
    """Fill one heap of (score, product) a configuration: out_docs, out_scores of shape (C, depth).

    ``weight`` is float32 (rows, C); ``field_weight``, ``has`` and ``exact`` are (fields, C).
    """
    n_configs, depth = out_scores.shape
    best, rest = np.empty(n_configs), np.empty(n_configs)
    total, group = np.empty(n_configs), np.empty(n_configs)
    score = np.empty(n_configs, np.float32)
    threshold = np.full(n_configs, np.float32(-0.5))
    size = np.zeros(n_configs, np.int64)
    hit = np.empty(n_configs, np.bool_)
    always = has.all()
    for block in range(len(block_bounds)):
        if block * BLOCK >= depth and not _may_enter(block_bounds[block], field_weight, tie, threshold, best, rest):
            continue
        for k in range(block * BLOCK, min(len(docs), block * BLOCK + BLOCK)):
            i = order[k]
            _score_product(ptr[i], ptr[i + 1], row, den, row_field, row_clause, weight, has, always, exact, tie,
                           best, rest, total, group, hit, score)
            enters = False
            for c in range(n_configs):
                enters |= score[c] >= threshold[c]
            if enters:
                for c in range(n_configs):
                    if score[c] >= threshold[c]:
                        size[c] = _push(out_scores[c], out_docs[c], size[c], score[c], docs[i])
                        if size[c] == depth:
                            threshold[c] = out_scores[c, 0]


@kernel
def _score_product(p, end, row, den, row_field, row_clause, weight, has, always, exact, tie,
                   best, rest, total, group, hit, score):
    """Score of one product under every configuration; -1 where none of its fields is searched."""
    n_configs = len(tie)
    for c in range(n_configs):
        best[c] = 0.0
        rest[c] = 0.0
        hit[c] = always
    while p < end:
        field, q = row_field[row[p]], p + 1
        while q < end and row_field[row[q]] == field:
            q += 1
        if not always:
            for c in range(n_configs):
                hit[c] |= has[field, c]
        if q - p == 1:
            w, d = weight[row[p]], den[p]
            for c in range(n_configs):
                value = np.float64(w[c] - w[c] / d)
                rest[c] += min(best[c], value)
                best[c] = max(best[c], value)
        else:
            _sum_clauses(p, q, row, den, row_clause, weight, total, group)
            for c in range(n_configs):
                value = total[c] if exact[field, c] else np.float64(np.float32(total[c]))
                rest[c] += min(best[c], value)
                best[c] = max(best[c], value)
        p = q
    for c in range(n_configs):
        value = np.float32(best[c] + rest[c] * tie[c])
        score[c] = value if hit[c] else np.float32(-1.0)


@kernel
def _may_enter(bounds, field_weight, tie, threshold, best, rest):
    """Could any configuration still take a product with these field bounds?"""
    n_configs = len(tie)
    for c in range(n_configs):
        best[c] = 0.0
        rest[c] = 0.0
    for field in range(len(bounds)):
        bound = bounds[field]
        if bound > 0:
            for c in range(n_configs):
                value = field_weight[field, c] * bound
                rest[c] += min(best[c], value)
                best[c] = max(best[c], value)
    enters = False
    for c in range(n_configs):
        enters |= (best[c] + rest[c] * tie[c]) * _SLACK + _TINY >= threshold[c]
    return enters


@kernel
def _sum_clauses(p, q, row, den, row_clause, weight, total, group):
    """Sum entries p:q of one field into ``total``; a clause of several terms is rounded first."""
    n_configs = len(total)
    for c in range(n_configs):
        total[c] = 0.0
    e = p
    while e < q:
        clause = row_clause[row[e]]
        if e + 1 == q or row_clause[row[e + 1]] != clause:
            w, d = weight[row[e]], den[e]
            for c in range(n_configs):
                total[c] += np.float64(w[c] - w[c] / d)
            e += 1
            continue
        for c in range(n_configs):
            group[c] = 0.0
        while e < q and row_clause[row[e]] == clause:
            w, d = weight[row[e]], den[e]
            for c in range(n_configs):
                group[c] += np.float64(w[c] - w[c] / d)
            e += 1
        for c in range(n_configs):
            total[c] += np.float64(np.float32(group[c]))


@kernel
def _worse(score, doc, other_score, other_doc):
    """Does (score, doc) rank below the other?"""
    return score < other_score or (score == other_score and doc > other_doc)


@kernel
def _push(scores, docs, size, score, doc):
    """Add to a heap whose root is the worst kept; returns the new size."""
    depth = len(scores)
    if size == depth:
        if not _worse(scores[0], docs[0], score, doc):
            return size
        at = 0
        while True:
            child = 2 * at + 1
            if child >= depth:
                break
            if child + 1 < depth and _worse(scores[child + 1], docs[child + 1], scores[child], docs[child]):
                child += 1
            if not _worse(scores[child], docs[child], score, doc):
                break
            scores[at] = scores[child]
            docs[at] = docs[child]
            at = child
    else:
        at = size
        while at > 0:
            parent = (at - 1) // 2
            if not _worse(score, doc, scores[parent], docs[parent]):
                break
            scores[at] = scores[parent]
            docs[at] = docs[parent]
            at = parent
        size += 1
    scores[at] = score
    docs[at] = doc
    return size
