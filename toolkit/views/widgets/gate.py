"""Turn the policy of the gate and watch the verdict: same numbers, different decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolkit.evaluation import Comparison, Policy, Verdict, verdict
from toolkit.views.html import line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.comparison import plot_deltas

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

WORDS = {"promote": "Promote", "block": "Block", "insufficient_evidence": "Insufficient evidence"}


def decide(comparison: Comparison, *, smallest_worthwhile: float, min_changed: int, max_drop_share: float, max_judged_gap: float, holes: str,
           accept_unknown: bool) -> Verdict:
    """The verdict under a policy given as the explorer's control values."""
    accepted = ("holes", "ties", *(("coverage", "zero_results") if accept_unknown else ()))
    return verdict(comparison, Policy(smallest_worthwhile=smallest_worthwhile, min_changed=min_changed, max_drop_share=max_drop_share,
                                      max_judged_gap=max_judged_gap, holes=holes, accept_unknown=accepted))


def render_gate(comparisons: Mapping[str, Comparison], *, arm: str, smallest_worthwhile: float = 0.02, min_changed: int = 10,
                max_drop_share: float = 0.05, max_judged_gap: float = 0.05, holes: str = "bounds", accept_unknown: bool = False) -> dict[str, str]:
    """Verdict, its checks and the picture of the numbers behind it.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
        Name of a candidate -> its comparison with the baseline.
    arm : str
        The one shown.
    smallest_worthwhile, min_changed, max_drop_share, max_judged_gap, holes
        As in :class:`toolkit.evaluation.Policy`.
    accept_unknown : bool
        Accept unknown coverage and zero-result rates.

    Returns
    -------
    dict
        HTML of ``decision``, ``checks`` and ``picture``.
    """
    made = decide(comparisons[arm], smallest_worthwhile=smallest_worthwhile, min_changed=min_changed, max_drop_share=max_drop_share,
                  max_judged_gap=max_judged_gap, holes=holes, accept_unknown=accept_unknown)
    return {"decision": line(f"{arm}: {WORDS[made.decision]}. {' '.join(made.reasons)}"),
            "checks": table_html(made.to_frame().rename(columns={"sentence": "finding"}), "Every check of the gate"),
            "picture": axes_html(plot_deltas(comparisons[arm].to_frame()))}


def gate_explorer(comparisons: Mapping[str, Comparison] | Comparison) -> Explorer:
    """Explore the verdict under changing policies.

    Parameters
    ----------
    comparisons : Comparison or mapping of str to Comparison

    Returns
    -------
    Explorer
        A widget (CSS class ``gate-explorer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    given = {"candidate": comparisons} if isinstance(comparisons, Comparison) else dict(comparisons)
    narrow = widgets.Layout(width="auto")
    controls = {
        "arm": widgets.Dropdown(options=list(given), description="candidate", layout=narrow),
        "smallest_worthwhile": widgets.FloatSlider(value=0.02, min=0.0, max=0.1, step=0.005, description="smallest worthwhile gain", readout_format=".3f"),
        "min_changed": widgets.IntSlider(value=10, min=1, max=100, description="changed queries needed"),
        "max_drop_share": widgets.FloatSlider(value=0.05, min=0.0, max=0.5, step=0.01, description="catastrophic drops allowed"),
        "max_judged_gap": widgets.FloatSlider(value=0.05, min=0.0, max=1.0, step=0.01, description="judged gap allowed"),
        "holes": widgets.Dropdown(options=[("any grading may overturn it", "bounds"), ("a tipping point below half may", "tipping"), ("report only", "report")],
                                  value="bounds", description="unjudged products", layout=narrow),
        "accept_unknown": widgets.Checkbox(value=False, description="accept unknown coverage", indent=False, layout=narrow),
    }

    def render(**values: object) -> dict[str, str]:
        return render_gate(given, **values)

    return Explorer(controls, render, css_class="gate-explorer")
