"""A slider for the judged share: watch a true gain turn negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from toolkit.evaluation.thinning import ClosedWorld, holes_curve
from toolkit.views.html import line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.comparison import plot_holes

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

SHARES = (0.1, 0.3, 0.5, 0.75, 1.0)  # points of the curve behind the slider


def render_holes(world: ClosedWorld, curves: dict[str, pd.DataFrame], *, share: int, kept: str = "baseline_pool", metric: str = "ndcg@10") -> dict[str, str]:
    """What is measured at one judged share.

    Parameters
    ----------
    world : ClosedWorld
        Both arms, with every judgment.
    curves : dict of str to DataFrame
        ``kept`` -> curve at a few shares, from ``holes_curve``.
    share : int
        Judgments that are known, in percent.
    kept : {"random", "baseline_pool"}
    metric : str

    Returns
    -------
    dict
        HTML of ``summary``, ``picture`` and ``numbers``.
    """
    row = holes_curve(world, [share / 100], kept=kept, metric=metric)
    now, curve = row.iloc[0], curves[kept]
    truth = curve.loc[curve["share"] == 1, "delta"].iloc[0]
    known = "the baseline's top results and" if kept == "baseline_pool" else "a random"
    said = (f"With {known} {share} % of {'the other' if kept == 'baseline_pool' else 'the'} judgments known, {metric} changes by {now['delta']:+.3f} (the truth is {truth:+.3f}); "
            f"judged: {now['judged_baseline']:.0%} of the baseline's results, {now['judged_candidate']:.0%} of the candidate's. "
            f"Verdict: {now['decision'].replace('_', ' ')}.")
    whole = pd.concat([curve[curve["share"] != share / 100], row], ignore_index=True)
    shown = pd.DataFrame({"unjudged products": ["count as irrelevant", "are taken out", "at worst", "at best"],
                          "difference": [now["delta"], now["condensed_delta"], now["hole_low"], now["hole_high"]]})
    return {"summary": line(said), "picture": axes_html(plot_holes(whole, current=share / 100, metric=metric)),
            "numbers": table_html(shown, f"Difference in {metric} over {int(now['n'])} queries")}


def holes_explorer(world: ClosedWorld, *, metric: str = "ndcg@10") -> Explorer:
    """Explore what missing judgments do to a comparison whose truth is known.

    Parameters
    ----------
    world : ClosedWorld
        From ``toolkit.evaluation.thinning.closed_world``, or any fully judged pair of rankings.
    metric : str

    Returns
    -------
    Explorer
        A widget (CSS class ``holes-explorer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    curves = {kept: holes_curve(world, SHARES, kept=kept, metric=metric) for kept in ("random", "baseline_pool")}
    controls = {
        "share": widgets.IntSlider(value=100, min=5, max=100, step=5, description="judgments known (%)"),
        "kept": widgets.Dropdown(options=[("all of the baseline's top 10, and a share of the rest", "baseline_pool"), ("a random share", "random")],
                                 description="which", layout=widgets.Layout(width="auto")),
    }

    def render(**values: object) -> dict[str, str]:
        return render_holes(world, curves, metric=metric, **values)

    return Explorer(controls, render, css_class="holes-explorer")
