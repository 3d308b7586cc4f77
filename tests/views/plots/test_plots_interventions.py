"""Plots of an experiment: what is drawn, from which column."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from toolkit.views.plots.interventions import plot_coverage, plot_effects, plot_group_effects, plot_promise

EFFECTS = pd.DataFrame({
    "arm": ["rerank 20", "rewrite", "rewrite"], "verdict": ["promote", "block", "block"], "metric": ["ndcg@10", "ndcg@10", "mrr@10"], "n": [600, 600, 600],
    "delta": [0.0968, 0.0025, 0.1], "ci_low": [0.0796, -0.0067, 0.0], "ci_high": [0.1144, 0.0118, 0.2], "judged_baseline": 0.8, "judged_candidate": [0.79, 0.7, 0.7],
})
BUCKETS = pd.DataFrame({
    "arm": ["rerank 20"] * 3, "bucket": ["does not fail", "11-50", "not retrieved"], "n": [400, 60, 40], "promised": [0.2, 0.9, np.nan],
    "delta": [-0.01, 0.5, 0.0], "ci_low": [-0.02, 0.4, 0.0], "ci_high": [0.0, 0.6, 0.0],
})
COVERAGE = pd.DataFrame({"arm": ["rerank 20", "rewrite"], "queries": 600, "requested": [590, 600], "applied": [487, 152], "no_change": [93, 419], "degraded": [10, 29],
                         "disabled": 0, "not_requested": [10, 0], "metric": "ndcg@10", "changed": [281, 64], "up": [228, 37], "down": [53, 27]})


def test_effects_show_point_interval_verdict_and_judged_share():
    ax = plot_effects(EFFECTS, ax=Figure().subplots())
    points = [line for line in ax.lines if len(line.get_xdata()) == 1 and line.get_marker() != "|"]
    assert sorted(point.get_xdata()[0] for point in points) == [0.0025, 0.0968]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rerank 20\njudged 0.80 → 0.79", "rewrite\njudged 0.80 → 0.70"]
    assert any("promote" in text.get_text() for text in ax.texts) and "+0.0968" in ax.get_title(loc="left") and "600" in ax.get_title(loc="left")
    with pytest.raises(ValueError, match="ap@5.*mrr@10"):
        plot_effects(EFFECTS, metric="ap@5")


def test_promise_draws_both_bars_and_names_the_helped_bucket():
    ax = plot_promise(BUCKETS, arm="rerank 20")
    assert [bar.get_width() for bar in ax.patches] == [0.2, 0.9, 0.0, -0.01, 0.5, 0.0]
    assert "11-50: +0.500" in ax.get_title(loc="left")
    assert "no failing bucket" in plot_promise(BUCKETS.assign(delta=-0.1), arm="rerank 20").get_title(loc="left")
    with pytest.raises(ValueError, match="rerank 20"):
        plot_promise(BUCKETS, arm="rewrite")


def test_coverage_bars_add_up_to_all_queries():
    ax = plot_coverage(COVERAGE)
    widths = [sum(bar.get_width() for bar in ax.patches if round(bar.get_y() + 0.4) == at) for at in (0, 1)]
    assert widths == [600, 600]
    assert {text.get_text() for text in ax.texts} == {"228 up, 53 down", "37 up, 27 down"}
    assert "281 of 600" in ax.get_title(loc="left")


def test_group_effects_draw_each_arm_in_each_group():
    groups = BUCKETS.rename(columns={"bucket": "group"})
    both = pd.concat([groups, groups.assign(arm="rewrite", delta=[0.0, 0.1, 0.3])], ignore_index=True)
    ax = plot_group_effects(both)
    assert "rerank 20 → 11-50 (+0.50); rewrite → not retrieved (+0.30)" in ax.get_title(loc="left")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["does not fail (n = 400)", "11-50 (n = 60)", "not retrieved (n = 40)"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["rerank 20", "rewrite"]
    with pytest.raises(ValueError, match="no arm.*rerank 20"):
        plot_group_effects(both, arms=["no arm"])
