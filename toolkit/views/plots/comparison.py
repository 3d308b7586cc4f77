"""Two rankers compared: differences per query, deltas with their doubts, rank movements, power, holes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from toolkit.views.plots.base import HATCHES, MARKERS, PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETTER, WORSE, SAME = PALETTE[0], PALETTE[3], "#7f7f7f"


def plot_differences(deltas: pd.DataFrame, *, metric: str = "ndcg@10", selected: str | None = None, ax: Axes | None = None) -> Axes:
    """Difference of every query, sorted: losses left, wins right, the unchanged between.

    Parameters
    ----------
    deltas : DataFrame
        ``Comparison.deltas()``: query_id, delta.
    metric : str
        Its name, for the axis.
    selected : str, optional
        A query to mark.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One bar a query that changed; the title counts them.
    """
    ax = new_axes(ax, height=2.8)
    ordered = deltas.sort_values("delta", kind="stable").reset_index(drop=True)
    value = ordered["delta"].to_numpy()
    up, down = value > 0, value < 0
    at = np.arange(len(value))
    for mask, colour, hatch, name in ((down, WORSE, HATCHES[1], "worse"), (up, BETTER, HATCHES[0], "better")):
        ax.bar(at[mask], value[mask], width=1.0, color=colour, hatch=hatch, edgecolor="white", linewidth=0, label=f"{name} ({int(mask.sum())})")
    ax.axhline(0, color="black", linewidth=0.8)
    if selected is not None and (ordered["query_id"] == selected).any():
        place = int(np.flatnonzero(ordered["query_id"] == selected)[0])
        ax.plot([place], [value[place]], marker="v", markersize=9, color="black", linestyle="", label=f"query {selected}")
    if len(value):
        ax.legend(frameon=False, loc="upper left")
    same = len(value) - int(up.sum() + down.sum())
    return finish(ax, title=f"{int(up.sum())} queries better, {int(down.sum())} worse, {same} the same; mean {value.mean() if len(value) else 0:+.4f}",
                  xlabel="queries, from the largest loss to the largest gain", ylabel=f"difference in {metric}")


def plot_deltas(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Mean difference of each metric with its interval, and what ties and unjudged products allow.

    Parameters
    ----------
    table : DataFrame
        ``Comparison.to_frame()``.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One line a metric: a point with the interval, a band for ties, a dashed line for holes.
    """
    ax = new_axes(ax, height=1.6 + 0.5 * len(table))
    shown = table.reset_index(drop=True)
    at = np.arange(len(shown))[::-1]
    _spans(ax, shown, at, "hole_low", "hole_high", {"color": SAME, "linestyle": "--", "linewidth": 1.2, "label": "all gradings of unjudged products"})
    _spans(ax, shown, at, "tie_low", "tie_high", {"color": PALETTE[1], "linewidth": 7, "alpha": 0.5, "label": "all orders of ties"})
    errors = np.abs(np.vstack([shown["delta"] - shown["ci_low"], shown["ci_high"] - shown["delta"]]))
    ax.errorbar(shown["delta"], at, xerr=errors, fmt=MARKERS[0], color="black", capsize=4, label="delta with its interval")
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(at, shown["metric"])
    ax.set_ylim(-0.6, len(shown) - 0.4)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.32 if len(shown) < 3 else -0.22), ncols=3, fontsize=8)
    clear = int(((shown["ci_low"] > 0) | (shown["ci_high"] < 0)).sum())
    return finish(ax, title=f"{clear} of {len(shown)} intervals leave out 0", xlabel="candidate minus baseline")


def _spans(ax: Axes, table: pd.DataFrame, at: np.ndarray, low: str, high: str, style: Mapping[str, object]) -> None:
    """Horizontal spans where both ends are known; one legend entry."""
    known = table[low].notna().to_numpy()
    options = dict(style)
    for place, left, right in zip(at[known], table[low][known], table[high][known], strict=True):
        ax.plot([left, right], [place, place], solid_capstyle="butt", zorder=1, **options)
        options.pop("label", None)


def plot_movements(movements: pd.DataFrame, *, k: int = 10, names: Mapping[str, str] | None = None, relevant_grade: float = 2.0, ax: Axes | None = None) -> Axes:
    """One query in two rankings, side by side, with a line for each product that is in both.

    Parameters
    ----------
    movements : DataFrame
        From ``toolkit.evaluation.movements.rank_movements``.
    k : int
        Ranks shown in full; products below are drawn on a line "further down".
    names : mapping of str to str, optional
        Product id -> text to show.
    relevant_grade : float
        Smallest relevant grade.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Baseline left, candidate right, rank 1 on top.
    """
    ax = new_axes(ax, width=9.5, height=1.4 + 0.32 * (k + 1))
    names = names or {}
    for row in movements.sort_values("grade", na_position="first", kind="stable").itertuples():  # the relevant on top
        colour, marker = _look(row.grade, relevant_grade)
        left, right = (_place(rank, k) for rank in (row.rank_baseline, row.rank_candidate))
        points = [(x, y) for x, y in ((0.0, left), (1.0, right)) if y is not None]
        ax.plot([p[0] for p in points], [p[1] for p in points], color=colour, linewidth=1.6 if row.grade >= relevant_grade else 0.8)
        for x, y in points:
            if y <= k:
                ax.plot([x], [y], marker=marker, color=colour)
                ax.annotate(_caption(row, names), (x, y), xytext=(-8 if x == 0 else 8, 0), textcoords="offset points",
                            ha="right" if x == 0 else "left", va="center", fontsize=8, color="black")
    below = bool(((movements["rank_baseline"] > k) | (movements["rank_candidate"] > k)).fillna(False).any())
    ax.set_yticks([*range(1, k + 1), *([k + 1] if below else [])], [*map(str, range(1, k + 1)), *(["further down"] if below else [])])
    ax.set_xticks([0, 1], ["baseline", "candidate"])
    ax.set_xlim(-1.1, 2.1)
    ax.set_ylim(k + 1.6, 0.4)
    _key(ax)
    good = movements[movements["grade"] >= relevant_grade]
    gained, lost = int((~(good["rank_baseline"] <= k).fillna(False)).sum()), int((~(good["rank_candidate"] <= k).fillna(False)).sum())
    return finish(ax, title=f"{gained} relevant products enter the top {k}, {lost} leave it", ylabel="rank")


def _look(grade: float, relevant_grade: float) -> tuple[str, str]:
    """Colour and marker: relevant, judged but not relevant, unjudged."""
    if pd.isna(grade):
        return SAME, MARKERS[2]
    return (BETTER, MARKERS[0]) if grade >= relevant_grade else (WORSE, MARKERS[1])


def _key(ax: Axes) -> None:
    """Legend of colours and markers."""
    for colour, marker, text in ((BETTER, MARKERS[0], "relevant"), (WORSE, MARKERS[1], "judged, not relevant"), (SAME, MARKERS[2], "unjudged")):
        ax.plot([], [], color=colour, marker=marker, label=text)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, fontsize=8)


def _place(rank: object, k: int) -> float | None:
    """Vertical place of a rank: below k all share one line; None where the list lacks the product."""
    return None if pd.isna(rank) else float(min(int(rank), k + 1))


def _caption(row: object, names: Mapping[str, str]) -> str:
    """Short name and grade of a product."""
    name = str(names.get(row.product_id, row.product_id))
    return (name if len(name) <= 34 else name[:33].rstrip() + "…") + ("" if pd.isna(row.grade) else f" ({row.grade:g})")


def plot_power(sd: float, *, effects: Sequence[float], observed: int | None = None, most: int = 4000, alpha: float = 0.05, power: float = 0.8,
               ax: Axes | None = None) -> Axes:
    """How many queries it takes to see an effect.

    Parameters
    ----------
    sd : float
        Standard deviation of the per-query differences.
    effects : sequence of float
        True mean differences, one line each.
    observed : int, optional
        Number of queries at hand, marked.
    most : int
        Largest number of queries shown.
    alpha, power : float
        Of the two-sided test; the power asked for is marked.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Number of queries (logarithmic) against power.
    """
    from toolkit.evaluation import minimal_detectable, power_of

    ax = new_axes(ax)
    n = np.unique(np.geomspace(5, most, 60).astype(int))
    for effect, colour, marker in zip(effects, PALETTE, MARKERS, strict=False):
        ax.plot(n, [power_of(effect, sd, int(size), alpha=alpha) for size in n], color=colour, marker=marker, markevery=8, label=f"true effect {effect:+.3f}")
    ax.axhline(power, color=SAME, linestyle="--", linewidth=1)
    title = f"Per-query spread {sd:.3f}"
    if observed:
        ax.axvline(observed, color="black", linestyle=":", linewidth=1.2)
        title = f"{observed} queries find a true effect of {minimal_detectable(sd, observed, alpha=alpha, power=power):.3f} with {power:.0%} power"
    ax.set_xscale("log")
    ax.set_ylim(0, 1.02)
    ax.legend(edgecolor="none", framealpha=1.0, loc="upper left")
    return finish(ax, title=title, xlabel="queries", ylabel="power (share of repeats that find it)")


def plot_holes(curve: pd.DataFrame, *, current: float | None = None, metric: str = "ndcg@10", ax: Axes | None = None) -> Axes:
    """The measured difference as judgments go missing, with what the holes allow.

    Parameters
    ----------
    curve : DataFrame
        From ``toolkit.evaluation.thinning.holes_curve``.
    current : float, optional
        A judged share to mark.
    metric : str
        Its name, for the axis.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Judged share against the difference: as irrelevant, condensed, and the band over all gradings.
    """
    ax = new_axes(ax)
    shown = curve.sort_values("share")
    share = 100 * shown["share"]
    ax.fill_between(share, shown["hole_low"], shown["hole_high"], color=SAME, alpha=0.25, label="all gradings of the unjudged")
    ax.plot(share, shown["delta"], color=WORSE, marker=MARKERS[1], label="unjudged count as irrelevant")
    ax.plot(share, shown["condensed_delta"], color=BETTER, marker=MARKERS[0], linestyle="--", label="unjudged taken out")
    ax.axhline(0, color="black", linewidth=0.8)
    if current is not None:
        ax.axvline(100 * current, color="black", linestyle=":", linewidth=1.2)
    ax.legend(frameon=False, loc="best", fontsize=8)
    truth = shown.loc[shown["share"].idxmax()]
    worst = shown["delta"].min()
    title = f"True difference {truth['delta']:+.3f}; measured as low as {worst:+.3f}" if truth["share"] == 1 else f"Measured from {worst:+.3f} to {shown['delta'].max():+.3f}"
    return finish(ax, title=title, xlabel="judgments that are known (%)", ylabel=f"difference in {metric}")
