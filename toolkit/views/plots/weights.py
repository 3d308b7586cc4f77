"""Field weights: exact curves, the log-ratio picture, sweeps, pair maps, what each field can move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from toolkit.diagnosis import FieldReport, PairMap, WeightCurve
from toolkit.views.plots.base import MARKERS, PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_weight_curve(curve: WeightCurve, *, low: float = 0.05, high: float = 50.0, ax: Axes | None = None) -> Axes:
    """The mean metric for every value of one weight.

    Parameters
    ----------
    curve : WeightCurve
    low, high : float
        Part of the weight axis to show; the curve is known beyond.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A step line; a square at weight 0 and a triangle for "left out", both at the left edge; a dashed line at the
        current weight; the best piece shaded.
    """
    ax = new_axes(ax)
    plateaus = curve.plateaus()
    starts = np.clip(plateaus["weight_from"].to_numpy(), low, high)
    ax.step(np.append(starts, high), np.append(plateaus["value"], plateaus["value"].iloc[-1]), where="post", color=PALETTE[0], linewidth=1.2)
    for value, marker, name in ((curve.at_zero, MARKERS[1], "weight 0 (still matches)"), (curve.absent, MARKERS[2], "left out")):
        if value is not None:
            ax.plot([low], [value], marker=marker, linestyle="none", color=PALETTE[3], label=name, clip_on=False)
    if curve.current > 0:
        ax.axvline(curve.current, color="black", linestyle="--", linewidth=1, label=f"now {curve.current:g}: {curve.current_value:.4f}")
    title = f"The {curve.label} changes nothing"
    if not curve.is_flat:
        first, last, value = curve.best_piece()
        ax.axvspan(max(first, low), min(last, high), color=PALETTE[2], alpha=0.25, label=f"best piece {first:.3g} to {last:.3g}: {value:.4f}")
        title = f"No {curve.label} does better than {curve.best:.4f}; now {curve.current_value:.4f}"
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    ax.legend(fontsize=8)
    return finish(ax, title=title, xlabel=f"{curve.label} (log scale)", ylabel=f"mean {curve.definition.split(':')[0]} (n = {curve.n})")


def plot_hinges(hinges: pd.DataFrame, *, field: str, current: float, low: float | None = None, high: float | None = None,
                ax: Axes | None = None) -> Axes:
    """Why only ratios count: each document is flat, then rises; it changes places where lines cross.

    Parameters
    ----------
    hinges : DataFrame
        From :func:`toolkit.diagnosis.hinges.query_hinges`.
    field : str
        Whose weight is on the horizontal axis.
    current : float
        The weight in force.
    low, high : float, optional
        Part of the weight axis to show; default around all bends and the current weight.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One line a document: thick where it is relevant (grade >= 2), thin and dotted where it is not.
    """
    ax = new_axes(ax, height=4.2)
    bends = [*(hinges["rest"] / hinges["own"]).dropna(), current or 1.0]
    low, high = low or min(bends) / 2.5, high or max(bends) * 2.5
    x = np.geomspace(low, high, 200)
    relevant = hinges["grade"].ge(2).fillna(False).to_numpy(bool)
    for row, good in zip(hinges.itertuples(), relevant):
        y = np.fmax(np.full(len(x), row.rest), x * row.own)
        if not np.isnan(y).all():
            ax.plot(x, y, color=PALETTE[0] if good else PALETTE[7], linewidth=2.0 if good else 0.8, linestyle="-" if good else ":")
    ax.axvline(current, color="black", linestyle="--", linewidth=1)
    ax.annotate(f"now {current:g}", (current, 1), xycoords=("data", "axes fraction"), fontsize=8, va="top", ha="left")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(low, high)
    return finish(ax, title=f"{int(relevant.sum())} relevant (thick) among {len(hinges)} listed documents: order changes only where lines cross",
                  xlabel=f"weight of {field} (log scale)", ylabel="score (log scale)")


def plot_sweep(table: pd.DataFrame, *, metric: str = "ndcg@10", ax: Axes | None = None) -> Axes:
    """Mean metric of every configuration of a sweep, in order, one marker a stage.

    Parameters
    ----------
    table : DataFrame
        ``Sweep.table``: index, stage, metric, mean, n.
    metric : str
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
    """
    shown = table[table["metric"] == metric]
    if shown.empty:
        raise ValueError(f"plot_sweep: no row of {metric!r}; swept: {sorted(table['metric'].unique())}")
    ax = new_axes(ax)
    for i, (stage, part) in enumerate(shown.groupby("stage", sort=False)):
        ax.plot(part["index"], part["mean"], linestyle="none", marker=MARKERS[i % len(MARKERS)], color=PALETTE[i % len(PALETTE)],
                markersize=4, label=stage or "configurations")
    top = shown.loc[shown["mean"].idxmax()]
    ax.axhline(shown["mean"].iloc[0], color="black", linestyle="--", linewidth=1)
    ax.legend(fontsize=8)
    gain = top["mean"] - shown["mean"].iloc[0]
    return finish(ax, title=f"Best of {len(shown)}: {top['mean']:.4f}, {gain:+.4f} against the first (dashed)",
                  xlabel="configuration", ylabel=f"mean {metric} (n = {int(shown['n'].max())})")


def plot_pair_map(found: PairMap, *, ax: Axes | None = None) -> Axes:
    """The mean metric over two weights.

    Parameters
    ----------
    found : PairMap
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A mesh with both axes logarithmic; a cross at the weights in force, a ring at the best cell.
    """
    ax = new_axes(ax, height=4.6)
    grid = found.grid()
    mesh = ax.pcolormesh(grid.columns, grid.index, grid.to_numpy(), shading="nearest", cmap="cividis")
    ax.figure.colorbar(mesh, ax=ax, label=f"mean {found.definition.split(':')[0]} (n = {found.n})")
    top = found.cells.loc[found.cells["value"].idxmax()]
    ax.plot([found.base.fields[found.x_field]], [found.base.fields[found.y_field]], marker="X", color="white", markeredgecolor="black", markersize=9)
    ax.plot([top["x"]], [top["y"]], marker="o", markerfacecolor="none", markeredgecolor="white", markersize=11, markeredgewidth=2)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    return finish(ax, title=f"Now {found.base_value:.4f} (cross), best cell {top['value']:.4f} (ring)",
                  xlabel=f"weight of {found.x_field} (log scale)", ylabel=f"weight of {found.y_field} (log scale)")


def plot_field_ranges(report: FieldReport, *, ax: Axes | None = None) -> Axes:
    """How far each field's weight can move the mean metric, with its verdict.

    Parameters
    ----------
    report : FieldReport
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One horizontal bar a field, from the smallest to the largest mean over all its weights; a
        diamond where there is nothing to move.
    """
    table = report.table.iloc[::-1].reset_index(drop=True)
    ax = new_axes(ax, height=1.4 + 0.42 * len(table))
    for row in table.itertuples():
        colour = PALETTE[0] if row.verdict == "live" else PALETTE[3]
        ax.plot([row.curve_low, row.curve_high], [row.Index, row.Index], color=colour, linewidth=6 if row.verdict == "live" else 2,
                marker="D" if row.curve_low == row.curve_high else None)
    ax.set_yticks(range(len(table)), [f"{row.field}: {row.verdict.replace('_', ' ')}" for row in table.itertuples()])
    dead = [row.field for row in report.table.itertuples() if row.verdict.startswith("dead")]
    title = f"Dead: {', '.join(dead)}; the others' weights move the mean" if dead else "Every field's weight can move the mean"
    return finish(ax, title=title, xlabel=f"mean {report.definition.split(':')[0]} over all weights (n = {report.n})")
