"""Climb to good weights by exact line searches, and say what is certain about the result."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.diagnosis.configs import Configurations, collect, lab_218, log_uniform
from toolkit.diagnosis.curves import SAME, WeightCurve, field_curve, line_curve
from toolkit.diagnosis.list_evaluation import evaluate_lists
from toolkit.diagnosis.weight_space import Objective, WeightSpace, objective, weight_space
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.search.config import MultiMatch


@dataclass(frozen=True)
class BestWeights:
    """The best weights found, and the proof of what no single line can improve.

    Attributes
    ----------
    config : MultiMatch
    value, base_value : float
        Mean metric of ``config`` and of the base, on the same queries.
    certified : bool
        True where every line through ``config`` (each weight alone from 0 to infinity and left
        out; each pair of weights scaled together and against each other) was searched exactly and
        none has a better piece. False where the climb was stopped before.
    lines : DataFrame
        One row a line: line, best (the largest mean on it), gain (best - value), upper_bound.
    climbs : DataFrame
        One row a start: start, from_value, value, steps.
    trail : DataFrame
        The winning climb: step, line, weight_from, weight_to, value.
    definition : str
    n : int
    """

    config: MultiMatch
    value: float
    base_value: float
    certified: bool
    lines: pd.DataFrame
    climbs: pd.DataFrame
    trail: pd.DataFrame
    definition: str
    n: int

    @property
    def table(self) -> pd.DataFrame:
        """The lines."""
        return self.lines

    def to_frame(self) -> pd.DataFrame:
        """The lines."""
        return self.lines

    def certificate(self) -> str:
        """What is proved, in sentences."""
        metric = self.definition.split(":")[0]
        if not self.certified:
            return f"The climb stopped at its step limit: {self.value:.6f} is not certified."
        blurred = float(self.lines["gain"].max()) if len(self.lines) else 0.0
        but = f" (except inside pieces narrower than float32 rounding, by {blurred:.6f})" if blurred > SAME else ""
        return (f"No change of one weight (0 to infinity, or left out), and no scaling of two weights together or against each "
                f"other, lifts the mean {metric} of {self.n} queries above {self.value:.6f}{but}: {len(self.lines)} lines searched exactly. "
                f"Float32 rounding at near ties could add at most {max(0.0, self.lines['upper_bound'].max() - self.value):.6f}. "
                f"This is a local certificate: changes of several weights at once were only tried from {len(self.climbs)} starts.")

    def summary(self) -> str:
        """The weights, their value and the certificate."""
        weights = ", ".join(f"{name} {weight:g}" for name, weight in self.config.fields.items())
        return f"{weights}: {self.value:.6f} against {self.base_value:.6f} for the base. {self.certificate()}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.lines.to_html(index=False)}"


def best_weights(lists: object, judgments: pd.DataFrame, base: MultiMatch, metric: str = "ndcg@10", *,
                 starts: Sequence[MultiMatch] | Configurations | None = None, restarts: int = 3, max_steps: int = 60, seed: int = 0,
                 gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0, progress: bool = False) -> BestWeights:
    """Best weights by exact line searches from several starts.

    Parameters
    ----------
    lists : FieldLists, WeightSpace or DataFrame
    judgments : DataFrame
    base : MultiMatch
        ``best_fields`` without tie breaker. It is the first start.
    metric : str
    starts : sequence of MultiMatch, optional
        Candidates of which the best one is a second start; default:
        :func:`~toolkit.diagnosis.configs.lab_218` where ``base`` has the lab's fields, else none. The result is
        never worse than any of them.
    restarts : int
        Further starts, drawn log-uniformly.
    max_steps : int
        Moves per climb before it is given up (uncertified).
    seed : int
    gains, relevant_grade
        As in :func:`toolkit.evaluation.evaluate`.
    progress : bool

    Returns
    -------
    BestWeights
        Each climb ends only where no line has a better piece that float32 rounding cannot blur.
    """
    space = weight_space(lists)
    goal = objective(space, judgments, metric, gains=gains, relevant_grade=relevant_grade)
    begin = _starts(space, goal, base, starts, restarts, seed)
    climbs = [_climb(space, goal, start, max_steps) for start in tqdm(begin, desc="climbs", disable=not progress)]
    value = [climb[1] for climb in climbs]
    config, best, trail, lines = climbs[int(np.argmax(value))]
    table = pd.DataFrame([{"line": c.label, "best": c.best, "gain": c.best - best, "upper_bound": c.upper_bound} for c in lines],
                         columns=["line", "best", "gain", "upper_bound"])
    first = mean_values(space, goal, begin)
    overview = pd.DataFrame({"start": [str(start) for start in begin], "from_value": first, "value": value,
                             "steps": [len(climb[2]) for climb in climbs]})
    steps = pd.DataFrame(trail, columns=["line", "weight_from", "weight_to", "value"])
    steps.insert(0, "step", range(1, len(steps) + 1))
    return BestWeights(config, best, float(first[0]), bool(lines), table, overview, steps, goal.definition, int(goal.defined.sum()))


def mean_values(space: WeightSpace, goal: Objective, configs: Sequence[MultiMatch] | Configurations) -> np.ndarray:
    """Mean metric of each configuration over the queries where it is defined, shape (configurations,)."""
    return evaluate_lists(space, configs, [goal]).values[goal.defined, :, 0].mean(axis=0)


def _starts(space: WeightSpace, goal: Objective, base: MultiMatch, starts, restarts: int, seed: int) -> Configurations:
    """The base, the best candidate, and random draws."""
    if starts is None:
        others = ("brand", "bullet_point", "description", "category")
        starts = lab_218(base) if base.fields.get("title", 0) > 0 and any(base.fields.get(name, 0) > 0 for name in others) else []
    pairs = [("base", base)]
    if len(starts):
        values = mean_values(space, goal, starts)
        pairs.append(("best candidate", list(starts)[int(np.argmax(values))]))
    positive = replace(base, fields={name: weight or 1.0 for name, weight in base.fields.items()})
    pairs += [("random", config) for config in log_uniform(positive, restarts, seed=seed)]
    return collect(pairs)


def _lines(space: WeightSpace, goal: Objective, config: MultiMatch) -> Iterator[tuple[WeightCurve, dict[str, float]]]:
    """Every line through a configuration: one weight, two together, two against each other."""
    for name in space.fields:
        if name not in config.fields or len(config.fields) > 1:
            yield field_curve(space, goal, name, config), {name: 1.0}
    weighed = [name for name, weight in config.fields.items() if weight > 0]
    if len(weighed) < 2:
        return
    for one, two in itertools.combinations(weighed, 2):
        if len(weighed) > 2:
            yield line_curve(space, goal, config, {one: 1.0, two: 1.0}), {one: 1.0, two: 1.0}
        yield line_curve(space, goal, config, {one: 1.0, two: -1.0}), {one: 1.0, two: -1.0}


def _climb(space: WeightSpace, goal: Objective, start: MultiMatch, max_steps: int):
    """Move to the best piece of the best line until no line is better."""
    config, value = start, float(mean_values(space, goal, [start])[0])
    trail: list[tuple[str, float, float, float]] = []
    for _ in range(max_steps):
        curves, moved = [], None
        for curve, direction in _lines(space, goal, config):
            curves.append(curve)
            option = _move(space, goal, config, curve, direction, value if moved is None else moved[1])
            moved = option or moved
        if moved is None:
            return config, value, trail, curves
        config, value, entry = moved
        trail.append(entry)
    return config, value, trail, []


def _move(space: WeightSpace, goal: Objective, config: MultiMatch, curve: WeightCurve, direction: dict[str, float], floor: float):
    """The configuration at the best of a curve, if it is better than ``floor``."""
    low, high, value = curve.best_piece()
    name = next(iter(direction))
    options: list[tuple[float, float, float, MultiMatch]] = []
    if value > floor + SAME:
        x = plain_number(low, high)
        single = len(direction) == 1 and curve.at_zero is not None
        new = {name: x} if single else {key: config.fields[key] * x ** power for key, power in direction.items()}
        options.append((value, low, high, replace(config, fields={**config.fields, **new})))
    if curve.absent is not None and curve.absent > floor + SAME and curve.absent > value and name in config.fields:
        options.append((curve.absent, np.nan, np.nan, replace(config, fields={k: w for k, w in config.fields.items() if k != name})))
    if curve.at_zero is not None and curve.at_zero > floor + SAME and curve.at_zero > max(value, curve.absent or 0.0):
        options.append((curve.at_zero, 0.0, 0.0, replace(config, fields={**config.fields, name: 0.0})))
    if not options:
        return None
    _, low, high, moved = options[-1]
    reached = float(mean_values(space, goal, [moved])[0])
    return (moved, reached, (curve.label, low, high, reached)) if reached > floor + SAME else None


def plain_number(low: float, high: float) -> float:
    """The number with the fewest digits well inside (low, high), near its logarithmic middle.

    Examples
    --------
    >>> plain_number(3.2061, 3.4419)
    3.3
    """
    if low <= 0:
        return high / 2 if math.isfinite(high) else 1.0
    if not math.isfinite(high):
        return 2 * low
    middle, share = math.sqrt(low * high), (high / low) ** 0.1
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits}g}")
        if low * share <= rounded <= high / share:
            return rounded
    return middle
