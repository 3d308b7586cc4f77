"""Hard queries: each is made to fail for one known cause, and checked to do so.

The checks ask which listings the query's words can reach (:class:`Reach`), never an engine.
"""

from __future__ import annotations

from toolkit.datasets import catalogue_words as words
from toolkit.datasets.catalogue_draw import Draw
from toolkit.datasets.catalogue_products import Listing, absent
from toolkit.datasets.catalogue_queries import Asked, Shop, roughen
from toolkit.datasets.catalogue_terms import Reach, auto_edits
from toolkit.datasets.catalogue_truth import Wish
from toolkit.datasets.catalogue_types import ABSENT, ProductType, Theme

BANDS = {"11-50": (13, 44), "51-200": (58, 175), "beyond 200": (212, 100_000)}
"""Ranks that are planted for each bucket: inside it by a margin, since the plan counts and does not score."""


def labels(exact: list[Listing], wrong: list[Listing]) -> dict[str, str]:
    """E for the first list, I for the second."""
    return {listing.product_id: "I" for listing in wrong} | {listing.product_id: "E" for listing in exact}


def shopper(draw: Draw, text: str) -> str:
    """Put one of the words before it that shoppers use and no listing does."""
    return f"{draw.one(words.SHOPPER_WORDS)} {text}" if draw.chance(65) else text


def outranked(draw: Draw, shop: Shop, reach: Reach, theme: Theme, band: str) -> Asked | None:
    """The real item names the hobby once, in its description; printed gifts name it in the title.

    Its planned rank is 1 + the number of listings with a query word in the title.
    """
    text, noise = roughen(draw, shopper(draw, f"{theme.name} {draw.one(theme.context)}" if draw.chance(75) else theme.name), 10)
    titled = reach.matching(text, where="title")
    real = [number for number in shop.groups["quiet", theme.name] if number not in titled]
    found = [number for number in real if number in reach.matching(text)]
    low, high = BANDS[band]
    if not found or not low <= len(titled) + 1 <= high:
        return None
    wrong = draw.some(shop.groups["novelty", theme.name], 8)
    return Asked(text, "outranked", labels([shop.listings[n] for n in draw.some(found, 3)], [shop.listings[n] for n in wrong]), noise,
                 f"{len(titled)} listings have a query word in the title; the real {theme.name} names it in its description only",
                 len(titled) + 1, Wish(theme.name))


def unreachable(draw: Draw, shop: Shop, reach: Reach, kind: ProductType, text: str) -> dict[str, str] | None:
    """Judgments whose relevant products have no word within reach of the query; None if there are too few."""
    touched = reach.matching(text)
    hidden = [number for number in shop.groups["plain", kind.name] if number not in touched]
    if len(hidden) < 3:
        return None
    exact = [shop.listings[number] for number in draw.some(hidden, draw.between(3, 8))]
    wrong = [shop.listings[number] for number in draw.some(sorted(touched), 4) if shop.listings[number].group not in (kind.name, kind.complement)]
    return labels(exact, wrong)


def vocabulary_gap(draw: Draw, shop: Shop, reach: Reach) -> Asked | None:
    """The shopper's word for it is none of the seller's."""
    kind = draw.one(shop.types)
    word = draw.one(kind.gap)
    text, noise = roughen(draw, shopper(draw, word), 15)
    judged = unreachable(draw, shop, reach, kind, text)
    return judged and Asked(text, "vocabulary_gap", judged, noise, f"'{word}' stands for '{kind.name}', which no listing calls so",
                           wish=Wish(kind.name, kind.complement))


def misspelling(draw: Draw, shop: Shop, reach: Reach) -> Asked | None:
    """The type's name, one or two edits further away than fuzziness AUTO reaches."""
    kind = draw.one(shop.types)
    right = kind.name.split()
    wrong = [misspell(draw, word) for word in right]
    if any(word is None for word in wrong):
        return None
    text = shopper(draw, " ".join(wrong))
    judged = unreachable(draw, shop, reach, kind, text)
    return judged and Asked(text, "misspelling", judged, "misspelling", f"'{' '.join(wrong)}' is meant to be '{kind.name}'",
                           wish=Wish(kind.name, kind.complement))


def misspell(draw: Draw, word: str, tries: int = 12) -> str | None:
    """A misspelling just beyond AUTO's reach (by one edit), or None."""
    from rapidfuzz.distance import OSA

    for _ in range(tries):
        made = word
        for _ in range(auto_edits(word) + 1):
            made = _one_slip(draw, made)
        if made[:1] == word[:1] and OSA.distance(made, word) == auto_edits(made) + 1:
            return made
    return None


def _one_slip(draw: Draw, word: str) -> str:
    """One typical slip: spelt by ear, a wrong vowel, a doubled, lost or swapped letter, a neighbouring key."""
    slip = draw.below(12)
    if slip < 6:
        heard = [(right, wrong) for right, wrong in words.BY_EAR if right in word[1:]]
        right, wrong = draw.one(heard) if heard else (word[-1], word[-1] * 2)
        return word[:1] + word[1:].replace(right, wrong, 1)
    at = draw.between(1, len(word) - 1)
    if slip < 8:
        vowels = [i for i, letter in enumerate(word) if i and letter in "aeiou"]
        at = draw.one(vowels) if vowels else at
        return word[:at] + draw.one("aeiou") + word[at + 1:]
    if slip == 8:
        return word[:at] + words.KEYBOARD.get(word[at], word[at]) + word[at + 1:]
    if slip == 9:
        return word[:at] + word[at] + word[at:]
    if slip == 10:
        return word[:at] + word[at + 1:]
    return word[:at] + word[at + 1:at + 2] + word[at] + word[at + 2:]


NEGATIONS = ("{type} without {feature}", "{type} without {feature}", "{type} no {feature}", "{type} not {feature}", "non {feature} {type}",
             "non-{feature} {type}", "{feature}-free {type}", "{type} w/o {feature}")


def negation(draw: Draw, shop: Shop, reach: Reach, kind: ProductType, feature: str) -> Asked | None:
    """The unwanted feature's name pulls in exactly the products that have it."""
    text = draw.one(NEGATIONS).format(type=kind.name, feature=feature)
    text, noise = roughen(draw, text, 15)
    mates = shop.groups["plain", kind.name]
    with_it = [number for number in mates if shop.listings[number].facts.get("features") == feature]
    touched = reach.matching(feature)
    without = [number for number in mates if number not in touched and "features" not in shop.listings[number].facts]
    if len(with_it) < 11 or len(without) < 2:
        return None
    exact = [shop.listings[number] for number in draw.some(without, draw.between(3, 6))]
    wrong = [shop.listings[number] for number in draw.some(with_it, 8)]
    return Asked(text, "negation", labels(exact, wrong), noise, f"{len(with_it)} listings offer {feature}; the query excludes it",
                 wish=Wish(kind.name, kind.complement, excluded=feature))


def no_relevant_indexed(draw: Draw, shop: Shop, taken: set[str]) -> Asked:
    """What was judged relevant is not in the catalogue."""
    name = draw.one(ABSENT)
    text = f"{draw.one(words.COLORS)} {name}" if draw.chance(50) else shopper(draw, name)
    text, noise = roughen(draw, text, 20)
    exact = [absent(draw, name, taken) for _ in range(draw.between(2, 5))]
    return Asked(text, "no_relevant_indexed", labels(exact, shop.strangers(draw, name, 3)), noise, f"no '{name}' is stocked")
