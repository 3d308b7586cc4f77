"""Exercises of notebook 00: analysis, idf and the field that decides."""

from __future__ import annotations

import pandas as pd

from toolkit.exercises.base import Feedback, check_choice, check_number, check_set
from toolkit.search import EmbeddedEngine, MultiMatch
from toolkit.search.bm25 import idf


def check_terms(answer: object, engine: EmbeddedEngine, text: str) -> Feedback:
    """Which terms does the engine look for when someone types ``text``? (A set of strings.)"""
    return check_set(answer, set(engine.analyze(text)),
                     hint="Signs between words separate them and vanish; letters become lower case and lose their accents.",
                     praise="Nothing but letters and digits is left to match; the signs a shopper typed cannot help or harm.")


def check_idf(answer: object, engine: EmbeddedEngine, products: pd.DataFrame, *, term: str, field: str) -> Feedback:
    """The idf of ``term`` in ``field``, by hand (to three decimals)."""
    count = int(products[field].map(engine.analyze, na_action="ignore").str.len().fillna(0).gt(0).sum())
    return check_number(answer, float(idf(engine.document_frequency(term, field), count)),
                        hint=f"Take n = {count} products that have a {field}, df from engine.document_frequency, then ln(1 + (n - df + 0.5) / (df + 0.5)).",
                        praise="The rarer the word, the more one occurrence says.")


def check_deciding_field(answer: object, engine: EmbeddedEngine, text: str, product_id: str, config: MultiMatch) -> Feedback:
    """Which field gives the product its score for ``text`` under ``config``? (A field name.)"""
    fields = engine.explain(text, product_id, config).fields
    return check_choice(answer, fields[0].field if fields else "none",
                        hint="best_fields takes the largest weighted field score; engine.explain(...).field_scores() lists them.",
                        praise="Only the best field counts: raising another field's weight changes nothing until that field overtakes it.")
