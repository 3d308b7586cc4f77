"""One score taken apart: a bar per field, a segment per query word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.search.explain import Explanation
from toolkit.views.plots.base import HATCHES, PALETTE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_explanation(explanation: Explanation, *, ax: Axes | None = None) -> Axes:
    """Weighted score of each matching field, cut into the query words that make it.

    Parameters
    ----------
    explanation : Explanation
        Of one product for one query, from any engine.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Horizontal bars, the best field on top; pale bars do not count or count only by the tie breaker.
        Words have a colour and a hatch each.
    """
    found = {clause.name for field in explanation.fields for clause in field.clauses}
    words = sorted(found, key=lambda word: [*explanation.terms, *found].index(word))
    ax = new_axes(ax, height=1.2 + 0.42 * max(1, len(explanation.fields)))
    for row, field in enumerate(explanation.fields):
        left = 0.0
        for clause in field.clauses:
            style = words.index(clause.name)
            ax.barh(row, clause.score, left=left, height=0.7, color=PALETTE[style % len(PALETTE)],
                    hatch=HATCHES[style % len(HATCHES)], edgecolor="white", alpha=1.0 if row == 0 else 0.45,
                    label=clause.name if style not in _labelled(ax, words) else None)
            left += clause.score
        ax.text(field.score, row, f" {field.score:.2f}", va="center")
    ax.set_yticks(range(len(explanation.fields)), [f"{field.field} ×{field.weight:g}" for field in explanation.fields])
    ax.invert_yaxis()
    ax.margins(x=0.12)
    if words:
        ax.legend(title="query word", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return finish(ax, title=_finding(explanation), xlabel="weighted BM25 score (no unit)")


def _labelled(ax: Axes, words: list[str]) -> set[int]:
    """Indices of the words that the legend already names."""
    return {words.index(text) for text in ax.get_legend_handles_labels()[1] if text in words}


def _finding(explanation: Explanation) -> str:
    """What the bars say, in one sentence."""
    if not explanation.fields:
        return "No field of this product has any word of the query"
    best = explanation.fields[0]
    if len(explanation.fields) == 1:
        return f"{best.field} alone gives the score {explanation.score:.2f}"
    if explanation.config.tie == 0:
        return f"{best.field} decides: the score is {explanation.score:.2f}, the other fields do not count"
    return f"{best.field} {best.score:.2f} and {explanation.config.tie:g} times the rest make the score {explanation.score:.2f}"
