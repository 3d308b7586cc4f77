"""Step curves and maps as inline SVG: drawn in a millisecond, with hover text, without scripts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.diagnosis import PairMap, WeightCurve
from toolkit.views.html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 260, 62, 34, 14
#: Dark blue to yellow, even in lightness (the stops of matplotlib's cividis).
STOPS = ((0, 34, 78), (58, 72, 107), (112, 113, 115), (165, 156, 116), (254, 232, 56))


@dataclass(frozen=True)
class _Frame:
    """Where a weight and a value stand in the picture: weights on a log scale, values on a linear one."""

    low: float
    high: float
    bottom: float
    top: float

    def x(self, weight: float) -> float:
        """Horizontal position; weights outside stand at the edge."""
        share = math.log(min(max(weight, self.low), self.high) / self.low) / math.log(self.high / self.low)
        return LEFT + share * (WIDTH - LEFT - 10)

    def y(self, value: float) -> float:
        """Vertical position; a flat curve stands in the middle."""
        spread = self.top - self.bottom
        share = (value - self.bottom + 0.04 * spread) / (1.08 * spread) if spread > 0 else 0.5
        return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM - 14)


def curve_svg(curve: WeightCurve, *, low: float = 0.1, high: float = 40.0, marks: int = 400) -> str:
    """A weight curve with the present weight, the best piece, and its breakpoints as ticks below.

    Parameters
    ----------
    curve : WeightCurve
    low, high : float
        Part of the weight axis to show.
    marks : int
        Most ticks drawn; where there are more, the nearest to the present weight.
    """
    plateaus = curve.plateaus()
    values = [*plateaus["value"], curve.current_value]
    frame = _Frame(low, high, min(values), max(values))
    edges = curve.events["weight"].unique()
    edges = edges[(edges > low) & (edges < high)]
    near = edges[np.argsort(np.abs(np.log(edges / max(curve.current, low))))[:marks]]
    ticked = "ticks: breakpoints" if len(near) == len(edges) else f"ticks: the {len(near)} nearest of {len(edges)} breakpoints"
    label = (f"Mean metric against the {curve.label}, {curve.n} queries: now {curve.current:g} gives {curve.current_value:.4f}, the best is {curve.best:.4f}; "
             f"{len(edges)} breakpoints between {low:g} and {high:g}")
    parts = [_best_shade(curve, frame), _steps(plateaus, frame), _rug(near, frame), _now(curve, frame), _axes(curve, frame, ticked)]
    return _svg(WIDTH, HEIGHT, label, "".join(parts))


def _best_shade(curve: WeightCurve, frame: _Frame) -> str:
    """The best piece, at least two pixels wide; nothing where no piece is better."""
    if curve.is_flat:
        return ""
    first, last, best = curve.best_piece()
    width = max(frame.x(last) - frame.x(first), 2)
    return (f'<rect x="{frame.x(first):.1f}" y="{TOP}" width="{width:.1f}" height="{HEIGHT - TOP - BOTTOM}" fill="#029e73" '
            f'opacity="0.3"><title>best: {first:.4g} to {last:.4g}, {best:.4f}</title></rect>')


def _steps(plateaus: pd.DataFrame, frame: _Frame) -> str:
    """The curve itself."""
    path = []
    for row in plateaus.itertuples():
        if row.weight_to > frame.low and row.weight_from < frame.high:
            y = frame.y(row.value)
            path.append(f"{'L' if path else 'M'}{frame.x(row.weight_from):.1f},{y:.1f}L{frame.x(row.weight_to):.1f},{y:.1f}")
    return f'<path d="{"".join(path)}" fill="none" stroke="#0173b2" stroke-width="1.8"/>'


def _rug(edges: np.ndarray, frame: _Frame) -> str:
    """One tick a breakpoint, with its weight on hover."""
    return "".join(f'<path d="M{frame.x(edge):.1f},{HEIGHT - BOTTOM}v-10" stroke="#555" stroke-width="0.6"><title>{edge:.6g}</title></path>' for edge in edges)


def _now(curve: WeightCurve, frame: _Frame) -> str:
    """The present weight; nothing for a weight of 0, which a log scale does not have."""
    if not curve.current > 0:
        return ""
    x = frame.x(curve.current)
    return (f'<path d="M{x:.1f},{TOP}V{HEIGHT - BOTTOM}" stroke="black" stroke-dasharray="4 3"/>'
            f'<circle cx="{x:.1f}" cy="{frame.y(curve.current_value):.1f}" r="4" fill="black"/>')


def _axes(curve: WeightCurve, frame: _Frame, ticked: str) -> str:
    """Numbers on both axes and the name of the weight."""
    marks = [w for w in (0.1, 0.3, 1, 3, 10, 30) if frame.low <= w <= frame.high]
    text = "".join(f'<text x="{frame.x(w):.0f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{w:g}</text>' for w in marks)
    text += "".join(f'<text x="{LEFT - 6}" y="{frame.y(v) + 4:.0f}" text-anchor="end">{v:.4f}</text>' for v in sorted({frame.bottom, frame.top}))
    return text + f'<text x="{(WIDTH + LEFT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{escape(curve.label)} (log scale; {ticked})</text>'


def map_svg(found: PairMap) -> str:
    """A pair map whose every cell tells its weights and exact value on hover."""
    grid = found.grid()
    rows, columns = grid.shape
    side = max(9, 330 // columns)
    low, high = float(found.cells["value"].min()), float(found.cells["value"].max())
    best_row, best_column = divmod(int(np.argmax(grid.to_numpy())), columns)
    x, y = LEFT + (columns // 2 + 0.5) * side, 10 + (rows // 2 + 0.5) * side
    cross = _outlined(f"M{x - 5:.1f},{y - 5:.1f}l10,10m0,-10l-10,10")
    ring = _outlined(f"M{LEFT + (best_column + 0.5) * side - 7:.1f},{10 + (rows - 0.5 - best_row) * side:.1f}a7,7 0 1 0 14,0a7,7 0 1 0 -14,0")
    label = (f"Map of the mean metric over the weights of {found.x_field} and {found.y_field}, from {low:.4f} (dark) to {high:.4f} (light); cross: now "
             f"{found.base_value:.4f}; ring: best cell")
    parts = [_cells(found, grid, side, low, high), cross, ring, _map_axes(found, grid, side), _scale(LEFT + columns * side, low, high)]
    return _svg(LEFT + columns * side + 110, rows * side + 60, label, "".join(parts))


def _cells(found: PairMap, grid: pd.DataFrame, side: int, low: float, high: float) -> str:
    """One square a cell, the smallest weights at the bottom left."""
    cells, rows = [], len(grid)
    for c, x in enumerate(grid.columns):
        for r, y in enumerate(grid.index):
            value = float(grid.iat[r, c])
            text = f"{found.x_field} {x:.3g}, {found.y_field} {y:.3g}: {value:.4f} ({value - found.base_value:+.4f})"
            cells.append(f'<rect x="{LEFT + c * side}" y="{10 + (rows - 1 - r) * side}" width="{side}" height="{side}" '
                         f'fill="{colour((value - low) / ((high - low) or 1))}"><title>{escape(text)}</title></rect>')
    return "".join(cells)


def _map_axes(found: PairMap, grid: pd.DataFrame, side: int) -> str:
    """First, middle and last weight of both fields, and their names."""
    rows, columns = grid.shape
    text = "".join(f'<text x="{LEFT + (i + 0.5) * side}" y="{rows * side + 26}" text-anchor="middle">{grid.columns[i]:.2g}</text>'
                   for i in (0, columns // 2, columns - 1))
    text += "".join(f'<text x="{LEFT - 4}" y="{10 + (rows - 0.5 - i) * side + 4}" text-anchor="end">{grid.index[i]:.2g}</text>'
                    for i in (0, rows // 2, rows - 1))
    y = 10 + rows * side / 2
    return (f'{text}<text x="{LEFT + columns * side / 2}" y="{rows * side + 44}" text-anchor="middle">weight of {escape(found.x_field)} (log scale)</text>'
            f'<text x="12" y="{y}" text-anchor="middle" transform="rotate(-90 12 {y})">weight of {escape(found.y_field)} (log scale)</text>')


def _scale(left: float, low: float, high: float) -> str:
    """Five colours with the smallest and the largest value."""
    text = "".join(f'<path d="M{left + 14},{60 - 10 * i}h12v10h-12z" fill="{colour(i / 4)}"/>' for i in range(5))
    return text + "".join(f'<text x="{left + 31}" y="{y}">{value:.4f}</text>' for y, value in ((70, low), (28, high)))


def _outlined(path: str) -> str:
    """A white line with a black rim: visible on dark and on light cells."""
    return "".join(f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="{width}"/>' for stroke, width in (("black", 4.5), ("white", 2)))


def colour(share: float) -> str:
    """A colour between dark (0) and light (1)."""
    place = min(max(share, 0.0), 1.0) * (len(STOPS) - 1)
    i = min(int(place), len(STOPS) - 2)
    mixed = (round(a + (b - a) * (place - i)) for a, b in zip(STOPS[i], STOPS[i + 1]))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _svg(width: float, height: float, label: str, content: str) -> str:
    return (f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" style="max-width:100%;background:white" '
            f'font-family="sans-serif" font-size="11" xmlns="http://www.w3.org/2000/svg">{content}</svg>')
