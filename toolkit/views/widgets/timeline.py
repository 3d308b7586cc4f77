"""One user's timeline, and what becomes of every metric when a field is not logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.lineage import ActiveUse, Log, attribution_gap, bounds, hide_fields
from toolkit.lineage.bounding import Bounds
from toolkit.lineage.definitions import GOAL_ACTIONS
from toolkit.lineage.results import POOLED, percent
from toolkit.lineage.tables import column, is_list
from toolkit.views.html import details, line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.lineage import plot_bounds, plot_session_timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from toolkit.views.box import Explorer

# A check mark's name -> its words, and the fields it stands for.
TOGGLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "returned": ("full returned list", ("retrievals.returned_asset_ids",)),
    "source": ("source retrieval of an action", ("actions.source_retrieval_id",)),
    "asset": ("consumed asset", ("actions.consumed_asset_id",)),
    "actor": ("user or agent", ("actions.actor",)),
    "display": ("what was displayed", ("retrievals.displayed", "retrievals.displayed_asset_ids")),
    "request": ("request ids", ("retrievals.request_id", "actions.request_id")),
    "links": ("retries and expected sources", ("retrievals.retry_of", "actions.expected_retrieval_id")),
}
METRICS = ("empty-result rate", "good retrieval rate", "GPR", "ACR", "ORF", "UOR", "goal by lineage", "masked failure")
MOST_USERS = 20


def user_events(log: Log, user_id: str) -> pd.DataFrame:
    """What one user and the agent did, in order of time.

    Returns
    -------
    DataFrame
        session, time, event (prompt, retrieval or action id), what (text, query or action), by, assets (returned or consumed), source.
        Null where the log does not say.
    """
    parts = []
    for frame, key, what, assets in ((log.prompts, "prompt_id", "text", None), (log.retrievals, "retrieval_id", "query", "returned_asset_ids"),
                                     (log.actions, "action_id", "action", "consumed_asset_id")):
        rows = frame[(column(frame, "user_id") == user_id).fillna(False).to_numpy(dtype=bool)]
        parts.append(pd.DataFrame({
            "session": column(rows, "session_id").to_numpy(dtype=object), "time": pd.to_datetime(column(rows, "time"), utc=True).array,
            "event": rows[key].to_numpy(dtype=object), "what": column(rows, what).to_numpy(dtype=object),
            "by": column(rows, "actor").to_numpy(dtype=object), "assets": None if assets is None else column(rows, assets).to_numpy(dtype=object),
            "source": column(rows, "source_retrieval_id").to_numpy(dtype=object)}))
    parts = [part for part in parts if len(part)] or parts[:1]
    return pd.concat(parts, ignore_index=True).sort_values("time", kind="stable", ignore_index=True)


def users_of(log: Log) -> list[str]:
    """Users to choose from: first those who used an asset in another session than its retrieval's, short timelines before long ones."""
    sessions = pd.Series(column(log.retrievals, "session_id").to_numpy(dtype=object), index=log.retrievals["retrieval_id"].to_numpy(dtype=object))
    origin = column(log.actions, "source_retrieval_id").map(sessions)
    own = column(log.actions, "session_id")
    crossed = log.actions[(origin.notna() & own.notna() & (origin != own).fillna(False)).to_numpy(dtype=bool)]
    first = set(column(crossed, "user_id").dropna())
    counts = column(log.retrievals, "user_id").dropna().value_counts()
    return sorted(counts.index, key=lambda user: (user not in first, counts[user], user))[:MOST_USERS]


def render_lineage(log: Log, *, user_id: str, hidden: Sequence[str] = (), complete: Mapping[str, float] | None = None,
                   use: ActiveUse | None = None, goals: Sequence[str] = GOAL_ACTIONS) -> dict[str, str]:
    """Timeline and metrics of a log with some fields hidden.

    Parameters
    ----------
    log : Log
    user_id : str
        The user whose timeline is drawn.
    hidden : sequence of str
        Names in ``TOGGLES``: what is not logged.
    complete : mapping of str to float, optional
        Metric -> its value with everything logged, drawn as a cross.
    use : ActiveUse, optional
    goals : sequence of str
        Actions that are goals to both attribution rules.

    Returns
    -------
    dict
        HTML of ``summary``, ``timeline``, ``bounds``, ``events``, ``numbers``.
    """
    metrics = render_metrics(log, tuple(hidden), complete=complete, use=use, goals=goals)
    return _page(metrics, render_timeline(log, user_id, source="source" not in hidden), render_events(log, user_id, hidden))


def render_metrics(log: Log, hidden: Sequence[str] = (), *, complete: Mapping[str, float] | None = None, use: ActiveUse | None = None,
                   goals: Sequence[str] = GOAL_ACTIONS) -> dict[str, str]:
    """The parts that do not depend on the user: ``summary``, ``bounds``, ``numbers``."""
    seen = _hidden(log, hidden)
    found = bounds(seen, use, roles=())
    table = found.table[(found.table["role"] == POOLED) & found.table["metric"].isin(METRICS)]
    gap = attribution_gap(seen, outcomes=goals)
    words = ", ".join(TOGGLES[name][0] for name in hidden)
    said = (f"{f'Not logged: {words}' if hidden else 'Everything the log has is shown'}. {_points(table)} "
            f"Credited with {', '.join(goals)}: {_count(gap.rule_rate, gap.n)} retrievals by session, {_count(gap.lineage_rate, gap.n)} by lineage.")
    numbers = table[["metric", "low", "high", "n", "definition"]]
    return {"summary": line(said), "bounds": axes_html(plot_bounds(found.table, metrics=METRICS, truth=complete, ax=_axes(6.4, 3.2))),
            "numbers": details("Numbers and definitions", table_html(numbers, f"Metrics over the {gap.n} retrievals of the log"))}


def render_events(log: Log, user_id: str, hidden: Sequence[str] = ()) -> str:
    """One user's events as a table, with nothing in it that is hidden."""
    return table_html(_readable(user_events(_hidden(log, hidden), user_id)), f"Events of user {user_id}, as logged", limit=25)


def render_timeline(log: Log, user_id: str, *, source: bool = True) -> str:
    """The timeline as HTML. Without sources its lines go; actions keep their lanes, so that they can be found again."""
    return axes_html(plot_session_timeline(log if source else _hidden(log, ["source"]), user_id=user_id, ax=_axes(9.0, 3.4)))


def lineage_explorer(log: Log, *, use: ActiveUse | None = None, goals: Sequence[str] = GOAL_ACTIONS) -> Explorer:
    """Explore a timeline and take fields of the log away.

    Parameters
    ----------
    log : Log
        With user ids and times; the more complete, the more there is to take away.
    use : ActiveUse, optional
    goals : sequence of str

    Returns
    -------
    Explorer
        A widget (CSS class ``lineage-explorer``); ``close()`` frees it.

    Raises
    ------
    ValueError
        If no retrieval has a user id.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    users = users_of(log)
    if not users:
        raise ValueError("lineage_explorer: no retrieval has a user_id; expected a log with users, for example search_log()")
    complete = _known_points(bounds(log, use, roles=()))
    auto = widgets.Layout(width="auto")
    controls: dict[str, widgets.Widget] = {"user_id": widgets.Dropdown(options=users, description="user", layout=auto)}
    controls |= {name: widgets.Checkbox(value=True, description=words, indent=False, layout=auto) for name, (words, _) in TOGGLES.items()}

    # As render_lineage, but a move draws only what it changes.
    metrics = lru_cache(maxsize=2 ** len(TOGGLES))(partial(render_metrics, log, complete=complete, use=use, goals=goals))
    timelines = lru_cache(maxsize=2 * MOST_USERS)(partial(render_timeline, log))

    def render(user_id: str, **logged: bool) -> dict[str, str]:
        hidden = tuple(name for name, there in logged.items() if not there)
        return _page(metrics(hidden), timelines(user_id, source=logged["source"]), render_events(log, user_id, hidden))

    return Explorer(controls, render, css_class="lineage-explorer")


def _hidden(log: Log, hidden: Sequence[str]) -> Log:
    """The log without the fields of these check marks."""
    return hide_fields(log, [field for name in hidden for field in TOGGLES[name][1]])


def _page(metrics: Mapping[str, str], timeline: str, events: str) -> dict[str, str]:
    """All parts in the order they are shown."""
    return {"summary": metrics["summary"], "timeline": timeline, "bounds": metrics["bounds"], "events": events, "numbers": metrics["numbers"]}


def _readable(events: pd.DataFrame) -> pd.DataFrame:
    """Short times and short lists."""
    assets = pd.Series([_short(value) for value in events["assets"]], index=events.index, dtype=object)
    # A blank that does not break keeps each time on one line.
    return events.assign(time=events["time"].dt.strftime("%d\u00a0%b\u00a0%H:%M:%S"), assets=assets)


def _short(assets: object, most: int = 4) -> object:
    """A list as its first ids; an empty one in words, anything else as it is."""
    if not is_list(assets):
        return assets
    more = f" and {len(assets) - most} more" if len(assets) > most else ""
    return ", ".join(assets[:most]) + more if len(assets) else "none"


def _axes(width: float, height: float) -> Axes:
    """Axes without a layout engine: the saved picture is cut to its content anyway, and each move is drawn once less."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height)).subplots()


def _known_points(found: Bounds) -> dict[str, float]:
    """Metrics that the complete log fixes, pooled."""
    rows = found.table[(found.table["role"] == POOLED) & (found.table["width"] < 1e-12)]
    return dict(zip(rows["metric"], rows["low"], strict=True))


def _points(table: pd.DataFrame) -> str:
    """How many metrics are points, and the widest interval."""
    points = int((table["width"] < 1e-12).sum())
    text = f"{points} of {len(table)} metrics are points"
    if points == len(table):
        return f"{text}."
    widest = table.loc[table["width"].idxmax()]
    return f"{text}; the widest interval is {widest['metric']}, {percent(widest['low'])} to {percent(widest['high'])}."


def _count(share: float, n: int) -> str:
    """``3 of 5`` from a share."""
    return f"{round(share * n) if n else 0} of {n}"
