"""What Elasticsearch makes of one query before it scores: clauses of terms, per field.

A token becomes one term (a leaf) or many fuzzy terms (a group); equal clauses merge and add
their boosts; the result depends on operator, fuzziness, prefix and expansions, never on field
weights or tie breaker, so one plan serves every weight configuration. ``SCORING.md`` sections
4 and 5 have the rules; they are those of Lucene 10.3.1's query rewriting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from toolkit.search import bm25
from toolkit.search.config import MultiMatch
from toolkit.search.fuzzy import FuzzyIndex, allowed_edits
from toolkit.search.index import Index

F32 = np.float32
MEMORY = 200_000
"""Expansions remembered at most; then the memory starts anew."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One term as a clause; ``df`` is the (blended) document frequency of its idf."""

    term: int
    boost: np.float32
    df: int

    @property
    def key(self) -> object:
        """Leaves are equal when the term is, whatever boost and df."""
        return self.term


@dataclass(frozen=True, slots=True)
class Group:
    """Several terms as one clause: the fuzzy expansions of a token."""

    leaves: tuple[Leaf, ...]
    boost: np.float32 = F32(1)

    @property
    def key(self) -> object:
        """Groups are equal when their terms and term boosts are."""
        return tuple((leaf.term, float(leaf.boost)) for leaf in self.leaves)


Clause = Leaf | Group


@dataclass(frozen=True)
class FieldPlan:
    """The clauses of one field, and how they meet.

    Attributes
    ----------
    field : int
        Position of the field in the index.
    clauses : tuple of Leaf or Group
        A product's field score is the float32 of the sum of its clauses' scores.
    require_all : bool
        Must a product match every clause?
    inlinable : bool
        A plain sum of two clauses or more: with tie breaker 1 and field weight 1 its clauses
        join the sum over fields directly, without a rounding of their own.
    irreproducible : bool
        Elasticsearch's own choice among several document frequencies depends on its JVM.
    """

    field: int
    clauses: tuple[Clause, ...]
    require_all: bool = False
    inlinable: bool = False
    irreproducible: bool = False


@dataclass(frozen=True)
class QueryPlan:
    """One query over some fields, as arrays ready for the kernels.

    R term rows stand clause by clause, field by field; fields in which the query has no
    clause do not appear.

    Attributes
    ----------
    fields : tuple of FieldPlan
        Fields that can match, in index order.
    field_start : ndarray, int32, shape (fields + 1,)
        Clauses of each field.
    clause_start : ndarray, int32, shape (clauses + 1,)
        Term rows of each clause.
    start, stop : ndarray, int64, shape (R,)
        Postings of each row.
    boost, clause_boost, idf : ndarray, float32, shape (R,)
        What a row's weight is made of (:func:`toolkit.search.bm25.term_weights`).
    row_field : ndarray, int32, shape (R,)
        Index into ``fields``.
    """

    fields: tuple[FieldPlan, ...]
    field_start: np.ndarray
    clause_start: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    boost: np.ndarray
    clause_boost: np.ndarray
    idf: np.ndarray
    row_field: np.ndarray

    @property
    def irreproducible(self) -> bool:
        """Does any field's score depend on the JVM of Elasticsearch?"""
        return any(field.irreproducible for field in self.fields)

    def weights(self, field_weights: np.ndarray) -> np.ndarray:
        """Float32 weight ``W`` of each row.

        Parameters
        ----------
        field_weights : ndarray, float32, shape (fields,) or (fields, configurations)

        Returns
        -------
        ndarray, float32, shape (R,) or (R, configurations)
        """
        rows = (slice(None),) + (None,) * (field_weights.ndim - 1)
        return bm25.term_weights(self.boost[rows], self.clause_boost[rows], field_weights[self.row_field], self.idf[rows])


class Planner:
    """Makes plans over one index, and remembers how tokens expand.

    Parameters
    ----------
    index : Index
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._fuzzy: FuzzyIndex | None = None
        self._expansions: dict[tuple[str, int, int, int], tuple[Clause | None, ...]] = {}

    def plan(self, tokens: Sequence[str], config: MultiMatch, fields: Iterable[int]) -> QueryPlan:
        """Plan a query.

        Parameters
        ----------
        tokens : sequence of str
            The analysed query, in order, repeats included.
        config : MultiMatch
            Operator, fuzziness, prefix_length and max_expansions are used.
        fields : iterable of int
            Positions of the fields to search.
        """
        nodes = [self.node(token, config) for token in tokens]
        plans = [plan_field(f, [node[f] for node in nodes], config.operator) for f in sorted(fields)]
        return self._arrays(tuple(plan for plan in plans if plan.clauses))

    def node(self, token: str, config: MultiMatch) -> tuple[Clause | None, ...]:
        """The token's node in every field; None where nothing matches."""
        edits = allowed_edits(token, config.fuzziness)
        key = (token, edits, config.prefix_length if edits else 0, config.max_expansions if edits else 0)
        if key not in self._expansions:
            if len(self._expansions) >= MEMORY:
                self._expansions.clear()
            self._expansions[key] = self._exact(token) if edits == 0 else self._similar(*key)
        return self._expansions[key]

    def _exact(self, token: str) -> tuple[Clause | None, ...]:
        term = self._index.term_ids.get(token)
        if term is None:
            return (None,) * len(self._index.fields)
        frequencies = (self._index.document_frequency(term, f) for f in range(len(self._index.fields)))
        return tuple(Leaf(term, F32(1), df) if df else None for df in frequencies)

    def _similar(self, token: str, edits: int, prefix: int, most: int) -> tuple[Clause | None, ...]:
        """The best ``most`` terms of each field by boost, then by term; then in term order."""
        if self._fuzzy is None:
            self._fuzzy = FuzzyIndex(self._index.vocabulary)
        terms, distances = self._fuzzy.within(token, edits, prefix)
        shorter = np.minimum(self._fuzzy.lengths(terms), len(token)).astype(F32)
        boosts = np.maximum(F32(1) - distances.astype(F32) / shorter, F32(0))
        nodes = []
        for ptr in self._index.ptr:
            df = ptr[terms + 1] - ptr[terms]
            here = np.flatnonzero(df)
            if len(here) > most:
                best = np.lexsort((terms[here], -boosts[here]))[:most]
                here = np.sort(here[best])
            nodes.append(_node(terms[here], boosts[here], int(df[here].max(initial=0))))
        return tuple(nodes)

    def _arrays(self, fields: tuple[FieldPlan, ...]) -> QueryPlan:
        """Flatten the clauses; the order of rows is that of the plan."""
        clauses = [clause for field in fields for clause in field.clauses]
        rows = [leaf for clause in clauses for leaf in _leaves(clause)]
        sizes = [len(_leaves(clause)) for clause in clauses]
        field_start, clause_start = _offsets([len(field.clauses) for field in fields]), _offsets(sizes)
        row_field = np.repeat(np.arange(len(fields), dtype=np.int32), np.diff(clause_start[field_start]))
        term = np.array([leaf.term for leaf in rows], np.int64)
        at = np.array([field.field for field in fields], np.int64)[row_field]
        documents = self._index.documents
        idfs = _idfs([leaf.df for leaf in rows], at, documents)
        groups = np.array([F32(1) if isinstance(c, Leaf) else c.boost for c in clauses], F32)
        return QueryPlan(
            fields, field_start, clause_start, self._index.ptr[at, term], self._index.ptr[at, term + 1],
            np.array([leaf.boost for leaf in rows], F32), np.repeat(groups, sizes), idfs, row_field)


def plan_field(field: int, nodes: Sequence[Clause | None], operator: str) -> FieldPlan:
    """The clauses of one field from its token nodes: merge, flatten, merge again.

    Parameters
    ----------
    field : int
    nodes : sequence of Leaf, Group or None
        One a query token, in order; None where the token matches nothing.
    operator : {"or", "and"}

    Returns
    -------
    FieldPlan
        Without clauses where the field cannot match.
    """
    found = [node for node in nodes if node is not None]
    if not found or (operator == "and" and len(found) < len(nodes)):
        return FieldPlan(field, ())
    clauses, doubtful = merge(found)
    if len(clauses) > 1 and operator == "or" and any(_is_plain_group(clause) for clause in clauses):
        rebuilt = len(clauses) < len(found)
        flat = [leaf for clause in clauses for leaf in (clause.leaves if _is_plain_group(clause) else (clause,))]
        clauses, again = merge(flat, rebuilt)
        doubtful |= again
    return replace(_finished(field, tuple(clauses), operator), irreproducible=doubtful)


def merge(clauses: Sequence[Clause], rebuilt: bool = False) -> tuple[list[Clause], bool]:
    """Merge equal clauses: boosts add in double and are rounded once.

    Parameters
    ----------
    clauses : sequence of Leaf or Group
    rebuilt : bool
        Has an earlier merge already rebuilt this list? Then Elasticsearch no longer keeps the
        query's order even among clauses of equal boost.

    Returns
    -------
    tuple of (list, bool)
        Merged clauses by first appearance, and whether Elasticsearch could have kept another
        document frequency: it keeps one of several in the order of a hash seeded by the JVM's
        start. Here the first in query order is kept.
    """
    same: dict[object, list[Clause]] = {}
    for clause in clauses:
        same.setdefault((type(clause), clause.key), []).append(clause)
    if len(same) == len(clauses):
        return list(clauses), False
    merged = [replace(alike[0], boost=F32(sum(float(clause.boost) for clause in alike))) if len(alike) > 1 else alike[0]
              for alike in same.values()]
    return merged, any(_is_doubtful(alike, rebuilt) for alike in same.values() if len(alike) > 1)


def _is_doubtful(alike: list[Clause], rebuilt: bool) -> bool:
    """Do merged leaves offer several document frequencies that survive Lucene's counting?

    Among equal (term, boost) the first inserted is kept: certain, unless the list was rebuilt.
    """
    if isinstance(alike[0], Group):
        return False
    if rebuilt:
        return len({leaf.df for leaf in alike}) > 1
    first: dict[float, int] = {}
    for leaf in alike:
        first.setdefault(float(leaf.boost), leaf.df)
    return len(set(first.values())) > 1


def _finished(field: int, clauses: tuple[Clause, ...], operator: str) -> FieldPlan:
    """A single unboosted group is the field's query itself: a plain sum of its terms."""
    if len(clauses) > 1:
        return FieldPlan(field, clauses, require_all=operator == "and", inlinable=operator == "or")
    if _is_plain_group(clauses[0]):
        return FieldPlan(field, clauses[0].leaves, inlinable=True)
    return FieldPlan(field, clauses)


def _is_plain_group(clause: Clause) -> bool:
    return isinstance(clause, Group) and clause.boost == 1


def _node(terms: np.ndarray, boosts: np.ndarray, df: int) -> Clause | None:
    leaves = tuple(Leaf(int(term), boost, df) for term, boost in zip(terms, boosts, strict=True))
    return Group(leaves) if len(leaves) > 1 else leaves[0] if leaves else None


def _leaves(clause: Clause) -> tuple[Leaf, ...]:
    return (clause,) if isinstance(clause, Leaf) else clause.leaves


def _offsets(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _idfs(frequencies: list[int], fields: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """idf of each row, each distinct (df, field) computed once."""
    known: dict[tuple[int, int], np.float32] = {}
    out = np.empty(len(frequencies), F32)
    for row, pair in enumerate(zip(frequencies, fields.tolist(), strict=True)):
        if pair not in known:
            known[pair] = bm25.idf(pair[0], int(documents[pair[1]]))
        out[row] = known[pair]
    return out
