"""The lab's published numbers, through the same tables as one's own experiment."""

import pytest

from toolkit.datasets import load_searchops
from toolkit.interventions.effects import NO_NOISE
from toolkit.interventions.lab import lab_coverage, lab_effects, lab_noise, late_answers

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def lab(reference_data):
    return load_searchops(reference_data / "searchops")


@pytest.fixture(scope="module")
def table(lab):
    return lab_effects(lab)


def test_coverage_is_the_published_one(lab):
    table = lab_coverage(lab).set_index("arm")
    rewrite = table.loc["rewrite"]
    assert (rewrite.queries, rewrite.applied, rewrite.changed, rewrite.up, rewrite.down) == (600, 152, 64, 37, 27)
    assert table.loc[["rerank 20", "rerank 50", "rerank 100"], "degraded"].tolist() == [10, 6, 9]
    assert table.loc[["rerank 20", "rerank 50", "rerank 100"], ["up", "down"]].to_numpy().tolist() == [[228, 53], [255, 64], [273, 73]]
    parts = table[["applied", "no_change", "degraded", "disabled", "not_requested"]].sum(axis=1)
    assert (parts == table["queries"]).all()


def test_the_same_model_helps_in_one_place_only(table):
    ndcg = table.query("metric == 'ndcg@10'").set_index("arm")
    assert ndcg["delta"].round(4).to_dict() == {"rerank 20": 0.0968, "rerank 50": 0.1207, "rerank 100": 0.1349, "rewrite": 0.0025}
    assert ndcg["significant"].to_dict() == {"rerank 20": True, "rerank 50": True, "rerank 100": True, "rewrite": False}
    assert table.query("arm != 'rewrite' and in_family")["significant"].all()


def test_rerun_noise(lab):
    noise = lab_noise(lab)
    assert list(noise.columns) == list(NO_NOISE.columns)
    row = noise.set_index("metric").loc["ndcg@10"]
    assert (row.n, row.differing) == (600, 49) and round(row["mean"], 4) == 0.0006


def test_the_one_late_answer(lab):
    late = late_answers(lab)
    assert late[["query_id", "status"]].to_numpy().tolist() == [["114093", "TIMEOUT"]]
    assert late["rewritten_query"].iloc[0] != late["query"].iloc[0]
