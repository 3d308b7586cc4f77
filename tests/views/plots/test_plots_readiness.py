"""Artists of the coverage and masking plots."""

from __future__ import annotations

import numpy as np
import pytest

from toolkit.lineage import masking_curve, readiness, search_log
from toolkit.lineage.masking import GOOD
from toolkit.views.plots import plot_field_coverage, plot_masking


def test_one_bar_a_field_with_its_share_in_words():
    fields = readiness(search_log(users=10)).fields
    ax = plot_field_coverage(fields)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(list(100 * fields["share"]))
    words = [text.get_text() for text in ax.texts]
    assert words.count("not logged") == (fields["share"] == 0).sum()
    assert ax.get_title(loc="left").startswith(f"{(fields['share'] >= 1).sum()} of {len(fields)} fields are complete")
    partial = fields["share"].between(0, 1, inclusive="neither").to_numpy()
    assert [bool(bar.get_hatch()) for bar in np.array(ax.patches)[partial]] == [True] * partial.sum()


def test_masking_lines_hold_the_curve_and_mark_the_quality():
    curve = masking_curve(1.0, qualities=[1.0, 0.5], seed=1)
    ax = plot_masking(curve, current=0.5)
    lines = {line.get_label().split(" (n")[0]: line for line in ax.lines}
    expected = curve[curve["metric"] == GOOD].sort_values("quality", ascending=False)["value"]
    assert list(lines[GOOD].get_ydata()) == pytest.approx(list(100 * expected))
    assert len({line.get_marker() for name, line in lines.items() if not name.startswith("_")}) == 4
    assert any(list(line.get_xdata()) == [50, 50] for line in ax.lines)
    assert "sessions with a goal by +0" in ax.get_title(loc="left")
