"""Tune weights honestly: choose on train, say how lucky the choice may be, look at the holdout once."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from toolkit.diagnosis.climbing import BestWeights, best_weights
from toolkit.diagnosis.configs import Configurations, collect, lab_218
from toolkit.diagnosis.list_evaluation import list_rankings
from toolkit.diagnosis.sweeping import Sweep, sweep
from toolkit.diagnosis.weight_space import WeightSpace, weight_space
from toolkit.evaluation.comparing import compare
from toolkit.evaluation.comparison import Comparison
from toolkit.evaluation.deciding import Policy, Verdict, verdict
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.evaluation.looks import HoldoutLog
from toolkit.evaluation.selecting import Selection, select_best
from toolkit.evaluation.splitting import LAB_SEED, Split, split
from toolkit.search.config import MultiMatch
from toolkit.search.field_lists import FieldLists


@dataclass(frozen=True)
class Tuning:
    """What tuning found on train, and what the holdout says about it.

    Attributes
    ----------
    base, best : MultiMatch
    split : Split
    train : Sweep
        All candidates on the train queries.
    selection : Selection
        Train means of all candidates and the expected optimism of picking the best of them.
    exact : BestWeights or None
        The climb on train, where it was asked for; its result is one of the candidates.
    comparison : Comparison
        Base against best on the holdout.
    verdict : Verdict
    """

    base: MultiMatch
    best: MultiMatch
    split: Split
    train: Sweep
    selection: Selection
    exact: BestWeights | None
    comparison: Comparison
    verdict: Verdict

    @property
    def table(self) -> pd.DataFrame:
        """The comparison on the holdout."""
        return self.comparison.to_frame()

    def to_frame(self) -> pd.DataFrame:
        """The comparison on the holdout."""
        return self.table

    def summary(self) -> str:
        """Train gain, expected optimism, holdout gain and verdict."""
        metric, first = self.train.metrics[0], self.comparison.row()
        base = self.train.table[(self.train.table["index"] == 0) & (self.train.table["metric"] == metric)]["mean"].iloc[0]
        more = " The exact climb tried more than these, so its optimism is at least that." if self.exact is not None else ""
        return (f"Best of {len(self.train.configs)} on {self.selection.n} train queries: {self.best}; {metric} {base:.4f} → {self.selection.train:.4f}, "
                f"expected optimism of picking the best {self.selection.optimism:+.4f}.{more} Holdout ({int(first['n'])} queries): {first['baseline']:.4f} → "
                f"{first['candidate']:.4f}, delta {first['delta']:+.4f} [{first['ci_low']:+.4f}, {first['ci_high']:+.4f}], p {first['p_value']:.4f}: "
                f"{self.verdict.decision.replace('_', ' ')}.")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>"


def tune(source: object, queries: pd.DataFrame, judgments: pd.DataFrame, base: MultiMatch,
         configs: Iterable[MultiMatch] | Configurations | None = None, metrics: Sequence[str] = ("ndcg@10", "recall@10", "mrr@10"), *,
         exact: bool = False, train: float | int = 0.7, seed: int = LAB_SEED, looks: HoldoutLog | None = None, hypothesis: str = "",
         policy: Policy | None = None, gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0, progress: bool = False) -> Tuning:
    """Pick weights on train and decide on the holdout.

    Parameters
    ----------
    source : EmbeddedEngine, ElasticsearchEngine or FieldLists
    queries : DataFrame
        Only queries with judgments are split.
    judgments : DataFrame
    base : MultiMatch
        What is in force now; always a candidate.
    configs : iterable of MultiMatch, optional
        Candidates; default :func:`~toolkit.diagnosis.configs.lab_218` around ``base``.
    metrics : sequence of str
        The first one selects and decides; the others are guardrails.
    exact : bool
        Also climb by exact line searches on train (``best_fields`` without tie breaker).
    train, seed
        Of the hash split.
    looks : HoldoutLog, optional
        Where the look at the holdout is recorded; default a log of this call only.
    hypothesis : str
        What is tested; default the two configurations in words.
    policy, gains, relevant_grade, progress

    Returns
    -------
    Tuning
        The holdout is searched for two configurations only, after the choice was made.
    """
    judged = queries[queries["query_id"].isin(judgments["query_id"])]
    parts = split(judged["query_id"], seed=seed, train=train)
    sides = [judged[judged["query_id"].isin(ids)] for ids in (parts.train, parts.holdout)]
    known = [_judgments_of(judgments, side) for side in sides]
    given = configs if isinstance(configs, Configurations) else collect(("given", c) for c in (lab_218(base) if configs is None else configs))
    candidates, climb = collect([("baseline", base)]) + given, None
    fixed = {"gains": gains, "relevant_grade": relevant_grade}
    if exact:
        climb = best_weights(_lists(source, sides[0], base, metrics, progress), known[0], base, metrics[0], starts=given, progress=progress, **fixed)
        candidates = candidates + collect([("exact", climb.config)])
    learned = _sweep(source, sides[0], known[0], candidates, metrics, progress, fixed)
    best = candidates[learned.best()]
    selection = select_best(_long(learned), seed=seed)
    runs = [_rank(source, sides[1], config, metrics) for config in (base, best)]
    comparison = compare(*runs, known[1], metrics=metrics, primary=metrics[0], queries=list(parts.holdout), looks=looks or HoldoutLog(),
                         hypothesis=hypothesis or f"{best} beats {base}", **fixed)
    return Tuning(base, best, parts, learned, selection, climb, comparison, verdict(comparison, policy))


def _judgments_of(judgments: pd.DataFrame, side: pd.DataFrame) -> pd.DataFrame:
    return judgments[judgments["query_id"].isin(side["query_id"])]


def _depth(metrics: Sequence[str]) -> int:
    return max(int(str(metric).rsplit("@", 1)[1]) for metric in metrics)


def _lists(source: object, queries: pd.DataFrame, base: MultiMatch, metrics: Sequence[str], progress: bool) -> WeightSpace:
    """Field lists of some queries, fetched where the source is an engine."""
    if hasattr(source, "run"):
        return weight_space(FieldLists.from_engine(source, queries, base, _depth(metrics) + 1, progress=progress))
    return weight_space(source).take(queries["query_id"].tolist())


def _sweep(source: object, queries: pd.DataFrame, judgments: pd.DataFrame, configs: Configurations, metrics, progress: bool, fixed: dict) -> Sweep:
    if hasattr(source, "run"):
        return sweep(source, queries, judgments, configs, metrics, progress=progress, **fixed)
    return sweep(weight_space(source).take(queries["query_id"].tolist()), None, judgments, configs, metrics, progress=progress, **fixed)


def _rank(source: object, queries: pd.DataFrame, config: MultiMatch, metrics: Sequence[str]):
    """A run, or rankings from lists."""
    if hasattr(source, "run"):
        return source.run(queries, config, _depth(metrics))
    return list_rankings(weight_space(source).take(queries["query_id"].tolist()), config, _depth(metrics))


def _long(learned: Sweep) -> pd.DataFrame:
    """query_id, config, value of the first metric; queries where it is undefined are left out."""
    values = pd.DataFrame(learned.values[:, :, 0], index=pd.Index(learned.query_ids, name="query_id"),
                          columns=[f"{i}: {config}" for i, config in enumerate(learned.configs)])
    return values.dropna(how="all").melt(ignore_index=False, var_name="config", value_name="value").reset_index()
