"""Which weight vectors to try: grids, line-by-line descent, random draws, refinement, the lab's 218.

Every generator returns :class:`Configurations`: an ordered set without repeats, each member
with the stage that asked for it. A weight can be a number >= 0 or ``None``; ``None`` leaves the
field out of the query. That is not the same as 0: a field of weight 0 still matches (with
score 0.0), so it still adds results at the end of the list.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from toolkit.search.config import MultiMatch

Zero = Literal["absent", "match"]

#: Weight ratios to the title that the lab's sweep tried on each axis (18 levels, both ends included).
LAB_LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.375, 0.5, 0.625, 0.8, 1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 5.0)
#: Factors of the lab's last stage, around the best configuration so far.
LAB_REFINEMENT = (0.7, 0.85, 1.18, 1.4)
#: The lab's published starting point.
LAB_BASE = MultiMatch({"title": 4.0, "brand": 2.5, "bullet_point": 1.5, "description": 1.0, "category": 1.2})
LAB_SEED = 20260816


@dataclass(frozen=True)
class Configurations:
    """An ordered set of configurations with the stage that made each.

    Attributes
    ----------
    configs : tuple of MultiMatch
        Without repeats.
    stages : tuple of str
        Same length.
    """

    configs: tuple[MultiMatch, ...]
    stages: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.configs)

    def __iter__(self) -> Iterator[MultiMatch]:
        return iter(self.configs)

    def __getitem__(self, index: int) -> MultiMatch:
        return self.configs[index]

    def __add__(self, other: Configurations) -> Configurations:
        """Both sets in order; a configuration that is in both keeps its first place and stage."""
        return collect([*zip(self.stages, self.configs), *zip(other.stages, other.configs)])

    def to_frame(self) -> pd.DataFrame:
        """One row a configuration: index, stage, type, tie, and one column a field (null = left out)."""
        fields = list(dict.fromkeys(name for config in self.configs for name in config.fields))
        rows = [{"index": i, "stage": stage, "type": config.type, "tie": config.tie,
                 **{name: config.fields.get(name, np.nan) for name in fields}}
                for i, (stage, config) in enumerate(zip(self.stages, self.configs))]
        return pd.DataFrame(rows, columns=["index", "stage", "type", "tie", *fields])

    def summary(self) -> str:
        """How many configurations, by stage."""
        counts = pd.Series(self.stages, dtype="str").value_counts(sort=False)
        return f"{len(self)} configurations: " + ", ".join(f"{n} {stage}" for stage, n in counts.items())

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.to_frame().head(10).to_html(index=False)}"


def collect(pairs: Iterable[tuple[str, MultiMatch]]) -> Configurations:
    """Ordered set of (stage, configuration) pairs; a repeat keeps its first stage."""
    first: dict[MultiMatch, str] = {}
    for stage, config in pairs:
        first.setdefault(config, stage)
    return Configurations(tuple(first), tuple(first.values()))


def reweight(base: MultiMatch, weights: Mapping[str, float | None]) -> MultiMatch:
    """``base`` with some weights replaced; ``None`` leaves the field out, order of fields kept."""
    merged: dict[str, float | None] = {**base.fields, **weights}
    return replace(base, fields={name: weight for name, weight in merged.items() if weight is not None})


def axis_values(low: float, high: float, steps: int, *, scale: Literal["linear", "log"] = "linear") -> list[float]:
    """``steps`` + 1 values from ``low`` to ``high``, both ends exact.

    Each value comes from its integer step (``(low * (steps - i) + high * i) / steps``), never from
    adding a step again and again: 0.1 added thirty times is not 3.

    Raises
    ------
    ValueError
        If the range is empty or negative, or a log scale would have to start at 0.
    """
    if steps < 1 or not 0 <= low < high or (scale == "log" and low == 0):
        raise ValueError(f"axis_values: low {low!r}, high {high!r}, steps {steps!r}, scale {scale!r}; "
                         "expected 0 <= low < high (0 < low for 'log') and steps >= 1")
    places = range(1, steps)
    inner = [low * (high / low) ** (i / steps) if scale == "log" else (low * (steps - i) + high * i) / steps for i in places]
    return [float(low), *inner, float(high)]


def axis_grid(base: MultiMatch, values: Sequence[float], *, fields: Sequence[str] | None = None,
              zero: Zero = "match") -> Configurations:
    """One line of configurations a field: its weight takes each value, the others stay.

    Parameters
    ----------
    base : MultiMatch
    values : sequence of float
        For example from :func:`axis_values`.
    fields : sequence of str, optional
        Default: all fields of ``base``.
    zero : {"match", "absent"}
        What a value of 0 means: a field that matches with score 0, or a field left out.
    """
    names = list(base.fields) if fields is None else list(fields)
    _check_fields(base, names)
    return collect((f"axis:{name}", reweight(base, {name: _zero(value, zero)})) for name in names for value in values)


def log_uniform(base: MultiMatch, draws: int, *, low: float = 0.1, high: float = 10.0, seed: int,
                fields: Sequence[str] | None = None, zero_share: float = 0.0, zero: Zero = "absent") -> Configurations:
    """Random weights, uniform on the log scale between ``low`` and ``high``.

    Parameters
    ----------
    base : MultiMatch
    draws : int
    low, high : float
        Range of each drawn weight.
    seed : int
    fields : sequence of str, optional
        Which weights are drawn; default all.
    zero_share : float
        Probability that a drawn weight is 0 instead (what 0 means: ``zero``).
    zero : {"absent", "match"}
    """
    if not 0 < low <= high or draws < 0 or not 0 <= zero_share < 1:
        raise ValueError(f"log_uniform: low {low!r}, high {high!r}, draws {draws!r}, zero_share {zero_share!r}; "
                         "expected 0 < low <= high, draws >= 0, 0 <= zero_share < 1")
    names = list(base.fields) if fields is None else list(fields)
    _check_fields(base, names)
    rng = np.random.default_rng(seed)
    weights = np.exp(rng.uniform(np.log(low), np.log(high), (draws, len(names))))
    weights[rng.random((draws, len(names))) < zero_share] = 0.0
    made = ({name: _zero(float(w), zero) for name, w in zip(names, row)} for row in weights)
    return collect(("random", reweight(base, row)) for row in made if _some(base, row))


def refine(base: MultiMatch, *, factors: Sequence[float] = LAB_REFINEMENT, fields: Sequence[str] | None = None) -> Configurations:
    """Each weight of ``base`` multiplied by each factor, one field at a time."""
    names = list(base.fields) if fields is None else list(fields)
    _check_fields(base, names)
    return collect(("refine", reweight(base, {name: base.fields[name] * factor})) for name in names for factor in factors)


def coordinate_descent(base: MultiMatch, score: Callable[[Configurations], Sequence[float]], levels: Sequence[float], *,
                       fields: Sequence[str] | None = None, passes: int = 3,
                       zero: Zero = "match") -> tuple[MultiMatch, Configurations]:
    """Best level of one field after the other, until a pass changes nothing.

    Parameters
    ----------
    base : MultiMatch
        Where to start.
    score : callable
        Takes :class:`Configurations`, returns one number each; larger is better.
    levels : sequence of float
        Weights tried on each axis.
    fields, passes, zero
        Order of the axes (default: all, as in ``base``), most passes, what a level of 0 means.

    Returns
    -------
    tuple
        The best configuration, and every configuration tried (in order). A move needs a
        strictly better score, so a flat axis leaves the weight where it was.
    """
    best, tried = base, collect([("start", base)])
    best_score = float(score(tried)[0])
    for number in range(1, passes + 1):
        before = best
        for name in (list(base.fields) if fields is None else fields):
            line = axis_grid(best, levels, fields=[name], zero=zero) if name in best.fields else collect(
                ("", reweight(best, {name: _zero(level, zero)})) for level in levels)
            values = [float(value) for value in score(line)]
            tried = tried + Configurations(line.configs, (f"pass {number}:{name}",) * len(line))
            top = int(np.argmax(values))
            if values[top] > best_score:
                best, best_score = line[top], values[top]
        if best == before:
            break
    return best, tried


def lab_218(base: MultiMatch = LAB_BASE) -> Configurations:
    """218 configurations in the shape of the searchops lab's sweep.

    The lab held the title's weight still and varied the ratio of the other four to it, over 18
    levels, and a ratio of 0 left the field out. The make-up here is the same:

    ====================  =====  ===========================================================
    stage                 count  what
    ====================  =====  ===========================================================
    baseline                  1  ``base``
    axis                     68  4 fields x the 17 other levels, around ``base``
    descent                  85  5 lines x 17 levels through the lab's published way points
    random                   48  log-uniform ratios, a tenth of them absent (own seeded draw)
    refine                   16  4 fields x 4 factors around the last way point
    ====================  =====  ===========================================================

    The way points are fixed here (brand 1.0, then description 0.375, then bullet_point 0.5), so
    the set does not depend on any data. The random draws are not the lab's: its generator is not
    published, only its seed.

    Parameters
    ----------
    base : MultiMatch
        Must weigh the title; of brand, bullet_point, description and category, those that are missing take no
        part (and the set is smaller than 218).

    Source: ``experiments/sweep-train-report.json`` of geyuxu/searchops-agent-lab (MIT).
    """
    others = [name for name in ("brand", "bullet_point", "description", "category") if base.fields.get(name, 0) > 0]
    _check_fields(base, ["title"])
    title = base.fields["title"]
    if not title or not others:
        raise ValueError(f"lab_218: {base} needs a title weight > 0 and another weighed field of the lab's five")

    def move(start: MultiMatch, **ratios: float) -> MultiMatch:
        return reweight(start, {name: None if ratio == 0 else title * ratio for name, ratio in ratios.items() if name in others})

    def line(stage: str, start: MultiMatch, name: str) -> list[tuple[str, MultiMatch]]:
        here = start.fields[name] / title
        nearest = min(LAB_LEVELS, key=lambda level: abs(level - here))
        return [(stage, move(start, **{name: level})) for level in LAB_LEVELS if level != nearest]

    first = move(base, brand=1.0)
    second = move(first, description=0.375)
    last = move(second, bullet_point=0.5)
    pairs = [("baseline", base)] + [pair for name in others for pair in line("axis", base, name)]
    # The line through base's own level repeats nothing: each start has moved since the axis stage.
    for start, name in ((first, "description"), (second, "bullet_point"), (last, "category"), (last, "brand"), (last, "description")):
        pairs += line("descent", start, name) if name in others else []
    ratios = log_uniform(MultiMatch({name: 1.0 for name in others}), 48, low=0.1, high=3.0, seed=LAB_SEED, zero_share=0.1)
    pairs += [("random", move(base, **{name: config.fields.get(name, 0.0) for name in others})) for config in ratios]
    pairs += [("refine", reweight(last, {name: last.fields[name] * factor})) for name in others for factor in LAB_REFINEMENT]
    made = collect(pairs)
    if len(others) == 4 and len(made) != 218:
        raise ValueError(f"lab_218: {len(made)} different configurations around {base}, expected 218; "
                         "its weights coincide with another stage's; use the default base")
    return made


def _zero(value: float, zero: Zero) -> float | None:
    if zero not in ("absent", "match"):
        raise ValueError(f"zero={zero!r}; expected 'absent' (leave the field out) or 'match' (it matches with score 0)")
    return None if value == 0 and zero == "absent" else float(value)


def _some(base: MultiMatch, weights: Mapping[str, float | None]) -> bool:
    """Is any field left?"""
    return any(weight is not None for weight in {**base.fields, **weights}.values())


def _check_fields(base: MultiMatch, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in base.fields]
    if unknown:
        raise ValueError(f"field(s) {unknown} are not in the configuration, which has {list(base.fields)}")
