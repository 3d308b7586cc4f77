"""One readable form for why a product got its score, from either engine."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from toolkit.search.config import MultiMatch

COLUMNS = ["field", "clause", "term", "edits", "tf", "df", "documents", "idf", "length", "average_length", "boost", "score"]
"""Columns of :attr:`Explanation.table`."""


@dataclass(frozen=True)
class TermScore:
    """One term of the product in one field.

    Parameters
    ----------
    term : str
        The indexed term that matched.
    tf : float
        Occurrences in this product's field.
    df : int
        Document frequency used by the idf (blended over fuzzy terms: the largest).
    documents : int
        Products that have the field at all.
    idf : float
    length : float
        Field length as stored (lossy above 40 tokens).
    average_length : float
        Average length of the field over ``documents``.
    boost : float
        All boosts together: fuzzy term x merged clause x field weight (without the factor 2.2).
    score : float
        Float32 score of the term.
    edits : int or None
        Distance to the query token; None where unknown (a term of a merged clause, or an engine
        that does not tell).
    """

    term: str
    tf: float
    df: int
    documents: int
    idf: float
    length: float
    average_length: float
    boost: float
    score: float
    edits: int | None = None


@dataclass(frozen=True)
class ClauseScore:
    """One clause of a field: a term, or a group of fuzzy terms whose scores are summed.

    Parameters
    ----------
    name : str
        The query token (or tokens, joined by " + ", where equal clauses were merged).
    score : float
    terms : sequence of TermScore
        The terms this product has.
    """

    name: str
    score: float
    terms: tuple[TermScore, ...]


@dataclass(frozen=True)
class FieldScore:
    """One field: the sum of its clauses.

    Parameters
    ----------
    field : str
    weight : float
        The field's weight in the query.
    score : float
        Weighted score of the field.
    clauses : sequence of ClauseScore
        Clauses that match this product.
    """

    field: str
    weight: float
    score: float
    clauses: tuple[ClauseScore, ...]


@dataclass(frozen=True)
class Explanation:
    """Why one product got its score for one query: fields, their clauses, their terms.

    Parameters
    ----------
    query : str
        Query text as typed.
    product_id : str
    config : MultiMatch
    score : float
        The score of the search; 0.0 where nothing matched.
    matched : bool
        Whether the product is a hit at all (a weight of 0 matches with score 0.0).
    fields : sequence of FieldScore
        Fields that match, best first. Leave out the others.
    engine : str
        Which engine said so.
    terms : sequence of str
        The analysed query.

    Examples
    --------
    An engine builds it bottom up, with keyword arguments::

        term = TermScore(term="shoe", tf=1, df=12, documents=400, idf=3.4, length=9, average_length=8.1, boost=4.0, score=9.7)
        field = FieldScore(field="title", weight=4.0, score=9.7, clauses=(ClauseScore("shoe", 9.7, (term,)),))
        Explanation(query="shoe", product_id="P1", config=config, score=9.7, matched=True, fields=(field,), engine="...", terms=("shoe",))
    """

    query: str
    product_id: str
    config: MultiMatch
    score: float
    matched: bool
    fields: tuple[FieldScore, ...]
    engine: str
    terms: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """One row a term: field, clause, term, edits, tf, df, documents, idf, length, average_length, boost, score."""
        rows = [(field.field, clause.name, term.term, term.edits, term.tf, term.df, term.documents, term.idf, term.length,
                 term.average_length, term.boost, term.score)
                for field in self.fields for clause in field.clauses for term in clause.terms]
        return pd.DataFrame(rows, columns=COLUMNS).astype({"edits": "Int64", "df": "Int64", "documents": "Int64"})

    def to_frame(self) -> pd.DataFrame:
        """The table of terms."""
        return self.table

    def field_scores(self) -> pd.DataFrame:
        """One row a matching field: field, weight, score; best first."""
        return pd.DataFrame([(f.field, f.weight, f.score) for f in self.fields], columns=["field", "weight", "score"])

    def summary(self) -> str:
        """The explanation in one sentence."""
        who = f"product {self.product_id} for {self.query!r}"
        if not self.matched:
            return f"{who}: no hit; no term of {list(self.terms)} in {list(self.config.fields)} (operator {self.config.operator})"
        best = self.fields[0]
        others = "" if len(self.fields) == 1 else f" and {len(self.fields) - 1} more field(s)" + (
            f" times {self.config.tie:g}" if self.config.tie else ", which do not count without a tie breaker")
        return f"{who}: score {self.score:.6g} = {best.field} {best.score:.6g}{others}"

    def __str__(self) -> str:
        lines = [self.summary()]
        for field in self.fields:
            lines.append(f"  {field.field}^{field.weight:g} = {field.score:.6g}")
            for clause in field.clauses:
                lines.append(f"    {clause.name} = {clause.score:.6g}")
                lines.extend(f"      {_sentence(term)}" for term in clause.terms)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = "".join(_field_html(field) for field in self.fields)
        return f"<div><p>{html.escape(self.summary())}</p>{body}</div>"


def best_first(fields: Sequence[FieldScore]) -> tuple[FieldScore, ...]:
    """Fields by score, then by name."""
    return tuple(sorted(fields, key=lambda field: (-field.score, field.field)))


def _sentence(term: TermScore) -> str:
    edits = f", {term.edits} edit(s)" if term.edits else ""
    return (f"{term.term} = {term.score:.6g}: tf {term.tf:g}, in {term.df} of {term.documents} products (idf {term.idf:.4g}), "
            f"length {term.length:g} of average {term.average_length:.4g}, boost {term.boost:.4g}{edits}")


def _field_html(field: FieldScore) -> str:
    clauses = "".join(
        f"<li>{html.escape(clause.name)} = {clause.score:.6g}<ul>"
        + "".join(f"<li>{html.escape(_sentence(term))}</li>" for term in clause.terms) + "</ul></li>"
        for clause in field.clauses)
    return (f"<details><summary>{html.escape(field.field)}^{field.weight:g} = {field.score:.6g}</summary>"
            f"<ul>{clauses}</ul></details>")
