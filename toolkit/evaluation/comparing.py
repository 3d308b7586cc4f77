"""``compare``: two rankers on the same queries, with everything a decision needs beside the delta."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit import tables
from toolkit.evaluation import effects
from toolkit.evaluation.comparison import Comparison
from toolkit.evaluation.evaluating import query_list, query_states, unpack
from toolkit.evaluation.evaluation import Evaluation
from toolkit.evaluation.formulas import evaluate_measure
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.evaluation.holes import delta_bounds
from toolkit.evaluation.looks import HoldoutLog, Looks
from toolkit.evaluation.measures import Measure, parse_measures
from toolkit.evaluation.newcomers import newcomers, tipping_point
from toolkit.evaluation.pairing import OnMissing, align, metric_table
from toolkit.evaluation.pool import EvaluationError, Pool, meet, read_judgments
from toolkit.evaluation.resampling import benjamini_hochberg, bootstrap_interval, p_floor, sign_flip_p
from toolkit.evaluation.splitting import fingerprint, natural_order
from toolkit.evaluation.ties import tie_bounds
from toolkit.search.protocol import SearchRun

Arm = pd.DataFrame | Evaluation | SearchRun
NO_NEWCOMERS = pd.DataFrame({"query_id": pd.Series(dtype="str"), "product_id": pd.Series(dtype="str"), "arm": pd.Series(dtype="str"),
                             "rank": pd.Series(dtype=int), "judged": pd.Series(dtype=bool), "grade": pd.Series(dtype=float)})


def compare(baseline: Arm, candidate: Arm, judgments: pd.DataFrame | None = None, *, metrics: Sequence[str | Measure] | None = None,
            primary: str | None = None, family: Sequence[str] | None = None, guardrails: Mapping[str, float] | Sequence[str] | None = None,
            gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0, queries: pd.DataFrame | Sequence[str] | None = None, on_missing: OnMissing = "error",
            degraded: Sequence[str] | int = 0, alpha: float = 0.05, power: float = 0.8, confidence: float = 0.95, resamples: int = 10_000,
            seed: int = 20260816, catastrophic_drop: float = 0.5, unseen: int = 0, looks: HoldoutLog | None = None, hypothesis: str = "") -> Comparison:
    """Compare two rankers on the same queries; the query is the unit.

    Parameters
    ----------
    baseline, candidate : DataFrame, Evaluation or SearchRun
        Long metric tables (query_id, metric, value) or evaluations; or, with ``judgments``, rankings
        (query_id, product_id, score or rank) or search runs. Only rankings allow tie bounds, hole
        bounds, newcomers, condensed values and the judged share.
    judgments : DataFrame, optional
        query_id, product_id, grade.
    metrics : sequence of str, optional
        Default: those of the tables; for rankings ndcg@10, recall@10, mrr@10.
    primary : str, optional
        The metric that decides; default the first of ``metrics``, of an evaluation's or of the default
        metrics. A bare table has no order to rely on: there it is ndcg@10, else the first by name.
    family : sequence of str, optional
        Metrics of the Benjamini-Hochberg family; default all but judged@k and zero_result_rate.
    guardrails : mapping of str to float, or sequence of str, optional
        Metrics that must not get worse, with the loss that is tolerated; default the rest of the family, 0.
    gains, relevant_grade, unseen
        As in :func:`~toolkit.evaluation.evaluate`, for rankings.
    queries : DataFrame or sequence of str, optional
        For rankings without a status table: the queries that both arms searched.
    on_missing : {"error", "intersect", "zero"}
        Queries that one arm lacks: refuse, drop, or score 0.
    degraded : sequence of str or int
        Queries (or their number) whose candidate call failed and fell back to the baseline's answer;
        they count in the candidate's failed share.
    alpha, power, confidence, resamples, seed
        Of the tests and intervals.
    catastrophic_drop : float
        A fall of the primary metric counted as a catastrophe.
    looks : HoldoutLog, optional
        Records this look; ``hypothesis`` says what is tested.

    Returns
    -------
    Comparison
        ``to_frame()`` has metric, delta, ci_low, ci_high, p_value and more.

    Raises
    ------
    EvaluationError
        Different query sets, missing metrics, unreadable arms.
    """
    arms, known = None, (set(), set())
    if judgments is None or _is_metrics(baseline):
        pairs, coverage = _from_tables(baseline, candidate, metrics, on_missing)
        known = (_known_failed(baseline), _known_failed(candidate))
    else:
        arms = _Arms.of(baseline, candidate, judgments, queries, on_missing, gains, relevant_grade)
        measures = parse_measures(metrics or ("ndcg@10", "recall@10", "mrr@10"))
        pairs, coverage = arms.pairs(measures), arms.coverage(Measure.parse(primary) if primary else measures[0])
        known = tuple(set(arms.baseline.judged.query_ids[failed]) for failed in arms.failed)
    names = list(pd.unique(pairs["metric"]))
    primary = _one_of(primary or _first_metric(names, isinstance(baseline, pd.DataFrame) and arms is None and metrics is None), names, "primary")
    chosen = [_one_of(m, names, "family") for m in (family if family is not None else [m for m in names if not _is_side(m)])]
    rails = _guardrails(guardrails, chosen, primary, names)
    table = _statistics(pairs, names, alpha=alpha, power=power, confidence=confidence, resamples=resamples, seed=seed, drop=catastrophic_drop)
    table = _with_bounds(table, pairs, arms, unseen)
    table.insert(9, "in_family", table["metric"].isin(chosen))
    table.insert(10, "p_adjusted", _adjusted(table))
    table.insert(11, "significant", table["p_adjusted"] <= alpha)
    coverage["failed_share"] = _failed_share(pairs[pairs["metric"] == primary], known, degraded)
    settings = {"alpha": alpha, "power": power, "confidence": confidence, "resamples": resamples, "seed": seed, "catastrophic_drop": catastrophic_drop,
                "family_size": len(chosen), "definitions": _definitions(names, arms, baseline), "source": "rankings" if arms else "metric tables"}
    k = (Measure.parse(primary).k if arms else None) or 10
    return Comparison(
        table=table, pairs=pairs, primary=primary, guardrails=rails, settings=settings, coverage=coverage,
        newcomers=newcomers(arms.baseline, arms.candidate, k) if arms else NO_NEWCOMERS.copy(),
        tipping=tipping_point(arms.baseline, arms.candidate, Measure.parse(primary), gains, relevant_grade, arms.answered) if arms else {},
        looks=_look(looks, hypothesis, pairs))


def _is_metrics(arm: Arm) -> bool:
    """Whether an arm is per-query metrics rather than rankings."""
    return isinstance(arm, Evaluation) or isinstance(arm, pd.DataFrame) and {"metric", "value"} <= set(arm.columns)


def _is_side(metric: str) -> bool:
    """judged@k and the zero-result rate describe the arms; they are not what is decided."""
    return metric.startswith("judged") or metric == "zero_result_rate"


def _from_tables(baseline: Arm, candidate: Arm, metrics: Sequence[str | Measure] | None, on_missing: OnMissing) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs and coverage from two long metric tables."""
    for name, arm in (("baseline", baseline), ("candidate", candidate)):
        if not _is_metrics(arm):
            raise EvaluationError(f"{name}: got {type(arm).__name__}" + (f" with columns {list(arm.columns)}" if isinstance(arm, pd.DataFrame) else "")
                                  + "; expected a metric table (query_id, metric, value), or rankings together with judgments=")
    _check_same_settings(baseline, candidate)
    tables_ = [metric_table(arm, name) for arm, name in ((baseline, "baseline"), (candidate, "candidate"))]
    wanted = None if metrics is None else [str(m) for m in metrics]
    pairs = align(*tables_, metrics=wanted, on_missing=on_missing, names=("baseline", "candidate"))
    means = [frame.groupby("metric")["value"].mean() for frame in tables_]
    judged = next((m for m in means[0].index if m.startswith("judged") and m in means[1].index), None)
    coverage = pd.DataFrame({"arm": ["baseline", "candidate"], "judged": [m.get(judged, math.nan) for m in means],
                             "zero_result_rate": [_zero_result_rate(arm, m) for arm, m in zip((baseline, candidate), means, strict=True)]})
    return pairs, coverage


@dataclass(frozen=True)
class _Arms:
    """Two rankings met with the same judgments."""

    baseline: Pool
    candidate: Pool
    failed: tuple[np.ndarray, np.ndarray]
    gains: Gains
    relevant: float

    @classmethod
    def of(cls, baseline: Arm, candidate: Arm, judgments: pd.DataFrame, queries: pd.DataFrame | Sequence[str] | None, on_missing: OnMissing,
           gains: Gains, relevant_grade: float) -> _Arms:
        rankings, statuses = zip(*(unpack(arm, None) for arm in (baseline, candidate)), strict=True)
        tables.check(judgments, tables.JUDGMENTS, source="judgments")
        for name, ranking in zip(("baseline", "candidate"), rankings, strict=True):
            tables.check(ranking, tables.RANKINGS, source=name)
        judged_ids = set(judgments["query_id"])
        ids = natural_order(set(query_list(queries))) if queries is not None else _shared_queries(rankings, statuses, judged_ids, on_missing)
        if not ids:
            raise EvaluationError(f"no judged query was searched by both arms; judged, for example: {natural_order(judged_ids)[:3]}")
        judged = read_judgments(judgments, ids)
        # Where either arm found a judged product, the ids are of one kind, and the other truly found none.
        judged_products = set(judgments["product_id"])
        found = any(not judged_products.isdisjoint(r["product_id"]) for r in rankings)
        pools = [meet(r, judged, on_no_overlap="zero" if found else "error") for r in rankings]
        failed = tuple((query_states(pool, status)["state"] == "failed").to_numpy() for pool, status in zip(pools, statuses, strict=True))
        return cls(*pools, failed, gains, relevant_grade)

    @property
    def answered(self) -> np.ndarray:
        """Queries that failed in neither arm, shape (Q,)."""
        return ~(self.failed[0] | self.failed[1])

    def values(self, measure: Measure, *, condensed: bool = False) -> list[np.ndarray]:
        """Values of both arms, null where failed."""
        pools = [p.condensed() if condensed else p for p in (self.baseline, self.candidate)]
        return [np.where(f, np.nan, evaluate_measure(p, measure, self.gains, self.relevant)) for p, f in zip(pools, self.failed, strict=True)]

    def pairs(self, measures: Sequence[Measure]) -> pd.DataFrame:
        """query_id, metric, baseline, candidate, delta."""
        frames = []
        for measure in measures:
            before, after = self.values(measure)
            frames.append(pd.DataFrame({"query_id": self.baseline.judged.query_ids, "metric": str(measure), "baseline": before, "candidate": after}))
        pairs = pd.concat(frames, ignore_index=True)
        pairs["delta"] = pairs["candidate"] - pairs["baseline"]
        return pairs

    def coverage(self, primary: Measure) -> pd.DataFrame:
        """Mean judged@k and zero-result rate of both arms."""
        judged, empty = self.values(Measure("judged", primary.k or 10)), self.values(Measure("zero_result_rate"))
        mean = [[float(np.nanmean(v)) if not np.isnan(v).all() else math.nan for v in values] for values in (judged, empty)]
        return pd.DataFrame({"arm": ["baseline", "candidate"], "judged": mean[0], "zero_result_rate": mean[1]})

    def bounds(self, measure: Measure, unseen: int) -> dict[str, np.ndarray]:
        """Per-query deltas at their tie and hole bounds, and condensed; shapes (Q,)."""
        before, after = self.values(measure)
        (worst_b, best_b), (worst_c, best_c) = (tie_bounds(p, measure, self.gains, self.relevant, v) for p, v in
                                                ((self.baseline, before), (self.candidate, after)))
        low, high = delta_bounds(self.baseline, self.candidate, measure, self.gains, self.relevant, unseen=unseen)
        lean = self.values(measure, condensed=True)
        return {"tie_low": worst_c - best_b, "tie_high": best_c - worst_b, "hole_low": low, "hole_high": high, "condensed_delta": lean[1] - lean[0]}


def _shared_queries(rankings: Sequence[pd.DataFrame], statuses: Sequence[pd.DataFrame | None], judged: set[str], on_missing: OnMissing) -> list[str]:
    """Judged queries of both arms; a difference is refused unless ``on_missing`` says otherwise."""
    sides = [set((r if s is None else s)["query_id"]) & judged for r, s in zip(rankings, statuses, strict=True)]
    only = [natural_order(sides[0] - sides[1]), natural_order(sides[1] - sides[0])]
    if any(only) and on_missing == "error":
        raise EvaluationError(
            f"the arms have different queries: {len(sides[0])} in the baseline, {len(sides[1])} in the candidate; only in the baseline: {len(only[0])} "
            f"{only[0][:3]}; only in the candidate: {len(only[1])} {only[1][:3]}. Where the missing ones were searched without result, pass runs with "
            "their status, or queries= with all that were searched; else on_missing='intersect' or 'zero'")
    return natural_order(sides[0] & sides[1] if on_missing == "intersect" else sides[0] | sides[1])


def _statistics(pairs: pd.DataFrame, names: list[str], *, alpha: float, power: float, confidence: float, resamples: int, seed: int, drop: float) -> pd.DataFrame:
    """One row a metric; metrics defined on the same queries share their resamples."""
    wide = {name: part.reset_index(drop=True) for name, part in pairs.groupby("metric", sort=False)}
    delta = np.column_stack([wide[name]["delta"].to_numpy() for name in names])
    intervals, p_values = np.full((2, len(names)), np.nan), [None] * len(names)
    groups: dict[bytes, list[int]] = {}
    for column in range(len(names)):
        groups.setdefault((~np.isnan(delta[:, column])).tobytes(), []).append(column)
    for columns in groups.values():
        used = delta[~np.isnan(delta[:, columns[0]])][:, columns]
        if len(used):
            intervals[:, columns] = bootstrap_interval(used, confidence=confidence, resamples=resamples, seed=seed)
            for column, p in zip(columns, sign_flip_p(used, resamples=resamples, seed=seed), strict=True):
                p_values[column] = p
    return pd.DataFrame([_row(wide[name], name, intervals[:, i], p_values[i], alpha, power, drop) for i, name in enumerate(names)])


def _row(pairs: pd.DataFrame, name: str, interval: np.ndarray, p: tuple[float, str] | None, alpha: float, power: float, drop: float) -> dict[str, object]:
    """Statistics of one metric."""
    used = pairs.dropna(subset=["delta"])
    delta, n = used["delta"].to_numpy(), len(used)
    wins, losses, ties = effects.wins_losses_ties(delta)
    sd = effects.standard_deviation(delta)
    gone = pairs[["baseline", "candidate"]].isna()
    mean = math.fsum(delta) / n if n else math.nan
    return {
        "metric": name, "n": n, "baseline": math.fsum(used["baseline"]) / n if n else math.nan, "candidate": math.fsum(used["candidate"]) / n if n else math.nan,
        "delta": mean, "ci_low": interval[0], "ci_high": interval[1], "p_value": p[0] if p else math.nan, "p_method": p[1] if p else "undefined",
        "wins": wins, "losses": losses, "ties": ties, "net_wins": effects.net_wins(delta), "rank_biserial": effects.rank_biserial(delta) if n else math.nan,
        "cohen_dz": effects.cohen_dz(delta), "sd": sd, "mde": effects.minimal_detectable(sd, n, alpha=alpha, power=power, method="normal"),
        "mde_t": effects.minimal_detectable(sd, n, alpha=alpha, power=power),
        "queries_needed": effects.queries_needed(mean, sd, alpha=alpha, power=power), "p_floor": p_floor(wins + losses),
        "drops": int((delta <= -drop + effects.TIE).sum()), "undefined": int((gone["baseline"] & gone["candidate"]).sum()),
        "failed_baseline": int((gone["baseline"] & ~gone["candidate"]).sum()), "failed_candidate": int((gone["candidate"] & ~gone["baseline"]).sum()),
    }


def _with_bounds(table: pd.DataFrame, pairs: pd.DataFrame, arms: _Arms | None, unseen: int) -> pd.DataFrame:
    """The table with mean deltas at their tie and hole bounds and condensed (null for metric tables)."""
    columns = ("tie_low", "tie_high", "hole_low", "hole_high", "condensed_delta")
    if arms is None:
        return table.assign(**{c: math.nan for c in columns})
    rows = []
    for name in table["metric"]:
        defined = pairs.loc[pairs["metric"] == name, "delta"].notna().to_numpy()
        rows.append({c: math.fsum(v[defined]) / defined.sum() if defined.any() else math.nan
                     for c, v in arms.bounds(Measure.parse(name), unseen).items()})
    return table.assign(**pd.DataFrame(rows, index=table.index, columns=list(columns)))


def _adjusted(table: pd.DataFrame) -> np.ndarray:
    """Adjusted p of the family's metrics, null outside."""
    return benjamini_hochberg(table["p_value"].where(table["in_family"]).to_numpy(dtype=np.float64))


def _first_metric(names: list[str], bare: bool) -> str:
    """The metric that decides where none is named; of a bare table, whatever the order of its rows."""
    if not bare:
        return names[0]
    return "ndcg@10" if "ndcg@10" in names else min(names, key=lambda name: (_is_side(name), name))


def _known_failed(arm: Arm) -> set[str]:
    """Queries that failed, where an arm of metrics says so: by its states, or by a null zero_result_rate."""
    if isinstance(arm, Evaluation):
        return set(arm.queries.loc[arm.queries["state"] == "failed", "query_id"])
    return set(arm.loc[(arm["metric"] == "zero_result_rate") & arm["value"].isna(), "query_id"])


def _failed_share(pairs: pd.DataFrame, known: tuple[set[str], set[str]], degraded: Sequence[str] | int) -> list[float]:
    """Share of the queries without an answer of their own, per arm; ``pairs`` of the primary metric."""
    ids, gone = pairs["query_id"], pairs[["baseline", "candidate"]].isna()
    failed = [set(ids[gone[arm] & ~gone[other]]) | known[side] & set(ids)
              for side, (arm, other) in enumerate((("baseline", "candidate"), ("candidate", "baseline")))]
    counts = [len(side) for side in failed]
    if isinstance(degraded, (int, np.integer)):
        counts[1] += int(degraded)
    elif len(degraded):
        fallen = set(degraded) & set(ids)
        if not fallen:
            raise EvaluationError(f"degraded: none of {len(degraded)} ids is a compared query, for example {list(degraded)[:3]}; compared, for example: {list(ids[:3])}")
        counts[1] = len(failed[1] | fallen)
    return [count / len(ids) if len(ids) else math.nan for count in counts]


def _guardrails(given: Mapping[str, float] | Sequence[str] | None, family: list[str], primary: str, names: list[str]) -> dict[str, float]:
    """Guardrail metrics with their tolerated loss."""
    if given is None:
        return {m: 0.0 for m in family if m != primary}
    rails = dict(given) if isinstance(given, Mapping) else {m: 0.0 for m in given}
    for metric, margin in rails.items():
        _one_of(metric, names, "guardrails")
        if not margin >= 0:
            raise ValueError(f"guardrails: margin of {metric} is {margin!r}; expected a tolerated loss >= 0")
    return rails


def _one_of(metric: str | Measure, names: list[str], what: str) -> str:
    """The metric's name, if it is compared."""
    if str(metric) not in names:
        raise ValueError(f"{what}: {str(metric)!r} is not compared; compared: {names}")
    return str(metric)


def _definitions(names: list[str], arms: _Arms | None, baseline: Arm) -> dict[str, str]:
    """Definition of each metric where it is known: from rankings or evaluations, not from bare tables."""
    if arms is not None:
        return {name: Measure.parse(name).definition(arms.gains, arms.relevant) for name in names}
    known = baseline.definitions if isinstance(baseline, Evaluation) else {}
    return {name: known.get(name, f"{name}: as supplied; its definition is not known here.") for name in names}


def _check_same_settings(baseline: Arm, candidate: Arm) -> None:
    """Two evaluations under different definitions cannot be subtracted."""
    if isinstance(baseline, Evaluation) and isinstance(candidate, Evaluation):
        unlike = [f"{key}: {baseline.settings[key]} against {candidate.settings[key]}" for key in ("gains", "relevant_grade", "unjudged")
                  if baseline.settings[key] != candidate.settings[key]]
        if unlike:
            raise EvaluationError(f"the arms were evaluated under different definitions ({'; '.join(unlike)}); evaluate both alike")


def _zero_result_rate(arm: Arm, means: pd.Series) -> float:
    """Share of queries without results: the metric, else an evaluation's own states; NaN where unknown."""
    if "zero_result_rate" in means.index or not isinstance(arm, Evaluation):
        return float(means.get("zero_result_rate", math.nan))
    answered = arm.queries["state"] != "failed"
    return float(arm.queries.loc[answered, "state"].isin(["zero_results", "missing"]).mean()) if answered.any() else math.nan


def _look(log: HoldoutLog | None, hypothesis: str, pairs: pd.DataFrame) -> Looks | None:
    """Record the look, if there is a log."""
    if log is None:
        return None
    seen = hashlib.sha256(pairs.to_csv(index=False).encode()).hexdigest()
    ids = pd.unique(pairs["query_id"])
    return log.record(hypothesis, fingerprint(ids), seen, len(ids))
