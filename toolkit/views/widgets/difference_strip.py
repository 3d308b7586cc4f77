"""All queries by how much they changed; pick one and see both rankings side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from toolkit.evaluation import Comparison
from toolkit.evaluation.movements import rank_movements
from toolkit.search import SearchRun
from toolkit.views.html import line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.comparison import plot_differences, plot_movements

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

TITLE_LENGTH = 46


def render_difference(comparison: Comparison, baseline: pd.DataFrame, candidate: pd.DataFrame, judgments: pd.DataFrame, queries: pd.DataFrame,
                      products: pd.DataFrame | None = None, *, metric: str, place: int = 1, order: str = "loss", k: int = 10) -> dict[str, str]:
    """The strip of differences and one query's two rankings.

    Parameters
    ----------
    comparison : Comparison
    baseline, candidate : DataFrame
        Rankings of both arms.
    judgments, queries : DataFrame
    products : DataFrame, optional
        For titles; without it product ids are shown.
    metric : str
        A compared metric.
    place : int
        Which query: 1 is the largest loss (or gain); the last where there are fewer.
    order : {"loss", "gain"}
    k : int
        Ranks shown.

    Returns
    -------
    dict
        HTML of ``strip``, ``summary``, ``movements`` and ``rankings``.
    """
    deltas = comparison.deltas(metric)
    if deltas.empty:
        return {"summary": line(f"No query has a value of {metric} in both arms.")}
    ordered = deltas if order == "loss" else deltas.iloc[::-1]
    chosen = ordered.iloc[min(place, len(ordered)) - 1]
    text = queries.set_index("query_id")["query"].get(chosen["query_id"], chosen["query_id"])
    moved = rank_movements(baseline, candidate, judgments, chosen["query_id"], k=k)
    titles = {} if products is None else products.set_index("product_id")["title"].reindex(moved["product_id"]).dropna().to_dict()
    said = f"“{text}” (query {chosen['query_id']}): {metric} {chosen['baseline']:.3f} → {chosen['candidate']:.3f}, {chosen['delta']:+.3f}"
    return {"strip": axes_html(plot_differences(deltas, metric=metric, selected=chosen["query_id"])),
            "summary": line(said),
            "movements": axes_html(plot_movements(moved, k=k, names=titles), f"Rank movements of {said}"),
            "rankings": table_html(side_by_side(moved, titles, k), "Both rankings; unjudged products have no grade")}


def side_by_side(moved: pd.DataFrame, titles: dict[str, str], k: int) -> pd.DataFrame:
    """Rank by rank: product, grade and move in either list.

    Returns
    -------
    DataFrame
        rank, baseline, grade, candidate, grade (of the candidate's), moved up ("new" where only the candidate has it).
    """
    def column(rank: str) -> pd.DataFrame:
        part = moved.loc[moved[rank] <= k].set_index(rank)
        return part.reindex(range(1, k + 1))

    left, right = column("rank_baseline"), column("rank_candidate")
    name = lambda p: None if pd.isna(p) else _short(titles.get(p, p))  # noqa: E731
    move = [None if pd.isna(p) else "new" if pd.isna(m) else f"{int(m):+d}" if m else "same" for p, m in zip(right["product_id"], right["move"], strict=True)]
    return pd.DataFrame({"rank": range(1, k + 1), "baseline": [name(p) for p in left["product_id"]], "its grade": [_grade(g) for g in left["grade"]],
                         "candidate": [name(p) for p in right["product_id"]], "grade": [_grade(g) for g in right["grade"]], "moved up": move})


def difference_explorer(comparison: Comparison, baseline: pd.DataFrame | SearchRun, candidate: pd.DataFrame | SearchRun, judgments: pd.DataFrame,
                        queries: pd.DataFrame, products: pd.DataFrame | None = None) -> Explorer:
    """Explore which queries changed, and why.

    Parameters
    ----------
    comparison : Comparison
        Of these two arms.
    baseline, candidate : DataFrame or SearchRun
    judgments, queries : DataFrame
    products : DataFrame, optional

    Returns
    -------
    Explorer
        A widget (CSS class ``difference-explorer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    arms = [arm if isinstance(arm, pd.DataFrame) else arm.rankings for arm in (baseline, candidate)]
    narrow = widgets.Layout(width="auto")
    controls = {
        "metric": widgets.Dropdown(options=list(comparison.table["metric"]), value=comparison.primary, description="metric", layout=narrow),
        "order": widgets.Dropdown(options=[("largest loss", "loss"), ("largest gain", "gain")], description="count from", layout=narrow),
        "place": widgets.BoundedIntText(value=1, min=1, max=max(1, len(comparison.deltas())), description="query number", layout=narrow),
        "k": widgets.BoundedIntText(value=10, min=3, max=20, description="ranks shown", layout=narrow),
    }

    def render(**values: object) -> dict[str, str]:
        return render_difference(comparison, *arms, judgments, queries, products, **values)

    return Explorer(controls, render, css_class="difference-explorer")


def _short(text: object) -> str:
    """A title cut at ``TITLE_LENGTH`` characters."""
    whole = str(text)
    return whole if len(whole) <= TITLE_LENGTH else whole[:TITLE_LENGTH - 1].rstrip() + "…"


def _grade(grade: object) -> str | None:
    """A grade as text; null where unjudged."""
    return None if pd.isna(grade) else f"{grade:g}"
