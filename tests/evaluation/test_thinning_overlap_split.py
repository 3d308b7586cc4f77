"""Thinned judgments, rank-biased overlap, selection and split."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from toolkit.evaluation import closed_world, evaluate, holes_curve, lucky_configs, rank_biased_overlap, select_best, split, thin_judgments
from toolkit.evaluation.splitting import natural_order


@pytest.fixture(scope="module")
def world():
    return closed_world()


def test_a_true_gain_turns_negative_when_only_the_old_pool_is_judged(world):
    curve = holes_curve(world, (0.2, 0.6, 1.0), kept="baseline_pool", resamples=200).set_index("share")
    assert curve.loc[1.0, "delta"] == pytest.approx(0.05, abs=0.003) and curve.loc[1.0, "decision"] == "promote"
    assert curve.loc[0.6, "delta"] < 0 and curve.loc[0.2, "delta"] < -0.1
    assert (curve["judged_baseline"] == 1).all() and curve.loc[0.2, "judged_candidate"] < 0.7
    assert set(curve.loc[[0.2, 0.6], "decision"]) == {"insufficient_evidence"}
    assert ((curve["hole_low"] <= curve.loc[1.0, "delta"] + 1e-12) & (curve["hole_high"] >= curve.loc[1.0, "delta"] - 1e-12)).all()
    assert (abs(curve["condensed_delta"] - 0.05) < 0.03).all()


def test_thinning_is_nested_and_keeps_what_it_must(world):
    some, more = (set(thin_judgments(world.judgments, s).itertuples(index=False)) for s in (0.3, 0.6))
    assert some < more and abs(len(more) / len(world.judgments) - 0.6) < 0.02
    always = world.judgments.head(50)
    assert len(thin_judgments(world.judgments, 0.0, always=always)) == 50 and len(thin_judgments(world.judgments, 1.0)) == len(world.judgments)
    with pytest.raises(ValueError, match="share is 30"):
        thin_judgments(world.judgments, 30)


def ranks(lists):
    return pd.DataFrame([(q, p, i) for q, products in lists.items() for i, p in enumerate(products, 1)], columns=["query_id", "product_id", "rank"])


def test_rank_biased_overlap_by_hand():
    same, swapped, other = (ranks({"q": products}) for products in (["a", "b"], ["b", "a"], ["x", "y"]))
    def value(left, right, **options):
        return rank_biased_overlap(left, right, k=2, **options)["value"].iloc[0]
    assert value(same, same) == pytest.approx(1.0) and value(same, other) == 0.0
    p = 0.9
    assert value(same, swapped) == pytest.approx(p**2 + (1 - p) / p * p**2)
    assert value(same, swapped) == value(swapped, same) and value(same, swapped, p=0.5) < value(same, swapped)
    assert rank_biased_overlap(same, swapped)["metric"].iloc[0] == "rbo(p=0.9)@10"
    with pytest.raises(ValueError, match="p is 1"):
        value(same, same, p=1)


def test_the_winner_of_equals_is_too_good_on_average():
    base = pd.DataFrame({"query_id": [str(i) for i in range(200)], "value": np.full(200, 0.4)})
    gaps, optimism = [], []
    for seed in range(20):
        tried = lucky_configs(base, 20, seed=seed)
        choice = select_best(tried, resamples=300)
        gaps.append(choice.train - 0.4)
        optimism.append(choice.optimism)
    assert min(gaps) > 0 and np.mean(optimism) == pytest.approx(np.mean(gaps), rel=0.35)
    odd = select_best(tried.assign(config=tried["config"] + "<b>"), resamples=50)
    assert "<b>" not in odd._repr_html_() and repr(odd).startswith("Selection: Best of 20")
    assert "too good on average" in choice.summary() and choice.to_frame()["train"].is_monotonic_decreasing
    assert math.isnan(choice.holdout) and select_best(tried, holdout=tried, resamples=50).holdout == pytest.approx(choice.train)
    with pytest.raises(ValueError, match="lacks a value"):
        select_best(tried.iloc[1:])


def test_split_does_not_depend_on_order_and_refuses_bad_ids():
    ids = [str(i) for i in range(100)]
    one, two = split(ids, seed=1), split(ids[::-1], seed=1)
    assert one == two and len(one.train) == 70 and not set(one.train) & set(one.holdout)
    assert split(ids, seed=2) != one and len(split(ids, train=30, total=50).holdout) == 20
    assert one.to_frame()["side"].value_counts().to_dict() == {"train": 70, "holdout": 30} and "70 train" in one.summary()
    assert natural_order(["10", "9", "b", "007", "a2"]) == ["007", "9", "10", "a2", "b"]
    for bad, said in (([1, 2], "expected str"), (["a", "a"], "repeated"), (["a"], "at least one query")):
        with pytest.raises(ValueError, match=said):
            split(bad)


def test_closed_world_is_closed(world):
    result = evaluate(world.candidate, world.judgments, ["judged@10"], unjudged="bounds")
    assert result.mean("judged@10") == 1.0
