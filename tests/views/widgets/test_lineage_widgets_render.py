"""The pure parts of the lineage widgets, without a browser."""

from __future__ import annotations

import re

import pytest

from toolkit.lineage import birthday_log, bounds, hide_fields, search_log, simulate, World
from toolkit.lineage.masking import QUALITIES
from toolkit.views.widgets import active_use_explorer, lineage_explorer, masking_explorer
from toolkit.views.widgets.active_use import definition_curve, render_active_use
from toolkit.views.widgets.timeline import METRICS, TOGGLES, render_lineage, user_events, users_of
from toolkit.views.widgets.masking import masking_curves, render_masking


@pytest.fixture(scope="module")
def product():
    return simulate(World(users=8), seed=3).full


@pytest.fixture(scope="module")
def curves():
    return masking_curves(seed=3)


def test_everything_shown_is_a_point():
    parts = render_lineage(birthday_log(), user_id="mia")
    assert list(parts) == ["summary", "timeline", "bounds", "events", "numbers"]
    assert "Everything the log has is shown. 8 of 8 metrics are points." in parts["summary"]
    assert "1 of 5 retrievals by session, 3 of 5 by lineage" in parts["summary"]
    assert "3 of 8 uses" in parts["timeline"] and parts["events"].count("<tr>") == 20


@pytest.mark.parametrize("name", TOGGLES)
def test_each_check_mark_hides_what_it_says(name):
    log = birthday_log()
    parts = render_lineage(log, user_id="mia", hidden=[name])
    table = bounds(hide_fields(log, TOGGLES[name][1]), roles=()).table.set_index("metric").loc[list(METRICS)]
    points = int((table["width"] < 1e-12).sum())
    assert f"Not logged: {TOGGLES[name][0]}. {points} of 8 metrics are points" in parts["summary"] and points < 8
    assert all(metric in parts["numbers"] for metric in METRICS) and "active use = " in parts["numbers"]


def test_hidden_source_and_asset_leave_the_events():
    log = birthday_log()
    whole, bare = (user_events(one, "mia") for one in (log, hide_fields(log, [*TOGGLES["source"][1], *TOGGLES["asset"][1], *TOGGLES["returned"][1]])))
    assert whole["source"].notna().sum() == 8 and whole["assets"].notna().sum() == 12
    assert bare["source"].isna().all() and bare["assets"].isna().all() and len(bare) == len(whole) == 19
    assert "0 of 0 uses" in render_lineage(log, user_id="mia", hidden=["source"])["timeline"]


def test_users_with_a_use_in_another_session_come_first(product):
    users = users_of(product)
    origin = product.actions["source_retrieval_id"].map(product.retrievals.set_index("retrieval_id")["session_id"])
    crossed = set(product.actions.loc[origin.notna() & (origin != product.actions["session_id"]), "user_id"])
    assert crossed and set(users[:len(crossed)]) == crossed and len(users) <= 20
    with pytest.raises(ValueError, match="no retrieval has a user_id"):
        lineage_explorer(hide_fields(product, ["retrievals.user_id"]))


def test_definition_is_marked_and_printed(product):
    curve = definition_curve(product)
    parts = render_active_use(curve, kinds=2)
    assert "active use = a user&#x27;s export, share on a returned asset" in parts["summary"]
    assert f"{int(curve['count'].iloc[1])} of {len(product.retrievals)} retrievals" in parts["summary"]
    marked = re.search(r"<tr><td[^>]*>►</td><td[^>]*>([^<]*)</td>", parts["numbers"])
    assert marked[1] == "+ share" and "Chosen: the first 2 kinds" in parts["picture"]
    assert definition_curve(product, role="find")["n"].iloc[0] == (product.retrievals["role"] == "find").sum()
    assert (definition_curve(hide_fields(product, TOGGLES["display"][1]), display="required")["value"] == 0).all()


def test_masking_says_what_moves_and_what_does_not(curves):
    flat, seen = (render_masking(curves, covered=covered, quality=20) for covered in (100, 0))
    assert "sessions with a goal by +0.0" in flat["summary"] and "sessions with a goal by -" in seen["summary"]
    assert "masked failures are 0.0 % of" in seen["summary"] and "n = " not in flat["numbers"].split("<tbody>")[0]
    best = render_masking(curves, covered=100, quality=100)
    assert "moves by +0.0 points" in best["summary"] and "at\u00a0100\u00a0%" in best["numbers"]


def test_boxes_follow_their_controls_without_errors(product):
    boxes = [lineage_explorer(birthday_log()), active_use_explorer(product), masking_explorer(seed=3),
             active_use_explorer(search_log(users=10), ladder=("add_to_cart", "click"))]
    for box, (name, value) in zip(boxes, [("source", False), ("kinds", 5), ("quality", 80), ("kinds", 1)], strict=True):
        before = {part: widget.value for part, widget in box.parts.items()}
        box.controls[name].value = value
        assert box.error == "" and {part: widget.value for part, widget in box.parts.items()} != before
        assert "<script" not in box.snapshot()
        box.close()


def test_a_quality_between_the_steps_is_the_nearest():
    box = masking_explorer(seed=3)
    box.controls["quality"].value = 47
    assert box.error == "" and "to 40 %" in box.parts["summary"].value and 0.4 in QUALITIES
    box.close()
