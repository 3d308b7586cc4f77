"""Rerank: the top N of a ranking in another order, never other products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.interventions.asking import ask_all
from toolkit.interventions.merge import is_permutation, merge_order, read_numbers
from toolkit.interventions.models.protocol import ModelFailure, Reply, RerankModel, RerankRequest
from toolkit.interventions.outcome import Outcome, outcome_row
from toolkit.interventions.statuses import RerankStatus
from toolkit.search.query_table import check_queries

TEXT_FIELDS = ("title", "brand", "color")


@dataclass(frozen=True)
class Rerank:
    """A rerank as an intervention.

    Parameters
    ----------
    model : RerankModel
        Who orders the candidates.
    fields : tuple of str
        Product columns a candidate's text is made of, in this order.
    enabled : bool
        The switch: off means every query is served unmodified with status ``DISABLED``.
    select : callable, optional
        Query text -> bool; queries it refuses are ``NOT_REQUESTED``.
    timeout : float or None
        Seconds after which an answer no longer counts.
    """

    model: RerankModel
    fields: tuple[str, ...] = TEXT_FIELDS
    enabled: bool = True
    select: Callable[[str], bool] | None = None
    timeout: float | None = None

    def apply(self, rankings: pd.DataFrame, queries: pd.DataFrame, products: pd.DataFrame, depth: int, *, progress: bool = True) -> Outcome:
        """Reorder the top ``depth`` of each query.

        Parameters
        ----------
        rankings : DataFrame
            query_id, product_id, rank, score.
        queries : DataFrame
            query_id, query; rankings of other queries stay as they are.
        products : DataFrame
            product_id and the text columns.
        depth : int
            Candidates shown (N); of 1 there is nothing to reorder, so no model is asked.

        Returns
        -------
        Outcome
            Rankings have query_id, product_id, rank, engine_rank, engine_score (no score: the order
            is the rank's); ranks beyond ``depth`` keep the engine's order.

        Raises
        ------
        TableError
            If queries are malformed or repeat an id.
        ValueError
            If the depth is below 1, or a candidate is not among the products.
        """
        check_queries(queries, depth)
        ordered = rankings.sort_values(["query_id", "rank"], kind="stable", ignore_index=True)
        groups = ordered.groupby("query_id", sort=False).indices
        product_ids = ordered["product_id"].to_numpy(dtype=object)
        texts = candidate_texts(products, self.fields)
        rows: dict[str, dict] = {}
        requests: list[RerankRequest] = []
        for query_id, query in zip(queries["query_id"], queries["query"]):
            found = product_ids[groups.get(query_id, [])[:depth]]
            status = self._unasked(query, len(found))
            rows[query_id] = outcome_row(query_id, status or RerankStatus.INTERNAL_ERROR, candidates=len(found))
            if status is None:
                requests.append(RerankRequest(query_id, query, tuple(found), _texts_of(found, texts)))
        position = np.arange(len(ordered))
        asked = ask_all(requests, self.model.rerank, prepare=getattr(self.model, "prepare", None), concurrency=self.model.concurrency,
                        timeout=self.timeout, progress=progress, title=f"rerank top {depth}")
        for request, answer in asked:
            place = groups[request.query_id][:depth]
            order, rows[request.query_id] = _read(request, answer)
            position[place] = place[order]
        return Outcome(_reordered(ordered, position), pd.DataFrame(list(rows.values())), RerankStatus)

    def _unasked(self, query: str, candidates: int) -> RerankStatus | None:
        """The status of a query no model is asked about, None for one to ask."""
        if not self.enabled:
            return RerankStatus.DISABLED
        if candidates < 2 or (self.select is not None and not self.select(query)):
            return RerankStatus.NOT_REQUESTED
        return None


def candidate_texts(products: pd.DataFrame, fields: Sequence[str]) -> dict[str, str]:
    """One text a product from its columns, joined by " | ": product_id -> text."""
    present = [name for name in fields if name in products.columns]
    if not present:
        raise ValueError(f"Rerank: products have none of the columns {list(fields)}; got {list(products.columns)}")
    columns = [products[name].fillna("").astype(str) for name in present]
    joined = columns[0].str.cat(columns[1:], sep=" | ") if len(columns) > 1 else columns[0]
    return dict(zip(products["product_id"], joined))


def _texts_of(found: Sequence[str], texts: dict[str, str]) -> tuple[str, ...]:
    """The candidates' texts."""
    missing = [product_id for product_id in found if product_id not in texts]
    if missing:
        raise ValueError(f"Rerank: {len(missing)} of {len(found)} candidates are not among the products (for example {missing[0]!r}); "
                         "pass the products that were searched")
    return tuple(texts[product_id] for product_id in found)


def _read(request: RerankRequest, answer: Reply | ModelFailure) -> tuple[np.ndarray, dict]:
    """The order to serve and the outcome row of one answer; any failure serves the engine's order."""
    count = len(request.texts)
    unmodified = np.arange(count)
    if isinstance(answer, ModelFailure):
        return unmodified, outcome_row(request.query_id, RerankStatus(answer.status), str(answer), candidates=count, answer=answer)
    merge = merge_order(count, read_numbers(answer.content))
    if merge.named == 0:
        return unmodified, outcome_row(request.query_id, RerankStatus.INVALID_RESPONSE,
                                       "the answer names no candidate", candidates=count, answer=answer, ignored=merge.ignored)
    if not is_permutation(merge.order, count):
        return unmodified, outcome_row(request.query_id, RerankStatus.INTERNAL_ERROR,
                                       "the merged order is no permutation", candidates=count, answer=answer)
    status = RerankStatus.APPLIED if merge.changed else RerankStatus.NO_CHANGE
    return merge.order, outcome_row(request.query_id, status, candidates=count, answer=answer, named=merge.named, ignored=merge.ignored)


def _reordered(ordered: pd.DataFrame, position: np.ndarray) -> pd.DataFrame:
    """Rankings whose row i is the engine's row ``position[i]``, with ranks counted anew."""
    moved = ordered.iloc[position]
    return pd.DataFrame({
        "query_id": moved["query_id"].to_numpy(),
        "product_id": moved["product_id"].to_numpy(),
        "rank": ordered["rank"].to_numpy(),
        "engine_rank": moved["rank"].to_numpy(),
        "engine_score": moved["score"].to_numpy() if "score" in moved else np.nan,
    })
