"""Exact curves: every piece and edge equals a naive evaluation there, and engine evaluation inside."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.diagnosis.configs import LAB_BASE, reweight
from toolkit.diagnosis.curves import field_curve, line_curve, weight_curve
from toolkit.diagnosis.sweeping import sweep
from toolkit.diagnosis.weight_space import objective, weight_space
from toolkit.evaluation import evaluate
from toolkit.search import MultiMatch

FIELDS = ("title", "brand", "color")
score = st.sampled_from([0.5, 1.0, 1.25, 2.0, 3.0]) | st.floats(0.1, 5).map(lambda x: float(np.float32(x)))


@st.composite
def score_tables(draw):
    """Complete field scores of three queries with many ties, and grades."""
    rows = [(f"q{q}", f"p{p}", f, draw(score)) for q in range(3) for p in range(7) for f in FIELDS if draw(st.booleans())]
    table = pd.DataFrame(rows or [("q0", "p0", "title", 1.0)], columns=["query_id", "product_id", "field", "score"])
    judgments = pd.DataFrame([(f"q{q}", f"p{p}", float(draw(st.integers(0, 3)))) for q in range(3) for p in range(7)],
                             columns=["query_id", "product_id", "grade"])
    return table, judgments


def naive(table, judgments, fields, metric):
    """Mean metric by definition: score every product, sort, evaluate."""
    used = table[table["field"].isin(list(fields))]
    scores = (used["score"] * used["field"].map(fields).astype(float)).groupby([used["query_id"], used["product_id"]]).max().rename("score").reset_index()
    queries = pd.DataFrame({"query_id": [f"q{i}" for i in range(3)]})
    return evaluate(scores, judgments, [metric], queries=queries["query_id"].tolist(), on_no_overlap="zero").to_frame()["value"].mean()


def inner(low: float, high: float) -> float:
    """A point well inside a piece."""
    if np.isinf(high):
        return low * 3 or 1.0
    return high / 3 if low == 0 else float(np.sqrt(low * high))


@settings(max_examples=25, deadline=None)
@given(data=score_tables(), metric=st.sampled_from(["ndcg@3", "mrr@2", "recall@3"]), field=st.sampled_from(FIELDS))
def test_every_piece_and_both_ends_equal_the_definition(data, metric, field):
    table, judgments = data
    base = {"title": 2.0, "brand": 1.0, "color": 0.75}
    space = weight_space(table, queries=[f"q{i}" for i in range(3)])
    goal = objective(space, judgments, metric)
    if field not in space.fields or not set(base) <= set(space.fields) or not goal.defined.any():
        return
    curve = field_curve(space, goal, field, MultiMatch(base))
    for row in curve.pieces.itertuples():
        if row.wide:
            x = inner(row.weight_from, row.weight_to)
            assert curve.value(x) == pytest.approx(naive(table, judgments, {**base, field: x}, metric), abs=1e-12)
    assert curve.at_zero == pytest.approx(naive(table, judgments, {**base, field: 0.0}, metric), abs=1e-12)
    assert curve.absent == pytest.approx(naive(table, judgments, {k: v for k, v in base.items() if k != field}, metric), abs=1e-12)
    assert curve.current_value == pytest.approx(naive(table, judgments, base, metric), abs=1e-12)
    # On the edges themselves ties fall to the product id; dyadic weights and scores make them exact.
    for row in curve.pieces.iloc[1:].itertuples():
        if np.float64(row.weight_from * 1024).is_integer():
            assert row.value_at_from == pytest.approx(naive(table, judgments, {**base, field: row.weight_from}, metric), abs=1e-12)
    assert curve.upper_bound >= curve.best - 1e-12


@settings(max_examples=15, deadline=None)
@given(data=score_tables(), direction=st.sampled_from([{"title": 1, "brand": 1}, {"title": 1, "brand": -1}, {"color": -1}]))
def test_lines_in_other_directions_equal_the_definition(data, direction):
    table, judgments = data
    base = {"title": 2.0, "brand": 1.0, "color": 0.75}
    space = weight_space(table, queries=[f"q{i}" for i in range(3)])
    goal = objective(space, judgments, "ndcg@3")
    if not set(base) <= set(space.fields) or not goal.defined.any():
        return
    curve = line_curve(space, goal, MultiMatch(base), direction)
    for row in curve.pieces.itertuples():
        x = inner(row.weight_from, row.weight_to)
        moved = {name: w * x ** direction.get(name, 0) for name, w in base.items()}
        if row.wide:
            assert row.value == pytest.approx(naive(table, judgments, moved, "ndcg@3"), abs=1e-12)


@pytest.mark.parametrize("field", ["title", "brand", "description"])
def test_pieces_equal_engine_evaluation_inside_them(weight_catalogue, weight_engine, weight_lists, field):
    curve = weight_curve(weight_lists, weight_catalogue.judgments, field, LAB_BASE)
    wide = curve.pieces[curve.pieces["wide"]]
    chosen = wide.iloc[np.linspace(0, len(wide) - 1, 60).astype(int)]
    points = [float(np.float32(inner(row.weight_from, row.weight_to))) for row in chosen.itertuples()]
    searched = sweep(weight_engine, weight_catalogue.queries, weight_catalogue.judgments, [reweight(LAB_BASE, {field: x}) for x in points],
                     ["ndcg@10"], progress=False)
    np.testing.assert_allclose(searched.table["mean"], [curve.value(x) for x in points], atol=1e-12)
    assert searched.table["mean"].max() <= curve.upper_bound + 1e-12


def test_a_dead_field_is_a_flat_line(weight_catalogue, weight_lists):
    curve = weight_curve(weight_lists, weight_catalogue.judgments, "category", LAB_BASE)
    assert curve.is_flat and len(curve.pieces) == 1
    assert curve.at_zero == curve.absent == curve.current_value == curve.value(123.0)
    assert "has no effect" in curve.certificate()


def test_a_curve_known_by_hand():
    """One query: the relevant product scores 1 in title, another 2 in brand; they meet at title weight 2."""
    table = pd.DataFrame([("q", "bad", "brand", 2.0), ("q", "good", "title", 1.0)], columns=["query_id", "product_id", "field", "score"])
    judgments = pd.DataFrame([("q", "good", 3.0)], columns=["query_id", "product_id", "grade"])
    curve = weight_curve(table, judgments, "title", MultiMatch({"title": 1, "brand": 1}), "mrr@10")
    assert curve.pieces[["weight_from", "weight_to", "value"]].to_numpy().tolist() == [[0.0, 2.0, 0.5], [2.0, np.inf, 1.0]]
    assert curve.pieces["value_at_from"].iloc[1] == 0.5  # a tie goes to the smaller id, "bad"
    assert (curve.at_zero, curve.absent, curve.best, curve.best_piece()) == (0.5, 0.0, 1.0, (2.0, np.inf, 1.0))
    assert "No weight of title from 0 to infinity, nor leaving the field out, gives a mean mrr@10 above 1.000000" in curve.certificate()
    assert curve.events[["weight", "before", "after"]].to_numpy().tolist() == [[2.0, 0.5, 1.0]]
    assert curve.value(0) == 0.5
    with pytest.raises(ValueError, match="expected a number > 0"):
        curve.value(-1)


def test_near_ties_widen_the_bound_not_the_value():
    """Equal weights and nearly equal scores in one field: rounding may order them either way at every weight."""
    rows = [("q", "bad", "title", 1.0 + 1e-6), ("q", "good", "title", 1.0), ("q", "good", "brand", 0.1)]
    table = pd.DataFrame(rows, columns=["query_id", "product_id", "field", "score"])
    judgments = pd.DataFrame([("q", "good", 3.0)], columns=["query_id", "product_id", "grade"])
    curve = weight_curve(table, judgments, "title", MultiMatch({"title": 1, "brand": 1}), "mrr@1")
    assert curve.doubtful == ("q",) and curve.upper_bound == 1.0 and curve.value(10.0) == 0.0


def test_curves_refuse_what_they_cannot_be_exact_for(weight_catalogue, weight_lists):
    with pytest.raises(ValueError, match="exact curves and merged lists hold for best_fields without tie_breaker"):
        weight_curve(weight_lists, weight_catalogue.judgments, "title", MultiMatch({"title": 1, "brand": 1}, tie_breaker=0.1))
    with pytest.raises(ValueError, match="no list of field 'colour'"):
        weight_curve(weight_lists, weight_catalogue.judgments, "colour", LAB_BASE)
