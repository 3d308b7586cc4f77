"""The bucket explorer's pure part, without a kernel."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from ipywidgets.widgets.widget import _instances as models

from toolkit.diagnosis import diagnose_failures, query_traits
from toolkit.views.plots import plot_query_values
from toolkit.views.widgets.buckets import BUCKETS, bucket_explorer, failing_queries, render_buckets


@pytest.fixture(scope="module")
def run(sample):
    return sample.engine.run(sample.queries, sample.config, 400)


@pytest.fixture(scope="module")
def traits(sample):
    return query_traits(sample.queries)


@pytest.fixture(scope="module")
def render(sample, run, traits):
    return lambda **options: render_buckets(run, sample.judgments, sample.queries, sample.products, traits, **options)


def saved(parts) -> tuple[int, int, int]:
    """The three numbers of the summary."""
    return tuple(map(int, re.search(r"could save (\d+); the top \d+, (\d+) more; reranking cannot save the other (\d+)", parts["summary"]).groups()))


def test_parts_say_what_the_diagnosis_says(sample, run, render):
    parts = render()
    diagnosis = diagnose_failures(run, sample.judgments, queries=sample.queries, products=sample.products)
    shares = diagnosis.shares.set_index("bucket")["count"]
    assert list(parts) == ["summary", "picture", "table"]
    assert f"{len(diagnosis.failing)} of {len(diagnosis.countable)} queries fail" in parts["summary"]
    assert saved(parts)[:2] == (shares["11-50"], shares["51-200"]) and sum(saved(parts)) == len(diagnosis.failing)
    assert parts["table"].count("<tr>") == 16 and f"first 15 of {len(diagnosis.failing)} rows" in parts["table"]


def test_deeper_reading_saves_no_fewer(render):
    near = [saved(render(first_depth=depth))[0] for depth in (11, 30, 50, 120, 199)]
    assert near == sorted(near) and near[0] < near[-1]
    totals = {sum(saved(render(first_depth=depth))) for depth in (11, 50, 199)}
    assert len(totals) == 1, "the depths must not change who fails"


def test_buckets_split_the_failing_queries(sample, run):
    diagnosis = diagnose_failures(run, sample.judgments, queries=sample.queries, products=sample.products)
    listed = pd.concat([failing_queries(diagnosis, name) for name in BUCKETS])
    open_ones = diagnosis.failing["bucket"].str.startswith("beyond 200 or").sum()
    assert len(listed) == len(diagnosis.failing) + open_ones
    assert failing_queries(diagnosis, "first")["first relevant rank"].between(11, 50).all()
    assert failing_queries(diagnosis)["first relevant rank"].dropna().is_monotonic_increasing


def test_a_trait_restricts_the_queries(render, traits):
    negated = int(traits["negation"].sum())
    assert f"of {negated} queries with the trait negation" in render(trait="negation")["summary"]


def test_no_query_with_a_trait_is_said_in_words(sample, run, traits):
    parts = render_buckets(run, sample.judgments, sample.queries, sample.products, traits.assign(fraction=False), trait="fraction")
    assert list(parts) == ["summary"] and "None of 240 queries" in parts["summary"]


def test_depths_must_ascend(render):
    with pytest.raises(ValueError, match="the depths are 200 and 50"):
        render(first_depth=200, second_depth=50)


def test_explorer_shows_the_error_and_recovers(sample, run):
    before = set(models)
    box = bucket_explorer(run, sample.judgments, sample.queries, sample.products)
    assert box.error == ""
    box.controls["first_depth"].value = 300
    assert "the depths are 300 and 200" in box.error and box.parts["table"].value == ""
    box.controls["second_depth"].value = 400
    assert box.error == "" and "top 300" in box.parts["summary"].value
    box.close()
    assert set(models) == before


def test_query_values_count_the_zeros_apart():
    values = pd.DataFrame({"query_id": list("abcde"), "metric": "ndcg@10", "value": [0, 0, 0.4, 1.0, None]})
    axes = plot_query_values(values, metric="ndcg@10", bins=5)
    heights = [patch.get_height() for patch in axes.patches]
    assert heights == [2, 0, 0, 1, 0, 1]
    assert axes.get_title(loc="left").startswith("2 of 4 queries (50%)")
    with pytest.raises(ValueError, match="no value of 'mrr@10'"):
        plot_query_values(values, metric="mrr@10")
