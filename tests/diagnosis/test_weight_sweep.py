"""Sweeps: equal to single searches, bit-identical for copies, resumable, and honest about whose file it is."""

import json

import numpy as np
import pytest

from toolkit.diagnosis import sweeping
from toolkit.diagnosis.configs import LAB_BASE, axis_grid, collect, lab_218, reweight
from toolkit.diagnosis.invariance import equivalence_classes
from toolkit.diagnosis.sweeping import sweep
from toolkit.evaluation import evaluate
from toolkit.search import MultiMatch

METRICS = ["ndcg@10", "recall@10", "mrr@10", "precision@5"]
MIXED = [LAB_BASE, reweight(LAB_BASE, {"brand": None}), reweight(LAB_BASE, {"title": 0.0}),
         MultiMatch({"title": 1, "description": 3}, tie_breaker=0.3), MultiMatch({"title": 2, "brand": 1}, type="most_fields", fuzziness=0)]


@pytest.fixture(scope="module")
def data(weight_catalogue, weight_engine):
    return weight_engine, weight_catalogue.queries, weight_catalogue.judgments


def test_values_are_those_of_evaluate_to_the_last_bit(data):
    engine, queries, judgments = data
    found = sweep(engine, queries, judgments, MIXED, METRICS, progress=False)
    for i, config in enumerate(MIXED):
        truth = evaluate(engine.run(queries, config, 10), judgments, METRICS, queries=queries).to_frame()
        both = truth.merge(found.per_query(i), on=["query_id", "metric"], suffixes=("", "_swept"))
        np.testing.assert_array_equal(both["value"], both["value_swept"])
        assert len(both) == len(queries) * len(METRICS)


@pytest.mark.parametrize("method", ["kernel", "lists", "search"])
def test_all_methods_agree(data, method):
    engine, queries, judgments = data
    configs = MIXED[:3]
    reference = sweep(engine, queries, judgments, configs, METRICS, method="search", progress=False)
    found = sweep(engine, queries, judgments, configs, METRICS, method=method, progress=False)
    np.testing.assert_array_equal(found.values, reference.values)
    np.testing.assert_array_equal(found.ranking_prints, reference.ranking_prints)
    assert set(found.table["method"]) == {method}


def test_a_copy_of_a_configuration_is_bit_identical(data):
    engine, queries, judgments = data
    copy = MultiMatch(dict(LAB_BASE.fields))
    for source, asked in ((engine, queries), (engine, queries.iloc[::-1])):
        found = sweep(source, asked, judgments, [LAB_BASE, *lab_218().configs[1:40], copy], METRICS, progress=False)
        assert found.values[:, 0].tobytes() == found.values[:, -1].tobytes()
        rows = found.table.groupby("index")["mean"].apply(lambda means: means.to_numpy().tobytes())
        assert rows.iloc[0] == rows.iloc[-1]
        assert found.table["config_fingerprint"].iloc[0] == found.table["config_fingerprint"].iloc[-1]


def test_the_engine_is_not_touched(data):
    engine, queries, judgments = data
    before = engine.fingerprint, engine.search(queries.head(5), LAB_BASE)
    sweep(engine, queries, judgments, MIXED, progress=False)
    assert engine.fingerprint == before[0]
    assert engine.search(queries.head(5), LAB_BASE).equals(before[1])


def test_eighteen_weights_of_the_dead_field_are_bit_identical(data):
    engine, queries, judgments = data
    from toolkit.diagnosis.configs import LAB_LEVELS

    grid = axis_grid(LAB_BASE, [4 * level for level in LAB_LEVELS], fields=["category"], zero="absent")
    assert len(grid) == 18
    found = sweep(engine, queries, judgments, grid, METRICS, progress=False)
    assert len({found.values[:, i].tobytes() for i in range(18)}) == 1
    assert equivalence_classes(found).count == 1


def test_most_of_the_218_are_not_different_rankings(data):
    engine, queries, judgments = data
    classes = equivalence_classes(sweep(engine, queries, judgments, lab_218(), progress=False))
    assert 1 < classes.count < 218
    assert classes.classes()["size"].iloc[0] >= 18
    assert "identical top results" in classes.summary()


class Interrupt(Exception):
    pass


def test_an_interrupted_sweep_goes_on_from_its_file(data, tmp_path, monkeypatch):
    engine, queries, judgments = data
    whole = sweep(engine, queries, judgments, MIXED, METRICS, progress=False)
    path, real, calls = tmp_path / "sweep.jsonl", sweeping.sweep_rankings, []

    def counted(*arguments, **options):
        calls.append(len(arguments[1]))
        if len(calls) == 2 and not path.with_suffix(".again").exists():
            raise Interrupt
        return real(*arguments, **options)

    monkeypatch.setattr(sweeping, "sweep_rankings", counted)
    with pytest.raises(Interrupt):
        sweep(engine, queries, judgments, MIXED, METRICS, file=path, progress=False)
    path.with_suffix(".again").touch()
    with path.open("ab") as file:
        file.write(b'{"method": "kernel", "num')  # a line that a crash cut off
    resumed = sweep(engine, queries, judgments, MIXED, METRICS, file=path, progress=False)
    assert calls == [64, 64, 64, 22]  # the first block was not computed again
    assert resumed.values.tobytes() == whole.values.tobytes()
    assert resumed.table.equals(whole.table)
    assert all(json.loads(line) for line in path.read_text().splitlines())
    sweep(engine, queries, judgments, MIXED, METRICS, file=path, progress=False)
    assert len(calls) == 4  # nothing left to do


def test_a_file_of_another_sweep_is_refused(data, tmp_path):
    engine, queries, judgments = data
    path = tmp_path / "sweep.jsonl"
    sweep(engine, queries, judgments, MIXED[:2], ["ndcg@10"], file=path, progress=False)
    with pytest.raises(ValueError, match=r"holds another sweep \(judgments differ\)"):
        sweep(engine, queries, judgments.assign(grade=1.0), MIXED[:2], ["ndcg@10"], file=path, progress=False)
    with pytest.raises(ValueError, match="configs, methods differ"):
        sweep(engine, queries, judgments, MIXED[:3], ["ndcg@10"], file=path, progress=False)


def test_every_row_carries_its_fingerprints(data):
    engine, queries, judgments = data
    table = sweep(engine, queries, judgments, MIXED[:2], ["ndcg@10"], progress=False).table
    assert (table["index_fingerprint"] == engine.fingerprint).all()
    assert table["config_fingerprint"].nunique() == 2
    shuffled = sweep(engine, queries, judgments.sample(frac=1, random_state=1), MIXED[:2], ["ndcg@10"], progress=False).table
    assert shuffled.equals(table)


def test_queries_without_a_relevant_product_stay_outside_the_mean(data):
    engine, queries, judgments = data
    lost = queries["query_id"].iloc[0]
    found = sweep(engine, queries, judgments[judgments["query_id"] != lost], MIXED[:1], ["ndcg@10"], progress=False)
    assert np.isnan(found.values[0, 0, 0])
    assert found.table["undefined"].iloc[0] == 1 and found.table["n"].iloc[0] == len(queries) - 1


def test_wrong_calls_are_explained(data, weight_lists):
    engine, queries, judgments = data
    with pytest.raises(ValueError, match="expected auto, kernel, lists or search"):
        sweep(engine, queries, judgments, MIXED, method="magic")
    with pytest.raises(ValueError, match="'kernel' needs an embedded engine"):
        sweep(weight_lists, None, judgments, MIXED[:1], method="kernel")
    with pytest.raises(ValueError, match="no configuration given"):
        sweep(engine, queries, judgments, [])
    with pytest.raises(ValueError, match="has no cut-off"):
        sweep(engine, queries, judgments, MIXED, ["ndcg"])
    with pytest.raises(ValueError, match="an engine needs queries"):
        sweep(engine, None, judgments, MIXED)
    assert collect([("a", LAB_BASE)]).stages == ("a",)
