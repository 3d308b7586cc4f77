"""Exact curves: the metric for every value of a weight, from 0 to infinity and left out.

In logarithms of the weights, two documents change places where
``log w_f - log w_g = log s_g(d') - log s_f(d)``. Along one weight (or any line on which weights
grow as x, stay, or shrink as 1/x) the metric is therefore a step function with finitely many
steps, all of them known from the field lists. A curve here is that function, not a sample of it,
so "no value of this weight does better" is a certificate.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from toolkit.diagnosis import curve_kernels as kernels
from toolkit.diagnosis.list_evaluation import check_best_fields, check_depth, evaluate_lists
from toolkit.diagnosis.list_kernels import MARGIN
from toolkit.diagnosis.weight_space import Objective, WeightSpace, objective, weight_space
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.search.config import MultiMatch

#: Means closer than this are the same number (sums of many float64 steps).
SAME = 1e-12


@dataclass(frozen=True)
class WeightCurve:
    """The mean metric along one line in weight space, piece by piece.

    Attributes
    ----------
    label : str
        What x is, for example ``weight of title``.
    pieces : DataFrame
        One row an open piece, ascending: weight_from, weight_to (0 to inf), value (mean inside),
        value_at_from (mean exactly on weight_from; null in the first row), queries_changing
        (queries whose value changes at weight_from), wide (False where the piece is so narrow that
        float32 rounding may blur it).
    events : DataFrame
        query_id, weight, before, at, after: every change of every query's value.
    at_zero, absent : float or None
        Mean with weight 0 (the field still matches, with score 0) and with the field left out;
        None for lines that are not one field's weight, or where nothing would be left to search.
    upper_bound : float
        No ranking that float32 rounding could produce at any weight has a larger mean.
    doubtful : tuple of str
        Queries that hold a near tie (or a hidden page of zero scores) at every weight; their values are
        taken from real arithmetic, and count as 1 in ``upper_bound``.
    ends_change : bool
        Whether weight 0 or leaving the field out changes any query's value against a tiny weight.
    current : float
        The x of the base configuration (its weight; 1 for other lines).
    current_value : float
    definition : str
    n, undefined : int
        Queries in the mean; queries outside it because the metric is undefined for them.
    """

    label: str
    pieces: pd.DataFrame
    events: pd.DataFrame
    at_zero: float | None
    absent: float | None
    upper_bound: float
    doubtful: tuple[str, ...]
    ends_change: bool
    current: float
    current_value: float
    definition: str
    n: int
    undefined: int

    def value(self, x: float) -> float:
        """The mean at one value of x (0 included)."""
        if x == 0 and self.at_zero is not None:
            return self.at_zero
        if not x > 0:
            raise ValueError(f"{self.label}: value at {x!r}; expected a number > 0 (or 0 on one field's weight)")
        starts = self.pieces["weight_from"].to_numpy()
        row = int(np.searchsorted(starts, x, side="right")) - 1
        on_edge = row > 0 and starts[row] == x
        return float(self.pieces["value_at_from" if on_edge else "value"].iloc[row])

    @property
    def best(self) -> float:
        """The largest mean over all pieces, edges, 0 and leaving the field out."""
        ends = [value for value in (self.at_zero, self.absent) if value is not None]
        return float(np.nanmax([self.pieces["value"].max(), self.pieces["value_at_from"].max(), *ends]))

    def best_piece(self) -> tuple[float, float, float]:
        """(weight_from, weight_to, value) of the widest piece among the best that rounding cannot blur."""
        wide = self.pieces[self.pieces["wide"]]
        top = wide[wide["value"] >= wide["value"].max() - SAME]
        width = _log_width(top["weight_from"].to_numpy(), top["weight_to"].to_numpy())
        row = top.iloc[int(np.argmax(width))]
        return float(row["weight_from"]), float(row["weight_to"]), float(row["value"])

    @property
    def is_flat(self) -> bool:
        """Does no value of x in (0, inf), nor 0, nor leaving the field out, change any query's value?"""
        return self.events.empty and not self.ends_change

    def plateaus(self) -> pd.DataFrame:
        """Pieces merged where the mean is the same: weight_from, weight_to, value."""
        value = self.pieces["value"].to_numpy()
        start = np.flatnonzero(np.r_[True, np.abs(np.diff(value)) > SAME])
        stop = np.r_[start[1:] - 1, len(value) - 1]
        return pd.DataFrame({"weight_from": self.pieces["weight_from"].to_numpy()[start],
                             "weight_to": self.pieces["weight_to"].to_numpy()[stop], "value": value[start]})

    def certificate(self) -> str:
        """What is proved about this line, in sentences."""
        metric = self.definition.split(":")[0]
        whole = "from 0 to infinity, nor leaving the field out," if self.absent is not None else "from 0 to infinity"
        if self.is_flat:
            return (f"The {self.label} has no effect: at every value {whole.replace('nor', 'and when')} the mean {metric} is "
                    f"{self.best:.6f} ({self.n} queries), for every single query.{self._doubt()}")
        low, high, value = self.best_piece()
        where = f"reached between {low:.6g} and {high:.6g}"
        if value < self.best - SAME:
            where = f"reached only at a single value, at 0, left out, or in a piece narrower than float32 rounding; {value:.6f} is {where}"
        return (f"No {self.label} {whole} gives a mean {metric} above {self.best:.6f} ({self.n} queries, {self.undefined} "
                f"undefined); it is {where}. Now: {self.current:g} gives {self.current_value:.6f}.{self._doubt()}")

    def _doubt(self) -> str:
        return (f" Whatever float32 rounding does at near ties, no value is above {self.upper_bound:.6f} "
                f"(margin {MARGIN:.1e}; {len(self.doubtful)} queries hold a near tie at every weight).")

    def to_frame(self) -> pd.DataFrame:
        """The pieces."""
        return self.pieces

    def summary(self) -> str:
        """The certificate, with the number of pieces."""
        return f"{len(self.plateaus())} plateaus. {self.certificate()}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.plateaus().head(12).to_html(index=False)}"


def weight_curve(lists: object, judgments: pd.DataFrame, field: str, base: MultiMatch, metric: str = "ndcg@10", *,
                 gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0) -> WeightCurve:
    """The exact curve of one field's weight, the others as in ``base``.

    Parameters
    ----------
    lists : FieldLists, WeightSpace or DataFrame
        Per-field lists at least as deep as the metric's cut-off; one more is better.
    judgments : DataFrame
    field : str
    base : MultiMatch
        ``best_fields`` without tie breaker.
    metric : str
        A measure with cut-off: ndcg, recall, mrr, precision or success.
    gains, relevant_grade
        As in :func:`toolkit.evaluation.evaluate`.

    Returns
    -------
    WeightCurve
    """
    space = weight_space(lists)
    goal = objective(space, judgments, metric, gains=gains, relevant_grade=relevant_grade)
    return field_curve(space, goal, field, base)


def field_curve(space: WeightSpace, goal: Objective, field: str, base: MultiMatch) -> WeightCurve:
    """:func:`weight_curve` on prepared arrays."""
    if field not in space.fields:
        raise ValueError(f"weight_curve: no list of field {field!r}; listed: {list(space.fields)}")
    unit = {**base.fields, field: 1.0}
    rest = {name: weight for name, weight in base.fields.items() if name != field}
    ends = [_with(base, {**rest, field: 0.0}), _with(base, rest) if rest else None]
    return _curve(space, goal, f"weight of {field}", _with(base, unit), {field: 1.0}, base.fields.get(field, 0.0), base, ends)


def line_curve(space: WeightSpace, goal: Objective, base: MultiMatch, direction: Mapping[str, float]) -> WeightCurve:
    """The exact curve along a line: field f weighs its base weight times ``x ** direction[f]``.

    Parameters
    ----------
    space, goal
        From :func:`weight_space` and :func:`objective`.
    base : MultiMatch
    direction : mapping of str to {1, -1}
        For example ``{"title": 1, "brand": -1}``: along the difference of two log weights.
    """
    bad = [name for name, power in direction.items() if power not in (1, -1) or not base.fields.get(name, 0) > 0]
    if bad or not direction:
        raise ValueError(f"line_curve: direction {dict(direction)!r}; expected powers 1 or -1 of fields with a weight > 0 in {base}")
    label = " ".join(f"{'×' if power > 0 else '÷'}{name}" for name, power in direction.items())
    return _curve(space, goal, f"factor x ({label})", base, direction, 1.0, base, [None, None])


def _with(base: MultiMatch, fields: Mapping[str, float]) -> MultiMatch:
    return replace(base, fields=dict(fields))


def _curve(space: WeightSpace, goal: Objective, label: str, unit: MultiMatch, direction: Mapping[str, float], current: float,
           base: MultiMatch, ends: list[MultiMatch | None]) -> WeightCurve:
    """Run the kernel on every defined query and add the step functions up."""
    check_depth(space, goal.k)
    check_best_fields([base])
    weight = space.weights(unit)
    power = np.array([float(direction.get(name, 0.0)) for name in space.fields])
    defined = np.flatnonzero(goal.defined)
    if not len(defined):
        raise ValueError(f"{goal.measure} is undefined for every query; check that judgments and lists share query ids")
    owner, steps, bends, low, bound, doubt = kernels.line_queries(
        space.doc, space.score, space.length, space.zero_doc, space.zero_length, space.zero_known, space.pointer, defined, weight, power,
        goal.gain, goal.divisor, goal.discount, goal.take_max, goal.k)
    events = _events(space, owner, steps)
    rows = evaluate_lists(space, [config for config in (base, *ends) if config is not None], [goal])
    # Each column summed alone and in the order of the pieces' first sum: equal values give equal means.
    means = [np.ascontiguousarray(rows.values[defined, i, 0]).sum() / len(defined) for i in range(rows.values.shape[1])]
    current_value = float(means.pop(0))
    zero, absent = (float(means.pop(0)) if config is not None else None for config in ends)
    ends_change = bool((rows.values[defined, 1:, 0] != low[:, None]).any())
    uncertain = np.where(rows.flags[defined] != 0, 1.0, rows.values[defined, :, 0]).mean(axis=0)
    upper = max(_peak(bound.sum(), bends) / len(defined), *uncertain.tolist())
    doubtful = tuple(space.query_ids[q] for q in defined[doubt])
    return WeightCurve(label, _pieces(events, low.sum(), len(defined)), events, zero, absent, upper, doubtful, ends_change,
                       float(current), current_value, goal.definition, len(defined), len(space.query_ids) - len(defined))


def _events(space: WeightSpace, owner: np.ndarray, steps: np.ndarray) -> pd.DataFrame:
    order = np.lexsort((owner, steps[:, 0]))
    steps = steps[order]
    return pd.DataFrame({"query_id": pd.array(np.array(space.query_ids, dtype=object)[owner[order]], dtype="str"), "weight": steps[:, 0],
                         "before": steps[:, 1], "at": steps[:, 2], "after": steps[:, 3]})


def _pieces(events: pd.DataFrame, first: float, n: int) -> pd.DataFrame:
    """Add up the queries' steps: one open piece between neighbouring changes."""
    at_edge = events.groupby("weight", sort=True)
    step = at_edge["after"].sum() - at_edge["before"].sum()
    jump = at_edge["at"].sum() - at_edge["before"].sum()
    inside = (first + np.r_[0.0, np.cumsum(step.to_numpy())]) / n
    starts = np.r_[0.0, step.index.to_numpy(np.float64)]
    stops = np.r_[starts[1:], np.inf]
    return pd.DataFrame({"weight_from": starts, "weight_to": stops, "value": inside,
                         "value_at_from": np.r_[np.nan, inside[:-1] + jump.to_numpy() / n],
                         "queries_changing": np.r_[0, at_edge.size().to_numpy()],
                         "wide": _log_width(starts, stops) > 4 * MARGIN})


def _log_width(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """log(stop / start), infinite at both ends of the line."""
    with np.errstate(divide="ignore"):
        return np.log(stop) - np.log(start)


def _peak(first: float, envelope: np.ndarray) -> float:
    """Largest value of a sum of step functions, given its first value and all (x, step) pairs."""
    order = np.argsort(envelope[:, 0], kind="stable")
    x, step = envelope[order, 0], envelope[order, 1]
    total = first + np.cumsum(step)
    last = np.flatnonzero(np.diff(x, append=np.inf) > 0)
    return float(max(first, total[last].max())) if len(x) else float(first)
