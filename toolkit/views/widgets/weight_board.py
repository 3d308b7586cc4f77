"""Move field weights and watch: the mean metric, the exact curve with its breakpoints, one query's rank changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from toolkit.diagnosis.curves import field_curve
from toolkit.diagnosis.list_evaluation import evaluate_lists, list_rankings
from toolkit.diagnosis.weight_space import Objective, WeightSpace, objective, weight_space
from toolkit.search import MultiMatch
from toolkit.views.html import line, table_html
from toolkit.views.widgets.weight_pictures import curve_svg

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

LARGEST = 10.0


@dataclass(frozen=True)
class WeightBoard:
    """All that the sliders need, computed once: then every position of the sliders is arithmetic.

    Attributes
    ----------
    space : WeightSpace
    goal : Objective
    base : MultiMatch
    queries, judgments, products : DataFrame
    """

    space: WeightSpace
    goal: Objective
    base: MultiMatch
    queries: pd.DataFrame
    judgments: pd.DataFrame
    products: pd.DataFrame

    @classmethod
    def of(cls, lists: object, judgments: pd.DataFrame, queries: pd.DataFrame, products: pd.DataFrame, base: MultiMatch,
           metric: str = "ndcg@10") -> WeightBoard:
        """Prepare field lists for the sliders."""
        space = weight_space(lists)
        return cls(space, objective(space, judgments, metric), base, queries, judgments, products)


def rank_changes(board: WeightBoard, query_id: str, config: MultiMatch) -> pd.DataFrame:
    """One query's top 10 under new weights: rank, before, move, grade, title; what dropped out at the end."""
    space = board.space.take([query_id])
    new, old = (list_rankings(space, one, 10).set_index("product_id")["rank"] for one in (config, board.base))
    table = pd.DataFrame({"rank": new, "before": old}).sort_values(["rank", "before"])
    known = board.judgments[board.judgments["query_id"] == query_id].drop_duplicates("product_id").set_index("product_id")["grade"]
    titles = board.products.drop_duplicates("product_id").set_index("product_id")["title"]
    table["move"] = [_move(row.before, row.rank) for row in table.itertuples()]
    table["grade"] = known.reindex(table.index)
    table["title"] = titles.reindex(table.index)
    return table.astype({"rank": "Int64", "before": "Int64"}).rename_axis("product_id").reset_index()[["rank", "before", "move", "grade", "title"]]


def _move(before: float, after: float) -> str:
    """The change of rank in a sign and a number."""
    if np.isnan(before):
        return "new"
    if np.isnan(after):
        return "out"
    return "=" if before == after else f"{'▲' if after < before else '▼'} {abs(int(before - after))}"


def render_weights(board: WeightBoard, *, field: str, query_id: str, **weights: float) -> dict[str, str]:
    """Everything the sliders show for one choice of weights.

    Parameters
    ----------
    board : WeightBoard
    field : str
        Whose curve is drawn, around the chosen weights.
    query_id : str
        Whose rank changes are listed.
    **weights : float
        One weight a field of the base; 0 still matches.

    Returns
    -------
    dict
        HTML of ``summary``, ``curve`` and ``table``.

    Raises
    ------
    ValueError
        If all weights are 0.
    """
    if not any(weights.values()):
        raise ValueError("all weights are 0: every match scores 0 and only ids would decide; raise one of them")
    config = MultiMatch(weights, operator=board.base.operator, fuzziness=board.base.fuzziness)
    found = evaluate_lists(board.space, [board.base, config], [board.goal])
    before, after = found.values[board.goal.defined, :, 0].mean(axis=0)
    values = found.values[board.goal.defined, :, 0]
    moved = int((found.prints[:, 0] != found.prints[:, 1]).sum())
    better, worse = int((values[:, 1] > values[:, 0]).sum()), int((values[:, 1] < values[:, 0]).sum())
    curve = field_curve(board.space, board.goal, field, config)
    below, above = _gap(curve.events["weight"].to_numpy(), weights[field])
    where = f"between {below:.6g} and {above:.6g}" if np.isfinite(above) else f"above {below:.6g}"
    metric = str(board.goal.measure)
    summary = (f"Mean {metric} {after:.4f} ({after - before:+.4f} against the base's {before:.4f}, {len(values)} queries). "
               f"{moved} queries rank differently: {better} better, {worse} worse. No query's {metric} changes while {field} stays {where}.")
    text = board.queries.set_index("query_id")["query"].get(query_id, query_id)
    return {"summary": line(summary), "curve": curve_svg(curve),
            "table": table_html(rank_changes(board, query_id, config), f"Top 10 of “{text}”: rank now, rank before", limit=20)}


def _gap(edges: np.ndarray, weight: float) -> tuple[float, float]:
    """The nearest breakpoints below and above a weight."""
    edges = np.sort(edges)
    i = int(np.searchsorted(edges, weight))
    return float(edges[i - 1]) if i > 0 else 0.0, float(edges[i]) if i < len(edges) else np.inf


def weight_sliders(lists: object, judgments: pd.DataFrame, queries: pd.DataFrame, products: pd.DataFrame, base: MultiMatch,
                   metric: str = "ndcg@10") -> Explorer:
    """Explore field weights on prefetched lists; no search runs while the sliders move.

    Parameters
    ----------
    lists : FieldLists
        One deeper than the metric's cut-off.
    judgments, queries, products : DataFrame
        Canonical tables.
    base : MultiMatch
        Where the sliders start (weights above 10 start at 10).
    metric : str

    Returns
    -------
    Explorer
        A widget (CSS class ``weight-sliders``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    board = WeightBoard.of(lists, judgments, queries, products, base, metric)
    found = [query for query, lengths in zip(board.space.query_ids, board.space.length) if lengths.any()]
    known = queries[queries["query_id"].isin(found)]
    controls: dict[str, widgets.Widget] = {
        name: widgets.FloatSlider(value=min(weight, LARGEST), min=0.0, max=LARGEST, step=0.1, description=name) for name, weight in base.fields.items()}
    controls["field"] = widgets.Dropdown(options=list(base.fields), description="curve of")
    controls["query_id"] = widgets.Dropdown(options=[(text, key) for key, text in zip(known["query_id"], known["query"])],
                                            description="ranks of", layout=widgets.Layout(width="26em"))

    def render(**values: object) -> dict[str, str]:
        return render_weights(board, **values)

    return Explorer(controls, render, css_class="weight-sliders")
