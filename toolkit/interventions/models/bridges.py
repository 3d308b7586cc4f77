"""Bridges: from a shopper's word that no product holds to the shop's words for the same thing.

Learned from judged queries that fail for their vocabulary alone: none of the query's words stands in the
products judged relevant for it. Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from toolkit.search.embedded import EmbeddedEngine

MAX_REACHED = 0.2  # share of a query's relevant products that may hold one of its words all the same
MAX_TERMS = 3  # terms of the shop's phrase
MIN_LIFT = 2.0


def learn_bridges(
    engine: EmbeddedEngine, queries: pd.DataFrame, judgments: pd.DataFrame, products: pd.DataFrame, *,
    field: str = "title", relevant_grade: float = 2.0, min_queries: int = 2, min_share: float = 0.7,
) -> dict[str, str]:
    """Words no product holds, matched to the shop's words by the products judged relevant for them.

    Parameters
    ----------
    engine : EmbeddedEngine
    queries, judgments, products : DataFrame
        Only queries one may learn from: the train split.
    field : str
        Product column the shop's words are looked for in.
    relevant_grade : float
        Grade from which a judged product counts.
    min_queries : int
        Queries with the word that must fail for their vocabulary: with one alone nothing tells the word that
        means the product from one beside it ("cheap couch").
    min_share : float
        Least share of the relevant products that hold the shop's word, averaged over *all* queries with the
        shopper's word: a word that goes with everything bridges to nothing.

    Returns
    -------
    dict of str to str
        Unknown term -> the term with the largest share * log(lift), with the others nearly as frequent among the
        relevant products ("trash can"), in the order titles have them. Lift is the share over the share of all
        products that hold the term, and at least 2.
    """
    relevant = judgments.loc[judgments["grade"] >= relevant_grade, ["query_id", "product_id"]]
    by_query = relevant.groupby("query_id")["product_id"].agg(list).to_dict()
    reader = _Reader(engine, products, field)
    used: dict[str, list[str]] = {}
    failing: dict[str, int] = {}
    for query_id, query in zip(queries["query_id"], queries["query"]):
        terms = set(engine.analyze(query)) if query_id in by_query else set()
        unknown = [term for term in terms if not reader.known(term)]
        fails = bool(unknown) and reader.reached(terms, by_query[query_id]) <= MAX_REACHED
        for term in unknown:
            used.setdefault(term, []).append(query_id)
            failing[term] = failing.get(term, 0) + fails
    enough = [term for term in sorted(used) if failing[term] >= min_queries]
    found = {term: _phrase(reader, [by_query[query_id] for query_id in used[term]], min_share) for term in enough}
    return {term: phrase for term, phrase in found.items() if phrase}


class _Reader:
    """Terms of products, each analysed once."""

    def __init__(self, engine: EmbeddedEngine, products: pd.DataFrame, field: str) -> None:
        self.engine, self.field = engine, field
        names = [name for name in engine.fields if name in products.columns]
        rows = products[names].fillna("").astype(str).itertuples(index=False)
        self._texts = dict(zip(products["product_id"], rows))
        self._terms: dict[str, tuple[list[str], frozenset[str]]] = {}

    def known(self, term: str) -> bool:
        """Does any product hold the term?"""
        return any(self.engine.document_frequency(term, name) for name in self.engine.fields)

    def terms(self, product_id: str) -> tuple[list[str], frozenset[str]]:
        """The field's terms in order, and those of all fields; none for a product that is not stocked."""
        if product_id not in self._terms:
            row = self._texts.get(product_id)
            title = self.engine.analyze(getattr(row, self.field)) if row else []
            everything = frozenset(term for text in row or () for term in self.engine.analyze(text))
            self._terms[product_id] = title, everything
        return self._terms[product_id]

    def reached(self, terms: set[str], product_ids: Sequence[str]) -> float:
        """Share of the products that hold one of the terms."""
        return float(np.mean([bool(terms & self.terms(product_id)[1]) for product_id in product_ids]))


def _phrase(reader: _Reader, lists: Sequence[Sequence[str]], min_share: float) -> str | None:
    """The shop's words for what these queries' relevant products have in common; None where nothing is typical enough."""
    shares = _mean_shares([[reader.terms(product_id)[0] for product_id in found] for found in lists])
    lift = {term: share * len(reader.engine.product_ids) / reader.engine.document_frequency(term, reader.field) for term, share in shares.items()}
    typical = [term for term, share in shares.items() if share >= min_share and lift[term] >= MIN_LIFT and not term.isdigit()]
    if not typical:
        return None
    ranked = sorted(typical, key=lambda term: (-shares[term] * np.log(lift[term]), term))
    chosen = [term for term in ranked if shares[term] >= 0.9 * shares[ranked[0]]][:MAX_TERMS]
    titles = [title for found in lists for product_id in found for title in [reader.terms(product_id)[0]] if set(chosen) <= set(title)]
    place = {term: np.mean([title.index(term) for title in titles]) if titles else 0.0 for term in chosen}
    return " ".join(sorted(chosen, key=lambda term: place[term]))


def _mean_shares(lists: Sequence[Sequence[list[str]]]) -> dict[str, float]:
    """Share of each query's titles that hold a term, averaged over the queries."""
    total: dict[str, float] = {}
    for titles in lists:
        for title in titles:
            for term in sorted(set(title)):
                total[term] = total.get(term, 0.0) + 1 / (len(titles) * len(lists))
    return total
