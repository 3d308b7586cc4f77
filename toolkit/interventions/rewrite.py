"""Rewrite: another query text is searched, past a guard that can refuse it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from toolkit.interventions.asking import ask_all
from toolkit.interventions.guard import RewriteGuard
from toolkit.interventions.models.protocol import ModelFailure, Reply, RewriteModel, RewriteRequest
from toolkit.interventions.outcome import Outcome, outcome_row
from toolkit.interventions.statuses import RewriteStatus
from toolkit.search.config import MultiMatch
from toolkit.search.protocol import SearchEngine, SearchRun
from toolkit.search.query_table import check_queries


REFUSED = "refused by the guard: "  # begins the reason of each refusal
MAX_QUERY_CHARACTERS = 1000  # nobody types more; an endless answer must not become a search


@dataclass(frozen=True)
class Rewrite:
    """A rewrite as an intervention.

    Parameters
    ----------
    model : RewriteModel
        Who proposes the new text.
    guard : RewriteGuard or None
        Who may refuse it; None switches the guard off (for comparison).
    enabled : bool
        The switch: off means every query is searched as typed with status ``DISABLED``.
    select : callable, optional
        Query text -> bool; queries it refuses are ``NOT_REQUESTED``.
    timeout : float or None
        Seconds after which an answer no longer counts.
    """

    model: RewriteModel
    guard: RewriteGuard | None = None
    enabled: bool = True
    select: Callable[[str], bool] | None = None
    timeout: float | None = None

    def propose(self, queries: pd.DataFrame, *, analyze: Callable[[str], list[str]] | None = None, progress: bool = True) -> pd.DataFrame:
        """Ask for every query and say what would be searched.

        Parameters
        ----------
        queries : DataFrame
            query_id, query.
        analyze : callable, optional
            An engine's ``analyze``. Given, a text in which the engine reads the same terms (another case, more
            spaces) is ``NO_CHANGE``; without it any other text counts as changed.

        Returns
        -------
        DataFrame
            One row a query in the given order: the columns of ``Outcome.table``, where
            proposed_query is the model's text and rewritten_query the text to search.
        """
        check_queries(queries)
        rows: dict[str, dict] = {}
        requests = []
        for query_id, query in zip(queries["query_id"], queries["query"]):
            selected = self.enabled and (self.select is None or self.select(query))
            status = RewriteStatus.NOT_REQUESTED if self.enabled else RewriteStatus.DISABLED
            rows[query_id] = _row(RewriteRequest(query_id, query), status)
            if selected:
                requests.append(RewriteRequest(query_id, query))
        asked = ask_all(requests, self.model.rewrite, concurrency=self.model.concurrency, timeout=self.timeout,
                        progress=progress, title="rewrite")
        for request, answer in asked:
            rows[request.query_id] = self._read(request, answer, analyze)
        return pd.DataFrame(list(rows.values()))

    def apply(self, engine: SearchEngine, queries: pd.DataFrame, config: MultiMatch, depth: int, *,
              baseline: SearchRun | None = None, progress: bool = True) -> Outcome:
        """Search every query with its rewritten text.

        Parameters
        ----------
        engine, queries, config, depth
            As for ``engine.run``.
        baseline : SearchRun, optional
            The run of the queries as typed at this depth; given, only changed queries are searched again.

        Returns
        -------
        Outcome
            Rankings have query_id, product_id, rank, score. ``APPLIED`` means that the engine reads other terms.
        """
        table = self.propose(queries, analyze=getattr(engine, "analyze", None), progress=progress)
        changed = table["status"].eq(RewriteStatus.APPLIED.value)
        unmodified = baseline or engine.run(queries, config, depth)
        again = table.loc[changed, ["query_id", "rewritten_query"]].rename(columns={"rewritten_query": "query"})
        if again.empty:
            return Outcome(unmodified.rankings, table, RewriteStatus)
        rerun = engine.run(again.reset_index(drop=True), config, depth)
        table, failed = _search_failures(table, rerun)
        kept = unmodified.rankings[~unmodified.rankings["query_id"].isin(set(again["query_id"]) - failed)]
        new = rerun.rankings[~rerun.rankings["query_id"].isin(failed)]
        return Outcome(pd.concat([kept, new], ignore_index=True), table, RewriteStatus)

    def _read(self, request: RewriteRequest, answer: Reply | ModelFailure, analyze: Callable[[str], list[str]] | None) -> dict:
        """The outcome row of one answer; the query as typed is searched unless the text really changed."""
        if isinstance(answer, ModelFailure):
            status = RewriteStatus(answer.status) if answer.status in RewriteStatus.__members__ else RewriteStatus.INVALID_RESPONSE
            return _row(request, status, str(answer), answer=answer)
        if not isinstance(answer.content, str) or not answer.content.strip():
            return _row(request, RewriteStatus.INVALID_RESPONSE, f"the answer is {answer.content!r}, expected a query", answer=answer)
        if len(answer.content) > MAX_QUERY_CHARACTERS:
            return _row(request, RewriteStatus.INVALID_RESPONSE,
                        f"the answer has {len(answer.content):,} characters, expected at most {MAX_QUERY_CHARACTERS:,}", answer=answer)
        if answer.content == request.query:
            return _row(request, RewriteStatus.NO_CHANGE, answer=answer)
        if analyze and _same_terms(analyze, answer.content, request.query):
            return _row(request, RewriteStatus.NO_CHANGE, "the engine reads the same terms in both texts", proposed=answer.content, answer=answer)
        refused = self.guard.reasons(request.query, answer.content) if self.guard else []
        if refused:
            return _row(request, RewriteStatus.NO_CHANGE, REFUSED + "; ".join(refused), proposed=answer.content, answer=answer)
        return _row(request, RewriteStatus.APPLIED, proposed=answer.content, rewritten=answer.content, answer=answer)


def _same_terms(analyze: Callable[[str], list[str]], text: str, other: str) -> bool:
    """Does the engine read the same terms? Not known where it cannot be asked; the search that follows meets the same trouble."""
    try:
        return analyze(text) == analyze(other)
    except ConnectionError:
        return False


def _row(request: RewriteRequest, status: RewriteStatus, reason: str | None = None, *, proposed: str | None = None,
         rewritten: str | None = None, answer: Reply | ModelFailure | None = None) -> dict:
    """An outcome row with the three texts of a rewrite."""
    return outcome_row(request.query_id, status, reason, answer=answer, query=request.query,
                       proposed_query=proposed, rewritten_query=rewritten or request.query)


def _search_failures(table: pd.DataFrame, rerun: SearchRun) -> tuple[pd.DataFrame, set[str]]:
    """Rewritten queries whose own search failed go back to the text as typed, as a transport error."""
    failed = rerun.status.loc[rerun.status["status"] == "failed"].set_index("query_id")["reason"]
    if failed.empty:
        return table, set()
    hit = table["query_id"].isin(failed.index)
    reasons = table.loc[hit, "query_id"].map(lambda query_id: f"search of the rewritten text failed: {failed[query_id]}")
    table = table.copy()
    table.loc[hit, "status"] = RewriteStatus.TRANSPORT_ERROR.value
    table.loc[hit, "reason"] = reasons
    table.loc[hit, "rewritten_query"] = table.loc[hit, "query"]
    return table, set(failed.index)
