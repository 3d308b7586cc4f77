"""Rewrites from the index itself: spelling, abbreviations and units, and words the shop does not use.

No language model: a word is only replaced by a term that products hold, and the replacement with
product evidence wins. Source: ours; the corrections are those of ``toolkit.diagnosis.spelling``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

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
        Words no product holds -> the shop's words, as ``learn_bridges`` finds them.
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
