"""Reasons why a relevant product is missing, and what was found for many queries."""

from __future__ import annotations

import html
from dataclasses import dataclass

import pandas as pd

NO_TERM = "no term in common"
LOST_TO_FUZZINESS = "lost to fuzziness"
NEGATED = "negated term"
OUTSCORED = "outscored"
ONLY_FUZZY = "matched only through fuzziness"
NOT_TOGETHER = "not every term in one field"
UNINDEXED = "not indexed"
REASONS = {
    NO_TERM: "no query term, nor one within the allowed edits, stands in the product",
    LOST_TO_FUZZINESS: "the product has a term one edit beyond what fuzziness AUTO (or the query) allows",
    NEGATED: "the query excludes a term that the products on top have and this one has not",
    OUTSCORED: "the product matches, but others score more",
    ONLY_FUZZY: "the product matches, but no query term exactly; others score more",
    NOT_TOGETHER: "operator and: the product has terms of the query, but no field has all",
    UNINDEXED: "the index does not hold it",
}
CAUSES = {NO_TERM: "vocabulary_gap", LOST_TO_FUZZINESS: "misspelling", NEGATED: "negation", OUTSCORED: "outranked",
          ONLY_FUZZY: "outranked", NOT_TOGETHER: "outranked", UNINDEXED: "no_relevant_indexed"}
"""Reason -> cause, in the generated catalogue's words."""


@dataclass(frozen=True)
class MissingReasons:
    """Reasons, product by product and query by query, with their evidence.

    Attributes
    ----------
    table : DataFrame
        One row an explained (query, relevant product): query_id, query, bucket, product_id, rank (null where
        not returned to the diagnosis), reason (a key of ``REASONS``), score, field (its best), top_id,
        top_score, top_field (the query's first result and its best field), gap (top_score - score; null where
        there is no result), detail (in words).
    tokens : DataFrame
        query_id, product_id, token, meets (exact, fuzzy, beyond fuzziness, none), term, edits, field, negated.
    queries : DataFrame
        One row a failing query: query_id, query, bucket, reason, cause, n (products explained), agreeing (of these
        with this reason), detail.
    per_query : int
        Most products explained per query.
    """

    table: pd.DataFrame
    tokens: pd.DataFrame
    queries: pd.DataFrame
    per_query: int

    def to_frame(self) -> pd.DataFrame:
        """The table of products."""
        return self.table

    def counts(self) -> pd.DataFrame:
        """Queries by bucket and reason: reason, then one column a bucket, then all."""
        counted = pd.crosstab(self.queries["reason"], self.queries["bucket"])
        counted["all"] = counted.sum(axis=1)
        return counted.sort_values("all", ascending=False).rename_axis(columns=None).reset_index()

    def outscored_by_field(self) -> pd.DataFrame:
        """Outscored products: the field that scores the first result, the product's own best field, how many, median gap."""
        chosen = self.table[self.table["reason"].isin([OUTSCORED, ONLY_FUZZY, NEGATED]) & self.table["gap"].notna() & self.table["field"].notna()]
        grouped = chosen.groupby(["top_field", "field"]).agg(n=("gap", "size"), median_gap=("gap", "median"))
        return grouped.sort_values("n", ascending=False).reset_index()

    def summary(self) -> str:
        """Reasons in words."""
        counts = self.queries["reason"].value_counts()
        shown = "; ".join(f"{reason}: {count}" for reason, count in counts.items())
        return f"{len(self.queries)} failing queries explained by up to {self.per_query} relevant products each: {shown or 'none'}."

    def __repr__(self) -> str:
        return f"MissingReasons: {self.summary()}"

    def _repr_html_(self) -> str:
        found = set(self.queries["reason"])
        meanings = "".join(f"<li><b>{html.escape(name)}</b>: {html.escape(text)}</li>" for name, text in REASONS.items() if name in found)
        return (f"<div><p>{html.escape(self.summary())}</p>{self.counts().to_html(index=False, escape=True, border=0)}"
                f"<details><summary>Reasons</summary><ul>{meanings}</ul></details></div>")
