"""Let retrieval get worse while the model covers for it: session metrics stay flat, Layer 1 falls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.lineage.masking import GOOD, MASKED, QUALITIES, SESSION_GOAL, masking_curve
from toolkit.lineage.results import percent
from toolkit.views.html import line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.readiness import plot_masking

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

COVERED = (0, 25, 50, 75, 100)  # positions of the slider, in percent


def masking_curves(*, seed: int = 0) -> dict[int, pd.DataFrame]:
    """The curve of each position of the covering slider: percent -> table."""
    return {covered: masking_curve(covered / 100, seed=seed) for covered in COVERED}


def render_masking(curves: Mapping[int, pd.DataFrame], *, covered: int, quality: int) -> dict[str, str]:
    """What is seen at one quality, and the whole decline.

    Parameters
    ----------
    curves : mapping of int to DataFrame
        From :func:`masking_curves`.
    covered : int
        How well the model covers for bad retrievals, in percent; one of ``COVERED``.
    quality : int
        Truly good retrievals, in percent; a quality of the curve.

    Returns
    -------
    dict
        HTML of ``summary``, ``picture`` and ``numbers``.
    """
    curve = curves[covered]
    start = curve[curve["quality"] == curve["quality"].max()].set_index("metric")
    now = curve[(100 * curve["quality"]).round() == quality].set_index("metric")
    change = 100 * (now["value"] - start["value"])
    said = (f"The model covers for {covered} % of what bad retrievals spoil. As truly good retrievals go from 100 % to {quality} %, {GOOD} moves by "
            f"{change[GOOD]:+.1f} points and {SESSION_GOAL} by {change[SESSION_GOAL]:+.1f}; masked failures are {percent(now.loc[MASKED, 'value'])} "
            f"of {int(now.loc[MASKED, 'n'])} judged retrievals.")
    shown = pd.DataFrame({"metric": now.index, "at\u00a0best": start["value"].reindex(now.index).to_numpy(), f"at\u00a0{quality}\u00a0%": now["value"].to_numpy(),
                          "n": now["n"].to_numpy(), "definition": now["definition"].to_numpy()})
    return {"summary": line(said), "picture": axes_html(plot_masking(curve, current=quality / 100)),
            "numbers": table_html(shown, "Simulated, truth known: shares at the best and at the chosen quality")}


def masking_explorer(*, seed: int = 0) -> Explorer:
    """Explore a decline of retrieval that a capable model hides from session metrics.

    Parameters
    ----------
    seed : int
        Of the simulated world.

    Returns
    -------
    Explorer
        A widget (CSS class ``masking-explorer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    curves = masking_curves(seed=seed)
    lowest, step = round(100 * min(QUALITIES)), round(100 * (QUALITIES[0] - QUALITIES[1]))
    controls = {
        "covered": widgets.IntSlider(value=100, min=COVERED[0], max=COVERED[-1], step=COVERED[1], description="the model covers for (%)"),
        "quality": widgets.IntSlider(value=40, min=lowest, max=100, step=step, description="truly good retrievals (%)"),
    }

    def render(covered: int, quality: int) -> dict[str, str]:
        return render_masking(curves, covered=_nearest(covered, COVERED), quality=_nearest(quality, [round(100 * q) for q in QUALITIES]))

    return Explorer(controls, render, css_class="masking-explorer")


def _nearest(value: int, allowed: tuple[int, ...] | list[int]) -> int:
    """A typed number may stand between the slider's steps."""
    return min(allowed, key=lambda one: abs(one - value))
