"""Why each missing relevant product is missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
from tqdm.auto import tqdm

from toolkit.diagnosis.buckets import REQUEST_FAILED
from toolkit.diagnosis.evidence import EXACT, FUZZY, NEAR, NearTerms, token_evidence
from toolkit.diagnosis.failures import FailureDiagnosis
from toolkit.diagnosis.negation import negations
from toolkit.diagnosis.reasons import (CAUSES, LOST_TO_FUZZINESS, NEGATED, NO_TERM, NOT_TOGETHER, ONLY_FUZZY, OUTSCORED, REASONS,
                                       UNINDEXED, MissingReasons)
from toolkit.search.config import MultiMatch
from toolkit.tables import JUDGMENTS, QUERIES, check

if TYPE_CHECKING:
    from toolkit.search.embedded import EmbeddedEngine
    from toolkit.search.explain import Explanation


def explain_missing(engine: EmbeddedEngine, queries: pd.DataFrame, judgments: pd.DataFrame, diagnosis: FailureDiagnosis, config: MultiMatch, *,
                    per_query: int = 3, progress: bool = False) -> MissingReasons:
    """Say for each failing query why its relevant products are not on top.

    Parameters
    ----------
    engine : EmbeddedEngine
        The engine that was diagnosed (it needs ``vocabulary``, ``analyze``, ``explain``, ``field_scores``, ``search``).
    queries, judgments : DataFrame
        As diagnosed.
    diagnosis : FailureDiagnosis
        Its failing queries are explained; those whose request failed are left out.
    config : MultiMatch
        The configuration that was diagnosed.
    per_query : int
        Relevant products to explain per query: the first returned one, then by grade and id.
    progress : bool

    Returns
    -------
    MissingReasons

    Raises
    ------
    ValueError
        If a failing query has no text in ``queries``.
    """
    check(queries, QUERIES, source="queries")
    check(judgments, JUDGMENTS, source="judgments")
    failing = diagnosis.failing[diagnosis.failing["bucket"] != REQUEST_FAILED]
    texts = queries.set_index("query_id")["query"]
    unknown = failing.loc[~failing["query_id"].isin(texts.index), "query_id"]
    if len(unknown):
        raise ValueError(f"explain_missing: {len(unknown)} failing queries have no text in queries (first: {unknown.iloc[0]!r}); "
                         "pass the queries that were searched")
    failing = failing.drop(columns="query", errors="ignore").assign(query=failing["query_id"].map(texts))
    targets = _targets(failing, judgments, engine, diagnosis.relevant_grade, per_query)
    case = _Case(engine, config, failing, targets, diagnosis.k)
    rows, tokens = [], []
    for row in tqdm(list(failing.itertuples()), desc="explain", unit="query", disable=not progress):
        for product_id in targets[row.query_id]:
            made, evidence = case.explain(row, product_id)
            rows.append(made)
            tokens += [{"query_id": row.query_id, "product_id": product_id, **one} for one in evidence]
        if not targets[row.query_id]:
            rows.append(_unindexed(row))
    table = _typed(rows, _COLUMNS)
    return MissingReasons(table, _typed(tokens, _TOKEN_COLUMNS), _by_query(table), per_query)


_COLUMNS = ["query_id", "query", "bucket", "product_id", "rank", "reason", "score", "field", "top_id", "top_score", "top_field", "gap", "detail"]
_TOKEN_COLUMNS = ["query_id", "product_id", "token", "meets", "term", "edits", "field", "negated"]
_NUMBERS = {"rank": "Int64", "score": "float64", "top_score": "float64", "gap": "float64", "edits": "Int64", "negated": "bool"}


class _Case:
    """What the explanation of every product needs: results, what negations hit, terms just out of reach."""

    def __init__(self, engine: EmbeddedEngine, config: MultiMatch, failing: pd.DataFrame, targets: dict[str, list[str]], k: int) -> None:
        self.engine, self.config = engine, config
        self.near = NearTerms(engine.vocabulary, config)
        tops = engine.search(failing[["query_id", "query"]], config, depth=k)
        self.tops = {query_id: group["product_id"].tolist() for query_id, group in tops.groupby("query_id")}
        self.excluded = {row.query_id: [n.scope for n in negations(row.query)] for row in failing.itertuples()}
        self.hit = self._hit_by_negation(failing, targets)
        self.leaders: dict[str, Explanation] = {}

    def _hit_by_negation(self, failing: pd.DataFrame, targets: dict[str, list[str]]) -> set[tuple[str, str]]:
        """(query, product) pairs, among results and targets, that match the words a query excludes."""
        scopes = pd.DataFrame([(q, " ".join(found)) for q, found in self.excluded.items() if found], columns=["query_id", "query"]).astype("str")
        pairs = [(q, p) for q in scopes["query_id"] for p in dict.fromkeys([*self.tops.get(q, []), *targets[q]])]
        if not pairs:
            return set()
        wanted = pd.DataFrame(pairs, columns=["query_id", "product_id"]).astype("str")
        found = self.engine.field_scores(scopes, replace(self.config, operator="or"), wanted).table
        return set(zip(found["query_id"], found["product_id"], strict=True))

    def is_negated(self, query_id: str, product_id: str) -> bool:
        """Do most results have what the query excludes, and the product not?"""
        tops = self.tops.get(query_id, [])
        return bool(tops) and (query_id, product_id) not in self.hit and 2 * sum((query_id, top) in self.hit for top in tops) > len(tops)

    def leader(self, query_id: str, query: str) -> Explanation | None:
        """Explanation of the query's first result."""
        if query_id not in self.leaders and self.tops.get(query_id):
            self.leaders[query_id] = self.engine.explain(query, self.tops[query_id][0], self.config)
        return self.leaders.get(query_id)

    def explain(self, row: tuple, product_id: str) -> tuple[dict[str, object], list[dict[str, object]]]:
        """The table's row of one product, and its tokens' evidence."""
        own, top = self.engine.explain(row.query, product_id, self.config), self.leader(row.query_id, row.query)
        loose = own if own.matched else self.engine.explain(row.query, product_id, replace(self.config, operator="or"))
        evidence = token_evidence(self.engine, loose, self.near)
        excluded = {term for scope in self.excluded[row.query_id] for term in self.engine.analyze(scope)}
        evidence = [{**one, "negated": one["token"] in excluded} for one in evidence]
        reason = self._reason(row.query_id, own, evidence)
        made = {"query_id": row.query_id, "query": row.query, "bucket": row.bucket, "product_id": product_id,
                "rank": row.first_rank if product_id == row.first_id else None, "reason": reason, "score": own.score, "field": _field(own),
                "top_id": top.product_id if top else None, "top_score": top.score if top else None, "top_field": _field(top),
                "gap": top.score - own.score if top else None}
        return {**made, "detail": _detail(made, evidence, self.excluded[row.query_id])}, evidence

    def _reason(self, query_id: str, own: Explanation, evidence: list[dict[str, object]]) -> str:
        """The first reason that holds."""
        if self.is_negated(query_id, own.product_id):
            return NEGATED
        meets = [one["meets"] for one in evidence if not one["negated"]]
        if own.matched:
            return OUTSCORED if EXACT in meets else ONLY_FUZZY
        if EXACT in meets or FUZZY in meets:
            return NOT_TOGETHER
        return LOST_TO_FUZZINESS if NEAR in meets else NO_TERM


def _targets(failing: pd.DataFrame, judgments: pd.DataFrame, engine: EmbeddedEngine, relevant_grade: float, per_query: int) -> dict[str, list[str]]:
    """Query -> indexed relevant products to explain: the first returned one, then best grades."""
    relevant = judgments[(judgments["grade"] >= relevant_grade) & judgments["query_id"].isin(failing["query_id"])]
    relevant = relevant[relevant["product_id"].isin(pd.Index(engine.product_ids))].sort_values(["grade", "product_id"], ascending=[False, True])
    found = relevant.groupby("query_id")["product_id"].agg(list).to_dict()
    firsts = dict(zip(failing["query_id"], failing["first_id"], strict=True))
    return {q: list(dict.fromkeys([*([first] if isinstance(first, str) else []), *found.get(q, [])]))[:per_query] for q, first in firsts.items()}


def _by_query(table: pd.DataFrame) -> pd.DataFrame:
    """The reason of each query.

    That of its first returned product where one was returned; else the most frequent, and of equally
    frequent ones the first in ``REASONS``.
    """
    order, rows = list(REASONS), []
    for query_id, group in table.groupby("query_id", sort=False):
        counts = Counter(group["reason"])
        ranked = group[group["rank"].notna()]
        reason = ranked["reason"].iloc[0] if len(ranked) else min(counts, key=lambda name: (-counts[name], order.index(name)))
        first = group[group["reason"] == reason].iloc[0]
        rows.append((query_id, first["query"], first["bucket"], reason, CAUSES[reason], len(group), counts[reason], first["detail"]))
    columns = ["query_id", "query", "bucket", "reason", "cause", "n", "agreeing", "detail"]
    return pd.DataFrame(rows, columns=columns).astype({name: "str" for name in columns if name not in ("n", "agreeing")} | {"n": "int64", "agreeing": "int64"})


def _field(explanation: Explanation | None) -> str | None:
    """The best matching field."""
    return explanation.fields[0].field if explanation and explanation.fields else None


def _detail(row: dict[str, object], evidence: list[dict[str, object]], excluded: list[str]) -> str:
    """The reason in words, with its evidence."""
    if row["reason"] == NEGATED:
        scopes = ", ".join(repr(scope) for scope in excluded)
        return f"the query excludes {scopes}, which most of the first results have and this product has not"
    if row["reason"] == LOST_TO_FUZZINESS:
        return "; ".join(f"{one['token']!r} is {one['edits']} edits from {one['term']!r} in {one['field']}"
                         for one in evidence if one["meets"] == NEAR)
    if row["reason"] in (OUTSCORED, ONLY_FUZZY) and row["gap"] is not None:
        shared = ", ".join(f"{one['term']!r}{_instead(one)} in {one['field']}" for one in evidence if one["meets"] in (EXACT, FUZZY))
        return f"has {shared} and scores {row['score']:.4g} by {row['field']}; the first result scores {row['top_score']:.4g} by {row['top_field']}"
    return REASONS[row["reason"]]


def _instead(one: dict[str, object]) -> str:
    """What a fuzzy term was found for."""
    return f" (for {one['token']!r})" if one["meets"] == FUZZY else ""


def _unindexed(row: tuple) -> dict[str, object]:
    """The row of a query none of whose relevant products is indexed."""
    return {"query_id": row.query_id, "query": row.query, "bucket": row.bucket, "reason": UNINDEXED, "detail": REASONS[UNINDEXED]}


def _typed(rows: list[dict[str, object]], columns: list[str]) -> pd.DataFrame:
    """Rows as a table with its dtypes: text unless it is a number."""
    return pd.DataFrame(rows, columns=columns).astype({name: _NUMBERS.get(name, "str") for name in columns})
