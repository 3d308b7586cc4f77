"""The experiment on generated data whose causes of failure are known."""

import numpy as np
import pandas as pd
import pytest

import toolkit as tk
from toolkit.datasets import generate_catalogue
from toolkit.interventions import FeatureMaker, Rerank, Rewrite, RewriteGuard, combine, run_intervention
from toolkit.interventions.effects import movements
from toolkit.interventions.models import LearnedReranker, LexicalModel, LocalModel, Reply, learn_bridges

CONFIG = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2})


@pytest.fixture(scope="module")
def world():
    catalogue = generate_catalogue(products=3000, queries=900, seed=5)
    engine = tk.EmbeddedEngine.build(catalogue.products, progress=False)
    test, train = catalogue.queries.iloc[:300].reset_index(drop=True), catalogue.queries.iloc[300:].reset_index(drop=True)
    return catalogue, engine, test, train, engine.run(test, CONFIG, 200)


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
    assert len(buckets) > 6
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
    assert row.requested + row.not_requested == row.queries == 300
    assert (experiment.noise[["differing", "mean", "largest"]] == 0).all().all()


def test_rerank_helps_the_outranked_and_rewrite_the_unreachable(world):
    catalogue, engine, test, train, baseline = world
    learned = LearnedReranker(FeatureMaker(engine, CONFIG, catalogue.products, LocalModel()))
    learned.fit(engine.run(train.head(200), CONFIG, 50).rankings, train.head(200), catalogue.judgments, progress=False)
    reranked = run_intervention(engine, test, Rerank(learned), catalogue.judgments, catalogue.products, CONFIG, depths=(50,), baseline=baseline, progress=False)
    bridges = learn_bridges(engine, train, catalogue.judgments, catalogue.products)
    rewrite = Rewrite(LexicalModel(engine, bridges=bridges), RewriteGuard.for_products(engine.analyze, catalogue.products))
    rewritten = run_intervention(engine, test, rewrite, catalogue.judgments, catalogue.products, CONFIG, baseline=baseline, progress=False)
    both = combine(reranked, rewritten)
    cause = catalogue.causes.set_index("query_id")["cause"]
    delta = {name: arm.comparison.pairs.query("metric == 'ndcg@10'").set_index("query_id")["delta"].groupby(cause).mean() for name, arm in both.arms.items()}
    assert delta["rerank 50"]["outranked"] > 0.1
    assert delta["rerank 50"]["misspelling"] == 0 and delta["rerank 50"]["vocabulary_gap"] == 0
    assert delta["rewrite"]["misspelling"] > 0.1
    assert both.arms["rewrite"].comparison.settings["family_size"] == 8
    assert set(both.to_frame()["arm"]) == {"rerank 50", "rewrite"}
    assert "judged@10" in both.summary() and "degraded" in both.summary()


def test_the_learned_model_by_folds_never_ranks_a_query_it_was_fitted_on(world):
    catalogue, engine, test, _, baseline = world
    few = test.head(80)
    learned = LearnedReranker(FeatureMaker(engine, CONFIG, catalogue.products, LocalModel()))
    ranked = baseline.rankings[baseline.rankings["query_id"].isin(few["query_id"]) & (baseline.rankings["rank"] <= 20)]
    learned.fit(ranked, few, catalogue.judgments, folds=4, progress=False)
    query_id, query = few.iloc[0]
    products = tuple(ranked.loc[ranked["query_id"] == query_id, "product_id"])
    own = learned.predict(query_id, query, products)
    shuffled = catalogue.judgments.assign(grade=catalogue.judgments["grade"].where(catalogue.judgments["query_id"] != query_id, 3 - catalogue.judgments["grade"]))
    again = LearnedReranker(learned.features).fit(ranked, few, shuffled, folds=4, progress=False)
    np.testing.assert_array_equal(own, again.predict(query_id, query, products))


def test_misuse_is_refused_with_what_to_do(world):
    catalogue, engine, test, _, baseline = world
    with pytest.raises(ValueError, match="raise search_depth"):
        run_intervention(engine, test, Rerank(LocalModel()), catalogue.judgments, catalogue.products, CONFIG, depths=(300,), progress=False)
    with pytest.raises(ValueError, match="same queries"):
        run_intervention(engine, test.head(3), Rerank(LocalModel()), catalogue.judgments, catalogue.products, CONFIG, baseline=baseline, progress=False)
    unfitted = Rerank(LearnedReranker(FeatureMaker(engine, CONFIG, catalogue.products, LocalModel())))
    outcome = unfitted.apply(baseline.rankings, test.head(3), catalogue.products, 10, progress=False)
    assert set(outcome.table["status"]) <= {"DISABLED", "NOT_REQUESTED"} and "not fitted" in outcome.table["reason"].dropna().iloc[0]


def test_movements_show_both_ranks_and_unjudged_as_null():
    before = pd.DataFrame({"query_id": "q", "product_id": list("abc"), "rank": [1, 2, 3]})
    after = pd.DataFrame({"query_id": "q", "product_id": list("cad"), "rank": [1, 2, 3]})
    judgments = pd.DataFrame({"query_id": ["q"], "product_id": ["c"], "grade": [3.0]})
    table = movements(before, after, judgments, "q", 2)
    assert table["product_id"].tolist() == ["c", "a", "b"]
    assert table["rank_before"].tolist() == [3, 1, 2]
    assert table["rank_after"].isna().tolist() == [False, False, True] and table["grade"].isna().tolist() == [False, True, True]
