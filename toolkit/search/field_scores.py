"""Unboosted scores of each field: what every weight question is arithmetic on."""

from __future__ import annotations

import html
from dataclasses import dataclass

import pandas as pd

from toolkit.search.config import MultiMatch


@dataclass(frozen=True)
class FieldScores:
    """The float32 score of each matching field at weight 1, for chosen (query, product) pairs.

    Attributes
    ----------
    table : DataFrame
        query_id, product_id, field, score (float64 that holds a float32); one row for each field
        that matches, none for a field that does not.
    config : MultiMatch
        Its operator, fuzziness, prefix and expansions decided what matches; its weights and tie
        breaker did not.
    engine : str
        Which engine answered.

    Notes
    -----
    ``weight * score`` equals the weighted score except for float32 rounding, unless the weight is a
    power of two (see ``toolkit/search/SCORING.md`` section 8).
    """

    table: pd.DataFrame
    config: MultiMatch
    engine: str

    def to_frame(self) -> pd.DataFrame:
        """The long table."""
        return self.table

    def matrix(self) -> pd.DataFrame:
        """One row a (query_id, product_id), one column a field of the config; null where it does not match."""
        wide = self.table.pivot(index=["query_id", "product_id"], columns="field", values="score")
        return wide.reindex(columns=list(self.config.fields))

    def summary(self) -> str:
        """Size of the table in words."""
        pairs = self.table[["query_id", "product_id"]].drop_duplicates()
        return (f"field scores of {len(pairs):,} (query, product) pairs of {self.table['query_id'].nunique():,} queries "
                f"from {self.engine}; {len(self.table):,} matching fields")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.table.head(10).to_html(index=False)}"
