"""What connects a query's words with one product, and what almost does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from toolkit.diagnosis.spelling import sound_key
from toolkit.search.config import MultiMatch

if TYPE_CHECKING:
    from toolkit.search.explain import Explanation

EXACT, FUZZY, NEAR, NONE = "exact", "fuzzy", "beyond fuzziness", "none"
"""How a query token meets a product: the same term; a term within the allowed edits; one just beyond them; not at all."""


class ExplainingEngine(Protocol):
    """What explaining needs of an engine."""

    vocabulary: list[str]

    def analyze(self, text: str) -> list[str]:
        """Terms of a text."""
        ...

    def explain(self, query_text: str, product_id: str, config: MultiMatch) -> Explanation:
        """Why a product got its score."""
        ...


class NearTerms:
    """Indexed terms that lie just beyond the edits a query allows.

    Parameters
    ----------
    vocabulary : sequence of str
        Terms of the index.
    config : MultiMatch
        Its fuzziness says what is within reach.
    """

    def __init__(self, vocabulary: Iterable[str], config: MultiMatch) -> None:
        self._by_letter: dict[str, list[str]] = {}
        for term in vocabulary:
            self._by_letter.setdefault(term[0], []).append(term)
        self._fuzziness = config.fuzziness
        self._memory: dict[str, dict[str, int]] = {}

    def beyond(self, token: str) -> dict[str, int]:
        """Term -> edits, for terms at most one edit beyond AUTO's reach and outside that of the query.

        Tokens of fewer than three letters have none (everything is near them), nor do those with digits (a
        different number is a different thing). The first letter must agree, and of terms with more than
        half of their letters changed only those that sound alike stay.
        """
        if token not in self._memory:
            self._memory[token] = self._find(token) if len(token) >= 3 and token.isalpha() else {}
        return self._memory[token]

    def _find(self, token: str) -> dict[str, int]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        from toolkit.search.fuzzy import allowed_edits

        within, most = allowed_edits(token, self._fuzziness), allowed_edits(token, "AUTO") + 1
        found = process.extract(token, self._by_letter.get(token[0], ()), scorer=OSA.distance, score_cutoff=most, limit=None)
        key = sound_key(token)
        return {term: int(edits) for term, edits, _ in found
                if within < edits and (2 * edits < max(len(term), len(token)) or sound_key(term) == key)}


def token_evidence(engine: ExplainingEngine, explanation: Explanation, near: NearTerms) -> list[dict[str, object]]:
    """One row a distinct query token: token, meets (EXACT, FUZZY, NEAR or NONE), term, edits, field.

    Parameters
    ----------
    engine : ExplainingEngine
    explanation : Explanation
        Of one query and one product.
    near : NearTerms

    Returns
    -------
    list of dict
        ``term``, ``edits`` and ``field`` are None where nothing meets; where several terms do, the one with the
        fewest edits, then the largest score.
    """
    met = _met_terms(explanation)
    return [met[token] if token in met else _near_term(engine, explanation, token, near) for token in dict.fromkeys(explanation.terms)]


def _met_terms(explanation: Explanation) -> dict[str, dict[str, object]]:
    """Token -> its best term of the product."""
    best: dict[str, tuple] = {}
    for field in explanation.fields:
        for clause in field.clauses:
            for token in clause.name.split(" + "):
                for term in clause.terms:
                    edits = 0 if term.term == token else 1 if term.edits is None else term.edits
                    best[token] = min(best.get(token, (99,)), (edits, -term.score, term.term, field.field))
    return {token: {"token": token, "meets": EXACT if edits == 0 else FUZZY, "term": term, "edits": edits, "field": field}
            for token, (edits, _, term, field) in best.items()}


def _near_term(engine: ExplainingEngine, explanation: Explanation, token: str, near: NearTerms) -> dict[str, object]:
    """The product's term just beyond reach of a token, if it has one."""
    candidates = near.beyond(token)
    nothing = {"token": token, "meets": NONE, "term": None, "edits": None, "field": None}
    if not candidates:
        return nothing
    exact = replace(explanation.config, fuzziness=0, operator="or")
    found = engine.explain(" ".join(candidates), explanation.product_id, exact).table
    hits = [(candidates[row.term], row.term, row.field) for row in found.itertuples() if row.term in candidates]
    if not hits:
        return nothing
    edits, term, field = min(hits)
    return {"token": token, "meets": NEAR, "term": term, "edits": edits, "field": field}
