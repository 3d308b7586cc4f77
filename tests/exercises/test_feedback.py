"""Exercise checks: open, wrong and right answers, without giving the solution away."""

from __future__ import annotations

import pytest

from toolkit.exercises.base import Feedback, check_choice, check_number, check_set

SAID = {"hint": "look again", "praise": "well done"}


@pytest.mark.parametrize(("answer", "state"), [
    (None, "open"), (0.3, "right"), (0.3004, "right"), (0.31, "wrong"), ("0.3", "wrong"), (float("nan"), "wrong"), (True, "wrong"), ([0.3], "wrong")])
def test_numbers(answer, state):
    said = check_number(answer, 0.3, **SAID)
    assert said.state == state and bool(said) == (state == "right")
    assert ("well done" in said.text) == (state == "right")
    assert "0.3 " not in said.text.replace(repr(answer), "").replace(str(answer), "")


def test_exact_numbers_allow_no_difference():
    assert check_number(100, 100, tolerance=0, **SAID) and not check_number(101, 100, tolerance=0, **SAID)


@pytest.mark.parametrize(("answer", "state"), [(None, "open"), (" Title ", "right"), ("brand", "wrong"), (7, "wrong")])
def test_choices(answer, state):
    assert check_choice(answer, "title", **SAID).state == state


@pytest.mark.parametrize(("answer", "state"), [
    (None, "open"), (["b", "a", "a"], "right"), ({"a"}, "wrong"), ({"a", "b", "c"}, "wrong"), ("ab", "wrong"), (5, "wrong")])
def test_sets(answer, state):
    assert check_set(answer, {"a", "b"}, **SAID).state == state


def test_feedback_is_escaped_and_readable_without_colour():
    said = Feedback("wrong", "<script>")
    assert repr(said) == "✗ Not yet: <script>"
    assert "<script" not in said._repr_html_() and "Not yet" in said._repr_html_()
