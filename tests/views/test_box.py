"""The widget base: renders, shows errors, travels as HTML, frees its models."""

from __future__ import annotations

import doctest

import ipywidgets as widgets
import pytest
from ipywidgets.widgets.widget import _instances as models

from toolkit.views import box as box_module
from toolkit.views.box import Explorer
from toolkit.views.html import line


def render(*, depth: int, text: str) -> dict[str, str]:
    if depth == 13:
        raise ValueError("depth 13 <is> refused")
    made = {"summary": line(f"{text} to depth {depth}")}
    return made | {"extra": "<p>deep</p>"} if depth > 10 else made


@pytest.fixture
def explorer():
    made = Explorer({"depth": widgets.IntSlider(value=5, min=1, max=20, description="search depth"),
                     "text": widgets.Text(value="a<b", description="query")}, render, css_class="depth-explorer")
    yield made
    made.close()


def test_docstring_example_holds():
    assert doctest.testmod(box_module).failed == 0


def test_a_change_replaces_the_parts(explorer):
    assert explorer.parts["summary"].value == line("a<b to depth 5")
    explorer.controls["depth"].value = 12
    assert explorer.parts["summary"].value == line("a<b to depth 12")
    assert explorer.parts["extra"].value == "<p>deep</p>" and explorer.parts["extra"] in explorer.children
    explorer.controls["depth"].value = 6
    assert explorer.parts["extra"].value == ""


def test_an_error_is_an_alert_with_nothing_stale_below(explorer):
    explorer.controls["depth"].value = 13
    assert explorer.error == "ValueError: depth 13 <is> refused"
    assert 'role="alert"' in explorer.snapshot() and "&lt;is&gt;" in explorer.snapshot()
    assert explorer.parts["summary"].value == ""
    explorer.controls["depth"].value = 4
    assert explorer.error == "" and 'role="alert"' not in explorer.snapshot()


def test_an_error_at_the_first_rendering_is_shown_too():
    made = Explorer({"n": widgets.IntText(description="n")}, lambda **_: 1 / 0, css_class="broken")
    assert "ZeroDivisionError" in made.snapshot()
    made.close()


def test_a_slider_has_a_named_number_field_that_moves_it(explorer):
    field = explorer.children[0].children[0].children[0]
    assert isinstance(field, widgets.BoundedIntText) and field.description == "search depth"
    field.value = 9
    assert explorer.values["depth"] == 9 and "depth 9" in explorer.parts["summary"].value


def test_one_gesture_is_one_call():
    calls = []
    made = Explorer({"n": widgets.IntSlider(value=1, description="n"), "t": widgets.Text(description="t")},
                    lambda n, t: calls.append((n, t)) or {}, css_class="counted")
    assert not made.controls["n"].continuous_update and not made.controls["t"].continuous_update
    made.controls["n"].value = 2
    assert calls == [(1, ""), (2, "")]
    made.close()


def test_the_view_carries_a_snapshot(explorer):
    made = explorer._repr_mimebundle_()
    data = made[0] if isinstance(made, tuple) else made
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert 'class="toolkit-snapshot depth-explorer"' in data["text/html"]
    assert "search depth: 5" in data["text/html"] and "query: a&lt;b" in data["text/html"]
    assert data["text/plain"] == "Explorer('depth-explorer', depth=5, text='a<b')"


def test_close_frees_every_model():
    before = set(models)
    made = Explorer({"depth": widgets.IntSlider(value=5, min=1, max=20, description="depth"),
                     "text": widgets.Dropdown(options=["a", "b"], description="text")}, render, css_class="closed")
    made.controls["depth"].value = 12
    assert len(set(models) - before) > 15
    made.close()
    made.close()
    assert set(models) == before


@pytest.mark.parametrize(("control", "complaint"), [
    (widgets.IntText(), "no description"), (widgets.HBox(), "without a value")])
def test_a_control_needs_a_name_and_a_value(control, complaint):
    with pytest.raises(ValueError, match=complaint):
        Explorer({"x": control}, lambda x: {}, css_class="refused")
