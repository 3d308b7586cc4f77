"""The guard of rewrites: it refuses losing a negation or a number and inventing a brand.

Source: ours, after the lab's finding that a prompt's "never add brands" is not followed reliably.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

import pandas as pd

from toolkit.diagnosis.negation import negations
from toolkit.interventions.text_facts import model_names, numbers, quantities
from toolkit.search.fuzzy import allowed_edits

# Words that are too common to be read as a brand although some seller is called so.
MIN_BRAND_LENGTH = 3


@dataclass(frozen=True)
class RewriteGuard:
    """Checks one rewrite against the text as typed.

    Parameters
    ----------
    analyze : callable
        Text -> terms (an engine's ``analyze``): the guard compares terms, so accents and case do not matter.
    brands : collection of tuple of str
        Brand names as term tuples, for example ``{("klean", "kanteen")}``; :meth:`for_products` makes them.
    """

    analyze: Callable[[str], list[str]]
    brands: Collection[tuple[str, ...]] = frozenset()

    @classmethod
    def for_products(cls, analyze: Callable[[str], list[str]], products: pd.DataFrame, *, max_title_share: float = 0.02) -> RewriteGuard:
        """A guard that knows the brands of a catalogue.

        Parameters
        ----------
        analyze : callable
            Text -> terms.
        products : DataFrame
            With a brand column and, for telling brands from words, a title column.
        max_title_share : float
            A one-word brand whose word stands in a larger share of other brands' titles is a word, not a name ("sun", "home").
        """
        named = products["brand"].dropna().astype(str) if "brand" in products else pd.Series(dtype="str")
        brands = {terms for name in named.unique() if (terms := tuple(analyze(name))) and len("".join(terms)) >= MIN_BRAND_LENGTH}
        return cls(analyze, frozenset(brands - _common_words(analyze, products, brands, max_title_share)))

    def reasons(self, original: str, rewritten: str) -> list[str]:
        """Why the rewrite must be refused; empty where it may be searched.

        Parameters
        ----------
        original, rewritten : str
            The text as typed and the model's text.

        Returns
        -------
        list of str
            One sentence a reason: a lost or changed negation, number, unit or model name, an
            invented number, an invented brand, or nothing left to search.
        """
        if not self.analyze(rewritten):
            return ["nothing is left to search"]
        return [*self._negations(original, rewritten), *_quantities(original, rewritten),
                *_models(original, rewritten), *self._brands(original, rewritten)]

    def _negations(self, original: str, rewritten: str) -> list[str]:
        """Each negation must stay, whatever its word, with every term it excludes."""
        before, after = (negations(_FREE.sub(r"\1-free", text)) for text in (original, rewritten))
        kept = {term for negation in after for term in self.analyze(negation.scope)}
        holds = {term for negation in before for term in self.analyze(negation.scope) if _spelt(term, kept)}
        lost = [negation for negation in before if not set(self.analyze(negation.scope)) & holds]
        narrowed = [n for n in before if n not in lost and not set(self.analyze(n.scope)) <= holds | _SMALL_WORDS]
        excluded = {term for negation in before for term in self.analyze(negation.scope)}
        added = [n for n in after if not any(_spelt(term, excluded) for term in self.analyze(n.scope))] if len(after) > len(before) else []
        return [*(f"loses the negation '{n.word} {n.scope}'" for n in lost), *(f"changes what '{n.word} {n.scope}' excludes" for n in narrowed),
                *(f"adds the negation '{n.word} {n.scope}'" for n in added)]

    def _brands(self, original: str, rewritten: str) -> list[str]:
        """A brand in the new text is invented unless each of its words was typed, or typed with a slip."""
        typed, new = self.analyze(original), self.analyze(rewritten)
        found = {gram for size in {len(brand) for brand in self.brands} for gram in _grams(new, size)} & set(self.brands)
        return [f"invents the brand '{' '.join(brand)}'" for brand in sorted(found) if not all(_typed(term, typed) for term in brand)]


def _typed(term: str, typed: list[str]) -> bool:
    """Was the term typed, or one within an edit more than fuzziness AUTO forgives and the same first letter?"""
    from rapidfuzz.distance import OSA

    reach = allowed_edits(term, "AUTO") + 1
    return any(term == word or term[:1] == word[:1] and OSA.distance(term, word, score_cutoff=reach) <= reach for word in typed)


def _spelt(term: str, others: Collection[str]) -> bool:
    """Is the term among the others, or, where it is long enough to tell (six letters), a spelling of one: AUTO's edits, the same first letter?"""
    from rapidfuzz.distance import OSA

    return term in others or len(term) >= 6 and any(
        term[0] == other[:1] and OSA.distance(term, other, score_cutoff=2) <= 2 for other in others)


_FREE = re.compile(r"([^\W_]+)\s+free\b(?!\s+of\b)", re.IGNORECASE)  # "sugar free" is often typed without its hyphen
_SMALL_WORDS = frozenset({"a", "an", "the", "any"})


def _grams(terms: list[str], size: int) -> set[tuple[str, ...]]:
    """All runs of ``size`` terms."""
    return {tuple(terms[i : i + size]) for i in range(len(terms) - size + 1)}


def _quantities(original: str, rewritten: str) -> list[str]:
    """Every number stays with its unit; none comes in."""
    lost, new = numbers(original) - numbers(rewritten), numbers(rewritten) - numbers(original)
    units = {(number, unit) for number, unit in quantities(original) if unit} - quantities(rewritten)
    changed = [f"changes the unit of {number} {unit}" for number, unit in sorted(units) if number not in lost]
    return [*(f"loses the number {number}" for number in sorted(lost)), *(f"adds the number {number}" for number in sorted(new)), *changed]


def _models(original: str, rewritten: str) -> list[str]:
    """Every model name stays; none comes in."""
    before, after = model_names(original), model_names(rewritten)
    return [*(f"loses the model name '{name}'" for name in sorted(before - after)),
            *(f"adds the model name '{name}'" for name in sorted(after - before))]


def _common_words(analyze: Callable[[str], list[str]], products: pd.DataFrame, brands: set[tuple[str, ...]], share: float) -> set[tuple[str, ...]]:
    """One-word brands whose word is common in titles of other brands."""
    if not {"title", "brand"} <= set(products.columns):
        return set()
    single = {brand[0] for brand in brands if len(brand) == 1}
    counts = dict.fromkeys(single, 0)
    for title, brand in zip(products["title"].fillna(""), products["brand"].fillna("")):
        for term in (set(analyze(title)) - set(analyze(brand))) & single:
            counts[term] += 1
    return {(term,) for term, count in counts.items() if count > share * len(products)}
