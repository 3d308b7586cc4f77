"""Pictures of an experiment: effect per arm, promise against what came, coverage, rank movements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from toolkit.views.plots.base import HATCHES, MARKERS, PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECISIONS = {"promote": "promote", "block": "block", "insufficient_evidence": "insufficient evidence"}


def plot_effects(comparisons: pd.DataFrame, *, metric: str = "ndcg@10", ax: Axes | None = None) -> Axes:
    """The effect of each arm on one metric, with its interval and verdict.

    Parameters
    ----------
    comparisons : DataFrame
        ``Experiment.to_frame()``: arm, verdict, metric, n, delta, ci_low, ci_high, judged_baseline, judged_candidate.
    metric : str
        Which metric to draw.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        One point an arm; the share of judged products in both top tens stands beside its name.
    """
    rows = comparisons[comparisons["metric"] == metric].reset_index(drop=True)
    if rows.empty:
        raise ValueError(f"plot_effects: metric {metric!r} is not in the table; it has {sorted(comparisons['metric'].unique())}")
    axes = new_axes(ax, width=7.0, height=0.9 + 0.6 * len(rows))
    for at, row in rows.iterrows():
        kind = list(DECISIONS).index(row["verdict"])
        axes.errorbar(row["delta"], at, xerr=[[row["delta"] - row["ci_low"]], [row["ci_high"] - row["delta"]]], capsize=4,
                      marker=MARKERS[kind], color=PALETTE[(2, 3, 7)[kind]], linestyle="none")
        axes.annotate(f"{row['delta']:+.4f}  {DECISIONS[row['verdict']]}", (row["ci_high"], at), xytext=(8, 0), textcoords="offset points", va="center", fontsize=8,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    axes.axvline(0, color="black", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(rows)), [f"{row['arm']}\njudged {row['judged_baseline']:.2f} → {row['judged_candidate']:.2f}" for _, row in rows.iterrows()])
    axes.margins(x=0.35, y=0.25)
    axes.invert_yaxis()
    best = rows.loc[rows["delta"].idxmax()]
    return finish(axes, title=f"Best arm by {metric}: {best['arm']}, {best['delta']:+.4f} (n = {best['n']}), {DECISIONS[best['verdict']]}",
                  xlabel=f"change of mean {metric}, 95 % interval")


def plot_promise(buckets: pd.DataFrame, *, arm: str, ax: Axes | None = None) -> Axes:
    """What the diagnosis promised for one arm against what came, per failure bucket.

    Parameters
    ----------
    buckets : DataFrame
        ``Experiment.buckets()``: arm, bucket, n, promised, delta, ci_low, ci_high.
    arm : str
        Which arm to draw.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Two bars a bucket: the ceiling on these judgments (hatched) and the mean gain with its interval.
    """
    rows = buckets[buckets["arm"] == arm].reset_index(drop=True)
    if rows.empty:
        raise ValueError(f"plot_promise: arm {arm!r} is not in the table; it has {list(buckets['arm'].unique())}")
    axes = new_axes(ax, width=7.0, height=0.9 + 0.55 * len(rows))
    y = np.arange(len(rows))
    axes.barh(y - 0.2, rows["promised"].fillna(0), 0.38, color="white", edgecolor=PALETTE[7], hatch=HATCHES[1], label="promised: the ceiling on these judgments")
    errors = np.abs(rows[["ci_low", "ci_high"]].to_numpy().T - rows["delta"].to_numpy())
    axes.barh(y + 0.2, rows["delta"], 0.38, xerr=errors, color=PALETTE[0], ecolor="black", capsize=3, label="came: mean change, 95 % interval")
    axes.set_yticks(y, [f"{bucket} (n = {n})" for bucket, n in zip(rows["bucket"], rows["n"])])
    axes.axvline(0, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    failing = rows[rows["bucket"] != "does not fail"]
    helped = failing.loc[failing["delta"].idxmax()] if len(failing) else rows.loc[rows["delta"].idxmax()]
    title = f"{arm} helps most where the first relevant product is {helped['bucket']}: {helped['delta']:+.3f}" if helped["delta"] > 0 else f"{arm} helps no failing bucket"
    return finish(axes, title=title, xlabel="change of mean NDCG@10")


def plot_group_effects(groups: pd.DataFrame, *, arms: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """The effect of some arms in each group of queries, for example per planted cause.

    Parameters
    ----------
    groups : DataFrame
        ``Experiment.by_group(...)``: arm, group, n, delta, ci_low, ci_high.
    arms : sequence of str, optional
        Which arms to draw, default all.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        One point with its interval an arm and group.
    """
    chosen = list(dict.fromkeys(groups["arm"])) if arms is None else list(arms)
    unknown = set(chosen) - set(groups["arm"])
    if unknown:
        raise ValueError(f"plot_group_effects: arm(s) {sorted(unknown)} are not in the table; it has {list(groups['arm'].unique())}")
    names = list(dict.fromkeys(groups["group"]))
    axes = new_axes(ax, width=7.0, height=1.2 + 0.55 * len(names))
    for at, arm in enumerate(chosen):
        rows = groups[groups["arm"] == arm]
        y = rows["group"].map(names.index) + 0.5 * ((at + 0.5) / len(chosen) - 0.5)
        errors = np.abs(rows[["ci_low", "ci_high"]].to_numpy().T - rows["delta"].to_numpy())
        axes.errorbar(rows["delta"], y, xerr=errors, marker=MARKERS[at % len(MARKERS)], color=PALETTE[at % len(PALETTE)], linestyle="none", capsize=3, label=arm)
    axes.axvline(0, color="black", linewidth=0.8)
    size = groups.drop_duplicates("group").set_index("group")["n"]
    axes.set_yticks(range(len(names)), [f"{name.replace('_', ' ')} (n = {size[name]})" for name in names])
    axes.invert_yaxis()
    axes.legend(fontsize=8, frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.4, -0.2))
    best = groups[groups["arm"].isin(chosen)].sort_values("delta").groupby("arm", sort=False).tail(1).set_index("arm")
    title = "Helped most: " + "; ".join(f"{arm} → {best['group'][arm].replace('_', ' ')} ({best['delta'][arm]:+.2f})" for arm in chosen[:2])
    return finish(axes, title=title, xlabel="change of the mean, 95 % interval")


def plot_coverage(coverage: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """How many queries each arm reached: applied, no change, degraded, and how many got better or worse.

    Parameters
    ----------
    coverage : DataFrame
        ``Experiment.coverage()``.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        One stacked bar an arm over all queries.
    """
    axes = new_axes(ax, width=7.0, height=0.9 + 0.5 * len(coverage))
    parts = {"applied": 0, "no_change": 7, "degraded": 3, "disabled": 1, "not_requested": 9}
    left = np.zeros(len(coverage))
    for at, (part, colour) in enumerate(parts.items()):
        if coverage[part].any():
            axes.barh(coverage["arm"], coverage[part], left=left, color=PALETTE[colour], hatch=HATCHES[at], edgecolor="white", label=part.replace("_", " "))
            left += coverage[part].to_numpy()
    for at, row in enumerate(coverage.itertuples()):
        axes.annotate(f"{row.up} up, {row.down} down", (left[at], at), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.legend(fontsize=8, frameon=False, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.22))
    most = coverage.loc[coverage["changed"].idxmax()]
    return finish(axes, title=f"At most {most['changed']} of {most['queries']} queries change their {most['metric']} ({most['arm']})", xlabel="queries")
