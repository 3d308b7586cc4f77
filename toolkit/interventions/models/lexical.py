"""Rewrites from the index itself: spelling, abbreviations and units, and words the shop does not use.

No language model: a word is only replaced by a term that products hold, and the replacement with
product evidence wins. Source: ours; the corrections are those of ``toolkit.diagnosis.spelling``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.diagnosis.spelling import Speller
from toolkit.interventions.models.protocol import Reply, RewriteRequest
from toolkit.search.config import MultiMatch
from toolkit.search.embedded import EmbeddedEngine

# Written short -> written out; used only where products hold the long form more often.
ABBREVIATIONS = {
    "w/o": "without", "w/": "with", "pk": "pack", "pcs": "pieces", "ct": "count", "oz": "ounce", "lb": "pound", "lbs": "pounds",
    "ft": "feet", "yr": "year", "yrs": "years", "qt": "quart", "gal": "gallon", "sz": "size", "blk": "black", "wht": "white",
    "bt": "bluetooth", "wm": "women", "lg": "large", "sm": "small", "med": "medium", "xmas": "christmas", "bday": "birthday",
}
MAX_CANDIDATES = 8  # corrections whose product evidence is looked up
MAX_CONTEXT = 4  # context terms looked up, rarest first
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
        self._speller = Speller(engine.vocabulary)
        self.model_id = f"lexical({len(self._bridges)} bridges)@{engine.fingerprint[:12]}"

    def frequency(self, term: str) -> int:
        """Largest number of products that hold the term in one field."""
        return max(self._engine.document_frequency(term, name) for name in self._fields)

    def rewrite(self, request: RewriteRequest) -> Reply:
        """The query with unknown words replaced; everything else exactly as typed."""
        start = time.perf_counter()
        words = request.query.split(" ")
        found = self.replacements(words)
        text = " ".join(found[at].by if at in found else word for at, word in enumerate(words))
        note = "; ".join(f"{made.word} -> {made.by} ({made.why})" for made in found.values())
        return Reply(text, time.perf_counter() - start, note=note, model=self.model_id)

    def replacements(self, words: list[str]) -> dict[int, Replacement]:
        """Position -> replacement of the words to change; no term is put in twice."""
        analyzed = [self._engine.analyze(word) for word in words]
        known = {token for tokens in analyzed for token in tokens if self.frequency(token)}
        guesses = {at: self._speller.corrections(tokens[0])[:3] for at, tokens in enumerate(analyzed) if len(tokens) == 1 and tokens[0] not in known}
        found: dict[int, Replacement] = {}
        for at, word in enumerate(words):
            others = {term for other, terms in guesses.items() if other != at for term in terms}
            made = self.replace(word, sorted(known | others))
            if made and made.by not in known | {earlier.by for earlier in found.values()}:
                found[at] = made
        return found

    def replace(self, word: str, context: list[str]) -> Replacement | None:
        """What to put for one typed word, or None to keep it.

        Parameters
        ----------
        word : str
            As typed, without spaces.
        context : list of str
            The query's other terms that products hold, and likely corrections of its other
            unknown words: evidence is how many products hold both.
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
        """The likely meant term with the most product evidence; None for a word without a correction."""
        likely = [term for term in self._speller.corrections(token) if self.frequency(term) >= MIN_FREQUENCY][:MAX_CANDIDATES]
        if not likely:
            return None
        support = [self._together(term, context) for term in likely]
        if context and not max(support):
            return None  # no product holds any of them beside a word of the query that products do hold
        best = max(range(len(likely)), key=lambda i: (support[i] > 0, -i, support[i]))
        term = likely[best]
        return Replacement(word, term, f"spelling; {self.frequency(term)} products, {support[best]} with another word of the query")

    def _together(self, term: str, context: list[str]) -> int:
        """Most products that hold the term and a context term in one field, over the rarest context terms."""
        rare = sorted(set(context) - {term}, key=lambda other: (self.frequency(other), other))[:MAX_CONTEXT]
        if not rare:
            return 0
        queries = pd.DataFrame({"query_id": [str(i) for i in range(len(rare))], "query": [f"{term} {other}" for other in rare]})
        hits = self._engine.run(queries, self._evidence, depth=1).status["total_hits"]
        return int(hits.fillna(0).max())


def learn_bridges(
    engine: EmbeddedEngine, queries: pd.DataFrame, judgments: pd.DataFrame, products: pd.DataFrame, *,
    field: str = "title", relevant_grade: float = 2.0, min_queries: int = 3, min_share: float = 0.6,
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
        Queries with the word that are needed.
    min_share : float
        Least share of a query's relevant products that hold the shop's word, averaged over the word's queries.

    Returns
    -------
    dict of str to str
        Unknown term -> the term with the largest share * log(lift), where lift is the share over the
        share of all products that hold the term, and at least 2. Ours.
    """
    relevant = judgments.loc[judgments["grade"] >= relevant_grade, ["query_id", "product_id"]]
    text = products.set_index("product_id")[field].reindex(relevant["product_id"]).fillna("")
    held: dict[str, list[frozenset[str]]] = {}
    for query_id, value in zip(relevant["query_id"], text):
        held.setdefault(query_id, []).append(frozenset(engine.analyze(value)))
    used: dict[str, list[dict[str, float]]] = {}
    for query_id, query in zip(queries["query_id"], queries["query"]):
        for word in set(engine.analyze(query)) if query_id in held else ():
            if not any(engine.document_frequency(word, name) for name in engine.fields):
                used.setdefault(word, []).append(_shares(held[query_id]))
    found = {word: _best_term(engine, shares, field, min_share) for word, shares in used.items() if len(shares) >= min_queries}
    return {word: term for word, term in found.items() if term is not None}


def _shares(sets: list[frozenset[str]]) -> dict[str, float]:
    """Share of the sets that hold each term."""
    terms, counts = np.unique([term for found in sets for term in found], return_counts=True)
    return dict(zip(terms.tolist(), (counts / len(sets)).tolist()))


def _best_term(engine: EmbeddedEngine, shares: list[dict[str, float]], field: str, min_share: float) -> str | None:
    """The term most typical of these queries' relevant products; None where none is typical enough."""
    best, best_value = None, 0.0
    for term in sorted({term for found in shares for term in found}):
        share = sum(found.get(term, 0.0) for found in shares) / len(shares)
        lift = share * len(engine.product_ids) / engine.document_frequency(term, field)
        if share >= min_share and lift >= 2 and share * np.log(lift) > best_value:
            best, best_value = term, share * float(np.log(lift))
    return best
