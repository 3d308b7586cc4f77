"""A reranker fitted to judgments: gradient boosting over agreement features.

Fitted on the train split only; where the set is too small to split, by folds: each query is ranked
by a model that has not seen its judgments.
"""

from __future__ import annotations

import hashlib
import time

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.interventions.features import FeatureMaker
from toolkit.interventions.models.protocol import ModelDisabled, Reply, RerankRequest


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
        self._models = []
        for left_out in range(folds):
            chosen = fold != left_out if folds > 1 else np.ones(len(y), dtype=bool)
            model = HistGradientBoostingRegressor(max_iter=150, learning_rate=0.08, max_leaf_nodes=15, min_samples_leaf=20,
                                                  l2_regularization=1.0, random_state=self._seed)
            self._models.append(model.fit(x[chosen], y[chosen]))
        self._trained_on = f"{len(set(owner.tolist()))} queries, {len(y)} judgments, {folds} fold(s)"
        return self

    def _examples(self, rankings: pd.DataFrame, queries: pd.DataFrame, judgments: pd.DataFrame, progress: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features, grades and query of every judged pair in the rankings."""
        texts = dict(zip(queries["query_id"], queries["query"]))
        grades = judgments.set_index(["query_id", "product_id"])["grade"].to_dict()
        rows, targets, owners = [], [], []
        groups = rankings.sort_values(["query_id", "rank"], kind="stable").groupby("query_id")["product_id"]
        for query_id, found in tqdm(groups, desc="features", disable=not progress, leave=False):
            known = np.array([grades.get((query_id, product_id), np.nan) for product_id in found], dtype=np.float64)
            if np.isnan(known).all() or query_id not in texts:
                continue
            judged = ~np.isnan(known)
            rows.append(self.features.matrix(texts[query_id], found.tolist())[judged])
            targets.append(known[judged])
            owners.append(np.full(int(judged.sum()), query_id, dtype=object))
        if not rows:
            return np.zeros((0, len(self.features.names))), np.zeros(0), np.zeros(0, dtype=object)
        return np.concatenate(rows), np.concatenate(targets), np.concatenate(owners)

    def with_features(self, features: FeatureMaker) -> LearnedReranker:
        """The same fitted model on another catalogue (features mean the same on any)."""
        if features.names != self.features.names:
            raise ValueError(f"LearnedReranker: features {features.names} differ from those fitted on, {self.features.names}")
        other = LearnedReranker(features, seed=self._seed)
        other._models, other._fold_of, other._trained_on = self._models, {}, self._trained_on
        return other

    def predict(self, query_id: str, query: str, product_ids: tuple[str, ...]) -> np.ndarray:
        """Predicted grade of each candidate, float64 (n,)."""
        if not self._models:
            raise ModelDisabled("LearnedReranker is not fitted; call fit() on the train split first")
        x = self.features.matrix(query, product_ids)
        models = [self._models[self._fold_of[query_id]]] if query_id in self._fold_of else self._models
        return np.mean([model.predict(x) for model in models], axis=0)

    def rerank(self, request: RerankRequest) -> Reply:
        """Candidate numbers by falling predicted grade; ties keep the engine's order."""
        start = time.perf_counter()
        predicted = self.predict(request.query_id, request.query, request.product_ids)
        order = np.argsort(-predicted, kind="stable")
        return Reply((order + 1).tolist(), time.perf_counter() - start, model=self.model_id)


def _fold(query_id: str, folds: int, seed: int) -> int:
    """Fold of a query by SHA-256, independent of order."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{query_id}".encode()).digest()[:8], "big") % folds
