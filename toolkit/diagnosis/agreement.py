"""How well diagnosed causes agree with planted ones."""

from __future__ import annotations

import html
from dataclasses import dataclass

import pandas as pd

from toolkit.diagnosis.shares import share_table

NONE = "none"


@dataclass(frozen=True)
class Recovery:
    """Precision and recall of each cause.

    Attributes
    ----------
    table : DataFrame
        One row a cause: cause; planted (queries); failing (of these diagnosed, that is failing); found (diagnosed
        as this cause); right; precision = right / found and recall = right / failing, each with precision_low, precision_high,
        recall_low, recall_high (95 % Wilson; null with nothing to divide by).
    confusion : DataFrame
        Planted cause (rows, with ``none``) by diagnosed cause (columns): counts of diagnosed queries.
    """

    table: pd.DataFrame
    confusion: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def summary(self) -> str:
        """Precision and recall in words."""
        shown = "; ".join(f"{r.cause} precision {_number(r.precision)} (n = {r.found}), recall {_number(r.recall)} (n = {r.failing})"
                          for r in self.table.itertuples())
        return (f"{shown}. A failing query without a planted cause counts against precision; a planted one that does not fail has no "
                "diagnosis and is left out of recall.")

    def __repr__(self) -> str:
        return f"Recovery: {self.summary()}"

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, escape=True, border=0, float_format=lambda v: f"{v:.3f}")
        return f"<div><p>{html.escape(self.summary())}</p>{table}</div>"


def recovery(diagnosed: pd.DataFrame, planted: pd.DataFrame) -> Recovery:
    """Compare diagnosed causes with planted ones.

    Parameters
    ----------
    diagnosed : DataFrame
        query_id, cause: failing queries only (``MissingReasons.queries``).
    planted : DataFrame
        query_id, cause for every query; ``none`` where nothing was planted (``Catalogue.causes``).

    Returns
    -------
    Recovery

    Raises
    ------
    ValueError
        If a diagnosed query is not in ``planted``.
    """
    truth = planted.set_index("query_id")["cause"]
    strange = diagnosed.loc[~diagnosed["query_id"].isin(truth.index), "query_id"]
    if len(strange):
        raise ValueError(f"recovery: {len(strange)} diagnosed queries have no planted cause or 'none' (first: {strange.iloc[0]!r})")
    real = diagnosed["query_id"].map(truth).rename("planted")
    found = diagnosed["cause"].rename("diagnosed")
    causes = sorted((set(truth) | set(found)) - {NONE})
    rows = [_row(cause, truth, real, found) for cause in causes]
    return Recovery(pd.DataFrame(rows), pd.crosstab(real, found))


def _row(cause: str, truth: pd.Series, real: pd.Series, found: pd.Series) -> dict[str, object]:
    """Counts and rates of one cause."""
    right = int(((real == cause) & (found == cause)).sum())
    counts = {"planted": int((truth == cause).sum()), "failing": int((real == cause).sum()), "found": int((found == cause).sum()), "right": right}
    rates = {}
    for name, n in (("precision", counts["found"]), ("recall", counts["failing"])):
        share = share_table({cause: right}, n).iloc[0]
        rates |= {name: share["share"], f"{name}_low": share["low"], f"{name}_high": share["high"]}
    return {"cause": cause, **counts, **rates}


def _number(value: float) -> str:
    """A rate, or a dash."""
    return "–" if pd.isna(value) else f"{value:.2f}"
