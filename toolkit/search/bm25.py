"""BM25 as Lucene computes it: every constant and every rounding to float32, once.

Score of one term in one field (all float32, in this order)::

    inv[c] = 1 / (k1 * ((1 - b) + b * length[c] / average_length))
    W      = ((boost * (k1 + 1)) * idf)
    score  = W - W / (1 + tf * inv[c])

Source: Lucene 10.3.1 ``BM25Similarity``, measured on Elasticsearch 9.2.0.
"""

from __future__ import annotations

import math

import numpy as np

F32 = np.float32
K1 = F32(1.2)
B = F32(0.75)
K1_PLUS_1 = F32(1) + K1
"""Elasticsearch multiplies every boost by 2.2, so its scores are 2.2 times textbook saturation."""

_EXACT_LENGTHS = 24
"""Field lengths below this are stored exactly; longer ones in 4 significant bits."""


def length_code(length: int) -> int:
    """The byte that stores a field length (lossy above 40 tokens).

    Examples
    --------
    >>> [decoded_length(length_code(n)) for n in (5, 41, 100, 1000)]
    [5, 40, 96, 984]
    """
    rest = length - _EXACT_LENGTHS
    if rest < 8:
        return length
    shift = rest.bit_length() - 4
    return _EXACT_LENGTHS + ((rest >> shift & 7) | (shift + 1) << 3)


def decoded_length(code: int) -> int:
    """The field length that a norm byte stands for."""
    rest = code - _EXACT_LENGTHS
    if rest < 8:
        return code
    return _EXACT_LENGTHS + ((rest & 7 | 8) << (rest >> 3) - 1)


def length_codes(lengths: np.ndarray) -> np.ndarray:
    """Norm byte of each length: uint8, shape of ``lengths``."""
    distinct, where = np.unique(lengths, return_inverse=True)
    return np.array([length_code(int(n)) for n in distinct], np.uint8)[where]


def average_length(tokens: int, documents: int) -> np.float32:
    """Tokens a document, over the documents that have the field (1 where none has)."""
    return F32(tokens / documents) if documents else F32(1)


def inverse_norms(average: np.float32) -> np.ndarray:
    """``inv[c]`` for every norm byte: float32, shape (256,)."""
    lengths = np.array([decoded_length(code) for code in range(256)], F32)
    return F32(1) / (K1 * ((F32(1) - B) + (B * lengths) / average))


def idf(document_frequency: int, documents: int) -> np.float32:
    """``ln(1 + (n - df + 0.5) / (df + 0.5))``, in double, rounded once."""
    return F32(math.log(1 + (documents - document_frequency + 0.5) / (document_frequency + 0.5)))


def term_weights(boost: np.ndarray, clause_boost: np.ndarray, field_boost: np.ndarray, idfs: np.ndarray) -> np.ndarray:
    """``W`` of term rows: ``((boost * (clause_boost * field_boost)) * 2.2) * idf``.

    Parameters
    ----------
    boost, clause_boost, field_boost, idfs : ndarray, float32
        Of shapes that broadcast together, for example rows by configurations.

    Returns
    -------
    ndarray, float32
        Each product rounded to float32 in exactly this order.
    """
    return (boost * (clause_boost * field_boost)) * K1_PLUS_1 * idfs
