"""Tuning: the choice never sees the holdout, the look is recorded, the gate decides."""

import numpy as np
import pytest

from toolkit.diagnosis.configs import LAB_BASE, reweight
from toolkit.diagnosis.sweeping import sweep
from toolkit.diagnosis.tuning import tune
from toolkit.evaluation import HoldoutLog, compare, split

CANDIDATES = [reweight(LAB_BASE, {"title": x}) for x in (0.5, 1, 2, 3)]


@pytest.fixture(scope="module")
def tuned(weight_catalogue, weight_engine):
    log = HoldoutLog()
    return tune(weight_engine, weight_catalogue.queries, weight_catalogue.judgments, LAB_BASE, CANDIDATES, looks=log, hypothesis="other titles"), log


def test_the_choice_is_made_on_train(tuned, weight_catalogue, weight_engine):
    tuning, _ = tuned
    c = weight_catalogue
    parts = split(c.queries["query_id"])
    assert tuning.split == parts
    train = c.queries[c.queries["query_id"].isin(parts.train)]
    means = sweep(weight_engine, train, c.judgments[c.judgments["query_id"].isin(parts.train)], [LAB_BASE, *CANDIDATES], ["ndcg@10"],
                  progress=False).table["mean"]
    assert tuning.best == [LAB_BASE, *CANDIDATES][int(np.argmax(means))]
    assert tuning.selection.train == pytest.approx(means.max())
    assert set(tuning.train.query_ids) == set(parts.train)


def test_holdout_grades_cannot_change_the_choice(tuned, weight_catalogue, weight_engine):
    tuning, _ = tuned
    c = weight_catalogue
    twisted = c.judgments.copy()
    twisted.loc[twisted["query_id"].isin(tuning.split.holdout), "grade"] = 3.0
    again = tune(weight_engine, c.queries, twisted, LAB_BASE, CANDIDATES)
    assert again.best == tuning.best and again.selection.optimism == tuning.selection.optimism


def test_the_holdout_is_compared_once_and_the_look_is_recorded(tuned, weight_catalogue, weight_engine):
    tuning, log = tuned
    c = weight_catalogue
    assert log.to_frame()["hypothesis"].tolist() == ["other titles"]
    held = c.queries[c.queries["query_id"].isin(tuning.split.holdout)]
    expected = compare(weight_engine.run(held, LAB_BASE), weight_engine.run(held, tuning.best), c.judgments[c.judgments["query_id"].isin(held["query_id"])],
                       queries=list(tuning.split.holdout))
    assert tuning.table["delta"].tolist() == expected.to_frame()["delta"].tolist()
    assert tuning.verdict.decision in ("promote", "block", "insufficient_evidence")
    assert f"Holdout ({len(held)} queries)" in tuning.summary()


def test_lists_give_the_same_tuning_as_the_engine(tuned, weight_catalogue, weight_lists):
    found = tune(weight_lists, weight_catalogue.queries, weight_catalogue.judgments, LAB_BASE, CANDIDATES)
    assert found.best == tuned[0].best
    np.testing.assert_allclose(found.table["delta"], tuned[0].table["delta"], atol=1e-12)


def test_the_exact_climb_is_one_more_candidate(weight_catalogue, weight_lists):
    few = weight_catalogue.queries.head(40)
    found = tune(weight_lists, few, weight_catalogue.judgments, LAB_BASE, CANDIDATES, exact=True)
    assert found.exact.certified and found.train.table["stage"].iloc[-1] in ("exact", "given", "baseline")
    assert found.selection.train >= max(found.train.table.query("metric == 'ndcg@10'")["mean"]) - 1e-12
    assert "optimism is at least that" in found.summary()
