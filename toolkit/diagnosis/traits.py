"""What queries look like: noise and negation, as found in ESCI."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import pandas as pd

from toolkit.diagnosis.negation import negations
from toolkit.diagnosis.spelling import Speller
from toolkit.tables import QUERIES, check

ABBREVIATIONS = frozenset("w/ w/o pk pks pc pcs blk wht gry grn ss lg sm med wmns wmn mns sz qty asst assrtd approx hvy dty w".split())
"""Seller's and shopper's short forms that count as noise; plain units (oz, ft, lbs) do not."""

_YEAR = re.compile(r"(?<![\w./-])(?:19[5-9]\d|20[0-4]\d)(?![\w./\"”″'-])")
_SHORT_YEAR = re.compile(r"^\W*0\d\s+[a-z]", re.IGNORECASE)
_FRACTION = re.compile(r"(?<![\w/])\d+/\d+(?!/)|[\u00bc-\u00be\u2150-\u215e]")
_INCH = re.compile(r"\d\s*(?:[\"”″]|'')")
_LEADING = re.compile(r"^\s*[^\w\s]")

NOISE = ("leading_punctuation", "misspelling", "abbreviation", "model_year", "fraction", "inch_mark")
"""Noise traits, each a column of :func:`query_traits`."""
TRAITS = (*NOISE, "noise", "negation")
MEANINGS = {
    "leading_punctuation": "the text starts with a sign, for example ! or #",
    "misspelling": "a word that no product has, while one that looks or sounds alike is indexed",
    "abbreviation": "a short form such as w/, blk or pk",
    "model_year": "a year from 1950 to 2049, or 00 to 09 before a word (03 durango)",
    "fraction": "a fraction such as 1/2",
    "inch_mark": "an inch mark after a number",
    "noise": "any of the noise traits",
    "negation": "without, w/o, not, no, non-, free of or -free",
}


def query_traits(queries: pd.DataFrame, vocabulary: Collection[str] | None = None) -> pd.DataFrame:
    """Mark noise and negation in queries.

    Parameters
    ----------
    queries : DataFrame
        query_id, query (exactly as typed).
    vocabulary : collection of str, optional
        Terms of the index (``engine.vocabulary``): a misspelling is judged against it. Without it
        ``misspelling`` is null.

    Returns
    -------
    DataFrame
        One row a query: query_id, query, a boolean column for each of ``TRAITS`` (``MEANINGS`` says
        what each means), misspelt (words, joined by blanks, else null), negation_word, negation_scope
        (of all negations, joined by "; ", else null).
    """
    check(queries, QUERIES, source="queries")
    find_misspelt = _misspelling_finder(vocabulary)
    rows = [_traits_of(text, find_misspelt) for text in queries["query"]]
    table = pd.DataFrame(rows, columns=[*TRAITS, "misspelt", "negation_word", "negation_scope"])
    table = table.astype({**dict.fromkeys(TRAITS, "boolean"), **dict.fromkeys(("misspelt", "negation_word", "negation_scope"), "str")})
    table.insert(0, "query_id", queries["query_id"].to_numpy())
    table.insert(1, "query", queries["query"].to_numpy())
    return table.astype({"query_id": "str", "query": "str"})


def _misspelling_finder(vocabulary: Collection[str] | None) -> Callable[[str], list[str] | None]:
    """A function from query text to its misspelt words; to None without a vocabulary."""
    if vocabulary is None:
        return lambda text: None
    from toolkit.search.analysis import Analyzer  # compiles its kernels: only where it is needed

    speller, terms = Speller(vocabulary), Analyzer().terms
    return lambda text: speller.misspelt(terms(text))


def _traits_of(text: str, find_misspelt: Callable[[str], list[str] | None]) -> dict[str, object]:
    """Traits of one query text."""
    words = text.lower().split()
    wrong = find_misspelt(text)
    found = negations(text)
    row: dict[str, object] = {
        "leading_punctuation": bool(_LEADING.search(text)),
        "misspelling": None if wrong is None else bool(wrong),
        "abbreviation": any(word.strip("!#*%(),.") in ABBREVIATIONS for word in words),
        "model_year": bool(_YEAR.search(text) or _SHORT_YEAR.search(text)),
        "fraction": bool(_FRACTION.search(text)),
        "inch_mark": bool(_INCH.search(text)),
    }
    row["noise"] = any(row[name] for name in NOISE)
    return row | {"negation": bool(found), "misspelt": " ".join(wrong) if wrong else None,
                  "negation_word": "; ".join(n.word for n in found) or None, "negation_scope": "; ".join(n.scope for n in found) or None}
