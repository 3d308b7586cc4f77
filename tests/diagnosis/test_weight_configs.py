"""Configuration generators: exact ends, exact counts, and what a weight of 0 means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.diagnosis.configs import (LAB_BASE, LAB_LEVELS, axis_grid, axis_values, collect, coordinate_descent, lab_218, log_uniform,
                                       refine, reweight)
from toolkit.search import MultiMatch

BASE = MultiMatch({"title": 4, "brand": 2})


@given(low=st.floats(0, 10), width=st.floats(0.01, 100), steps=st.integers(1, 60))
def test_axis_values_have_exact_ends(low, width, steps):
    values = axis_values(low, low + width, steps)
    assert (values[0], values[-1], len(values)) == (low, low + width, steps + 1)
    assert values == sorted(values)


def test_axis_values_come_from_integer_steps():
    assert axis_values(0, 3, 30)[3] == 3 * 3 / 30  # adding 0.1 three times gives 0.30000000000000004
    assert axis_values(0.1, 10, 2, scale="log")[1] == pytest.approx(1.0)


@pytest.mark.parametrize("arguments", [(1, 1, 3), (-1, 2, 3), (0, 1, 0)])
def test_axis_values_refuse_what_is_no_range(arguments):
    with pytest.raises(ValueError, match="0 <= low < high"):
        axis_values(*arguments)
    with pytest.raises(ValueError, match="0 < low for 'log'"):
        axis_values(0, 1, 3, scale="log")


def test_a_weight_of_zero_is_a_choice():
    matching = axis_grid(BASE, [0, 1], fields=["brand"])
    absent = axis_grid(BASE, [0, 1], fields=["brand"], zero="absent")
    assert dict(matching[0].fields) == {"title": 4, "brand": 0}
    assert dict(absent[0].fields) == {"title": 4}


def test_lab_218_has_the_published_make_up():
    made = lab_218()
    assert len(made) == len(set(made.configs)) == 218
    assert [made.stages.count(stage) for stage in ("baseline", "axis", "descent", "random", "refine")] == [1, 68, 85, 48, 16]
    assert made[0] == LAB_BASE
    axis = [config.fields.get("brand", 0.0) / 4 for stage, config in zip(made.stages, made) if stage == "axis"][:17]
    assert sorted([*axis, 0.625]) == pytest.approx(LAB_LEVELS)  # all 18 levels, both ends, the 18th being the base's own
    assert all(config.fields["title"] == 4.0 for config in made)
    assert made.configs == lab_218().configs  # no data, no clock


def test_lab_218_does_without_missing_fields():
    made = lab_218(MultiMatch({"title": 4, "brand": 2, "description": 1}))
    assert 60 < len(made) < 218 and made[0].fields == {"title": 4, "brand": 2, "description": 1}
    assert all(set(config.fields) <= {"title", "brand", "description"} for config in made)
    with pytest.raises(ValueError, match="another weighed field"):
        lab_218(MultiMatch({"title": 4}))


def test_lab_218_matches_the_published_axis_and_descent_stages(reference_data):
    import json

    rows = [json.loads(line) for line in (reference_data / "searchops/experiments/sweep-train-log.jsonl").read_text().splitlines()]
    published = {tuple(sorted((name, round(w, 9)) for name, w in row["field_weights"].items() if w > 0))
                 for row in rows if row["stage"] != "C-random"}
    ours = {tuple(sorted((name, round(w, 9)) for name, w in config.fields.items()))
            for stage, config in zip(lab_218().stages, lab_218()) if stage != "random"}
    assert ours == published


def test_random_draws_are_seeded_and_in_range():
    first, again = (log_uniform(BASE, 50, low=0.5, high=2, seed=4) for _ in range(2))
    assert first == again
    weights = first.to_frame()[["title", "brand"]].to_numpy()
    assert weights.min() >= 0.5 and weights.max() <= 2
    assert log_uniform(BASE, 50, seed=4, zero_share=0.5, zero="match").to_frame()["brand"].eq(0).any()


def test_sets_keep_their_order_and_drop_repeats():
    both = collect([("a", BASE)]) + refine(BASE, factors=(1.0, 2.0))
    assert both.stages == ("a", "refine", "refine")
    assert "3 configurations: 1 a, 2 refine" == both.summary()
    assert refine(BASE, factors=(2.0,)).to_frame()["title"].tolist() == [8.0, 4.0]


def test_coordinate_descent_finds_the_top_of_a_separable_hill():
    target = {"title": 3.0, "brand": 5.0}
    score = lambda configs: [-sum((c.fields[f] - target[f]) ** 2 for f in target) for c in configs]  # noqa: E731
    best, tried = coordinate_descent(BASE, score, [1, 2, 3, 4, 5])
    assert dict(best.fields) == target
    assert tried[0] == BASE and len(tried) == len(set(tried.configs))


def test_descent_leaves_a_flat_axis_alone():
    best, _ = coordinate_descent(BASE, lambda configs: [0.0] * len(configs), [1, 2, 3])
    assert best == BASE


def test_unknown_fields_are_named():
    with pytest.raises(ValueError, match=r"\['colour'\] are not in the configuration"):
        axis_grid(BASE, [1], fields=["colour"])
    assert dict(reweight(BASE, {"colour": 1}).fields)["colour"] == 1
