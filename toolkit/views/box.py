"""The one base of all widgets: named controls, a pure ``render``, and HTML that is replaced.

A widget is a pure function from values to a dict of HTML strings, and an :class:`Explorer` around it:

>>> import ipywidgets as widgets
>>> from toolkit.views.html import line
>>> def render_squares(*, n: int) -> dict[str, str]:
...     return {"summary": line(f"the sum of {n} squares is {sum(i * i for i in range(n + 1))}")}
>>> box = Explorer({"n": widgets.BoundedIntText(value=3, min=1, max=99, description="how many")},
...                render_squares, css_class="square-explorer")
>>> box.controls["n"].value = 4          # what a user does with the mouse or the keyboard
>>> box.parts["summary"].value
'<p class="toolkit-line" role="status">the sum of 4 squares is 30</p>'
>>> box.close()

Why so strict: cells that write into ``Output`` widgets stall under load, ``interact`` and threads lose
errors, exported pages show nothing of a live widget, and closing a box leaves its children's models
behind. Here every change replaces ``.value`` of an HTML widget, errors become ``role="alert"``, a
``text/html`` snapshot travels with the view, and :meth:`Explorer.close` frees every model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets
from traitlets import link

from toolkit.views.html import alert, escape, format_value

Render = Callable[..., Mapping[str, str]]


class Explorer(widgets.VBox):
    """Controls above HTML parts that follow them.

    Parameters
    ----------
    controls : mapping of str to ipywidgets widget
        Name of a keyword of ``render`` -> a control with a ``value`` and a ``description`` (its accessible
        name). Sliders are given a linked number field, because a slider has no accessible name.
    render : callable
        ``render(**values) -> {part name: html}``; pure. Parts appear in the order first returned.
    css_class : str
        Class of the box, for tests and styles; part ``x`` has the class ``part-x``.

    Attributes
    ----------
    controls : dict of str to widget
    parts : dict of str to ipywidgets.HTML
    error : str
        The alert that is shown; empty when the last rendering succeeded.

    Raises
    ------
    ValueError
        For a control without a description or without a value.
    """

    def __init__(self, controls: Mapping[str, widgets.Widget], render: Render, *, css_class: str) -> None:
        for name, control in controls.items():
            _check_control(name, control)
        self.controls = dict(controls)
        self._labels = {name: control.description for name, control in controls.items()}
        self.parts: dict[str, widgets.HTML] = {}
        self.error = ""
        self._render = render
        self._links: list[link] = []
        row = widgets.HBox([self._dressed(control) for control in self.controls.values()],
                           layout=widgets.Layout(flex_flow="row wrap", grid_gap="0 1.5em"))
        self._status = widgets.HTML()
        super().__init__([row, self._status])
        self.add_class(css_class)
        self._css_class = css_class
        for control in self.controls.values():
            control.observe(self.refresh, names="value")
        self.refresh()

    @property
    def values(self) -> dict[str, Any]:
        """Present value of each control, by name: what ``render`` is called with."""
        return {name: control.value for name, control in self.controls.items()}

    def refresh(self, _change: object = None) -> None:
        """Render again and replace the parts; on an error show it and nothing stale below it."""
        try:
            made = dict(self._render(**self.values))
            self.error = ""
        except Exception as problem:  # a callback's error must be seen, not printed into a log
            made = {}
            self.error = f"{type(problem).__name__}: {problem}"
        self._status.value = alert(self.error) if self.error else ""
        self._show(made)

    def _show(self, made: Mapping[str, str]) -> None:
        """Fill known parts, add new ones, empty those that were not made this time."""
        for name in made:
            if name not in self.parts:
                self.parts[name] = widgets.HTML()
                self.parts[name].add_class(f"part-{name}")
        for name, part in self.parts.items():
            part.value = made.get(name, "")
        children = (self.children[0], self._status, *self.parts.values())
        if children != self.children:
            self.children = children

    def _dressed(self, control: widgets.Widget) -> widgets.Widget:
        """The control as shown: full-length name, one event per gesture, a number field beside a slider."""
        if control.has_trait("continuous_update"):
            control.continuous_update = False
        if control.has_trait("style") and control.style.has_trait("description_width"):
            control.style.description_width = "initial"
        if not isinstance(control, (widgets.IntSlider, widgets.FloatSlider)):
            return control
        kind = widgets.BoundedIntText if isinstance(control, widgets.IntSlider) else widgets.BoundedFloatText
        field = kind(value=control.value, min=control.min, max=control.max, step=control.step,
                     description=control.description, layout=widgets.Layout(width="auto"),
                     style={"description_width": "initial"})
        control.description, control.readout, control.tabbable = "", False, False
        control.layout.width = control.layout.width or "14em"
        self._links.append(link((control, "value"), (field, "value")))
        return widgets.HBox([field, control])

    def snapshot(self) -> str:
        """The box as plain HTML: settings in words, then all parts (for pages that run no widgets)."""
        settings = "; ".join(f"{self._labels[name]}: {format_value(value)}" for name, value in self.values.items())
        shown = self._status.value + "".join(part.value for part in self.parts.values())
        return f'<div class="toolkit-snapshot {escape(self._css_class)}"><p>{escape(settings)}</p>{shown}</div>'

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        made = super()._repr_mimebundle_(**kwargs)
        data, metadata = made if isinstance(made, tuple) else (made, {})
        return {**(data or {}), "text/plain": repr(self), "text/html": self.snapshot()}, metadata

    def __repr__(self) -> str:
        return f"Explorer({self._css_class!r}, {', '.join(f'{name}={value!r}' for name, value in self.values.items())})"

    def close(self) -> None:
        """Close the box and every model it made: children, layouts and styles. Closing twice is harmless."""
        if self.comm is None:
            return
        for joined in self._links:
            joined.unlink()
        for widget in _family(self):
            widget.unobserve_all()
            if widget is not self:
                widget.close()
        super().close()


def _check_control(name: str, control: widgets.Widget) -> None:
    """Controls need something to read and a name to be found by."""
    if not control.has_trait("value"):
        raise ValueError(f"Explorer: control {name!r} is a {type(control).__name__} without a value; expected a value control")
    if not getattr(control, "description", ""):
        raise ValueError(f"Explorer: control {name!r} has no description; give it one, it is the control's accessible name")


def _family(widget: widgets.Widget) -> list[widgets.Widget]:
    """The widget and all widgets it holds in its synchronised traits, each once."""
    found: dict[int, widgets.Widget] = {}
    waiting = [widget]
    while waiting:
        member = waiting.pop()
        if id(member) in found:
            continue
        found[id(member)] = member
        for key in member.keys:
            held = getattr(member, key)
            waiting += [item for item in (held if isinstance(held, (list, tuple)) else [held])
                        if isinstance(item, widgets.Widget)]
    return list(found.values())
