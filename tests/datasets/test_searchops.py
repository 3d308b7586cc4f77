"""The search lab's published runs as canonical tables."""

from __future__ import annotations

import json

import pytest

from toolkit.datasets import load_searchops
from toolkit.tables import METRIC_VALUES, check


@pytest.fixture(scope="module")
def lab(reference_data):
    return load_searchops(reference_data / "searchops")


def test_every_run_is_complete(lab):
    for arm, run in lab.runs.items():
        check(run, METRIC_VALUES)
        n = 1400 if arm.endswith("_train") else 600
        assert run.groupby("metric").size().to_dict() == dict.fromkeys(["ndcg@10", "recall@10", "precision@10", "mrr@10", "zero_result_rate"], n)
        assert lab.reports[arm].kept == n and run["value"].between(0, 1).all()
    assert len(lab.sweep) == 218 and lab.sweep["index"].is_unique


def test_statuses_and_degraded_calls(lab):
    assert {arm: len(lab.degraded(arm)) for arm in ("rerank_20", "rerank_50", "rerank_100", "rewrite")} == {
        "rerank_20": 10, "rerank_50": 6, "rerank_100": 9, "rewrite": 29}
    assert lab.statuses["rewrite"]["status"].value_counts()["APPLIED"] == 152
    assert lab.statuses["rewrite"]["rewritten_query"].notna().any()


def test_wrong_folders_and_short_runs_say_so(lab, reference_data, tmp_path):
    with pytest.raises(FileNotFoundError, match="baseline-v7-train.json is missing"):
        load_searchops(tmp_path)
    source = reference_data / "searchops" / "experiments"
    (tmp_path / "experiments").mkdir()
    body = json.loads((source / "baseline-v7-train.json").read_text())
    body["queries"].pop()
    for file in source.iterdir():
        (tmp_path / "experiments" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "experiments" / "baseline-v7-train.json").write_text(json.dumps(body))
    with pytest.raises(ValueError, match="1399 rows, 1399 queries; its own count is 1400"):
        load_searchops(tmp_path)
    assert "218 swept configurations" in lab.summary() == lab._repr_html_()[3:-4]
