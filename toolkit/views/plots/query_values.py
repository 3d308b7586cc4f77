"""How a metric spreads over queries: the mean hides who fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from toolkit.views.plots.base import PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_query_values(values: pd.DataFrame, *, metric: str, bins: int = 20, ax: Axes | None = None) -> Axes:
    """Histogram of a metric's values per query, queries at exactly 0 apart.

    Parameters
    ----------
    values : DataFrame
        query_id, metric, value, as ``evaluate(...).to_frame()`` gives it; values between 0 and 1.
    metric : str
        Which metric of the table to draw.
    bins : int
        Bars between 0 and 1.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A hatched bar left of 0 for the queries at 0, bars of the others, a dashed line at the mean.

    Raises
    ------
    ValueError
        If the table does not hold the metric, or holds no defined value of it.
    """
    shown = values.loc[values["metric"] == metric, "value"].dropna()
    if shown.empty:
        raise ValueError(f"plot_query_values: no value of {metric!r}; the table has {sorted(values['metric'].unique())}")
    zero, mean = int((shown == 0).sum()), float(shown.mean())
    ax = new_axes(ax)
    ax.bar(-0.04, zero, width=0.05, color=PALETTE[3], hatch="//", edgecolor="white", label=f"exactly 0 ({zero} queries)")
    ax.hist(shown[shown > 0], bins=bins, range=(0, 1), color=PALETTE[0], edgecolor="white", label=f"above 0 ({len(shown) - zero} queries)")
    ax.axvline(mean, color="black", linestyle="--", label=f"mean {mean:.3f}")
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)
    return finish(ax, title=f"{zero} of {len(shown)} queries ({zero / len(shown):.0%}) have {metric} = 0; the mean {mean:.2f} hides them",
                  xlabel=f"{metric} of a query (0 to 1)", ylabel="queries")
