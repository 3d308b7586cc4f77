"""Rank buckets, and what a shallow search cannot know."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.diagnosis import diagnose_failures
from toolkit.diagnosis.buckets import NO_ANSWER, NOT_INDEXED, NOT_RETRIEVED, NOT_RETRIEVED_OR_INDEXED, REQUEST_FAILED
from toolkit.evaluation import EvaluationError, evaluate


def judged(**grades):
    """``judged(q1={"p": 3})`` as a judgments table."""
    rows = [(q, p, float(g)) for q, found in grades.items() for p, g in found.items()]
    return pd.DataFrame(rows, columns=["query_id", "product_id", "grade"]).astype({"query_id": "str", "product_id": "str"})


def ranked(**lists):
    """``ranked(q1=["a", "b"])`` as a rankings table."""
    rows = [(q, p, rank) for q, products in lists.items() for rank, p in enumerate(products, 1)]
    return pd.DataFrame(rows, columns=["query_id", "product_id", "rank"]).astype({"query_id": "str", "product_id": "str"})


def at(rank, length):
    """A list of ``length`` whose product number ``rank`` is ``p``."""
    return ["p" if place == rank else f"x{place}" for place in range(1, length + 1)]


def bucket(diagnosis, query_id="q"):
    return diagnosis.table.set_index("query_id")["bucket"][query_id]


@pytest.mark.parametrize(("rank", "expected"), [(11, "11-50"), (50, "11-50"), (51, "51-200"), (200, "51-200"), (201, "beyond 200"), (999, "beyond 200")])
def test_edges(rank, expected):
    found = diagnose_failures(ranked(q=at(rank, 1_000)), judged(q={"p": 3}))
    assert bucket(found) == expected
    assert found.table["first_rank"].tolist() == [rank] and found.table["first_id"].tolist() == ["p"]


@pytest.mark.parametrize("rank", [1, 10])
def test_a_relevant_product_in_the_top_is_no_failure(rank):
    found = diagnose_failures(ranked(q=at(rank, 20)), judged(q={"p": 2}))
    assert pd.isna(bucket(found)) and found.shares["n"].eq(0).all() and "0 of 1 queries fail" in found.summary()


def test_a_complement_in_the_top_is_no_failure():
    """Recall is 0 but NDCG is not: the definition asks for both."""
    found = diagnose_failures(ranked(q=["c", *at(30, 100)]), judged(q={"p": 3, "c": 1}))
    assert found.table["recall"].tolist() == [0] and not found.table["failing"].any()


def test_a_cut_list_leaves_the_question_open():
    judgments = judged(q={"p": 3}, other={"x1": 3})
    deep = ranked(q=[f"x{i}" for i in range(1, 301)], other=["x1"])
    assert bucket(diagnose_failures(deep, judgments, depth=300)) == "beyond 200 or not retrieved or not indexed"
    assert bucket(diagnose_failures(deep, judgments, depth=300, products=[*(f"x{i}" for i in range(1, 301)), "p"])) == "beyond 200 or not retrieved"
    short = ranked(q=[f"x{i}" for i in range(1, 61)], other=["x1"])
    assert bucket(diagnose_failures(short, judgments)) == "beyond 60 or not retrieved or not indexed"
    assert bucket(diagnose_failures(short, judgments, depth=100)) == NOT_RETRIEVED_OR_INDEXED  # the list ended by itself


def test_what_was_returned_is_known_even_in_a_cut_list():
    found = diagnose_failures(ranked(q=at(30, 60)), judged(q={"p": 3}))
    assert bucket(found) == "11-50"


def test_not_retrieved_not_indexed_failed_and_unanswered_are_told_apart():
    rankings = ranked(away=["x"], gone=["x"], top=["t"])
    judgments = judged(away={"p": 3}, gone={"unindexed": 3}, zero={"p": 2}, down={"p": 3}, top={"t": 3}, silent={"p": 3})
    status = pd.DataFrame({"query_id": ["away", "gone", "zero", "down", "top"], "status": ["ok", "ok", "zero_results", "failed", "ok"],
                           "reason": [None, None, None, "timeout", None]}).astype({"query_id": "str"})
    found = diagnose_failures(rankings, judgments, status=status, products=["p", "x", "t"], depth=50)
    buckets = found.table.set_index("query_id")["bucket"]
    assert buckets["away"] == NOT_RETRIEVED and buckets["zero"] == NOT_RETRIEVED
    assert buckets["gone"] == NOT_INDEXED and buckets["down"] == REQUEST_FAILED and buckets["silent"] == NO_ANSWER
    assert pd.isna(buckets["top"])
    assert found.table.set_index("query_id").loc["down", "reason"] == "timeout"
    assert found.shares["count"].sum() == 5 and found.shares["n"].eq(5).all()


def test_queries_without_a_relevant_product_are_left_out_and_counted():
    found = diagnose_failures(ranked(q=["x"], bad=["x"]), judged(q={"p": 1, "x": 0}, bad={"p": 3, "x": 0}))
    assert found.table.set_index("query_id")["failing"].to_dict() == {"q": False, "bad": True}
    assert found.summary().startswith("1 of 1 queries fail.") and "Left out: 1 without a product judged relevant." in found.summary()
    assert "1 of 1 queries fail" in found._repr_html_()
    none = diagnose_failures(ranked(q=["x"]), judged(q={"p": 1, "x": 1}, other={"p": 3}), queries=["q"])
    assert none.summary().startswith("0 of 0 queries fail. Left out: 1 ")


def test_shares_by_trait_leave_out_what_cannot_fail():
    texts = pd.DataFrame({"query_id": ["q", "bad"], "query": ["lamp", "chair"]})
    found = diagnose_failures(ranked(q=["x"], bad=["x"]), judged(q={"p": 1, "x": 1}, bad={"p": 3, "x": 0}), queries=texts)
    row = found.by_trait().set_index("trait").loc["all queries"]
    assert (row["count"], row["n"]) == (1, 1)


def test_threshold_and_depths_are_the_callers():
    rankings, judgments = ranked(q=at(7, 30)), judged(q={"p": 3, "x9": 2})
    assert bucket(diagnose_failures(rankings, judgments, k=5, depths=(5, 8))) == "6-8"
    assert bucket(diagnose_failures(rankings, judgments, k=5, depths=(5, 8, 20), relevant_grade=3)) == "6-8"
    late = ranked(q=at(9, 30))
    assert bucket(diagnose_failures(late, judged(q={"p": 3, "x6": 2}), k=5, depths=(5, 8), relevant_grade=3)) == "beyond 8"


@pytest.mark.parametrize("depths", [(), (20, 50), (10, 10, 50), (10, 5), (10, 50.5)])
def test_refuses_depths_that_make_no_buckets(depths):
    with pytest.raises(ValueError, match="ascending whole numbers that start with k"):
        diagnose_failures(ranked(q=["x"]), judged(q={"x": 3}), depths=depths)


def test_refuses_products_that_are_not_those_searched():
    with pytest.raises(EvaluationError, match="pass the products that were searched"):
        diagnose_failures(ranked(q=["x"]), judged(q={"x": 3}), products=["other"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), st.sampled_from([0.0, 1.0, 2.0, 3.0])), min_size=1, max_size=8, unique_by=lambda t: t[0]))
@pytest.mark.filterwarnings("ignore:no judgment reaches")
def test_failing_is_what_evaluate_says(places):
    rankings = ranked(q=[f"x{i}" for i in range(1, 61)])
    judgments = judged(q={f"x{place}": grade for place, grade in places})
    found, values = diagnose_failures(rankings, judgments).table.iloc[0], evaluate(rankings, judgments, ["ndcg@10", "recall@10"]).to_frame()
    assert found["failing"] == values["value"].eq(0).all()
    first = min((place for place, grade in places if grade >= 2), default=None)
    assert (pd.isna(found["first_rank"]) if first is None else found["first_rank"] == first)


def test_renaming_and_shuffling_change_nothing(diagnosed):
    rankings, judgments = diagnosed.run.rankings, diagnosed.judgments
    shuffled = diagnose_failures(rankings.sample(frac=1, random_state=1), judgments.sample(frac=1, random_state=2), products=diagnosed.products,
                                 status=diagnosed.run.status, depth=diagnosed.run.depth)
    want = diagnosed.diagnosis.table.set_index("query_id")["bucket"].sort_index()
    pd.testing.assert_series_equal(shuffled.table.set_index("query_id")["bucket"].sort_index(), want)


def test_planted_bands_are_found(diagnosed):
    planted = diagnosed.causes[diagnosed.causes["cause"] == "outranked"].merge(diagnosed.diagnosis.table, on="query_id")
    right = planted["band"] == planted["bucket"]
    assert len(planted) >= 35 and right.mean() >= 0.9
    assert set(planted["band"]) == {"11-50", "51-200", "beyond 200"}
    distance = (planted["first_rank"] - planted["planted_depth"]).abs() / planted["planted_depth"]
    assert distance.median() <= 0.1


def test_every_bucket_of_the_sample_is_populated(diagnosed):
    counts = diagnosed.diagnosis.shares.set_index("bucket")["count"]
    assert (counts.drop(REQUEST_FAILED) >= 5).all() and counts.sum() == len(diagnosed.diagnosis.failing)
    missing = diagnosed.causes.set_index("query_id")["cause"]
    assert set(diagnosed.diagnosis.table.query("bucket == @NOT_INDEXED")["query_id"]) == set(missing.index[missing == "no_relevant_indexed"])


def test_ordinary_queries_are_believable(diagnosed):
    table = diagnosed.diagnosis.table.merge(diagnosed.causes[["query_id", "cause"]], on="query_id")
    ordinary = table[table["cause"] == "none"]
    assert 0.5 < ordinary["ndcg"].mean() < 0.85 and ordinary["failing"].mean() < 0.08


def test_failure_by_trait(diagnosed):
    table = diagnosed.diagnosis.by_trait().set_index("trait")
    assert table.loc["all queries", "n"] == 240
    assert table.loc["negation", "count"] == table.loc["negation", "n"] == 15
    assert table.loc["no noise or negation", "n"] < 240
    buckets = table[list(diagnosed.diagnosis.shares["bucket"])]
    assert (buckets.sum(axis=1) == table["count"]).all()


def test_by_trait_needs_texts():
    with pytest.raises(ValueError, match="queries=queries"):
        diagnose_failures(ranked(q=["x"]), judged(q={"x": 3})).by_trait()


def test_card_is_escaped_and_complete(diagnosed):
    card = diagnosed.diagnosis._repr_html_()
    assert "<script" not in card and "11-50" in card and "95 % Wilson" in card and "Failing: NDCG@10 = 0" in card
    assert repr(diagnosed.diagnosis).startswith("FailureDiagnosis: ")
    assert len(diagnosed.diagnosis.to_frame()) == 240
