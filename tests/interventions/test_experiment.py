"""The experiment on generated data whose causes of failure are known."""

import numpy as np
import pandas as pd
import pytest

import toolkit as tk
from toolkit.interventions import FeatureMaker, Rerank, Rewrite, generated_world, measure, rejudged, run_intervention, teach
from toolkit.interventions.models import LearnedReranker, LexicalModel, LocalModel, RecordedModel, RecordingModel, Reply

CONFIG = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1})
EMBEDDER = LocalModel()


@pytest.fixture(scope="module")
def generated():
    return generated_world(1_500, 700, seed=5, test=160)


@pytest.fixture(scope="module")
def world(generated):
    """Catalogue, engine, test queries, train queries and the engine's own run of the test queries."""
    return generated.catalogue, generated.engine, generated.test, generated.train, generated.engine.run(generated.test, CONFIG, 200)


@pytest.fixture(scope="module")
def taught(world):
    catalogue, engine, _, train, _ = world
    return teach(engine, train, catalogue.judgments, catalogue.products, CONFIG, rerank_queries=120, depth=50, embedder=EMBEDDER, progress=False)


@pytest.fixture(scope="module")
def measured(generated, world, taught):
    catalogue, engine, test, _, baseline = world
    return measure(engine, test, generated.judgments_of(baseline.rankings), catalogue.products, CONFIG, taught, depths=(50,), embedder=EMBEDDER, baseline=baseline, progress=False)


class Oracle:
    """Orders candidates by their true grade: what no model can beat."""

    model_id, concurrency = "oracle", 1

    def __init__(self, judgments):
        self.grades = judgments.set_index(["query_id", "product_id"])["grade"].to_dict()

    def rerank(self, request):
        grades = [self.grades.get((request.query_id, product_id), 0.0) for product_id in request.product_ids]
        return Reply((np.argsort(-np.array(grades), kind="stable") + 1).tolist())


def test_an_oracle_gets_exactly_what_the_diagnosis_promised(world):
    catalogue, engine, test, _, baseline = world
    experiment = run_intervention(engine, test, Rerank(Oracle(catalogue.judgments)), catalogue.judgments, catalogue.products, CONFIG,
                                  depths=(20, 100), baseline=baseline, progress=False)
    buckets = experiment.buckets()
    assert len(buckets) >= 6
    np.testing.assert_allclose(buckets["delta"], buckets["promised"], atol=1e-12)
    assert (experiment.to_frame().query("metric == 'ndcg@10'")["delta"] > 0).all()


def test_the_identity_changes_nothing_and_is_never_promoted(world):
    catalogue, engine, test, _, baseline = world

    class Identity:
        model_id, concurrency = "identity", 1

        def rerank(self, request):
            return Reply(list(range(1, len(request.texts) + 1)))

    experiment = run_intervention(engine, test, Rerank(Identity()), catalogue.judgments, catalogue.products, CONFIG, depths=(20,),
                                  baseline=baseline, rerun=True, progress=False)
    table = experiment.to_frame()
    assert (table["delta"] == 0).all() and (table["p_value"].dropna() == 1).all() and (table["verdict"] != "promote").all()
    row = experiment.coverage().iloc[0]
    assert (row.applied, row.changed, row.up, row.down, row.degraded) == (0, 0, 0, 0, 0)
    assert row.requested + row.not_requested == row.queries == len(test)
    assert (experiment.noise[["differing", "mean", "largest"]] == 0).all().all()


def test_a_model_that_answers_twice_differently_shows_as_noise(world):
    catalogue, engine, test, _, _ = world
    class Moody:
        model_id, concurrency, asked = "moody", 1, 0

        def rerank(self, request):
            self.asked += 1
            numbers = list(range(1, len(request.texts) + 1))
            return Reply(numbers[::-1] if self.asked > 30 else numbers)

    experiment = run_intervention(engine, test.head(30), Rerank(Moody()), catalogue.judgments, catalogue.products, CONFIG, depths=(20,), rerun=True, progress=False)
    row = experiment.noise.set_index("metric").loc["ndcg@10"]
    assert 0 < row.differing <= row.n and row["mean"] < 0 and row.largest >= abs(row["mean"])


def test_a_recorded_model_is_asked_again_for_the_noise(tmp_path, world):
    catalogue, engine, test, _, _ = world

    class Moody:
        model_id, concurrency = "moody", 1

        def __init__(self):
            self.seen = set()

        def rerank(self, request):
            numbers = list(range(1, len(request.texts) + 1))
            if request.key in self.seen:
                return Reply(numbers[::-1])
            self.seen.add(request.key)
            return Reply(numbers)

    def noise(model):
        return run_intervention(engine, test.head(30), Rerank(model), catalogue.judgments, catalogue.products, CONFIG, depths=(10,), search_depth=20,
                                rerun=True, progress=False).noise
    recorded = noise(RecordingModel(Moody(), tmp_path / "run.jsonl"))
    assert recorded.set_index("metric").loc["ndcg@10", "differing"] > 0
    pd.testing.assert_frame_equal(noise(RecordedModel(tmp_path / "run.jsonl")), recorded)


def test_rerank_helps_the_outranked_and_rewrite_the_unreachable(generated, measured):
    effect = measured.by_group(generated.causes).set_index(["arm", "group"])
    assert effect.loc[("learned rerank 50", "outranked"), "ci_low"] > 0.1
    assert effect.loc[[("learned rerank 50", "misspelling"), ("learned rerank 50", "vocabulary_gap")], "delta"].max() < 0.05
    assert effect.loc[("lexical rewrite", "vocabulary_gap"), "ci_low"] > 0.1 and effect.loc[("lexical rewrite", "misspelling"), "ci_low"] > 0.1
    assert effect.loc[("lexical rewrite", "outranked"), "delta"] < 0.05
    assert measured.arms["lexical rewrite"].comparison.settings["family_size"] == 12
    assert set(measured.to_frame()["arm"]) == {"local rerank 50", "learned rerank 50", "lexical rewrite"}
    assert "judged@10" in measured.summary() and "degraded" in measured.summary()


def test_holes_hide_the_effect_that_complete_judgments_show(generated, measured):
    holes = rejudged(measured, generated.sampled)
    def row(experiment, metric="ndcg@10"):
        return experiment.to_frame().query("arm == 'learned rerank 50' and metric == @metric").iloc[0]
    assert row(holes)["delta"] < row(measured)["delta"]
    assert row(holes)["verdict"] != "promote" and row(holes)["judged_candidate"] < row(measured)["judged_candidate"]
    unjudged = holes.unjudged_newcomers().set_index("arm")["share"] - measured.unjudged_newcomers().set_index("arm")["share"]
    assert (unjudged > 0.1).all()
    again = rejudged(holes, measured.judgments)
    pd.testing.assert_frame_equal(again.to_frame(), measured.to_frame())
    pd.testing.assert_frame_equal(again.buckets(), measured.buckets())


def test_a_whole_experiment_replays_from_its_run_file(tmp_path, world, taught):
    catalogue, engine, test, _, baseline = world
    few = test.head(40)
    run = engine.run(few, CONFIG, 50)
    def experiment(rerank, rewrite):
        return [run_intervention(engine, few, intervention, catalogue.judgments, catalogue.products, CONFIG, depths=(20,), search_depth=50, baseline=run, progress=False)
                for intervention in (Rerank(rerank), Rewrite(rewrite))]
    lexical = LexicalModel(engine, bridges=taught.bridges)
    first = experiment(RecordingModel(taught.reranker, tmp_path / "rerank.jsonl"), RecordingModel(lexical, tmp_path / "rewrite.jsonl"))
    replayed = experiment(RecordedModel(tmp_path / "rerank.jsonl"), RecordedModel(tmp_path / "rewrite.jsonl"))
    for one, other in zip(first, replayed):
        pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
        for name, arm in one.arms.items():
            pd.testing.assert_frame_equal(arm.outcome.rankings, other.arms[name].outcome.rankings)
            pd.testing.assert_frame_equal(arm.outcome.table, other.arms[name].outcome.table)


def test_the_learned_model_by_folds_never_ranks_a_query_it_was_fitted_on(world, taught):
    catalogue, engine, test, _, baseline = world
    few = test.head(60)
    features = taught.reranker.features
    learned = LearnedReranker(features)
    ranked = baseline.rankings[baseline.rankings["query_id"].isin(few["query_id"]) & (baseline.rankings["rank"] <= 20)]
    learned.fit(ranked, few, catalogue.judgments, folds=3, progress=False)
    query_id, query = few[few["query_id"].isin(set(ranked["query_id"]))].iloc[0]
    products = tuple(ranked.loc[ranked["query_id"] == query_id, "product_id"])
    own = learned.predict(query_id, query, products)
    other = catalogue.judgments.assign(grade=catalogue.judgments["grade"].where(catalogue.judgments["query_id"] != query_id, 3 - catalogue.judgments["grade"]))
    again = LearnedReranker(features).fit(ranked, few, other, folds=3, progress=False)
    np.testing.assert_array_equal(own, again.predict(query_id, query, products))


def test_asked_alone_or_prepared_together_is_the_same(world, taught):
    catalogue, engine, test, _, baseline = world
    class Alone:
        def __init__(self, model):
            self.model_id, self.concurrency, self.rerank = model.model_id, 1, model.rerank
    for model in (EMBEDDER, taught.reranker):
        together, alone = (Rerank(one).apply(baseline.rankings, test.head(12), catalogue.products, 30, progress=False) for one in (model, Alone(model)))
        pd.testing.assert_frame_equal(together.rankings, alone.rankings)
        assert (together.table["seconds"][together.table["status"] == "APPLIED"] > 0).all()


def test_misuse_is_refused_with_what_to_do(world):
    catalogue, engine, test, _, baseline = world
    with pytest.raises(ValueError, match="raise search_depth"):
        run_intervention(engine, test, Rerank(EMBEDDER), catalogue.judgments, catalogue.products, CONFIG, depths=(300,), progress=False)
    with pytest.raises(ValueError, match="same queries"):
        run_intervention(engine, test.head(3), Rerank(EMBEDDER), catalogue.judgments, catalogue.products, CONFIG, baseline=baseline, progress=False)
    refused = {"at least 1": {"depths": ()}, "each at least 1": {"depths": (0,)}, "not search_depth 100": {"search_depth": 100, "depths": (20,)},
               "same configuration": {"config": tk.MultiMatch({"title": 1})}}
    for message, options in refused.items():
        with pytest.raises(ValueError, match=message):
            run_intervention(engine, test, Rerank(EMBEDDER), catalogue.judgments, catalogue.products, **{"config": CONFIG, "baseline": baseline, "progress": False, **options})
    with pytest.raises(ValueError, match="queries is empty"):
        run_intervention(engine, test.head(0), Rerank(EMBEDDER), catalogue.judgments, catalogue.products, CONFIG, progress=False)
    unfitted = Rerank(LearnedReranker(FeatureMaker(engine, CONFIG, catalogue.products, EMBEDDER)))
    outcome = unfitted.apply(baseline.rankings, test.head(3), catalogue.products, 10, progress=False)
    assert set(outcome.table["status"]) <= {"DISABLED", "NOT_REQUESTED"} and "not fitted" in outcome.table["reason"].dropna().iloc[0]


def test_winners_losers_and_their_movements(measured):
    table = measured.extremes("learned rerank 50", 3)
    assert table["delta"].is_monotonic_decreasing and (table["delta"] != 0).all() and table["delta"].iloc[0] > 0
    moved = measured.movements("learned rerank 50", table["query_id"].iloc[0])
    assert (moved["rank_candidate"].dropna() >= 1).all() and (moved["move"].dropna() != 0).any()


@pytest.mark.reference
def test_what_was_learned_elsewhere_measures_on_real_queries(taught, reference_data):
    products, queries, judgments = tk.load_esci(reference_data / "esci150")
    few = queries.head(25)
    judgments = judgments[judgments["query_id"].isin(few["query_id"])]
    products = products[products["product_id"].isin(judgments["product_id"])].reset_index(drop=True)  # a small index: what is measured is the transfer
    engine = tk.EmbeddedEngine.build(products, progress=False)
    made = measure(engine, few, judgments, products, CONFIG, taught, depths=(20,), embedder=EMBEDDER, progress=False)
    table = made.to_frame().query("metric == 'ndcg@10'").set_index("arm")
    assert list(table.index) == ["local rerank 20", "learned rerank 20", "lexical rewrite"] and (table["n"] == 25).all()
    assert made.arms["learned rerank 20"].outcome.table["model"].dropna().unique().tolist() == [taught.reranker.model_id]
    with pytest.raises(ValueError, match="differ from those fitted on"):
        measure(engine, few, judgments, products, tk.MultiMatch({"title": 1}), taught, embedder=EMBEDDER, progress=False)
