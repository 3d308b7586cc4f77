"""Which listings a query's words can reach: planted causes are verified with it.

A simplified twin of the engines' matching (plain ASCII words, fuzziness AUTO, no scores). The toolkit's
search room is not used: generated truth should not depend on the code that it is there to test.
"""

from __future__ import annotations

import re
from collections import Counter

from toolkit.datasets.catalogue_products import Listing

WORD = re.compile(r"[a-z0-9]+(?:[.,'][a-z0-9]+)*")
SEARCHED = ("title", "brand", "bullet_point", "description", "category")


def tokens(text: str | None) -> list[str]:
    """Lower-case ASCII words of a text."""
    return WORD.findall(text.lower()) if text else []


def auto_edits(token: str) -> int:
    """Edits that fuzziness AUTO allows: 0 below 3 characters, 1 up to 5, 2 from 6."""
    return 0 if len(token) < 3 else 1 if len(token) <= 5 else 2


class Reach:
    """Postings of the listings' words, and the words within AUTO's reach of a query word.

    Parameters
    ----------
    listings : list of Listing
        Positions in this list are the numbers that ``matching`` returns.
    """

    def __init__(self, listings: list[Listing]) -> None:
        self.title: dict[str, set[int]] = {}
        self.anywhere: dict[str, set[int]] = {}
        for number, listing in enumerate(listings):
            for name in SEARCHED:
                for token in set(tokens(listing.text.get(name))):
                    self.anywhere.setdefault(token, set()).add(number)
                    if name == "title":
                        self.title.setdefault(token, set()).add(number)
        self.vocabulary = sorted(self.anywhere)
        self._near: dict[str, list[str]] = {}

    def near(self, token: str) -> list[str]:
        """Words of the catalogue within AUTO's edits of ``token`` (optimal string alignment)."""
        if token not in self._near:
            self._near[token] = self._find_near(token)
        return self._near[token]

    def _find_near(self, token: str) -> list[str]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        edits = auto_edits(token)
        if not edits:
            return [token] if token in self.anywhere else []
        found = process.extract(token, self.vocabulary, scorer=OSA.distance, score_cutoff=edits, limit=None)
        return [word for word, _, _ in found]

    def matching(self, query: str, *, where: str = "anywhere") -> set[int]:
        """Numbers of the listings with a word near any query word, in any field or in ``title``."""
        postings = self.title if where == "title" else self.anywhere
        return set().union(*(postings.get(word, ()) for token in tokens(query) for word in self.near(token)))

    def alike(self, query: str) -> list[int]:
        """Numbers of the listings with a query word in the title, those with most of its words first."""
        shared: Counter[int] = Counter()
        for token in set(tokens(query)):
            shared.update(self.matching(token, where="title"))
        return sorted(shared, key=lambda number: (-shared[number], number))
