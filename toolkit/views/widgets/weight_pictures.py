"""Step curves and maps as inline SVG: drawn in a millisecond, with hover text, without scripts."""

from __future__ import annotations

import math

import numpy as np

from toolkit.diagnosis import PairMap, WeightCurve
from toolkit.views.html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 260, 62, 34, 14
#: Dark blue to yellow, even in lightness (the stops of matplotlib's cividis).
STOPS = ((0, 34, 78), (58, 72, 107), (112, 113, 115), (165, 156, 116), (254, 232, 56))


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
    bottom, top = min(values), max(values)
    spread = (top - bottom) or 0.01

    def x(weight: float) -> float:
        share = math.log(min(max(weight, low), high) / low) / math.log(high / low)
        return LEFT + share * (WIDTH - LEFT - 10)

    def y(value: float) -> float:
        share = (value - bottom + 0.04 * spread) / (1.08 * spread) if top > bottom else 0.5
        return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM - 14)

    path = []
    for row in plateaus.itertuples():
        if row.weight_to > low and row.weight_from < high:
            path.append(f"{'L' if path else 'M'}{x(row.weight_from):.1f},{y(row.value):.1f}L{x(row.weight_to):.1f},{y(row.value):.1f}")
    first, last, best = curve.best_piece()
    edges = curve.events["weight"].unique()
    edges = edges[(edges > low) & (edges < high)]
    near = edges[np.argsort(np.abs(np.log(edges / max(curve.current, low))))[:marks]]
    rug = "".join(f'<path d="M{x(edge):.1f},{HEIGHT - BOTTOM}v-10" stroke="#555" stroke-width="0.6"><title>{edge:.6g}</title></path>' for edge in near)
    shade = "" if curve.is_flat else (
        f'<rect x="{x(first):.1f}" y="{TOP}" width="{max(x(last) - x(first), 2):.1f}" height="{HEIGHT - TOP - BOTTOM}" fill="#029e73" '
        f'opacity="0.3"><title>best: {first:.4g} to {last:.4g}, {best:.4f}</title></rect>')
    ticks = "".join(f'<text x="{x(w):.0f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{w:g}</text>' for w in (0.1, 0.3, 1, 3, 10, 30) if low <= w <= high)
    ticks += "".join(f'<text x="{LEFT - 6}" y="{y(v) + 4:.0f}" text-anchor="end">{v:.4f}</text>' for v in sorted({bottom, top}))
    now = (f'<path d="M{x(curve.current):.1f},{TOP}V{HEIGHT - BOTTOM}" stroke="black" stroke-dasharray="4 3"/>'
           f'<circle cx="{x(curve.current):.1f}" cy="{y(curve.current_value):.1f}" r="4" fill="black"/>') if curve.current > 0 else ""
    ticked = "ticks: breakpoints" if len(near) == len(edges) else f"ticks: the {len(near)} nearest of {len(edges)} breakpoints"
    label = (f"Mean metric against the {curve.label}, {curve.n} queries: now {curve.current:g} gives {curve.current_value:.4f}, the best is {curve.best:.4f}; "
             f"{len(edges)} breakpoints between {low:g} and {high:g}")
    axis = f'<text x="{(WIDTH + LEFT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{escape(curve.label)} (log scale; {ticked})</text>'
    return _svg(WIDTH, HEIGHT, label, f'{shade}<path d="{"".join(path)}" fill="none" stroke="#0173b2" stroke-width="1.8"/>{rug}{now}{ticks}{axis}')


def map_svg(found: PairMap) -> str:
    """A pair map whose every cell tells its weights and exact value on hover."""
    grid = found.grid()
    rows, columns = grid.shape
    side = max(9, 330 // columns)
    width, height = LEFT + columns * side + 110, rows * side + 60
    low, high = float(found.cells["value"].min()), float(found.cells["value"].max())
    cells = []
    for c, x in enumerate(grid.columns):
        for r, y in enumerate(grid.index):
            value = float(grid.iat[r, c])
            text = f"{found.x_field} {x:.3g}, {found.y_field} {y:.3g}: {value:.4f} ({value - found.base_value:+.4f})"
            cells.append(f'<rect x="{LEFT + c * side}" y="{10 + (rows - 1 - r) * side}" width="{side}" height="{side}" '
                         f'fill="{colour((value - low) / ((high - low) or 1))}"><title>{escape(text)}</title></rect>')
    flat = int(np.argmax(grid.to_numpy()))
    best_r, best_c = divmod(flat, columns)
    middle = (LEFT + (columns // 2 + 0.5) * side, 10 + (rows // 2 + 0.5) * side)
    cross = _outlined(f"M{middle[0] - 5:.1f},{middle[1] - 5:.1f}l10,10m0,-10l-10,10")
    ring = _outlined(f"M{LEFT + (best_c + 0.5) * side - 7:.1f},{10 + (rows - 0.5 - best_r) * side:.1f}a7,7 0 1 0 14,0a7,7 0 1 0 -14,0")
    xs, ys = list(grid.columns), list(grid.index)
    ticks = "".join(f'<text x="{LEFT + (i + 0.5) * side}" y="{rows * side + 26}" text-anchor="middle">{xs[i]:.2g}</text>' for i in (0, columns // 2, columns - 1))
    ticks += "".join(f'<text x="{LEFT - 4}" y="{10 + (rows - 0.5 - i) * side + 4}" text-anchor="end">{ys[i]:.2g}</text>' for i in (0, rows // 2, rows - 1))
    scale = "".join(f'<path d="M{LEFT + columns * side + 14},{60 - 10 * i}h12v10h-12z" fill="{colour(i / 4)}"/>' for i in range(5))
    scale += "".join(f'<text x="{LEFT + columns * side + 31}" y="{y}">{value:.4f}</text>' for y, value in ((70, low), (28, high)))
    names = (f'<text x="{LEFT + columns * side / 2}" y="{rows * side + 44}" text-anchor="middle">weight of {escape(found.x_field)} (log scale)</text>'
             f'<text x="12" y="{10 + rows * side / 2}" text-anchor="middle" transform="rotate(-90 12 {10 + rows * side / 2})">weight of {escape(found.y_field)} (log scale)</text>')
    label = (f"Map of the mean metric over the weights of {found.x_field} and {found.y_field}, from {low:.4f} (dark) to {high:.4f} (light); cross: now "
             f"{found.base_value:.4f}; ring: best cell")
    return _svg(width, height, label, "".join(cells) + cross + ring + ticks + scale + names)


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
