"""A reranker fitted to judgments: gradient boosting over agreement features.

Fitted on the train split only; where the set is too small to split, by folds: each query is ranked
by a model that has not seen its judgments.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.interventions.features import FeatureMaker
from toolkit.interventions.models.protocol import ModelDisabled, Reply, RerankRequest

BLOCK = 128  # queries whose features are made together


class LearnedReranker:
    """Orders candidates by predicted grade.

    Parameters
    ----------
    features : FeatureMaker
        Makes the features of a query's candidates; may be of another catalogue than the one fitted on.
    seed : int
        Of the boosting.

    Notes
    -----
    Pointwise regression of the grade (scikit-learn ``HistGradientBoostingRegressor``). Products
    without a judgment are left out of the fit: unjudged is not irrelevant.
    """

    concurrency = 1

    def __init__(self, features: FeatureMaker, *, seed: int = 20260816) -> None:
        self.features, self._seed = features, seed
        self._models: list = []
        self._fold_of: dict[str, int] = {}
        self._trained_on = "nothing"
        self._ready: dict[RerankRequest, Reply] = {}

    @property
    def model_id(self) -> str:
        """What was fitted, on how many queries and judgments."""
        return f"learned(gradient boosting; {self._trained_on})"

    def fit(self, rankings: pd.DataFrame, queries: pd.DataFrame, judgments: pd.DataFrame, *, folds: int = 1, progress: bool = True) -> LearnedReranker:
        """Fit on judged products of rankings.

        Parameters
        ----------
        rankings : DataFrame
            query_id, product_id, rank of the queries one may learn from.
        queries, judgments : DataFrame
        folds : int
            1: one model for all. Above 1: queries are dealt into folds by hash, and each query
            fitted here is later ranked by the model that left its fold out; other queries by the mean of all.
        progress : bool

        Returns
        -------
        LearnedReranker
            Itself.

        Raises
        ------
        ValueError
            If fewer than 20 judged pairs are in the rankings.
        """
        from sklearn.ensemble import HistGradientBoostingRegressor

        x, y, owner = self._examples(rankings, queries, judgments, progress)
        if len(y) < 20:
            raise ValueError(f"LearnedReranker: {len(y)} judged pairs in the rankings; at least 20 are needed, better thousands")
        fold = np.array([_fold(query_id, folds, self._seed) for query_id in owner])
        self._fold_of = dict(zip(owner.tolist(), fold.tolist())) if folds > 1 else {}
        self._models, self._ready = [], {}
        for left_out in range(folds):
            chosen = fold != left_out if folds > 1 else np.ones(len(y), dtype=bool)
            model = HistGradientBoostingRegressor(max_iter=150, learning_rate=0.08, max_leaf_nodes=15, min_samples_leaf=20,
                                                  l2_regularization=1.0, random_state=self._seed)
            with _one_thread():
                self._models.append(model.fit(x[chosen], y[chosen]))
        self._trained_on = f"{len(set(owner.tolist()))} queries, {len(y)} judgments, {folds} fold(s)"
        return self

    def _examples(self, rankings: pd.DataFrame, queries: pd.DataFrame, judgments: pd.DataFrame, progress: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features, grades and query of every judged pair in the rankings."""
        texts = dict(zip(queries["query_id"], queries["query"]))
        grades = judgments.set_index(["query_id", "product_id"])["grade"].to_dict()
        groups = rankings.sort_values(["query_id", "rank"], kind="stable").groupby("query_id")["product_id"]
        lists = [(query_id, found.tolist(), np.array([grades.get((query_id, product_id), np.nan) for product_id in found], dtype=np.float64))
                 for query_id, found in groups if query_id in texts]
        lists = [one for one in lists if not np.isnan(one[2]).all()]
        rows = [np.zeros((0, len(self.features.names)))]
        for start in tqdm(range(0, len(lists), BLOCK), desc="features", unit="block", disable=not progress, leave=False):
            block = lists[start : start + BLOCK]
            made = self.features.matrices([(texts[query_id], found) for query_id, found, _ in block])
            rows += [matrix[~np.isnan(known)] for matrix, (_, _, known) in zip(made, block)]
        targets = [known[~np.isnan(known)] for _, _, known in lists]
        owners = [np.full(len(known), query_id, dtype=object) for known, (query_id, _, _) in zip(targets, lists)]
        return np.concatenate(rows), np.concatenate([np.zeros(0), *targets]), np.concatenate([np.zeros(0, dtype=object), *owners])

    def with_features(self, features: FeatureMaker) -> LearnedReranker:
        """The same fitted model on another catalogue (features mean the same on any)."""
        if features.names != self.features.names:
            raise ValueError(f"LearnedReranker: features {features.names} differ from those fitted on, {self.features.names}")
        other = LearnedReranker(features, seed=self._seed)
        other._models, other._fold_of, other._trained_on = self._models, {}, self._trained_on
        return other

    def predict(self, query_id: str, query: str, product_ids: Sequence[str]) -> np.ndarray:
        """Predicted grade of each candidate, float64 (n,)."""
        return self._predict([(query_id, query, product_ids)])[0]

    def _predict(self, lists: Sequence[tuple[str, str, Sequence[str]]]) -> list[np.ndarray]:
        """Predicted grades of the candidates of many queries; each model is asked once."""
        if not self._models:
            raise ModelDisabled("LearnedReranker is not fitted; call fit() on the train split first")
        matrices = self.features.matrices([(query, found) for _, query, found in lists])
        folds = np.repeat([self._fold_of.get(query_id, -1) for query_id, _, _ in lists], [len(matrix) for matrix in matrices])
        x = np.concatenate(matrices)
        values = np.zeros(len(x))
        for fold in np.unique(folds):  # a query fitted on, by the model that left it out; any other by the mean of all
            models = self._models if fold < 0 else [self._models[fold]]
            with _one_thread():
                values[folds == fold] = np.mean([model.predict(x[folds == fold]) for model in models], axis=0)
        return np.split(values, np.cumsum([len(matrix) for matrix in matrices])[:-1])

    def prepare(self, requests: Sequence[RerankRequest]) -> None:
        """Predict for these requests together and keep the answers ready."""
        start = time.perf_counter()
        predicted = self._predict([(request.query_id, request.query, request.product_ids) for request in requests])
        each = (time.perf_counter() - start) / max(1, len(requests))
        self._ready = {request: self._reply(grades, each) for request, grades in zip(requests, predicted)}

    def rerank(self, request: RerankRequest) -> Reply:
        """Candidate numbers by falling predicted grade; ties keep the engine's order."""
        start = time.perf_counter()
        return self._ready.pop(request, None) or self._reply(
            self.predict(request.query_id, request.query, request.product_ids), time.perf_counter() - start)

    def _reply(self, predicted: np.ndarray, seconds: float) -> Reply:
        return Reply((np.argsort(-predicted, kind="stable") + 1).tolist(), seconds, model=self.model_id)


def _one_thread() -> AbstractContextManager:
    """Boosting on few rows: threads that wait for each other cost more than they give, most of all on a busy machine."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="openmp")


def _fold(query_id: str, folds: int, seed: int) -> int:
    """Fold of a query by SHA-256, independent of order."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{query_id}".encode()).digest()[:8], "big") % folds
