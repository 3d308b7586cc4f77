"""Slide the definition of active use and watch the rate it defines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.lineage import ActiveUse, Log, sensitivity_to_definition
from toolkit.lineage.definitions import USE_LADDER
from toolkit.lineage.results import percent
from toolkit.lineage.tables import ROLES, column
from toolkit.views.html import line, table_html
from toolkit.views.plots.base import PALETTE, axes_html
from toolkit.views.plots.lineage import plot_definition_sensitivity

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

ALL = "all roles"


def definition_curve(log: Log, *, display: str = "implied", role: str = ALL, ladder: Sequence[str] = USE_LADDER, use: ActiveUse | None = None) -> pd.DataFrame:
    """The rate at every step of the ladder, for one reading of display and one role.

    Returns
    -------
    DataFrame
        As ``sensitivity_to_definition(...).table``: role (the step's name), value, ci_low, ci_high, n, count, definition.
    """
    base = replace(use or ActiveUse(), display=display)
    return sensitivity_to_definition(log, ladder, use=base, role=None if role == ALL else role).table


def render_active_use(curve: pd.DataFrame, *, kinds: int) -> dict[str, str]:
    """The curve with the chosen definition marked.

    Parameters
    ----------
    curve : DataFrame
        From :func:`definition_curve`.
    kinds : int
        Kinds of action that count, from 1: the narrowest first.

    Returns
    -------
    dict
        HTML of ``summary``, ``picture`` and ``numbers``.
    """
    chosen = curve.iloc[kinds - 1]
    said = (f"GPR {percent(chosen['value'])} [{percent(chosen['ci_low'])}, {percent(chosen['ci_high'])}]: {int(chosen['count'])} of "
            f"{int(chosen['n'])} retrievals. GPR = {chosen['definition']}.")
    ax = plot_definition_sensitivity(curve)
    if pd.notna(chosen["value"]):
        ax.axvline(kinds - 1, color="grey", linestyle=":", linewidth=1.2)
        ax.plot([kinds - 1], [100 * chosen["value"]], marker="D", markersize=9, color=PALETTE[3], linestyle="")
        ax.annotate(f"chosen: {percent(chosen['value'])}", (kinds - 1, 100 * chosen["value"]), textcoords="offset points", fontsize=9,
                    xytext=(9, -14) if kinds < len(curve) else (-9, -16), ha="left" if kinds < len(curve) else "right")
    numbers = curve[["role", "value", "ci_low", "ci_high", "count", "n"]].rename(columns={"role": "counts as use", "value": "GPR"})
    numbers.insert(0, "chosen", ["►" if step == kinds else "" for step in range(1, len(curve) + 1)])
    return {"summary": line(said), "picture": axes_html(ax, f"{ax.get_title(loc='left')}. Chosen: the first {kinds} kinds of action."),
            "numbers": table_html(numbers, "GPR as one kind of action after another counts as active use (95 % intervals)")}


def active_use_explorer(log: Log, *, ladder: Sequence[str] = USE_LADDER, use: ActiveUse | None = None) -> Explorer:
    """Explore what the definition of active use does to the genuine positive rate.

    Parameters
    ----------
    log : Log
    ladder : sequence of str
        Kinds of action from the narrowest reading of "use" to the widest.
    use : ActiveUse, optional
        How an unlogged actor is read; its actions are replaced by the ladder's.

    Returns
    -------
    Explorer
        A widget (CSS class ``active-use-explorer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    roles = [name for name in ROLES if (column(log.retrievals, "role") == name).any()]
    auto = widgets.Layout(width="auto")
    controls = {
        "kinds": widgets.IntSlider(value=min(3, len(ladder)), min=1, max=len(ladder), description="kinds of action that count"),
        "display": widgets.Dropdown(options=[("implied: seen unless logged otherwise", "implied"), ("required: logged as displayed", "required")],
                                    description="display", layout=auto),
        "role": widgets.Dropdown(options=[ALL, *roles], description="role", layout=auto),
    }
    curves: dict[tuple[str, str], pd.DataFrame] = {}

    def render(kinds: int, display: str, role: str) -> dict[str, str]:
        if (display, role) not in curves:
            curves[display, role] = definition_curve(log, display=display, role=role, ladder=ladder, use=use)
        return render_active_use(curves[display, role], kinds=kinds)

    return Explorer(controls, render, css_class="active-use-explorer")
