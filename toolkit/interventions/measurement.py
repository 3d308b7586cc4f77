"""The standing measurement: local and learned rerank against lexical rewrite, on one baseline.

The learned parts (reranker and bridges) come from a train split; on a test collection nothing is fitted, and
what was learned on a generated catalogue is carried over by features that mean the same on any catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from toolkit.datasets.catalogue import Catalogue, generate_catalogue
from toolkit.evaluation.splitting import split
from toolkit.interventions.experiment import Experiment, combine, renamed, run_intervention
from toolkit.interventions.features import FeatureMaker
from toolkit.interventions.guard import RewriteGuard
from toolkit.interventions.models.bridges import learn_bridges
from toolkit.interventions.models.learned import LearnedReranker
from toolkit.interventions.models.lexical import LexicalModel
from toolkit.interventions.models.local import LocalModel
from toolkit.interventions.rerank import Rerank
from toolkit.interventions.rewrite import Rewrite
from toolkit.search.config import MultiMatch
from toolkit.search.embedded import EmbeddedEngine
from toolkit.search.protocol import SearchRun


@dataclass(frozen=True)
class GeneratedWorld:
    """A generated catalogue, indexed and split.

    Attributes
    ----------
    catalogue : Catalogue
        With complete judgments: a newcomer has its true grade.
    sampled : DataFrame
        Judgments of the same queries with holes, as real ones have them.
    engine : EmbeddedEngine
    train, test : DataFrame
        Queries one may learn from, and those one measures on.
    """

    catalogue: Catalogue
    sampled: pd.DataFrame
    engine: EmbeddedEngine
    train: pd.DataFrame
    test: pd.DataFrame

    @property
    def causes(self) -> pd.Series:
        """query_id -> planted cause."""
        return self.catalogue.causes.set_index("query_id")["cause"]

    def judgments_of(self, rankings: pd.DataFrame) -> pd.DataFrame:
        """The complete judgments, with an I for each product of these rankings that they leave out: what has no grade there is truly irrelevant."""
        known = self.catalogue.judgments
        pairs = rankings[["query_id", "product_id"]].merge(known[["query_id", "product_id"]], how="left", indicator=True)
        wrong = pairs.loc[pairs["_merge"] == "left_only", ["query_id", "product_id"]].assign(label="I", grade=0.0)
        return pd.concat([known, wrong], ignore_index=True)


def generated_world(products: int = 2_000, queries: int = 1_500, seed: int = 5, *, test: int = 400, hard_share: float = 0.5) -> GeneratedWorld:
    """Generate, index and split a catalogue.

    Parameters
    ----------
    products, queries, seed, hard_share
        As for :func:`toolkit.datasets.generate_catalogue`.
    test : int
        Queries to measure on; the others are for learning.
    """
    made = generate_catalogue(products, queries, seed, hard_share=hard_share, judged="all")
    sampled = generate_catalogue(products, queries, seed, hard_share=hard_share).judgments
    dealt = split(made.queries["query_id"], train=queries - test)
    held = made.queries["query_id"].isin(set(dealt.holdout))
    return GeneratedWorld(made, sampled, EmbeddedEngine.build(made.products, progress=False),
                          made.queries[~held].reset_index(drop=True), made.queries[held].reset_index(drop=True))


@dataclass(frozen=True)
class Taught:
    """What was learned from a train split.

    Attributes
    ----------
    reranker : LearnedReranker
    bridges : mapping of str to str
        Shopper's word -> the shop's words.
    """

    reranker: LearnedReranker
    bridges: Mapping[str, str] = field(default_factory=dict)


def teach(engine: EmbeddedEngine, train: pd.DataFrame, judgments: pd.DataFrame, products: pd.DataFrame, config: MultiMatch, *,
          rerank_queries: int = 250, depth: int = 100, embedder: LocalModel | None = None, progress: bool = True) -> Taught:
    """Fit the reranker and learn the bridges, from the train split only.

    Parameters
    ----------
    engine : EmbeddedEngine
    train : DataFrame
        Queries one may learn from.
    judgments, products : DataFrame
    config : MultiMatch
    rerank_queries : int
        Train queries the reranker is fitted on, the first ones; bridges use all.
    depth : int
        Candidates of each that it sees.
    embedder : LocalModel, optional
        Shared, so that each product is embedded once.
    progress : bool
    """
    some = train.head(rerank_queries)
    reranker = LearnedReranker(FeatureMaker(engine, config, products, embedder or LocalModel()))
    reranker.fit(engine.run(some, config, depth).rankings, some, judgments, progress=progress)
    return Taught(reranker, learn_bridges(engine, train, judgments, products))


def measure(engine: EmbeddedEngine, queries: pd.DataFrame, judgments: pd.DataFrame, products: pd.DataFrame, config: MultiMatch, taught: Taught, *,
            depths: Sequence[int] = (20, 50, 100), embedder: LocalModel | None = None, baseline: SearchRun | None = None, progress: bool = True) -> Experiment:
    """Local rerank, learned rerank and lexical rewrite on one baseline, as one family of tests.

    Parameters
    ----------
    engine : EmbeddedEngine
    queries : DataFrame
        Queries nothing was fitted on.
    judgments, products : DataFrame
    config : MultiMatch
    taught : Taught
        From this catalogue or another one.
    depths : sequence of int
        Candidates of the reranks.
    embedder : LocalModel, optional
    baseline : SearchRun, optional
        Of these queries, at depth 200.
    progress : bool

    Returns
    -------
    Experiment
        Arms ``local rerank N``, ``learned rerank N`` and ``lexical rewrite``.
    """
    local = embedder or LocalModel()
    run = baseline or engine.run(queries, config, 200)
    learned = taught.reranker.with_features(FeatureMaker(engine, config, products, local))
    lexical = LexicalModel(engine, bridges=taught.bridges)
    guard = RewriteGuard.for_products(engine.analyze, products)
    arms = {"local": Rerank(local), "learned": Rerank(learned), "lexical": Rewrite(lexical, guard)}
    return combine(*(renamed(run_intervention(engine, queries, arm, judgments, products, config, depths=depths, baseline=run, progress=progress), name)
                     for name, arm in arms.items()))
