"""Rewrites from the index itself: spelling, abbreviations and units, and words the shop does not use.

No language model: a word is only replaced by a term that products hold, and the replacement with
the most product evidence wins. Source: ours; distances are optimal string alignment (rapidfuzz).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.interventions.models.protocol import Reply, RewriteRequest
from toolkit.search.config import MultiMatch
from toolkit.search.embedded import EmbeddedEngine

# Written short -> written out; used only where products hold the long form more often.
ABBREVIATIONS = {
    "w/o": "without", "w/": "with", "pk": "pack", "pcs": "pieces", "ct": "count", "oz": "ounce", "lb": "pound", "lbs": "pounds",
    "ft": "feet", "yr": "year", "yrs": "years", "qt": "quart", "gal": "gallon", "sz": "size", "blk": "black", "wht": "white",
    "bt": "bluetooth", "wm": "women", "lg": "large", "sm": "small", "med": "medium", "xmas": "christmas", "bday": "birthday",
}
MIN_SPELLING_LENGTH = 3  # shorter unknown words have too many neighbours to choose from
MAX_CANDIDATES = 8  # neighbours whose product evidence is looked up
MIN_FREQUENCY = 2  # a term one product holds may itself be a misspelling


@dataclass(frozen=True)
class Replacement:
    """One word replaced: what, by what, and the evidence in words."""

    word: str
    by: str
    why: str


class LexicalModel:
    """Proposes rewrites from the index vocabulary and product evidence.

    Parameters
    ----------
    engine : EmbeddedEngine
        Its vocabulary says which words the shop uses.
    bridges : mapping of str to str, optional
        Words no product holds -> the shop's word, as :func:`learn_bridges` finds them.
    fields : tuple of str, optional
        Fields that count as evidence; default all of the engine's.
    """

    concurrency = 1

    def __init__(self, engine: EmbeddedEngine, *, bridges: Mapping[str, str] | None = None, fields: tuple[str, ...] | None = None) -> None:
        self._engine, self._bridges = engine, dict(bridges or {})
        self._fields = tuple(fields or engine.fields)
        self._evidence = MultiMatch({name: 1.0 for name in self._fields}, operator="and", fuzziness=0)
        self._terms: list[str] | None = None
        self.model_id = f"lexical({len(self._bridges)} bridges)@{engine.fingerprint[:12]}"

    def frequency(self, term: str) -> int:
        """Largest number of products that hold the term in one field."""
        return max(self._engine.document_frequency(term, name) for name in self._fields)

    def rewrite(self, request: RewriteRequest) -> Reply:
        """The query with unknown words replaced; everything else exactly as typed."""
        start = time.perf_counter()
        words = request.query.split(" ")
        known = [token for word in words for token in self._engine.analyze(word) if self.frequency(token)]
        replaced = [self.replace(word, known) for word in words]
        text = " ".join(found.by if found else word for word, found in zip(words, replaced))
        note = "; ".join(f"{found.word} -> {found.by} ({found.why})" for found in replaced if found)
        return Reply(text, time.perf_counter() - start, note=note, model=self.model_id)

    def replace(self, word: str, context: list[str]) -> Replacement | None:
        """What to put for one typed word, or None to keep it.

        Parameters
        ----------
        word : str
            As typed, without spaces.
        context : list of str
            The query's other terms that products hold: evidence is how many products hold both.
        """
        long = ABBREVIATIONS.get(word.lower())
        if long and self.frequency(long) > max((self.frequency(token) for token in self._engine.analyze(word)), default=0):
            return Replacement(word, long, f"{self.frequency(long)} products write it out")
        tokens = self._engine.analyze(word)
        if len(tokens) != 1 or self.frequency(tokens[0]):
            return None
        token = tokens[0]
        if token in self._bridges:
            return Replacement(word, self._bridges[token], "learned from judged products")
        return self._spell(word, token, context)

    def _spell(self, word: str, token: str, context: list[str]) -> Replacement | None:
        """The nearest known term with the most product evidence; none for numbers and short words."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract

        if len(token) < MIN_SPELLING_LENGTH or any(character.isdigit() for character in token):
            return None
        reach = 1 if len(token) < 6 else 2  # what fuzziness AUTO forgives already
        near = [found for found in extract(token, self._known_terms(), scorer=OSA.distance, score_cutoff=reach + 1, limit=None)
                if found[1] <= reach or found[0][0] == token[0]]  # further away, the first letter must be right
        ranked = sorted(near, key=lambda found: (found[1], -self.frequency(found[0]), found[0]))[:MAX_CANDIDATES]
        if not ranked:
            return None
        support = [self._together(term, context) for term, _, _ in ranked]
        best = min(range(len(ranked)), key=lambda i: (ranked[i][1] - min(support[i], 1), ranked[i][1], -support[i], i))
        term, distance, _ = ranked[best]
        return Replacement(word, term, f"{int(distance)} edits away; {self.frequency(term)} products, {support[best]} with the other words")

    def _known_terms(self) -> list[str]:
        """Terms a misspelling may stand for."""
        if self._terms is None:
            self._terms = [term for term in self._engine.vocabulary if len(term) >= 3 and self.frequency(term) >= MIN_FREQUENCY]
        return self._terms

    def _together(self, term: str, context: list[str]) -> int:
        """Products that hold the term and a context term in one field, over the rarest context terms."""
        rare = sorted(set(context) - {term}, key=self.frequency)[:2]
        if not rare:
            return 0
        queries = pd.DataFrame({"query_id": [str(i) for i in range(len(rare))], "query": [f"{term} {other}" for other in rare]})
        hits = self._engine.run(queries, self._evidence, depth=1).status["total_hits"]
        return int(hits.fillna(0).max())


def learn_bridges(
    engine: EmbeddedEngine, queries: pd.DataFrame, judgments: pd.DataFrame, products: pd.DataFrame, *,
    field: str = "title", relevant_grade: float = 2.0, min_queries: int = 3, min_share: float = 0.5,
) -> dict[str, str]:
    """Words no product holds, matched to the shop's word by the products judged relevant for them.

    Parameters
    ----------
    engine : EmbeddedEngine
    queries, judgments, products : DataFrame
        Only queries one may learn from: the train split.
    field : str
        Product column the shop's word is looked for in.
    relevant_grade : float
        Grade from which a judged product counts.
    min_queries : int
        Queries with the word that must agree.
    min_share : float
        Share of the word's queries whose relevant products hold the shop's word.

    Returns
    -------
    dict of str to str
        Unknown term -> the term with the largest lift, share among the word's queries over
        share among all products; at least 2. Ours.
    """
    relevant = judgments.loc[judgments["grade"] >= relevant_grade, ["query_id", "product_id"]]
    titles = products.set_index("product_id")[field].reindex(relevant["product_id"]).fillna("")
    held = pd.DataFrame({"query_id": relevant["query_id"].to_numpy(), "terms": [frozenset(engine.analyze(text)) for text in titles]})
    per_query = held.groupby("query_id")["terms"].agg(lambda sets: frozenset().union(*sets))
    used: dict[str, list[frozenset[str]]] = {}
    for query_id, query in zip(queries["query_id"], queries["query"]):
        own = frozenset(engine.analyze(query))
        for word in own:
            if query_id in per_query.index and not any(engine.document_frequency(word, name) for name in engine.fields):
                used.setdefault(word, []).append(per_query[query_id] - own)
    return {word: best for word, sets in used.items() if len(sets) >= min_queries
            and (best := _best_term(engine, sets, field, len(products), min_share)) is not None}


def _best_term(engine: EmbeddedEngine, sets: list[frozenset[str]], field: str, products: int, min_share: float) -> str | None:
    """The term with the largest lift among those a sufficient share of the sets holds."""
    terms, counts = np.unique([term for found in sets for term in found], return_counts=True)
    best, best_lift = None, 2.0
    for term, count in zip(terms.tolist(), counts.tolist()):
        share = count / len(sets)
        lift = share / max(engine.document_frequency(term, field) / products, 1 / products)
        if share >= min_share and lift > best_lift:
            best, best_lift = term, lift
    return best
