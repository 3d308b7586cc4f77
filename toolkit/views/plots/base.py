"""What all plots share: axes outside pyplot, a palette for every eye, intervals, plain spines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.views.html import figure_html

if TYPE_CHECKING:
    from IPython.display import HTML
    from matplotlib.axes import Axes

# seaborn's "colorblind" palette, written out so that plots need not import seaborn for six colours.
PALETTE = ("#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9")
# Second channel beside colour: bars take hatches, lines and points take markers.
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


def new_axes(ax: Axes | None = None, *, width: float = 6.4, height: float = 3.6) -> Axes:
    """``ax`` itself, or the axes of a new figure that pyplot does not register.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw.
    width, height : float
        Size in inches of the new figure; ignored when ``ax`` is given.
    """
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def finish(ax: Axes, *, title: str, xlabel: str = "", ylabel: str = "") -> Axes:
    """Title (the finding), axis names with units, no box; returns the axes."""
    ax.set_title(title, loc="left", fontsize=11, wrap=True)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def axes_html(ax: Axes, alt: str = "") -> str:
    """The axes' figure as an ``<img>``; without ``alt`` its title (the finding) is the alternative text."""
    return figure_html(ax.figure, alt or ax.get_title(loc="left") or ax.get_title())


def picture(ax: Axes, alt: str = "") -> HTML:
    """A plot as the last line of a notebook cell: an image with alternative text, no figure left open.

    Parameters
    ----------
    ax : matplotlib Axes
        What a plot function returned.
    alt : str
        What the picture shows; default the title of the axes, which states the finding.
    """
    from IPython.display import HTML

    return HTML(axes_html(ax, alt))
