"""Complete judgments of generated queries: every product that is what a query asks for, or partly.

Sampled judgments leave holes, as real ones do: a product an intervention brings in is then usually
unjudged. What the generated products truly are is known, so the holes can be filled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from toolkit.datasets.catalogue_products import Listing

MOST_JUDGED = 800  # judgments a query gets at most, best grades first
MOST_WRONG = 60  # added judgments I: products whose title shares a word with the query


@dataclass(frozen=True)
class Wish:
    """What a query really asks for.

    Attributes
    ----------
    group : str
        Product type or theme.
    complement : str or None
        The type that goes with it (grade C).
    facts : dict of str to str
        Asked facts: all hold for E, else S.
    excluded : str or None
        The feature a negation excludes: products that have it are I.
    """

    group: str
    complement: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    excluded: str | None = None


def label(listing: Listing, wish: Wish) -> str:
    """True label of a listing: E, S, C or I."""
    if listing.kind == "quiet" and listing.group == wish.group:
        return "E"
    if listing.kind != "plain":
        return "I"
    if listing.group == wish.group:
        if wish.excluded and listing.facts.get("features") == wish.excluded:
            return "I"
        return "E" if all(listing.facts.get(name) == value for name, value in wish.facts.items()) else "S"
    return "C" if listing.group == wish.complement else "I"


def complete(sampled: dict[str, str], wish: Wish | None, kin: Iterable[Listing], lookalikes: Iterable[Listing]) -> dict[str, str]:
    """The sampled labels and those of all other products that deserve one.

    Parameters
    ----------
    sampled : dict of str to str
        product_id -> label; kept as they are.
    wish : Wish or None
        None where nothing in the catalogue is asked for.
    kin : iterable of Listing
        All listings that may be E, S or C.
    lookalikes : iterable of Listing
        Listings whose title shares words with the query, most first: for the label I.

    Returns
    -------
    dict of str to str
        At most ``MOST_JUDGED`` labels: every E, S and C, then I for up to ``MOST_WRONG`` lookalikes. Any other
        listing is truly I as well, and left unjudged to keep the table small.
    """
    truth = {listing.product_id: label(listing, wish) for listing in kin} if wish else {}
    found = {product: given for grade in "ESC" for product, given in truth.items() if given == grade}
    wrong = islice((listing.product_id for listing in lookalikes if listing.product_id not in found), MOST_WRONG)
    added = {product: given for product, given in {**found, **dict.fromkeys(wrong, "I")}.items() if product not in sampled}
    return {**dict(islice(added.items(), max(0, MOST_JUDGED - len(sampled)))), **sampled}
