"""Norm bytes and idf at the values measured on Elasticsearch."""

import math

import numpy as np
import pytest

from toolkit.search import bm25


@pytest.mark.parametrize(("length", "stored"), [(0, 0), (23, 23), (40, 40), (41, 40), (48, 48), (49, 48), (100, 96),
                                                (1000, 984), (5000, 4632)])
def test_stored_length(length, stored):
    assert bm25.decoded_length(bm25.length_code(length)) == stored


def test_length_codes_are_monotonic_bytes_of_their_own_decoding():
    codes = bm25.length_codes(np.arange(200_000))
    assert codes.dtype == np.uint8 and (np.diff(codes.astype(int)) >= 0).all()
    used = np.unique(codes)
    assert [bm25.length_code(bm25.decoded_length(int(code))) for code in used] == used.tolist()


def test_textbook_value():
    inverse = bm25.inverse_norms(bm25.average_length(100, 10))
    weight = bm25.term_weights(np.float32(1), np.float32(1), np.float32(1), bm25.idf(3, 10))
    score = weight - weight / (np.float32(1) + np.float32(2) * inverse[10])
    expected = 2.2 * math.log(1 + (10 - 3 + 0.5) / 3.5) * 2 / (2 + 1.2)  # length = average: no length effect
    assert score.dtype == np.float32
    assert score == pytest.approx(expected, rel=1e-6)
