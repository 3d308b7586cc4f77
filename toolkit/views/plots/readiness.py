"""What a log holds and hides: coverage of its fields, and a decline that session metrics do not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from toolkit.lineage.masking import GOOD, MASKED, SESSION_GOAL, SESSION_USE
from toolkit.views.plots.base import HATCHES, MARKERS, PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Session metrics solid, what needs judgments and lineage dashed; each with its own marker.
STYLES = {SESSION_GOAL: (0, "-"), SESSION_USE: (9, "-"), GOOD: (3, "--"), MASKED: (4, "--")}


def plot_field_coverage(fields: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Share of the rows that have each field, the best next field on top.

    Parameters
    ----------
    fields : DataFrame
        ``Readiness.fields``: field, rows, share, needed_by.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One bar a field: full, partial (hatched) or absent (written out).
    """
    ax = new_axes(ax, width=8.0, height=1.2 + 0.24 * max(1, len(fields)))
    share = fields["share"].to_numpy(dtype=np.float64)
    for number, value in enumerate(share):
        whole = value >= 1
        ax.barh(number, 100 * value, color=PALETTE[2 if whole else 1], hatch=HATCHES[0 if whole else 1], edgecolor="black", linewidth=0.4)
    for number, row in enumerate(fields.itertuples()):
        said = "not logged" if row.share == 0 else f"{100 * row.share:.0f} % of {row.rows:,}"
        ax.annotate(said, (100 * row.share, number), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7)
    ax.set_yticks(range(len(fields)), [f"{row.field} ({row.needed_by})" for row in fields.itertuples()], fontsize=8)
    ax.set_ylim(len(fields) - 0.4, -0.6)
    ax.set_xlim(0, 118)
    ax.set_xticks(range(0, 101, 25))
    title = f"{int((share >= 1).sum())} of {len(fields)} fields are complete, {int((share == 0).sum())} are not logged at all"
    return finish(ax, title=title, xlabel="rows that matter and have the field (%); in brackets: number of metrics that need it")


def plot_masking(curve: pd.DataFrame, *, current: float | None = None, ax: Axes | None = None) -> Axes:
    """Session metrics and Layer 1 while true retrieval quality falls to the right.

    Parameters
    ----------
    curve : DataFrame
        From :func:`toolkit.lineage.masking_curve`: quality, metric, value, n.
    current : float, optional
        Quality to mark.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A line with markers per metric, labelled at its end.
    """
    ax = new_axes(ax, width=7.6, height=3.8)
    wide = curve.pivot(index="quality", columns="metric", values="value").sort_index(ascending=False)
    counts = curve.groupby("metric")["n"].max()
    for number, (metric, (colour, line)) in enumerate(STYLES.items()):
        ax.plot(100 * wide.index, 100 * wide[metric], linestyle=line, marker=MARKERS[number], color=PALETTE[colour],
                label=f"{metric} (n = {counts[metric]})")
    if current is not None:
        ax.axvline(100 * current, color="grey", linestyle=":", linewidth=1.2)
    ax.invert_xaxis()
    ax.set_ylim(-2, 102)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    fall = {metric: 100 * (wide[metric].iloc[-1] - wide[metric].iloc[0]) for metric in (SESSION_GOAL, GOOD)}
    title = f"Layer 1 moves by {fall[GOOD]:+.0f} points, {SESSION_GOAL} by {fall[SESSION_GOAL]:+.0f}"
    return finish(ax, title=title, xlabel="truly good retrievals (%)", ylabel="share (%)")
