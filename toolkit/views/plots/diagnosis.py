"""Why queries fail: rank buckets, the reordering ceiling, traits, true ranks, reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from toolkit.views.plots.base import HATCHES, MARKERS, PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_buckets(shares: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Share of failing queries per bucket, with 95 % Wilson intervals and counts.

    Parameters
    ----------
    shares : DataFrame
        ``FailureDiagnosis.shares``: bucket, count, n, share, low, high.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One horizontal bar a bucket, the shallowest on top.
    """
    n = int(shares["n"].max()) if len(shares) else 0
    ax = new_axes(ax, height=1.4 + 0.42 * max(1, len(shares)))
    if n:
        _bars(ax, shares["bucket"], shares)
    most = int(shares["count"].max()) if n else 0
    top = list(shares.loc[shares["count"] == most, "bucket"])
    title = f"Most often {' and '.join(top)}: {most} of {n} failing queries{' each' if len(top) > 1 else ''}" if n else "No query fails"
    return finish(ax, title=title, xlabel=f"share of failing queries (%, 95 % Wilson interval, n = {n})")


def plot_traits(by_trait: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """How often queries with a trait fail.

    Parameters
    ----------
    by_trait : DataFrame
        ``FailureDiagnosis.by_trait()``: trait, count, n, share, low, high.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One horizontal bar a trait that occurs, with its interval; a dashed line at the share of all queries.
    """
    shown = by_trait[by_trait["n"] > 0].reset_index(drop=True)
    ax = new_axes(ax, height=1.4 + 0.42 * max(1, len(shown)))
    if shown.empty:
        return finish(ax, title="No query to show")
    _bars(ax, shown["trait"].str.replace("_", " "), shown)
    overall = shown[shown["trait"] == "all queries"]
    if len(overall):
        ax.axvline(100 * overall["share"].iloc[0], color="black", linestyle="--", linewidth=1)
    named = shown[~shown["trait"].isin(["all queries", "no noise or negation"])]
    if named.empty:
        title = "No query has a trait"
    else:
        worst = named.loc[named["share"].idxmax()]
        title = f"{worst['trait'].replace('_', ' ').capitalize()}: {int(worst['count'])} of {int(worst['n'])} queries fail"
    return finish(ax, title=title, xlabel="failing queries (%, 95 % Wilson interval)")


def plot_headroom(means: pd.DataFrame, *, buckets: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """NDCG that perfect reordering of the top N reaches, against perfect retrieval.

    Parameters
    ----------
    means : DataFrame
        ``Headroom.means``: bucket, action, depth, n, ndcg.
    buckets : sequence of str, optional
        Buckets to draw; default all.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One line a bucket over now, top N reordered, and all retrieved (a step that reordering cannot reach, drawn apart).

    Raises
    ------
    ValueError
        If a bucket is not in the table.
    """
    names = list(means["bucket"].unique()) if buckets is None else list(buckets)
    if unknown := sorted(set(names) - set(means["bucket"])):
        raise ValueError(f"plot_headroom: buckets {unknown} are not in the table; it has {list(means['bucket'].unique())}")
    ax = new_axes(ax, width=7.2, height=4.0)
    steps: list[str] = []
    for style, name in enumerate(names):
        rows = means[means["bucket"] == name]
        steps = ["now" if r.action == "now" else "all\nretrieved" if r.action == "retrieve" else f"top {int(r.depth)}" for r in rows.itertuples()]
        values, look = rows["ndcg"].to_numpy(), {"color": PALETTE[style % len(PALETTE)], "marker": MARKERS[style % len(MARKERS)]}
        ax.plot(range(len(values) - 1), values[:-1], label=f"{name} (n = {int(rows['n'].max())})", linewidth=2.5 if style == 0 else 1.2, **look)
        ax.plot(len(values) - 1, values[-1], linestyle="none", **look)
    ax.set_xticks(range(len(steps)), steps)
    ax.set_ylim(-0.03, 1.05)
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return finish(ax, title=_headroom_finding(means[means["bucket"] == names[0]]), xlabel="what a perfect reranker reads", ylabel="mean NDCG (0 to 1)")


def plot_first_ranks(table: pd.DataFrame, *, depths: Sequence[int] = (10, 50, 200), ax: Axes | None = None) -> Axes:
    """True rank of the first relevant product of every failing query.

    Parameters
    ----------
    table : DataFrame
        ``FailureDiagnosis.table`` (or ``failing``): bucket, first_rank.
    depths : sequence of int
        Edges of the buckets, drawn as dashed lines.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One mark a query on a logarithmic rank axis; queries without a rank are counted in words beside it.
    """
    failing = table[table["bucket"].notna()]
    ranked = failing[failing["first_rank"].notna()].sort_values("first_rank", kind="stable")
    ax = new_axes(ax, height=2.4)
    for style, (bucket, rows) in enumerate(ranked.groupby("bucket", sort=False)):
        # Spread by position, not at random: the same table gives the same picture.
        height = (np.arange(len(rows)) * 0.618034) % 1 - 0.5
        ax.scatter(rows["first_rank"].astype(float), height, s=26, alpha=0.8, color=PALETTE[style % len(PALETTE)],
                   marker=MARKERS[style % len(MARKERS)], label=f"{bucket} ({len(rows)})")
    for edge in depths:
        ax.axvline(edge + 0.5, color="black", linestyle="--", linewidth=0.8)
    if len(ranked):
        ax.set_xscale("log")
        ax.set_xticks(list(depths), [str(edge) for edge in depths])
        ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    ax.set_yticks([])
    ax.set_ylim(-1, 1)
    if not len(failing):
        return finish(ax, title="No query fails")
    middle = f"; median rank {ranked['first_rank'].median():g}" if len(ranked) else ""
    return finish(ax, title=f"{len(ranked)} of {len(failing)} failing queries returned a relevant product{middle}",
                  xlabel="rank of the first relevant product (log scale)")


def plot_reasons(counts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Why relevant products are missing, per bucket.

    Parameters
    ----------
    counts : DataFrame
        ``MissingReasons.counts()``: reason, one column a bucket, all.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        One stacked horizontal bar a reason; buckets have a colour and a hatch each.
    """
    ax = new_axes(ax, width=7.2, height=1.6 + 0.42 * max(1, len(counts)))
    left = np.zeros(len(counts))
    buckets = [name for name in counts.columns if name not in ("reason", "all")]
    for style, bucket in enumerate(buckets):
        values = counts[bucket].to_numpy(dtype=float)
        ax.barh(range(len(counts)), values, left=left, height=0.7, label=bucket, color=PALETTE[style % len(PALETTE)],
                hatch=HATCHES[style % len(HATCHES)], edgecolor="white")
        left += values
    for row, total in enumerate(left):
        ax.text(total, row, f" {int(total)}", va="center")
    ax.set_yticks(range(len(counts)), counts["reason"])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.12 * max(1.0, left.max(initial=0)))
    if buckets:
        ax.legend(title="bucket", frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    total = int(left.sum())
    title = f"{counts['reason'].iloc[0].capitalize()} explains {int(left[0])} of {total} failing queries" if total else "No failing query to explain"
    return finish(ax, title=title, xlabel=f"failing queries (n = {total})")


def _bars(ax: Axes, names: pd.Series, shares: pd.DataFrame) -> None:
    """Horizontal bars of shares in percent, with intervals and ``count of n`` beside them."""
    share, low, high = (100 * shares[name].to_numpy(dtype=float) for name in ("share", "low", "high"))
    rows = np.arange(len(shares))
    ax.barh(rows, share, height=0.65, color=PALETTE[0], alpha=0.85)
    # Rounding may put a bound of a share of 0 or 1 a hair on the wrong side of it.
    ax.errorbar(share, rows, xerr=np.maximum([share - low, high - share], 0), fmt="none", ecolor="black", capsize=3, linewidth=1)
    for row, count, n, end in zip(rows, shares["count"], shares["n"], high, strict=True):
        ax.text(end + 1, row, f"{count} of {n}", va="center", fontsize=9)
    ax.set_yticks(rows, list(names))
    ax.invert_yaxis()
    ax.set_xlim(0, max(105, float(high.max()) + 12))


def _headroom_finding(rows: pd.DataFrame) -> str:
    """What the first line says."""
    now = rows.loc[rows["action"] == "now", "ndcg"].iloc[0]
    known = rows[(rows["action"] == "reorder") & rows["ndcg"].notna()]
    if known.empty:
        return f"NDCG is {now:.3f}; the lists are too short to say what reordering could reach"
    best = known.iloc[-1]
    return f"Reordering the top {int(best['depth'])} could lift NDCG from {now:.3f} to at most {best['ndcg']:.3f}"
