"""Explanations of the embedded engine, from the trace of one product's score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from toolkit.search import bm25
from toolkit.search.explain import ClauseScore, FieldScore, TermScore, best_first
from toolkit.search.index import Index
from toolkit.search.plan import Clause, Leaf, QueryPlan
from toolkit.search.trace import Trace


def field_explanations(index: Index, plan: QueryPlan, found: Trace, field_weights: np.ndarray, doc: int,
                       tokens: Sequence[str], nodes: Sequence[Sequence[Clause | None]]) -> tuple[FieldScore, ...]:
    """The fields that match one product, best first, each with its clauses and terms.

    Parameters
    ----------
    index : Index
    plan : QueryPlan
    found : Trace
        Of the same plan, weights and product.
    field_weights : ndarray, float32
    doc : int
        Position of the product.
    tokens : sequence of str
        The analysed query.
    nodes : sequence
        For each token, its node in every field.
    """
    out = []
    for f, field in enumerate(plan.fields):
        if np.isnan(found.fields[f]):
            continue
        sources = _sources(tokens, [node[field.field] for node in nodes])
        rows = range(plan.clause_start[plan.field_start[f]], plan.clause_start[plan.field_start[f + 1]])
        leaves = [leaf for clause in field.clauses for leaf in ((clause,) if isinstance(clause, Leaf) else clause.leaves)]
        clauses: dict[str, list[TermScore]] = {}
        for row, leaf in zip(rows, leaves, strict=True):
            if found.postings[row] >= 0:
                names = sources[leaf.term]
                boost = leaf.boost * (plan.clause_boost[row] * field_weights[f])
                term = _term(index, field.field, leaf, names, found, row, doc, float(boost))
                clauses.setdefault(" + ".join(names), []).append(term)
        out.append(FieldScore(
            index.fields[field.field], float(field_weights[f]), float(np.float32(found.fields[f])),
            tuple(ClauseScore(name, float(np.float32(sum(t.score for t in terms))), tuple(terms))
                  for name, terms in clauses.items())))
    return best_first(out)


def _sources(tokens: Sequence[str], nodes: Sequence[Clause | None]) -> dict[int, list[str]]:
    """Which query tokens lead to each term."""
    sources: dict[int, list[str]] = {}
    for token, node in zip(tokens, nodes, strict=True):
        leaves = () if node is None else (node,) if isinstance(node, Leaf) else node.leaves
        for leaf in leaves:
            sources.setdefault(leaf.term, []).append(token)
    return sources


def _term(index: Index, field: int, leaf: Leaf, tokens: list[str], found: Trace, row: int, doc: int, boost: float) -> TermScore:
    documents = int(index.documents[field])
    return TermScore(
        term=index.vocabulary[leaf.term], tf=float(index.tf[found.postings[row]]), df=leaf.df, documents=documents,
        idf=float(bm25.idf(leaf.df, documents)), length=float(bm25.decoded_length(int(index.norms[field, doc]))),
        average_length=float(index.average_length(field)), boost=boost, score=float(found.rows[row]),
        edits=_edits(tokens, index.vocabulary[leaf.term], leaf))


def _edits(tokens: list[str], term: str, leaf: Leaf) -> int | None:
    """Edits, read back from the term's boost ``1 - edits / shorter length``; None for merged tokens."""
    if len(tokens) != 1:
        return None
    return round((1 - float(leaf.boost)) * min(len(tokens[0]), len(term)))
