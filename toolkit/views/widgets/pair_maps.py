"""Two weights at once: a map with the exact value of every cell, and the best of every column."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.diagnosis import PairMap, pair_map
from toolkit.diagnosis.weight_space import weight_space
from toolkit.search import MultiMatch
from toolkit.views.html import line, table_html
from toolkit.views.widgets.weight_pictures import map_svg

if TYPE_CHECKING:
    from toolkit.views.box import Explorer


def render_pair_map(found: PairMap) -> dict[str, str]:
    """A map in words, as a picture with hover text, and its best columns as a table.

    Parameters
    ----------
    found : PairMap

    Returns
    -------
    dict
        HTML of ``summary``, ``map`` and ``table``.
    """
    best = found.columns.sort_values("best", ascending=False, kind="stable").head(6).reset_index(drop=True)
    best = best.rename(columns={"x": f"weight of {found.x_field}", "best": "best mean in the column", "y_from": f"{found.y_field} from",
                                "y_to": f"{found.y_field} to"})
    return {"summary": line(found.summary()), "map": map_svg(found), "table": table_html(best, "Best columns (exact)", digits=4)}


def pair_map_explorer(lists: object, judgments: pd.DataFrame, base: MultiMatch, metric: str = "ndcg@10", *, steps: int = 25) -> Explorer:
    """Pick two fields and see the metric over their weights; hover a cell for its value.

    Parameters
    ----------
    lists : FieldLists
        One deeper than the metric's cut-off.
    judgments : DataFrame
    base : MultiMatch
        The middle of the map; its weights must be > 0.
    metric : str
    steps : int
        Columns and rows (odd). A map is computed once and kept.

    Returns
    -------
    Explorer
        A widget (CSS class ``pair-map``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    space, names = weight_space(lists), [name for name, weight in base.fields.items() if weight > 0]
    if len(names) < 2:
        raise ValueError(f"pair_map_explorer: {base} has fewer than two weights > 0; a map needs two")

    @cache
    def made(x_field: str, y_field: str) -> PairMap:
        return pair_map(space, judgments, x_field, y_field, base, metric, steps=steps)

    def render(*, x_field: str, y_field: str) -> dict[str, str]:
        return render_pair_map(made(x_field, y_field))

    controls = {"x_field": widgets.Dropdown(options=names, value=names[0], description="across"),
                "y_field": widgets.Dropdown(options=names, value=names[1], description="up")}
    return Explorer(controls, render, css_class="pair-map")
