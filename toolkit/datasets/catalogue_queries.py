"""Ordinary queries in ESCI's manner, with their graded judgments."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from toolkit.datasets import catalogue_words as words
from toolkit.datasets.catalogue_draw import Draw
from toolkit.datasets.catalogue_products import Listing
from toolkit.datasets.catalogue_truth import Wish, label
from toolkit.datasets.catalogue_types import ProductType

GRADES = {"E": 3.0, "S": 2.0, "C": 1.0, "I": 0.0}


@dataclass(frozen=True)
class Asked:
    """A query, what was planted in it, and its judgments.

    ``labels`` maps product_id to E, S, C or I; ``details`` says in words how the cause was planted;
    ``wish`` is what the query asks for, None where no product of the catalogue is asked for.
    """

    query: str
    cause: str
    labels: dict[str, str]
    noise: str | None = None
    details: str | None = None
    planted_depth: int | None = None
    wish: Wish | None = None


@dataclass
class Shop:
    """The listings by what they are: the sampling frame of queries and judgments."""

    listings: list[Listing]
    types: tuple[ProductType, ...]
    groups: dict[tuple[str, str], list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.groups = defaultdict(list)
        for number, listing in enumerate(self.listings):
            self.groups[listing.kind, listing.group].append(number)

    def of_type(self, name: str) -> list[Listing]:
        """Plain listings of a product type."""
        return [self.listings[number] for number in self.groups["plain", name]]

    def kin(self, wish: Wish) -> list[Listing]:
        """All listings that a query may be judged E, S or C for."""
        groups = ("quiet", wish.group), ("plain", wish.group), ("plain", wish.complement)
        return [self.listings[number] for key in groups for number in self.groups.get(key, ())]

    def strangers(self, draw: Draw, name: str, k: int) -> list[Listing]:
        """``k`` listings that are something else (judged I)."""
        drawn = (self.listings[draw.below(len(self.listings))] for _ in range(3 * k))
        return [listing for listing in drawn if listing.group != name][:k]


SHAPES = ("color", "material", "size", "brand", "brand model", "features", "audience", "color material", "color size",
          "material features", "color audience", "brand color")
"""Facts that an ordinary query asks for, beside the product type."""


def phrase(kind: ProductType, facts: dict[str, str], asked: list[str]) -> str:
    """The query's words: modifiers first, then the type, then ``with ...`` and ``for ...``."""
    before = [facts[name].lower() for name in ("brand", "model", "color", "material") if name in asked]
    unit = words.SIZES[kind.size][2]
    if "size" in asked:
        size = facts["size"].lower()
        before.insert(0, f'{size}"' if unit == '"' else f"size {size}" if unit == "size" and size[0].isdigit() else f"{size} {unit}".strip())
    after = [f"with {facts['features']}"] if "features" in asked else []
    after += [f"for {facts['audience']}"] if "audience" in asked else []
    return " ".join([*before, kind.name, *after])


def judge(draw: Draw, shop: Shop, wish: Wish) -> dict[str, str]:
    """Judgments of an ordinary query: the exact products, some substitutes, a few complements and strangers.

    As in real judgments only part of the matching products is judged. Judges see what a shop's own search shows
    first, so products whose short title says what was asked come first; every third one is drawn blindly.
    """
    same = draw.some(shop.of_type(wish.group), 500)
    same.sort(key=lambda listing: _fit(listing, wish.facts), reverse=True)  # stable: drawn order decides among equals
    exact = [listing for listing in same if label(listing, wish) == "E"]
    judged = _pool(draw, exact, 18) + _pool(draw, same[len(exact):], draw.between(6, 14))
    judged += draw.some(shop.of_type(wish.complement), draw.between(0, 3)) + shop.strangers(draw, wish.group, draw.between(2, 5))
    return {listing.product_id: label(listing, wish) for listing in judged}


def _fit(listing: Listing, wanted: dict[str, str]) -> tuple[int, int, int]:
    """How near a product is to what was asked: facts that hold, facts its title says, and a short title."""
    title = listing.text["title"].lower()
    held = [value for name, value in wanted.items() if listing.facts.get(name) == value]
    return len(held), sum(value.lower() in title for value in held), -len(title.split())


def _pool(draw: Draw, ordered: list[Listing], k: int) -> list[Listing]:
    """``k`` of the listings: the first two thirds in order, the rest drawn from the others."""
    first = k - k // 3
    return ordered[:first] + draw.some(ordered[first:], k - first)


def ordinary(draw: Draw, shop: Shop) -> Asked:
    """A query whose words stand in the titles of what it means."""
    kind = draw.early(shop.types)
    listing = draw.one(shop.of_type(kind.name))
    asked = [name for name in draw.early(SHAPES).split() if name in listing.facts]
    wish = Wish(kind.name, kind.complement, {name: listing.facts[name] for name in asked})
    text, noise = roughen(draw, phrase(kind, listing.facts, asked), 30)
    return Asked(text, "none", judge(draw, shop, wish), noise, wish=wish)


def roughen(draw: Draw, text: str, percent: float) -> tuple[str, str | None]:
    """In ``percent`` of cases make the query as untidy as real ones; returns it with the noise's name."""
    if not draw.chance(percent):
        return text, None
    name = draw.one(("leading punctuation", "leading number sign", "model year", "abbreviation", "light misspelling",
                     "trailing punctuation", "grade sign"))
    changed = _NOISE[name](draw, text)
    return (changed, name) if changed != text else (f"!{text}", "leading punctuation")


def _abbreviate(draw: Draw, text: str) -> str:
    """Shorten the first word that has a usual abbreviation."""
    for word, short in words.ABBREVIATIONS.items():
        if f" {word} " in f" {text} ":
            return f" {text} ".replace(f" {word} ", f" {short} ", 1).strip()
    return text


def _misspell_lightly(draw: Draw, text: str) -> str:
    """One edit in a word of six letters or more: within the reach of fuzziness AUTO."""
    long = [word for word in text.split() if len(word) >= 6 and word.isalpha()]
    if not long:
        return text
    word = draw.one(long)
    at = draw.between(1, len(word) - 3)
    return text.replace(word, word[:at] + word[at + 1] + word[at] + word[at + 2:] if word[at] != word[at + 1] else word[:at] + word[at + 1:], 1)


_NOISE = {
    "leading punctuation": lambda draw, text: draw.one(("!", "%", "*", "(", "!!")) + text,
    "leading number sign": lambda draw, text: draw.one(("#1 rated ", "# 1 ", "#1 ")) + text,
    "model year": lambda draw, text: f"{draw.between(2005, 2021)} {text}",
    "abbreviation": _abbreviate,
    "light misspelling": _misspell_lightly,
    "trailing punctuation": lambda draw, text: text + draw.one(("!!", "?", ".", ",", '"')),
    "grade sign": lambda draw, text: text + draw.one((" a++", " c++ style", " grade a+", " no. 1")),
}
