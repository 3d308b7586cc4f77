"""What one move of a lineage widget costs: CPU milliseconds from a control's change to new HTML."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable

from toolkit.lineage import World, birthday_log, simulate
from toolkit.views.widgets import active_use_explorer, lineage_explorer, masking_explorer
from toolkit.views.widgets.timeline import TOGGLES


def run(quick: bool = False) -> dict[str, float]:
    """Median CPU milliseconds a move, over the birthday invitation, a simulated log, and the masked decline."""
    times = 1 if quick else 5
    log = simulate(World(users=10 if quick else 30), seed=3).full
    birthday, product = lineage_explorer(birthday_log()), lineage_explorer(log)
    users = product.controls["user_id"].options
    fields = list(TOGGLES)[:2 if quick else None]
    return {
        "lineage_widget_retrievals": len(log.retrievals),
        "lineage_explorer_birthday_field_cpu_ms": median_new(birthday, fields),
        "lineage_explorer_field_cpu_ms": median_new(product, fields),
        "lineage_explorer_user_cpu_ms": median_move(product, "user_id", users[1:1 + 2 * times]),
        "active_use_explorer_cpu_ms": median_move(active_use_explorer(log), "kinds", [1, 5] * times),
        "masking_explorer_cpu_ms": median_move(masking_explorer(seed=3), "quality", [80, 20] * times),
    }


def median_new(box: object, fields: Iterable[str]) -> float:
    """Median over fields taken away one after the other: each is a picture not drawn before."""
    return statistics.median(median_move(box, name, [False]) for name in fields)


def median_move(box: object, name: str, values: Iterable[object]) -> float:
    """Median CPU milliseconds of setting one control to each of the values; an error of the box is raised."""
    spent = []
    for value in values:
        start = time.process_time()
        box.controls[name].value = value
        spent.append(1000 * (time.process_time() - start))
        if box.error:
            raise RuntimeError(box.error)
    return statistics.median(spent)
