"""What a learned reranker knows about a query and a product: agreement, not words.

Every feature is defined for one (query, product) pair and says the same on any catalogue. Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from toolkit.diagnosis.negation import negations
from toolkit.interventions.models.local import LocalModel
from toolkit.interventions.text_facts import numbers
from toolkit.search.config import MultiMatch
from toolkit.search.protocol import SearchEngine

MEANINGS = {
    "score_share": "engine score over the best of the list",
    "reciprocal_rank": "1 / rank in the list shown",
    "similarity": "cosine of query and title embeddings",
    "similarity_text": "cosine of query and title, brand and bullets",
    "title_terms": "share of the query's terms in the title",
    "all_terms": "share of the query's terms in any text",
    "numbers": "share of the query's numbers in the product's text; 1 without numbers",
    "brand": "1 if the product's brand is in the query, -1 if another candidate's brand is, else 0",
    "negation": "share of the negated terms in the product's text; 0 without a negation",
    "title_length": "log of 1 + terms in the title",
}
TEXT = ("title", "brand", "bullet_point", "description", "color")


@dataclass
class FeatureMaker:
    """Makes the features of one query's candidates.

    Parameters
    ----------
    engine : SearchEngine
        Gives field scores; both engines give the same.
    config : MultiMatch
        The query shape whose field scores are used.
    products : DataFrame
        product_id and text columns.
    embedder : LocalModel
        Gives the similarities.

    Attributes
    ----------
    names : list of str
        Columns of the feature matrix: ``field:…`` scores as shares of the list's best per field, then ``MEANINGS``.
    """

    engine: SearchEngine
    config: MultiMatch
    products: pd.DataFrame
    embedder: LocalModel

    def __post_init__(self) -> None:
        self.fields = list(self.config.fields)
        self.names = [*(f"field:{name}" for name in self.fields), *MEANINGS]
        table = self.products.reindex(columns=["product_id", *TEXT]).set_index("product_id").fillna("").astype(str)
        self._rows = dict(zip(table.index, table.itertuples(index=False)))
        self._facts: dict[str, _Facts] = {}

    def matrix(self, query: str, product_ids: Sequence[str]) -> np.ndarray:
        """Features of one query's candidates in the order shown, float64 (n, len(names)), no nulls."""
        return self.matrices([(query, product_ids)])[0]

    def matrices(self, lists: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        """Features of many queries' candidates: searched and embedded together.

        Parameters
        ----------
        lists : sequence of (str, sequence of str)
            Query text and the product ids in the order shown.

        Returns
        -------
        list of ndarray
            As :meth:`matrix`, one a list.
        """
        scores = self._field_scores(lists)
        facts = [[self._facts_of(product_id) for product_id in product_ids] for _, product_ids in lists]
        texts = {text for (query, _), found in zip(lists, facts) for text in (query, *(t for fact in found for t in (fact.title, fact.short)))}
        self.embedder.embed(sorted(texts))  # together; the similarities below find them stored
        return [self._features(query, found, fields) for (query, _), found, fields in zip(lists, facts, scores)]

    def _features(self, query: str, facts: list[_Facts], fields: np.ndarray) -> np.ndarray:
        """Features of one query from its candidates' facts and field scores."""
        weighted = (fields * np.array([self.config.fields[name] for name in self.fields])).max(axis=1)
        own = frozenset(self.engine.analyze(query))
        negated = frozenset(term for n in negations(query) for term in self.engine.analyze(n.scope))
        wanted = numbers(query)
        similarity = self.embedder.similarity(query, [*(fact.title for fact in facts), *(fact.short for fact in facts)]).reshape(2, len(facts))
        columns = [
            _share(weighted), 1 / np.arange(1, len(facts) + 1), *similarity,
            _overlap(own, [fact.title_terms for fact in facts]), _overlap(own, [fact.terms for fact in facts]),
            _overlap(wanted, [fact.numbers for fact in facts]) if wanted else np.ones(len(facts)),
            _brand_agreement(own, [fact.brand for fact in facts]), _overlap(negated, [fact.terms for fact in facts]),
            np.log1p([len(fact.title_terms) for fact in facts]),
        ]
        return np.column_stack([np.apply_along_axis(_share, 0, fields), *columns])

    def _field_scores(self, lists: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        """Unboosted field scores of each list, float64 (n, fields); 0 where a field does not match."""
        ids = [str(at) for at in range(len(lists))]
        sizes = [len(product_ids) for _, product_ids in lists]
        pairs = pd.DataFrame({"query_id": np.repeat(ids, sizes), "product_id": [product_id for _, product_ids in lists for product_id in product_ids]}, dtype="str")
        queries = pd.DataFrame({"query_id": ids, "query": [query for query, _ in lists]}, dtype="str")
        table = self.engine.field_scores(queries, self.config, pairs).table
        found = pairs.assign(row=np.arange(len(pairs))).merge(table, on=["query_id", "product_id"])
        values = np.zeros((len(pairs), len(self.fields)))
        values[found["row"].to_numpy(), pd.Index(self.fields).get_indexer(found["field"])] = found["score"]
        return np.split(values, np.cumsum(sizes)[:-1])

    def _facts_of(self, product_id: str) -> _Facts:
        """What is compared of a product, analysed once."""
        if product_id not in self._facts:
            row = self._rows[product_id]
            terms = [frozenset(self.engine.analyze(text)) for text in row]
            self._facts[product_id] = _Facts(row.title, " ".join(row[:3]), terms[0], frozenset().union(*terms), terms[1], numbers(" ".join(row)))
        return self._facts[product_id]


class _Facts(NamedTuple):
    """What is compared of one product."""

    title: str
    short: str
    title_terms: frozenset[str]
    terms: frozenset[str]
    brand: frozenset[str]
    numbers: set[str]


def _brand_agreement(own: frozenset[str], brands: Sequence[frozenset[str]]) -> np.ndarray:
    """A query names a brand when it holds all of its terms."""
    named = np.array([bool(brand) and brand <= own for brand in brands])
    return np.where(named, 1.0, -1.0 if named.any() else 0.0)


def _share(values: np.ndarray) -> np.ndarray:
    """Values over their maximum; zeros where that is zero."""
    best = values.max(initial=0.0)
    return values / best if best > 0 else np.zeros_like(values)


def _overlap(wanted: AbstractSet[str], sets: Sequence[AbstractSet[str]]) -> np.ndarray:
    """Share of the wanted terms in each set; 0 where nothing is wanted."""
    return np.array([len(wanted & found) / len(wanted) if wanted else 0.0 for found in sets])
