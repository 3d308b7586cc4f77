"""What an arm did to one query: both lists with movement lines, grades, and what became of the call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.interventions import Experiment
from toolkit.interventions.effects import primary_pairs
from toolkit.views.html import line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.comparison import plot_movements
from toolkit.views.widgets.difference_strip import side_by_side

if TYPE_CHECKING:
    from toolkit.views.box import Explorer


def render_rerank(experiment: Experiment, *, arm: str, query_id: str, k: int = 10) -> dict[str, str]:
    """One query before and after an arm.

    Parameters
    ----------
    experiment : Experiment
    arm : str
        For example ``learned rerank 50``.
    query_id : str
    k : int
        Ranks shown.

    Returns
    -------
    dict
        HTML of ``summary``, ``movements`` and ``rankings``.
    """
    moved = experiment.movements(arm, query_id, k)
    said = _sentence(experiment, arm, query_id)
    if moved.empty:
        return {"summary": line(f"{said} No product in either list.")}
    titles = experiment.products.set_index("product_id")["title"].reindex(moved["product_id"]).dropna().to_dict()
    return {"summary": line(said),
            "movements": axes_html(plot_movements(moved, k=k, names=titles), f"Rank movements: {said}"),
            "rankings": table_html(side_by_side(moved, titles, k), "Both lists; a product without a grade is unjudged")}


def _sentence(experiment: Experiment, arm: str, query_id: str) -> str:
    """Query, status of the call and the primary metric before and after."""
    chosen = experiment.arms[arm]
    row = chosen.outcome.table.set_index("query_id").loc[query_id]
    pair = primary_pairs(chosen.comparison).set_index("query_id").loc[query_id]
    text = experiment.queries.set_index("query_id")["query"][query_id]
    rewritten = row.get("rewritten_query")
    searched = f", searched as “{rewritten}”" if isinstance(rewritten, str) and rewritten != text else ""
    reason = f" ({row['reason']})" if isinstance(row["reason"], str) else ""
    change = ("undefined: no relevant product is judged" if pd.isna(pair["delta"])
              else f"{pair['baseline']:.3f} → {pair['candidate']:.3f}, {pair['delta']:+.3f}")
    return f"“{text}”{searched}; {arm}: {row['status']}{reason}; {chosen.comparison.primary} {change}."


def most_changed(experiment: Experiment, count: int = 60) -> list[tuple[str, str]]:
    """Queries with the largest change of the primary metric over all arms: (label, query_id)."""
    size = pd.concat([primary_pairs(arm.comparison).set_index("query_id")["delta"].abs() for arm in experiment.arms.values()], axis=1).max(axis=1)
    order = size.fillna(0).sort_values(ascending=False, kind="stable").head(count).index
    texts = experiment.queries.set_index("query_id")["query"]
    return [(f"{texts[query_id]}  ({query_id})", query_id) for query_id in order]


def rerank_explorer(experiment: Experiment, *, query_ids: Iterable[str] | None = None) -> Explorer:
    """Look at single queries before and after each arm.

    Parameters
    ----------
    experiment : Experiment
    query_ids : iterable of str, optional
        Queries to choose from; default the 60 that changed most in any arm.

    Returns
    -------
    Explorer
        A widget (CSS class ``rerank-viewer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    texts = experiment.queries.set_index("query_id")["query"]
    options = most_changed(experiment) if query_ids is None else [(f"{texts[query_id]}  ({query_id})", query_id) for query_id in query_ids]
    narrow = widgets.Layout(width="auto")
    controls = {
        "query_id": widgets.Dropdown(options=options, description="query", layout=widgets.Layout(width="26em")),
        "arm": widgets.Dropdown(options=list(experiment.arms), description="arm", layout=narrow),
        "k": widgets.BoundedIntText(value=10, min=3, max=20, description="ranks shown", layout=narrow),
    }

    def render(**values: object) -> dict[str, str]:
        return render_rerank(experiment, **values)

    return Explorer(controls, render, css_class="rerank-viewer")
