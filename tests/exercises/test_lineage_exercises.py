"""Exercises of notebooks 06 and 07 know their answers."""

from __future__ import annotations

from toolkit.exercises.attribution_gap import check_gap, check_masked, check_only_lineage
from toolkit.exercises.log_readiness import check_incomplete, check_narrowing, check_next_field
from toolkit.lineage import SameUser, attribution_gap, birthday_log, bounds, cross_reading, readiness, search_log


def test_attribution_gap():
    log = birthday_log()
    reading, gap = cross_reading(log), attribution_gap(log)
    assert check_masked("r2", reading) and not check_masked("r3", reading) and check_masked(None, reading).state == "open"
    assert check_only_lineage({"r1", "r2", "r4"}, gap) and not check_only_lineage({"r1", "r2"}, gap)
    assert check_gap(-40, gap) and not check_gap(-0.4, gap)


def test_log_readiness():
    log = search_log(users=10)
    audit = readiness(log)
    count = int((audit.metrics["status"] != "computable").sum())
    assert check_incomplete(count, audit) and not check_incomplete(count - 1, audit)
    assert check_next_field("retrievals.returned_asset_ids", audit) and not check_next_field("retrievals.role", audit)
    plain, same = bounds(log, roles=()), bounds(log, roles=(), assumptions=[SameUser()])
    gained = plain.interval("GPR")[1] - same.interval("GPR")[1] + same.interval("GPR")[0] - plain.interval("GPR")[0]
    assert check_narrowing(100 * gained, plain, same, "GPR") and not check_narrowing(100 * gained + 1, plain, same, "GPR")
