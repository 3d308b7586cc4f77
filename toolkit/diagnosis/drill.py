"""One query from close up: its results, its first relevant product, and both explanations."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.diagnosis.traits import TRAITS, query_traits
from toolkit.search.config import MultiMatch

if TYPE_CHECKING:
    from toolkit.search.embedded import EmbeddedEngine
    from toolkit.search.explain import Explanation


@dataclass(frozen=True)
class QueryCase:
    """One query with its results and explanations.

    Attributes
    ----------
    query_id, query : str
    table : DataFrame
        rank, product_id, score, label, grade (null where unjudged), title (where products were given): the
        top k, then the first relevant product where it stands below.
    traits : list of str
        Names of the query's traits.
    leader : Explanation or None
        Of the first result; None without results.
    relevant : Explanation or None
        Of the first relevant returned product, else of a relevant indexed one (then not ``matched``, or below
        the depth); None where no relevant product is indexed.
    first_rank : int or None
        Rank of the first relevant product; None where none was returned.
    depth : int
    """

    query_id: str
    query: str
    table: pd.DataFrame
    traits: list[str]
    leader: Explanation | None
    relevant: Explanation | None
    first_rank: int | None
    depth: int

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def summary(self) -> str:
        """The case in words."""
        where = f"first relevant product at rank {self.first_rank}" if self.first_rank else f"no relevant product in the top {self.depth}"
        told = f"; traits: {', '.join(self.traits)}" if self.traits else ""
        return f"{self.query!r} ({self.query_id}): {where}{told}."

    def __repr__(self) -> str:
        return f"QueryCase: {self.summary()}"

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, escape=True, border=0, na_rep="–", float_format=lambda v: f"{v:.4g}")
        parts = [f"<p>{html.escape(self.summary())}</p>", table]
        for title, explanation in (("First result", self.leader), ("Relevant product", self.relevant)):
            if explanation is not None:
                parts.append(f"<p><b>{title}</b></p>{explanation._repr_html_()}")
        return f"<div>{''.join(parts)}</div>"


def drill_down(engine: EmbeddedEngine, query_id: str, queries: pd.DataFrame, judgments: pd.DataFrame, config: MultiMatch, *,
               products: pd.DataFrame | None = None, k: int = 10, depth: int = 1_000, relevant_grade: float = 2.0) -> QueryCase:
    """Search one query again and explain its first result and its first relevant product.

    Parameters
    ----------
    engine : EmbeddedEngine
    query_id : str
    queries, judgments : DataFrame
    config : MultiMatch
    products : DataFrame, optional
        For the titles.
    k : int
        Results in the table.
    depth : int
        How deep to look for a relevant product.
    relevant_grade : float

    Returns
    -------
    QueryCase

    Raises
    ------
    KeyError
        If ``queries`` does not hold the query.
    """
    chosen = queries[queries["query_id"] == query_id]
    if chosen.empty:
        raise KeyError(f"drill_down: query_id {query_id!r} is not among the {len(queries)} queries (for example {list(queries['query_id'][:3])})")
    text = chosen["query"].iloc[0]
    labels = judgments[judgments["query_id"] == query_id]
    found = engine.search(chosen, config, depth=depth).merge(labels.drop(columns="query_id"), on="product_id", how="left")
    relevant = found[found["grade"] >= relevant_grade]
    if "label" not in found:
        found["label"] = None
    shown = pd.concat([found.head(k), relevant.head(1)]).drop_duplicates("product_id")[["rank", "product_id", "score", "label", "grade"]]
    if products is not None:
        shown["title"] = shown["product_id"].map(products.set_index("product_id")["title"])
    target = relevant["product_id"].iloc[0] if len(relevant) else _indexed_relevant(engine, labels, relevant_grade)
    traits = query_traits(chosen, engine.vocabulary).iloc[0]
    return QueryCase(
        query_id, text, shown.reset_index(drop=True), [name for name in TRAITS if name != "noise" and traits[name] is not pd.NA and traits[name]],
        engine.explain(text, found["product_id"].iloc[0], config) if len(found) else None,
        engine.explain(text, target, config) if target else None, int(relevant["rank"].iloc[0]) if len(relevant) else None, depth)


def _indexed_relevant(engine: EmbeddedEngine, labels: pd.DataFrame, relevant_grade: float) -> str | None:
    """The best graded indexed product of a query (smallest id among equals)."""
    known = labels[(labels["grade"] >= relevant_grade) & labels["product_id"].isin(pd.Index(engine.product_ids))]
    return None if known.empty else known.sort_values(["grade", "product_id"], ascending=[False, True])["product_id"].iloc[0]
