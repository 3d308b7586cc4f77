"""Scores with a tie breaker from field lists, and whether an unlisted document could have won."""

from __future__ import annotations

import numpy as np

from toolkit.diagnosis.list_kernels import BASIS, BORDER, MARGIN, NEAR_TIE, PRIME, ZERO_PAGE, Array, metric_value
from toolkit.search.jit import kernel


@kernel
def tied_score(scores: Array, weight: Array, tie: float) -> float:
    """``max + tie * (sum of the others)`` over the fields that match and are not left out; -1 without any."""
    best, total, matched = 0.0, 0.0, False
    for f in range(len(weight)):
        if np.isnan(weight[f]) or np.isnan(scores[f]):
            continue
        matched = True
        part = weight[f] * scores[f]
        best = max(best, part)
        total += part
    return best + tie * (total - best) if matched else -1.0


@kernel
def evaluate_tied_query(matrix: Array, last: Array, complete: Array, gain: Array, divisor: Array, marks: Array, weights: Array,
                        ties: Array, discount: Array, take_max: Array, k: int, values: Array, flags: Array, prints: Array) -> None:
    """As ``evaluate_query``, for any tie breaker.

    Parameters
    ----------
    matrix : float64 array (documents, fields)
        All field scores of the listed documents, NaN where a field does not match.
    last : float64 array (fields,)
        Score at the end of each list; no unlisted document has more in a field that is not ``complete``.
    complete : bool array (fields,)
    ties : float64 array (configurations,)

    Notes
    -----
    ``BORDER`` is set where the k-th listed score does not exceed the score of a document that would
    stand at the end of every cut list at once (the stopping rule of Fagin's threshold algorithm).
    """
    for c in range(len(weights)):
        scores = np.empty(len(matrix))
        for d in range(len(matrix)):
            scores[d] = tied_score(matrix[d], weights[c], ties[c])
        order = np.argsort(-scores, kind="mergesort")
        n = 0
        while n < len(order) and scores[order[n]] >= 0.0:
            n += 1
        bound, cut = np.where(complete, np.nan, last), False
        for f in range(len(last)):
            cut |= not complete[f] and not np.isnan(weights[c, f])
        floor = scores[order[k - 1]] if n >= k else -1.0
        flag = 0
        if cut and tied_score(bound, weights[c], ties[c]) * (1 + MARGIN) >= floor:
            flag |= BORDER if floor > 0.0 else ZERO_PAGE
        for m in range(gain.shape[0]):
            for i in range(min(n - 1, k)):
                one, two = order[i], order[i + 1]
                # Equal rows of field scores are a tie at every weight.
                if gain[m, one] != gain[m, two] and scores[two] > 0.0 and scores[two] >= scores[one] * (1 - MARGIN):
                    for f in range(len(last)):
                        if matrix[one, f] != matrix[two, f] and not (np.isnan(matrix[one, f]) and np.isnan(matrix[two, f])):
                            flag |= NEAR_TIE
        flags[c] = flag
        mark = BASIS
        for i in range(min(n, k)):
            mark = (mark ^ marks[order[i]]) * PRIME
        prints[c] = mark
        for m in range(gain.shape[0]):
            values[c, m] = metric_value(order, n, gain[m], discount[m], take_max[m], divisor[m])
