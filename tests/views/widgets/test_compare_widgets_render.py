"""The pure parts of the widgets of "compare and decide", without a browser."""

from __future__ import annotations

import pytest

from toolkit.evaluation import closed_world, compare, holes_curve
from toolkit.evaluation.movements import rank_movements
from toolkit.evaluation.pool import EvaluationError
from toolkit.search import MultiMatch
from toolkit.views.widgets import difference_explorer, gate_explorer, holes_explorer
from toolkit.views.widgets.difference_strip import render_difference, side_by_side
from toolkit.views.widgets.gate import render_gate
from toolkit.views.widgets.holes import render_holes


@pytest.fixture(scope="module")
def arms(sample):
    """Rankings of two configurations and their comparison."""
    even = sample.engine.run(sample.queries, MultiMatch({"title": 1, "brand": 1, "description": 1}), 20)
    tuned = sample.engine.run(sample.queries, sample.config, 20)
    return even, tuned, compare(even, tuned, sample.judgments)


@pytest.fixture(scope="module")
def world():
    return closed_world(60, 15)


def test_gate_says_the_verdict_and_shows_every_check(arms):
    comparison = arms[2]
    parts = render_gate({"tuned": comparison}, arm="tuned")
    assert list(parts) == ["decision", "checks", "picture"]
    assert "tuned: Insufficient evidence" in parts["decision"] and parts["checks"].count("<tr>") >= 9
    relaxed = render_gate({"tuned": comparison}, arm="tuned", holes="report", max_judged_gap=1.0, max_drop_share=1.0)
    assert "holes bounds" not in relaxed["decision"] and relaxed["picture"] == parts["picture"]
    assert "Only" in render_gate({"tuned": comparison}, arm="tuned", min_changed=1000)["decision"]


def test_difference_drills_down_from_either_end(sample, arms):
    even, tuned, comparison = arms
    def render(**options):
        return render_difference(comparison, even.rankings, tuned.rankings, sample.judgments, sample.queries, sample.products, metric="ndcg@10", **options)
    loss, gain = render(), render(order="gain")
    assert list(loss) == ["strip", "summary", "movements", "rankings"]
    worst, best = comparison.deltas().iloc[[0, -1]]["query_id"]
    assert f"(query {worst})" in loss["summary"] and f"(query {best})" in gain["summary"]
    assert render(place=10**6)["summary"] == gain["summary"], "beyond the last query is the last query"
    assert loss["rankings"].count("<tr>") == 11 and render(k=5)["rankings"].count("<tr>") == 6
    bare = render_difference(comparison, even.rankings, tuned.rankings, sample.judgments, sample.queries, metric="ndcg@10")
    assert sample.products["title"].iloc[0] not in bare["rankings"]


def test_side_by_side_agrees_with_both_rankings(sample, arms):
    even, tuned, comparison = arms
    query = comparison.deltas().iloc[0]["query_id"]
    moved = rank_movements(even.rankings, tuned.rankings, sample.judgments, query, k=10)
    table = side_by_side(moved, {}, 10)
    for column, run in (("baseline", even), ("candidate", tuned)):
        expected = run.rankings.loc[run.rankings["query_id"] == query].head(10)["product_id"].tolist()
        assert table[column].dropna().tolist() == expected
    known = moved.set_index("product_id")
    for row in table.dropna(subset=["candidate"]).itertuples():
        move = known.loc[row.candidate, "move"]
        assert row[6] == ("new" if move is None or str(move) == "<NA>" else f"{int(move):+d}" if move else "same")
    with pytest.raises(EvaluationError, match="is in neither ranking"):
        rank_movements(even.rankings, tuned.rankings, sample.judgments, "no such query")


def test_holes_say_truth_and_measurement(world):
    curves = {kept: holes_curve(world, (0.5, 1.0), kept=kept, resamples=100) for kept in ("random", "baseline_pool")}
    truth = curves["random"].set_index("share").loc[1.0, "delta"]
    whole, half = (render_holes(world, curves, share=share) for share in (100, 50))
    assert f"changes by {truth:+.3f} (the truth is {truth:+.3f})" in whole["summary"]
    assert "the baseline&#x27;s top results" in half["summary"] and list(half) == ["summary", "picture", "numbers"]
    assert "a random 50 % of the judgments" in render_holes(world, curves, share=50, kept="random")["summary"]


def test_boxes_follow_their_controls_without_errors(sample, arms, world):
    even, tuned, comparison = arms
    boxes = [gate_explorer(comparison), difference_explorer(comparison, even, tuned, sample.judgments, sample.queries, sample.products), holes_explorer(world)]
    changes = [("holes", "report"), ("place", 3), ("share", 40)]
    for box, (name, value) in zip(boxes, changes, strict=True):
        before = {part: widget.value for part, widget in box.parts.items()}
        box.controls[name].value = value
        assert box.error == "" and {part: widget.value for part, widget in box.parts.items()} != before
        assert "<script" not in box.snapshot()
        box.close()
