"""Exercises of notebook 04 know their answers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolkit.evaluation import compare, queries_needed, verdict
from toolkit.exercises.compare_and_decide import check_doubts, check_fewest_changed, check_queries_needed, fewest_changed


def arms():
    rng = np.random.default_rng(0)
    base = pd.DataFrame({"query_id": [str(i) for i in range(80)], "metric": "ndcg@10", "value": rng.random(80)})
    return base, base.assign(value=base["value"] + rng.normal(0.01, 0.2, 80))


def test_fewest_changed():
    assert [fewest_changed(alpha) for alpha in (0.05, 0.01, 0.5)] == [6, 8, 2]
    assert check_fewest_changed(6) and not check_fewest_changed(5) and check_fewest_changed(None).state == "open"


def test_queries_needed():
    c = compare(*arms())
    right = queries_needed(0.01, c.row()["sd"])
    assert check_queries_needed(right, c, 0.01) and check_queries_needed(right * 1.005, c, 0.01) and not check_queries_needed(right / 2, c, 0.01)


def test_doubts():
    made = verdict(compare(*arms()))
    table = made.to_frame()
    right = set(table[table["outcome"].isin(["doubt", "unknown"])]["check"])
    assert right and check_doubts(right, made) and not check_doubts(right | {"x"}, made)
