"""The inverted index: immutable arrays that hold everything a score needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.search import bm25
from toolkit.search.analysis import ANALYZER, Analyzer, SurfaceWords
from toolkit.search.products import check_products, joined_texts, text_fields

CHUNK = 5_000
"""Products analysed at once: bounds the memory of the text in flight."""


@dataclass(frozen=True)
class Index:
    """Postings of every field over one sorted vocabulary.

    Products stand in the order of their ids' UTF-8 bytes, so the position of a product is
    its tie-break. F fields, N products, V terms, P postings; the postings of term t in field
    f are ``ptr[f, t]:ptr[f, t + 1]``.

    Attributes
    ----------
    fields : tuple of str
    product_ids : ndarray of str (object), shape (N,)
    vocabulary : list of str, length V
        Sorted by code points, which is the order of UTF-8 bytes.
    ptr : ndarray, int64, shape (F, V + 1)
    docs : ndarray, int32, shape (P,)
        Product positions, ascending within a term.
    tf : ndarray, unsigned, shape (P,)
        Occurrences.
    den : ndarray, float32, shape (P,)
        ``1 + tf * inv[norm]``: all that a score needs of a posting.
    norms : ndarray, uint8, shape (F, N)
        Length codes.
    documents, tokens : ndarray, int64, shape (F,)
        Products with at least one token in the field, and tokens of the field.
    fingerprint : str
        SHA-256 over the analysis, the fields, the ids and the text; independent of row order.
    """

    fields: tuple[str, ...]
    product_ids: np.ndarray
    vocabulary: list[str]
    ptr: np.ndarray
    docs: np.ndarray
    tf: np.ndarray
    den: np.ndarray
    norms: np.ndarray
    documents: np.ndarray
    tokens: np.ndarray
    fingerprint: str

    def __post_init__(self) -> None:
        """Read-only arrays, built or loaded alike: nothing can change them, and kernels are compiled once for both."""
        for array in (self.ptr, self.docs, self.tf, self.den, self.norms, self.documents, self.tokens):
            array.setflags(write=False)

    @cached_property
    def term_ids(self) -> dict[str, int]:
        """Term -> position in the vocabulary."""
        return {term: i for i, term in enumerate(self.vocabulary)}

    @cached_property
    def positions(self) -> dict[str, int]:
        """product_id -> position."""
        return {name: i for i, name in enumerate(self.product_ids)}

    @cached_property
    def field_ids(self) -> dict[str, int]:
        """Field -> position."""
        return {name: i for i, name in enumerate(self.fields)}

    def document_frequency(self, term: int, field: int) -> int:
        """Number of products that have the term in the field."""
        return int(self.ptr[field, term + 1] - self.ptr[field, term])

    def average_length(self, field: int) -> np.float32:
        """Average length of the field, as scoring uses it."""
        return bm25.average_length(int(self.tokens[field]), int(self.documents[field]))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(part.nbytes for part in (self.ptr, self.docs, self.tf, self.den, self.norms))


def build_index(products: pd.DataFrame, fields: Sequence[str] | None = None, *, progress: bool = True) -> Index:
    """Analyse and index a products table.

    Parameters
    ----------
    products : DataFrame
        product_id and text columns; cells are text, lists of text or null.
    fields : sequence of str, optional
        Default: every text column but product_id and locale.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Index

    Raises
    ------
    TableError
        For ids or cells that are not what they must be, naming the row.
    """
    check_products(products)
    names = text_fields(products, fields)
    ids = products["product_id"].astype(object).to_numpy()
    order = np.array(sorted(range(len(ids)), key=lambda i: ids[i].encode("utf-8", "surrogatepass")), np.int64)
    digest = hashlib.sha256(repr((ANALYZER, names)).encode())
    digest.update("\0".join(ids[order]).encode("utf-8", "surrogatepass"))
    words = SurfaceWords(Analyzer())
    counted = []
    with tqdm(total=len(names) * len(ids), desc="index", unit="text", disable=not progress) as bar:
        for name in names:
            texts = joined_texts(products[name])
            counted.append(_count_field([texts[i] for i in order], words, digest, bar))
    return _assemble(tuple(names), ids[order], words.terms, counted, digest.hexdigest())


@dataclass(frozen=True)
class _Counted:
    """Occurrences of one field: provisional term, product, count of each posting, and lengths."""

    term: np.ndarray
    doc: np.ndarray
    tf: np.ndarray
    lengths: np.ndarray


def _count_field(texts: list[str], words: SurfaceWords, digest: hashlib._Hash, bar: tqdm) -> _Counted:
    """Analyse one field chunk by chunk; products are ascending over the chunks."""
    parts = []
    for first in range(0, len(texts), CHUNK):
        chunk = texts[first:first + CHUNK]
        for text in chunk:
            digest.update(b"%d:" % len(text) + text.encode("utf-8", "surrogatepass"))
        term, doc = words.column(chunk)
        key, tf = np.unique(doc.astype(np.int64) << 32 | term, return_counts=True)
        parts.append(((key & 0xFFFFFFFF).astype(np.int32), (key >> 32).astype(np.int32) + first, tf.astype(np.int32),
                      np.bincount(doc, minlength=len(chunk))))
        bar.update(len(chunk))
    empty = (np.empty(0, np.int32),) * 3 + (np.empty(0, np.int64),)
    return _Counted(*(np.concatenate(column) for column in zip(empty, *parts, strict=True)))


def _assemble(fields: tuple[str, ...], ids: np.ndarray, terms: dict[str, int], counted: list[_Counted],
              fingerprint: str) -> Index:
    """Sort the vocabulary, then the postings of each field by (term, product)."""
    vocabulary = sorted(terms)
    rank = np.empty(len(terms), np.int32)
    rank[[terms[term] for term in vocabulary]] = np.arange(len(terms), dtype=np.int32)
    lengths = np.array([field.lengths for field in counted], np.int64).reshape(len(fields), len(ids))
    documents, tokens = (lengths > 0).sum(axis=1), lengths.sum(axis=1)
    norms = bm25.length_codes(lengths).reshape(lengths.shape)
    ptr = np.zeros((len(fields), len(vocabulary) + 1), np.int64)
    docs, tfs, dens, used = [], [], [], 0
    for f, (doc, tf, counts) in enumerate(_sorted_postings(counted, rank)):
        ptr[f, 1:] = np.cumsum(counts)
        ptr[f] += used
        used += len(doc)
        inverse = bm25.inverse_norms(bm25.average_length(int(tokens[f]), int(documents[f])))
        docs.append(doc)
        tfs.append(tf)
        dens.append(np.float32(1) + tf.astype(np.float32) * inverse[norms[f, doc]])
    tf = np.concatenate(tfs)
    return Index(fields, ids, vocabulary, ptr, np.concatenate(docs), tf.astype(np.min_scalar_type(tf.max(initial=1))),
                 np.concatenate(dens), norms, documents, tokens, fingerprint)


def _sorted_postings(counted: list[_Counted], rank: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Products, occurrences, and number of postings of each term, for each field."""
    for field in counted:
        term = rank[field.term]
        order = np.argsort(term, kind="stable")
        yield field.doc[order], field.tf[order], np.bincount(term, minlength=len(rank))
