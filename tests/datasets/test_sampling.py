"""sample_esci: deterministic, order-free, honest about lost labels."""

import numpy as np
import pandas as pd
import pytest

from toolkit.datasets import Dataset, ReadReport, sample_esci
from toolkit.datasets.sampling import hash_order


def collection(n_products=1000, n_queries=100, per_query=10, seed=0):
    rng = np.random.default_rng(seed)
    products = pd.DataFrame({"product_id": [f"P{i}" for i in range(n_products)], "title": "t"})
    queries = pd.DataFrame({"query_id": [str(i) for i in range(n_queries)], "query": "q"})
    judgments = pd.DataFrame([(str(q), f"P{p}", "E", 3.0) for q in range(n_queries)
                              for p in rng.choice(n_products, per_query, replace=False)],
                             columns=["query_id", "product_id", "label", "grade"])
    return Dataset(products, queries, judgments, ReadReport("made"))


def shuffled(data, seed):
    return Dataset(*(frame.sample(frac=1, random_state=seed).reset_index(drop=True) for frame in data), data.report)


@pytest.mark.parametrize("mode", ["keep_judged", "lab"])
def test_a_sample_does_not_depend_on_file_order(mode):
    data = collection()
    one = sample_esci(data, 200, 30, seed=1, mode=mode)
    two = sample_esci(shuffled(data, 3), 200, 30, seed=1, mode=mode)
    for name, column in (("products", "product_id"), ("queries", "query_id")):
        assert set(getattr(one, name)[column]) == set(getattr(two, name)[column])
    assert set(map(tuple, one.judgments.to_numpy())) == set(map(tuple, two.judgments.to_numpy()))
    other = sample_esci(data, 200, 30, seed=2, mode=mode)
    assert set(other.products["product_id"]) != set(one.products["product_id"])


def test_keep_judged_loses_no_label_of_a_drawn_query():
    data = collection()
    sample = sample_esci(data, 200, 15, seed=1)
    assert len(sample.queries) == 15
    assert len(sample.products) == 200
    assert len(sample.judgments) == 150
    assert set(sample.judgments["product_id"]) <= set(sample.products["product_id"])
    assert sample.report.count("set_aside", "label lost") == 0
    assert sample.report.count("set_aside", "query not drawn") == 850


def test_keep_judged_draws_fewer_queries_rather_than_losing_labels():
    sample = sample_esci(collection(), 95, 100, seed=1)
    assert len(sample.products) == 95
    assert 8 <= len(sample.queries) <= 12
    assert len(sample.judgments) == 10 * len(sample.queries)
    assert sample.report.count("noted", "queries instead of 100") == 1


def test_lab_mode_loses_nine_labels_in_ten_and_says_so():
    data = collection(n_products=5000, n_queries=400)
    sample = sample_esci(data, 500, 300, seed=1, mode="lab")
    assert (len(sample.products), len(sample.queries)) == (500, 300)
    lost = sample.report.count("set_aside", "label lost")
    assert 0.87 < lost / 3000 < 0.93
    assert sample.report.count("noted", "judgments are lost") == lost
    assert sample.report.count("noted", "without any judgment") > 0
    sample.report.check()


def test_hash_order_is_the_documented_hash():
    import hashlib

    ids = pd.Series(["b", "a", "c", "a"])
    expected = sorted("abc", key=lambda i: hashlib.sha256(f"7|query|{i}".encode()).digest())
    assert list(hash_order(ids, 7, "query")) == expected


def test_larger_samples_contain_smaller_ones():
    data = collection()
    small = sample_esci(data, 100, 10, seed=1, mode="lab")
    large = sample_esci(data, 300, 40, seed=1, mode="lab")
    assert set(small.products["product_id"]) <= set(large.products["product_id"])
    assert set(small.queries["query_id"]) <= set(large.queries["query_id"])


@pytest.mark.parametrize("call", [{"products": 0}, {"queries": 0}, {"mode": "random"}])
def test_wrong_arguments(call):
    with pytest.raises(ValueError, match="sample_esci"):
        sample_esci(collection(), **call)


@pytest.mark.reference
def test_reference_excerpt_in_both_modes(reference_data):
    from toolkit.datasets import load_esci

    data = load_esci(reference_data / "esci150")
    kept = sample_esci(data, 2000, 30)
    lab = sample_esci(data, 676, 150, mode="lab")
    assert kept.report.count("set_aside", "label lost") == 0
    assert lab.report.count("set_aside", "label lost") > 0.85 * 6678
