"""The same questions on a real Elasticsearch: sweep by field lists, field report by aggregations."""

import uuid
from dataclasses import replace

import numpy as np
import pytest

from toolkit.datasets import generate_catalogue
from toolkit.diagnosis.configs import LAB_BASE, log_uniform, reweight
from toolkit.diagnosis.field_reports import field_report
from toolkit.diagnosis.field_statistics import field_statistics
from toolkit.diagnosis.invariance import SAME, invariances
from toolkit.diagnosis.sweeping import sweep
from toolkit.diagnosis.tuning import tune
from toolkit.search import ElasticsearchEngine, EmbeddedEngine, MultiMatch

pytestmark = pytest.mark.elasticsearch

PLAIN = replace(LAB_BASE, fuzziness=0)


@pytest.fixture(scope="module")
def catalogue():
    return generate_catalogue(products=1_000, queries=40, seed=21)


@pytest.fixture(scope="module")
def engines(elasticsearch_url, catalogue):
    """The same catalogue in both engines."""
    theirs = ElasticsearchEngine.from_products(elasticsearch_url, f"weights-{uuid.uuid4().hex[:10]}", catalogue.products,
                                               list(LAB_BASE.fields), progress=False)
    return EmbeddedEngine.build(catalogue.products, list(LAB_BASE.fields), progress=False), theirs


def test_field_lists_on_a_server_give_what_full_searches_give(engines, catalogue):
    """Six orders of magnitude, zeros, absent fields; every pair is also really searched."""
    _, theirs = engines
    draws = list(log_uniform(PLAIN, 6, low=1e-3, high=1e3, seed=1, zero_share=0.2, zero="match"))
    draws += [replace(config, fuzziness="AUTO") for config in draws[:1]]
    configs = [*draws, reweight(PLAIN, {"title": None}), MultiMatch({"title": 0, "brand": 0, "category": 0}, fuzziness=0)]
    queries = catalogue.queries.head(30)
    lists = sweep(theirs, queries, catalogue.judgments, configs, progress=False)
    searched = sweep(theirs, queries, catalogue.judgments, configs, method="search", progress=False)
    assert lists.searches == 2 * len(LAB_BASE.fields) * len(queries)  # one set of lists for each fuzziness
    assert searched.searches == len(configs) * len(queries)
    differ = (lists.ranking_prints != searched.ranking_prints).sum()
    uncertain = lists.table["uncertain"].sum() / len(lists.metrics)
    assert differ <= 0.005 * lists.ranking_prints.size and uncertain <= 0.005 * lists.ranking_prints.size
    values = (lists.values != searched.values) & ~np.isnan(lists.values)
    assert values.any(axis=2).sum() <= uncertain


def test_a_tie_breaker_is_searched_by_the_same_call(engines, catalogue):
    ours, theirs = engines
    configs = [MultiMatch(dict(LAB_BASE.fields), tie_breaker=0.3, fuzziness=0), MultiMatch(dict(LAB_BASE.fields), type="most_fields", fuzziness=0)]
    on_server, here = (sweep(engine, catalogue.queries, catalogue.judgments, configs, progress=False) for engine in (theirs, ours))
    assert set(on_server.table["method"]) == {"search"} and set(here.table["method"]) == {"kernel"}
    np.testing.assert_array_equal(on_server.values, here.values)
    np.testing.assert_array_equal(on_server.ranking_prints, here.ranking_prints)


def test_field_statistics_agree_on_both_engines(engines):
    ours, theirs = (field_statistics(engine, ["title", "brand", "category"]).set_index("field") for engine in engines)
    assert ours.loc["category", "top_value_share"] == theirs.loc["category", "top_value_share"] == 1.0
    assert theirs.loc["category", "top_value"] == "Other"
    np.testing.assert_allclose(ours["coverage"], theirs["coverage"])
    assert ours.loc["brand", "distinct_values"] == theirs.loc["brand", "distinct_values"]


def test_field_report_gives_the_same_verdicts(engines, catalogue):
    ours, theirs = (field_report(engine, catalogue.queries, catalogue.judgments, PLAIN).table for engine in engines)
    assert theirs["verdict"].tolist() == ours["verdict"].tolist()
    assert theirs.set_index("field").loc["category", "verdict"] == "dead_in_information"
    np.testing.assert_allclose(theirs["idf_max"].astype(float), ours["idf_max"].astype(float))
    assert theirs["curve_high"].tolist() == ours["curve_high"].tolist()


def test_invariances_and_tuning_run_on_a_server(engines, catalogue):
    _, theirs = engines
    found = invariances(MultiMatch({"title": 4, "brand": 2}, fuzziness=0), theirs, catalogue.queries.head(30)).table
    assert (found[found["derived"] == SAME]["rankings_changed"] == 0).all()
    tuning = tune(theirs, catalogue.queries, catalogue.judgments, PLAIN, [reweight(PLAIN, {"title": x}) for x in (1, 2, 8)])
    assert tuning.verdict.decision in ("promote", "block", "insufficient_evidence")
    assert tuning.train.searches == 5 * len(tuning.split.train)
