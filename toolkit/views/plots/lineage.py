"""Who deserves the credit: layer rates, the cross-reading matrix, the attribution gap, definitions, timelines, bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from toolkit.lineage.definitions import AGENT, USER
from toolkit.lineage.gap import AttributionGap
from toolkit.lineage.matrix import CELLS, OUTCOMES
from toolkit.lineage.results import POOLED, percent
from toolkit.lineage.tables import Log, column
from toolkit.views.plots.base import HATCHES, MARKERS, PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colour and hatch of each cell: masked failure is the one to see.
CELL_STYLE = {"healthy": (2, 0), "generation or hand-off failure": (1, 1), "visible retrieval failure": (5, 2), "masked failure": (3, 3),
              "unobserved, retrieval good": (7, 0), "unobserved, retrieval bad": (7, 1)}
LANES = ("prompts", "retrievals", "agent actions", "user actions", "actor not logged")
LANE_OF_ACTOR = {AGENT: LANES[2], USER: LANES[3]}


def plot_layer_rates(rates: pd.DataFrame, *, metrics: Sequence[str] = ("GPR", "ACR", "ORF", "UOR"), ax: Axes | None = None) -> Axes:
    """Rates of one layer per role, with their intervals.

    Parameters
    ----------
    rates : DataFrame
        ``Rates.table``: metric, role, value, ci_low, ci_high, n.
    metrics : sequence of str
        Metrics to draw, one marker each.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A row per role with its n, a point with an interval per metric.
    """
    shown = rates[rates["metric"].isin(list(metrics)) & rates["value"].notna()]
    roles = list(dict.fromkeys(shown["role"]))
    ax = new_axes(ax, height=1.5 + 0.5 * max(1, len(roles)))
    if not roles:
        return finish(ax, title="No rate to show")
    step = 0.7 / len(metrics)
    for number, metric in enumerate(metrics):
        rows = shown[shown["metric"] == metric]
        y = rows["role"].map(roles.index).to_numpy() + (number - (len(metrics) - 1) / 2) * step
        _points(ax, rows["value"], rows["ci_low"], rows["ci_high"], y, number, metric)
    counts = shown.groupby("role")["n"].max()
    ax.set_yticks(range(len(roles)), [f"{role} (n = {counts[role]})" for role in roles])
    ax.invert_yaxis()
    ax.set_xlim(-2, 102)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return finish(ax, title=_spread(shown[shown["metric"] == metrics[0]], metrics[0]), xlabel="retrievals (%, 95 % interval)")


def _points(ax: Axes, value: pd.Series, low: pd.Series, high: pd.Series, y: np.ndarray, number: int, label: str) -> None:
    """Points with horizontal intervals, in percent."""
    value, low, high = (100 * np.asarray(item, dtype=np.float64) for item in (value, low, high))
    error = np.maximum(0, [value - low, high - value])
    ax.errorbar(value, y, xerr=error, fmt=MARKERS[number % len(MARKERS)], color=PALETTE[number % len(PALETTE)], capsize=2, markersize=5, label=label)


def _spread(rows: pd.DataFrame, metric: str) -> str:
    """Where a metric is lowest and highest."""
    roles = rows[rows["role"] != POOLED]
    if len(roles) < 2:
        return f"{metric} {percent(float(rows['value'].iloc[0]))}" if len(rows) else f"{metric} is undefined"
    low, high = roles.loc[roles["value"].idxmin()], roles.loc[roles["value"].idxmax()]
    return f"{metric} runs from {percent(low['value'])} ({low['role']}) to {percent(high['value'])} ({high['role']})"


def plot_cross_reading(cells: pd.DataFrame, *, role: str = POOLED, ax: Axes | None = None) -> Axes:
    """Layer 1 against outcomes as a matrix of shares.

    Parameters
    ----------
    cells : DataFrame
        ``CrossReading.table``: role, layer1, outcome, cell, share, ci_low, ci_high, n.
    role : str
        Role to draw.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Six squares, their area the share, each with its name, share and interval below.
    """
    from matplotlib.patches import Rectangle

    ax = new_axes(ax, width=7.4, height=3.6)
    rows = cells[cells["role"] == role].set_index(["layer1", "outcome"])
    if rows.empty:
        raise ValueError(f"plot_cross_reading: no role {role!r}; there are {sorted(cells['role'].unique())}")
    for (layer1, outcome), cell in CELLS.items():
        row, x, y = rows.loc[(layer1, outcome)], OUTCOMES.index(outcome), ("good", "bad").index(layer1)
        colour, hatch = CELL_STYLE[cell]
        side = 0.62 * float(np.sqrt(np.nan_to_num(row["share"])))
        ax.add_patch(Rectangle((x - side / 2, y - 0.12 - side / 2), side, side, facecolor=PALETTE[colour], hatch=HATCHES[hatch], alpha=0.45, edgecolor="black"))
        ax.text(x, y + 0.34, f"{cell}\n{percent(row['share'])} [{percent(row['ci_low'])}, {percent(row['ci_high'])}]", ha="center", va="center", fontsize=8)
    ax.set(xlim=(-0.5, 2.5), ylim=(1.55, -0.5))
    ax.set_xticks(range(3), [f"outcome {name}" for name in OUTCOMES])
    ax.set_yticks(range(2), ["Layer 1 good", "Layer 1 bad"])
    masked = rows.loc[("bad", "good")]
    where = "" if role == POOLED else f" ({role})"
    return finish(ax, title=f"{percent(masked['share'])} of {int(masked['n'])} judged retrievals{where} are masked failures")


def plot_gap(gap: AttributionGap, *, ax: Axes | None = None) -> Axes:
    """From the session rule's success rate to lineage's, cause by cause.

    Parameters
    ----------
    gap : AttributionGap
        Result of :func:`toolkit.lineage.attribution_gap`.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Two full bars and a hatched step for each cause that occurs.
    """
    steps = gap.table[gap.table["retrievals"] > 0]
    ax = new_axes(ax, height=1.6 + 0.4 * (len(steps) + 2))
    names = [gap.rule.replace("_", " "), *steps["cause"], "lineage"]
    ax.barh(0, 100 * gap.rule_rate, color=PALETTE[7])
    level = gap.rule_rate
    for number, row in enumerate(steps.itertuples(), start=1):
        down = row.share > 0  # credited by the rule alone: taken off on the way to lineage
        ax.barh(number, -100 * row.share, left=100 * level, color=PALETTE[3 if down else 2], hatch=HATCHES[1 if down else 2], edgecolor="black", linewidth=0.5)
        ax.annotate(f"{-100 * row.share:+.1f} ({row.retrievals})", (100 * max(level, level - row.share), number), xytext=(4, 0),
                    textcoords="offset points", va="center", fontsize=8)
        level -= row.share
    ax.barh(len(names) - 1, 100 * gap.lineage_rate, color=PALETTE[0])
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, 115)
    title = f"{names[0].capitalize()} credits {percent(gap.rule_rate)} of {gap.n} retrievals, lineage {percent(gap.lineage_rate)}"
    return finish(ax, title=title, xlabel="retrievals credited with an outcome (%; count)")


def plot_definition_sensitivity(rates: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The rate as the definition of active use widens.

    Parameters
    ----------
    rates : DataFrame
        ``sensitivity_to_definition(...).table``: one row a step, named in ``role``.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A line with a 95 % band.
    """
    ax = new_axes(ax)
    rows = rates[rates["value"].notna()]
    if rows.empty:
        return finish(ax, title="No rate to show")
    x = np.arange(len(rows))
    ax.fill_between(x, 100 * rows["ci_low"], 100 * rows["ci_high"], color=PALETTE[0], alpha=0.2, linewidth=0)
    ax.plot(x, 100 * rows["value"], marker=MARKERS[0], color=PALETTE[0])
    ax.set_xticks(x, rows["role"], rotation=30, ha="right")
    ax.set_ylim(bottom=0)
    metric = rows["metric"].iloc[0]
    title = f"The definition alone moves {metric} from {percent(rows['value'].iloc[0])} to {percent(rows['value'].iloc[-1])}"
    return finish(ax, title=title, xlabel="user actions that count as active use, added one by one", ylabel=f"{metric} (%, n = {int(rows['n'].max())})")


def plot_session_timeline(log: Log, *, user_id: str, ax: Axes | None = None) -> Axes:
    """One user's prompts, retrievals and actions in order, with a line from each use to its logged source.

    Parameters
    ----------
    log : Log
        Any log whose tables have user_id and time.
    user_id : str
        The user to draw.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Events in order of time (equal steps, not hours), shaded by session; dashed lines cross sessions. Actions without a logged actor
        have a lane of their own, which is there only where one has none.
    """
    events = _events(log, user_id)
    lanes = LANES if (events["lane"] == LANES[-1]).any() else LANES[:-1]
    ax = new_axes(ax, width=9.0, height=3.4)
    if events.empty:
        return finish(ax, title=f"No event of user {user_id} with a time")
    for number, (_, block) in enumerate(events.groupby("block")):
        ax.axvspan(block.index.min() - 0.5, block.index.max() + 0.5, color=PALETTE[7], alpha=0.22 if number % 2 else 0.08, linewidth=0)
        ax.text(block.index.min(), -0.72, f"session {block['session_id'].iloc[0]}", fontsize=8)
    for number, lane in enumerate(lanes):
        rows = events[events["lane"] == lane]
        ax.plot(rows.index, [number] * len(rows), linestyle="", marker=MARKERS[number], color=PALETTE[number], markersize=7)
        for x, text in rows["label"].items():
            ax.annotate(text, (x, number), xytext=(0, 8), textcoords="offset points", fontsize=7, ha="center", rotation=25)
    crossing, uses = _links(ax, events)
    ax.set_yticks(range(len(lanes)), lanes)
    ax.set(ylim=(len(lanes) - 0.5, -1.0), xlim=(-0.7, len(events) - 0.3), xticks=[])
    return finish(ax, title=f"User {user_id}: {crossing} of {uses} uses with a logged source are in another session than it", xlabel="events in order of time")


def _events(log: Log, user_id: str) -> pd.DataFrame:
    """All events of one user in order: lane, label, id, source, session, time, block (run of one session)."""
    parts = []
    for lane, frame, key, label in (("prompts", log.prompts, "prompt_id", "prompt_id"), ("retrievals", log.retrievals, "retrieval_id", "retrieval_id"),
                                    (None, log.actions, "action_id", "action")):
        rows = frame[(column(frame, "user_id") == user_id).fillna(False).to_numpy(dtype=bool) & column(frame, "time").notna().to_numpy()]
        lanes = lane or [LANE_OF_ACTOR.get(actor, LANES[-1]) for actor in column(rows, "actor")]
        parts.append(pd.DataFrame({"id": rows[key].to_numpy(dtype=object), "label": column(rows, label).to_numpy(dtype=object), "lane": lanes,
                                   "source": column(rows, "source_retrieval_id").to_numpy(dtype=object),
                                   "session_id": column(rows, "session_id").to_numpy(dtype=object), "time": column(rows, "time").array}))
    events = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True).sort_values("time", kind="stable", ignore_index=True)
    events["block"] = (events["session_id"] != events["session_id"].shift()).cumsum()
    return events


def _links(ax: Axes, events: pd.DataFrame) -> tuple[int, int]:
    """Draw a line from each action to its source; how many cross sessions, and how many there are."""
    rows = events[events["lane"] == "retrievals"]
    place = dict(zip(rows["id"], rows.index, strict=True))
    crossing = uses = 0
    for event in events[events["source"].isin(list(place))].itertuples():
        other = events["session_id"][place[event.source]] != event.session_id
        ax.plot([place[event.source], event.Index], [1, LANES.index(event.lane)], color=PALETTE[3] if other else "grey",
                linestyle="--" if other else "-", linewidth=1.2 if other else 0.7)
        crossing, uses = crossing + int(other), uses + 1
    return crossing, uses


def plot_bounds(table: pd.DataFrame, *, role: str = POOLED, metrics: Sequence[str] = ("empty-result rate", "GPR", "ACR", "ORF", "UOR", "goal by lineage"),
                truth: Mapping[str, float] | None = None, ax: Axes | None = None) -> Axes:
    """Metrics as intervals over what the log does not say.

    Parameters
    ----------
    table : DataFrame
        ``Bounds.table``: metric, role, low, high, observed.
    role : str
        Role to draw.
    metrics : sequence of str
        Metrics to draw, the first on top.
    truth : mapping of str to float, optional
        True value of each metric, where a simulation knows it.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A hatched bar from low to high, a point for what the plain metric counts, a cross for the truth.
    """
    rows = table[(table["role"] == role) & table["metric"].isin(list(metrics))].set_index("metric").reindex(list(metrics))
    rows = rows[rows["low"].notna()]
    ax = new_axes(ax, height=1.5 + 0.4 * max(1, len(rows)))
    if rows.empty:
        return finish(ax, title="No bounds to show")
    y = np.arange(len(rows))
    ax.barh(y, 100 * (rows["high"] - rows["low"]), left=100 * rows["low"], color=PALETTE[9], hatch=HATCHES[1], edgecolor="black",
            linewidth=0.5, height=0.5, label="possible")
    ax.plot(100 * rows["observed"], y, linestyle="", marker=MARKERS[0], color=PALETTE[0], label="as logged")
    if truth is not None:
        ax.plot([100 * truth.get(name, np.nan) for name in rows.index], y, linestyle="", marker="x", color="black", markersize=8, label="truth")
    ax.set_yticks(y, rows.index)
    ax.invert_yaxis()
    ax.set_xlim(-2, 102)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    points = int((rows["high"] - rows["low"] < 1e-12).sum())
    return finish(ax, title=f"{points} of {len(rows)} metrics are points, {len(rows) - points} are intervals", xlabel="rate (%)")
