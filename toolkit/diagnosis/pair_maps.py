"""The metric over the weights of two fields: every column of the map is an exact curve.

With two weights free, the critical surfaces in log weights are lines in three directions
(one weight against the fields held still, the other likewise, and the two against each other).
Their whole arrangement has millions of cells for real query sets, so the map is exact where it
says so: along each column every breakpoint is known, and every cell shows the exact value of its
centre. Between columns it is sampled.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from toolkit.diagnosis.curves import field_curve
from toolkit.diagnosis.weight_space import objective, weight_space
from toolkit.evaluation.gains import ESCI_LINEAR, Gains
from toolkit.search.config import MultiMatch


@dataclass(frozen=True)
class PairMap:
    """Mean metric for a grid of weights of two fields.

    Attributes
    ----------
    x_field, y_field : str
    cells : DataFrame
        One row a cell: x, y (weights at the centre), value (the exact mean there).
    columns : DataFrame
        One row a column: x, best (largest mean over *all* y from 0 to infinity), y_from, y_to (the
        widest best piece), plateaus.
    base : MultiMatch
    base_value : float
    definition : str
    n : int
    """

    x_field: str
    y_field: str
    cells: pd.DataFrame
    columns: pd.DataFrame
    base: MultiMatch
    base_value: float
    definition: str
    n: int

    @property
    def table(self) -> pd.DataFrame:
        """The cells."""
        return self.cells

    def to_frame(self) -> pd.DataFrame:
        """The cells."""
        return self.cells

    def grid(self) -> pd.DataFrame:
        """Values as a matrix: rows y (ascending), columns x (ascending)."""
        return self.cells.pivot(index="y", columns="x", values="value")

    def summary(self) -> str:
        """The best column, and what is exact."""
        top = self.columns.loc[self.columns["best"].idxmax()]
        metric = self.definition.split(":")[0]
        return (f"Mean {metric} of {self.n} queries over the weights of {self.x_field} and {self.y_field}: from {self.cells['value'].min():.4f} "
                f"to {self.cells['value'].max():.4f} on the grid, {self.base_value:.4f} now. Best column: {self.x_field} {top['x']:.4g} gives "
                f"{top['best']:.4f} for {self.y_field} between {top['y_from']:.4g} and {top['y_to']:.4g}. Exact along each of the "
                f"{len(self.columns)} columns (every weight of {self.y_field} from 0 to infinity); sampled between columns.")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.columns.head(12).to_html(index=False)}"


def pair_map(lists: object, judgments: pd.DataFrame, x_field: str, y_field: str, base: MultiMatch, metric: str = "ndcg@10", *,
             octaves: float = 4.0, steps: int = 33, gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0,
             progress: bool = False) -> PairMap:
    """The metric over two weights, the others held still.

    Parameters
    ----------
    lists : FieldLists, WeightSpace or DataFrame
    judgments : DataFrame
    x_field, y_field : str
        Fields of ``base`` with a weight > 0.
    base : MultiMatch
        ``best_fields`` without tie breaker.
    metric : str
    octaves : float
        The map reaches from ``weight / 2**octaves`` to ``weight * 2**octaves``.
    steps : int
        Columns and rows; odd, so that the base stands in the middle.
    gains, relevant_grade
        As in :func:`toolkit.evaluation.evaluate`.
    progress : bool

    Raises
    ------
    ValueError
        For one field twice, a field without weight, or an even number of steps.
    """
    if x_field == y_field or steps < 3 or steps % 2 == 0:
        raise ValueError(f"pair_map: fields {x_field!r} and {y_field!r}, steps {steps}; expected two fields and an odd number of steps from 3")
    for name in (x_field, y_field):
        if not base.fields.get(name, 0) > 0:
            raise ValueError(f"pair_map: field {name!r} has no weight > 0 in {base}")
    space = weight_space(lists)
    goal = objective(space, judgments, metric, gains=gains, relevant_grade=relevant_grade)
    factors = 2.0 ** np.linspace(-octaves, octaves, steps)
    xs, ys = base.fields[x_field] * factors, base.fields[y_field] * factors
    cells, columns, now = [], [], np.nan
    for x in tqdm(xs, desc="columns", disable=not progress):
        curve = field_curve(space, goal, y_field, replace(base, fields={**base.fields, x_field: float(x)}))
        low, high, _ = curve.best_piece()
        columns.append({"x": x, "best": curve.best, "y_from": low, "y_to": high, "plateaus": len(curve.plateaus())})
        cells += [{"x": x, "y": y, "value": curve.value(y)} for y in ys]
        if x == base.fields[x_field]:
            now = curve.current_value
    return PairMap(x_field, y_field, pd.DataFrame(cells), pd.DataFrame(columns), base, now, goal.definition, int(goal.defined.sum()))
