"""Products, queries and judgments that belong together."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from toolkit.datasets.report import ReadReport

# ESCI's labels on the scale of the canonical judgments table.
ESCI_GRADES = {"E": 3.0, "S": 2.0, "C": 1.0, "I": 0.0}


@dataclass(frozen=True)
class Dataset:
    """A test collection; unpacks as ``products, queries, judgments``.

    Attributes
    ----------
    products, queries, judgments : DataFrame
        Canonical tables (``toolkit.tables``).
    report : ReadReport
        What happened to the judgment rows; facts about the product and query rows are noted in it.
    """

    products: pd.DataFrame
    queries: pd.DataFrame
    judgments: pd.DataFrame
    report: ReadReport

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter((self.products, self.queries, self.judgments))

    def summary(self) -> str:
        """Sizes in one sentence."""
        return (f"{len(self.products)} products, {len(self.queries)} queries, {len(self.judgments)} judgments "
                f"({len(self.judgments) / max(len(self.queries), 1):.1f} per query). {self.report.summary()}")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.report.to_frame().to_html(index=False)}"
