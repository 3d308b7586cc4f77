"""One fair comparison of interventions: same queries, same engine, same evaluation, one declared family."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from toolkit.diagnosis.ceiling import Headroom, headroom
from toolkit.evaluation.comparison import Comparison, adjust_together
from toolkit.evaluation.comparing import compare
from toolkit.evaluation.deciding import Policy, Verdict, verdict
from toolkit.evaluation.movements import rank_movements
from toolkit.interventions import effects
from toolkit.interventions.outcome import Outcome
from toolkit.interventions.rerank import Rerank
from toolkit.interventions.rewrite import Rewrite
from toolkit.search.config import MultiMatch
from toolkit.search.protocol import SearchEngine, SearchRun

METRICS = ("ndcg@10", "recall@10", "precision@10", "mrr@10")
JUDGED = "judged@10"


@dataclass(frozen=True)
class ArmResult:
    """One arm of an experiment: what was done, what it changed, what follows.

    Attributes
    ----------
    outcome : Outcome
    comparison : Comparison
        Against the baseline; adjusted p over the whole experiment's family.
    verdict : Verdict
    depth : int or None
        Candidates of a rerank; None for a rewrite.
    """

    outcome: Outcome
    comparison: Comparison
    verdict: Verdict
    depth: int | None


@dataclass(frozen=True)
class Experiment:
    """Interventions on one baseline.

    Attributes
    ----------
    baseline : SearchRun
    arms : mapping of str to ArmResult
        Label, for example ``rerank 50`` or ``rewrite``.
    headroom : Headroom
        What the diagnosis promised, per failure bucket.
    judgments, queries, products : DataFrame
    noise : DataFrame
        One row an arm that was run twice: arm, metric, n, differing (queries whose value differs), mean
        (second minus first), largest (absolute difference of one query); empty without a rerun.
    """

    baseline: SearchRun
    arms: Mapping[str, ArmResult]
    headroom: Headroom
    judgments: pd.DataFrame
    queries: pd.DataFrame
    products: pd.DataFrame
    noise: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """All comparisons: arm, verdict, then the comparison's columns (metric, n, delta, ci_low, …), judged share of both arms beside."""
        frames = []
        for name, arm in self.arms.items():
            judged = arm.comparison.coverage.set_index("arm")["judged"]
            frames.append(arm.comparison.to_frame().assign(arm=name, verdict=arm.verdict.decision,
                                                           judged_baseline=judged["baseline"], judged_candidate=judged["candidate"]))
        table = pd.concat(frames, ignore_index=True)
        return table[["arm", "verdict", *[name for name in table.columns if name not in ("arm", "verdict")]]]

    def coverage(self) -> pd.DataFrame:
        """What became of the queries, per arm (see :func:`toolkit.interventions.effects.coverage`)."""
        return effects.coverage({name: (arm.outcome, arm.comparison) for name, arm in self.arms.items()})

    def buckets(self) -> pd.DataFrame:
        """What came, against what the diagnosis promised, per failure bucket."""
        return effects.bucket_effects({name: (arm.comparison, arm.depth) for name, arm in self.arms.items()}, self.headroom)

    def extremes(self, arm: str, count: int = 5) -> pd.DataFrame:
        """Biggest winners and losers of an arm: query_id, query, baseline, candidate, delta, status."""
        return effects.extremes(self.arms[arm].outcome, self.arms[arm].comparison, self.queries, count)

    def movements(self, arm: str, query_id: str, k: int = 10) -> pd.DataFrame:
        """Both rankings of one query side by side (see :func:`toolkit.evaluation.movements.rank_movements`)."""
        return rank_movements(self.baseline.rankings, self.arms[arm].outcome.rankings, self.judgments, query_id, k=k)

    def unjudged_newcomers(self) -> pd.DataFrame:
        """Products an arm brought into the top 10: arm, newcomers, unjudged, share (of newcomers without a judgment)."""
        return effects.unjudged_newcomers({name: arm.comparison for name, arm in self.arms.items()})

    def by_group(self, group_of: pd.Series) -> pd.DataFrame:
        """Effect per group of queries, for example per planted cause (see :func:`toolkit.interventions.effects.group_effects`)."""
        return effects.group_effects({name: arm.comparison for name, arm in self.arms.items()}, group_of)

    def summary(self) -> str:
        """One sentence an arm, with its coverage and the judged share of both arms."""
        return "\n".join(effects.sentence(name, arm.outcome, arm.comparison, arm.verdict) for name, arm in self.arms.items())

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self.summary().splitlines())
        return f"<ul>{lines}</ul>{self.coverage().to_html(index=False)}"


def run_intervention(
    engine: SearchEngine, queries: pd.DataFrame, intervention: Rerank | Rewrite, judgments: pd.DataFrame, products: pd.DataFrame,
    config: MultiMatch, *, depths: Sequence[int] = (20, 50, 100), search_depth: int = 200, metrics: Sequence[str] = METRICS,
    policy: Policy = Policy(), baseline: SearchRun | None = None, rerun: bool = False, progress: bool = True,
) -> Experiment:
    """Run a rerank at several depths, or a rewrite, and compare it with the engine alone.

    Parameters
    ----------
    engine : SearchEngine
    queries : DataFrame
        query_id, query.
    intervention : Rerank or Rewrite
    judgments : DataFrame
        query_id, product_id, grade.
    products : DataFrame
        product_id and text.
    config : MultiMatch
    depths : sequence of int
        Candidates of a rerank, one arm each; a rewrite has one arm.
    search_depth : int
        Products retrieved per query; at least the deepest of ``depths``.
    metrics : sequence of str
        The first decides. All of all arms are one Benjamini-Hochberg family.
    policy : Policy
        Of the verdict.
    baseline : SearchRun, optional
        The engine's own run of the same queries at ``search_depth``, to save searching again.
    rerun : bool
        Run everything twice to see how much of a difference is noise. A recorded model asks again and records the
        second run beside the first; a recording without a second run cannot be rerun.
    progress : bool

    Returns
    -------
    Experiment

    Raises
    ------
    ValueError
        If there are no queries, a depth is below 1 or deeper than ``search_depth``, or the baseline is of other queries, another
        configuration or another depth.
    """
    _check_depths(intervention, depths, search_depth)
    run = baseline or engine.run(queries, config, search_depth)
    _check_baseline(run, queries, config, search_depth)
    outcomes = _outcomes(engine, queries, intervention, products, config, depths, search_depth, run, progress)
    comparisons = adjust_together({name: _compare(run, outcome, judgments, metrics) for name, (outcome, _) in outcomes.items()})
    noise = effects.NO_NOISE.copy()
    if rerun:
        again = _outcomes(engine, queries, _second(intervention), products, config, depths, search_depth, run, progress)
        noise = pd.concat([effects.noise(name, comparisons[name], _compare(run, outcome, judgments, metrics)) for name, (outcome, _) in again.items()])
    promise = headroom(run, judgments, depths=sorted({10, *(n for n in depths if n >= 10)}), queries=queries, products=products)
    arms = {name: ArmResult(outcome, comparisons[name], verdict(comparisons[name], policy), depth) for name, (outcome, depth) in outcomes.items()}
    return Experiment(run, arms, promise, judgments, queries, products, noise.reset_index(drop=True))


def _check_depths(intervention: Rerank | Rewrite, depths: Sequence[int], search_depth: int) -> None:
    """Depths of a rerank lie within what is retrieved."""
    if isinstance(intervention, Rerank) and (not len(depths) or min(depths) < 1):
        raise ValueError(f"run_intervention: depths are {list(depths)}; expected one or more numbers of candidates, each at least 1")
    if isinstance(intervention, Rerank) and max(depths) > search_depth:
        raise ValueError(f"run_intervention: depth {max(depths)} is deeper than search_depth {search_depth}; raise search_depth")


def _check_baseline(run: SearchRun, queries: pd.DataFrame, config: MultiMatch, search_depth: int) -> None:
    """The baseline answers the same question, so that the intervention is the only difference."""
    if queries.empty:
        raise ValueError("run_intervention: queries is empty; give at least one query")
    if set(run.status["query_id"]) != set(queries["query_id"]):
        raise ValueError(f"run_intervention: the baseline holds {len(run.status)} queries, not the {len(queries)} given; search the same queries")
    if run.config != config:
        raise ValueError(f"run_intervention: the baseline searched with {run.config}, not {config}; search with the same configuration")
    if run.depth != search_depth:
        raise ValueError(f"run_intervention: the baseline is {run.depth} deep, not search_depth {search_depth}; give its depth as search_depth, or search anew")


def combine(*experiments: Experiment, policy: Policy = Policy()) -> Experiment:
    """Experiments on the same baseline as one: rerank against rewrite, with one family of tests.

    Raises
    ------
    ValueError
        If the baselines are not of the same engine, configuration and queries, or arms share a label.
    """
    first = experiments[0]
    for other in experiments[1:]:
        same = (other.baseline.engine, other.baseline.config) == (first.baseline.engine, first.baseline.config)
        if not same or set(other.queries["query_id"]) != set(first.queries["query_id"]):
            raise ValueError("combine: the experiments do not share engine, configuration and queries; run them on one baseline")
    labels = [name for experiment in experiments for name in experiment.arms]
    if len(set(labels)) < len(labels):
        raise ValueError(f"combine: arms share a label: {labels}; rename one with renamed()")
    arms = {name: arm for experiment in experiments for name, arm in experiment.arms.items()}
    adjusted = adjust_together({name: arm.comparison for name, arm in arms.items()})
    arms = {name: replace(arm, comparison=adjusted[name], verdict=verdict(adjusted[name], policy)) for name, arm in arms.items()}
    deepest = max(experiments, key=lambda e: e.headroom.means["depth"].max())
    return replace(first, arms=arms, headroom=deepest.headroom, noise=pd.concat([e.noise for e in experiments], ignore_index=True))


def rejudged(experiment: Experiment, judgments: pd.DataFrame, *, metrics: Sequence[str] = METRICS, policy: Policy = Policy()) -> Experiment:
    """The same rankings under other judgments: nothing is searched and no model is asked again.

    Noise is dropped: it was measured with the judgments before.
    """
    run, arms = experiment.baseline, experiment.arms
    comparisons = adjust_together({name: _compare(run, arm.outcome, judgments, metrics) for name, arm in arms.items()})
    depths = [int(depth) for depth in experiment.headroom.means["depth"].dropna().unique()]
    promise = headroom(run, judgments, depths=depths, queries=experiment.queries, products=experiment.products)
    decided = {name: replace(arm, comparison=comparisons[name], verdict=verdict(comparisons[name], policy)) for name, arm in arms.items()}
    return replace(experiment, arms=decided, headroom=promise, judgments=judgments, noise=effects.NO_NOISE.copy())


def renamed(experiment: Experiment, prefix: str) -> Experiment:
    """The experiment with a prefix on its arms' labels, for example the model's name."""
    return replace(experiment, arms={f"{prefix} {name}": arm for name, arm in experiment.arms.items()},
                   noise=experiment.noise.assign(arm=[f"{prefix} {name}" for name in experiment.noise["arm"]]))


def _outcomes(engine: SearchEngine, queries: pd.DataFrame, intervention: Rerank | Rewrite, products: pd.DataFrame, config: MultiMatch,
              depths: Sequence[int], search_depth: int, run: SearchRun, progress: bool) -> dict[str, tuple[Outcome, int | None]]:
    """Outcome and rerank depth of each arm."""
    if isinstance(intervention, Rewrite):
        return {"rewrite": (intervention.apply(engine, queries, config, search_depth, baseline=run, progress=progress), None)}
    return {f"rerank {depth}": (intervention.apply(run.rankings, queries, products, depth, progress=progress), depth) for depth in depths}


def _second(intervention: Rerank | Rewrite) -> Rerank | Rewrite:
    """The intervention for the second of two runs: a recording would else repeat its first answers and show no noise."""
    model = intervention.model
    return replace(intervention, model=model.second_run()) if hasattr(model, "second_run") else intervention


def _compare(run: SearchRun, outcome: Outcome, judgments: pd.DataFrame, metrics: Sequence[str]) -> Comparison:
    """The arm against the engine; fallbacks count as calls that failed."""
    table = outcome.to_frame()
    return compare(run, replace(run, rankings=outcome.rankings, status=_status(run, outcome)), judgments, metrics=[*metrics, JUDGED, "zero_result_rate"],
                   primary=metrics[0], family=list(metrics), degraded=list(table.loc[table["fallback"], "query_id"]))


def _status(run: SearchRun, outcome: Outcome) -> pd.DataFrame:
    """The run's statuses, where a rewrite may have found results for a query that had none."""
    found = run.status["query_id"].isin(set(outcome.rankings["query_id"]))
    status = run.status["status"].where(run.status["status"] == "failed", found.map({True: "ok", False: "zero_results"}))
    return run.status.assign(status=status)
