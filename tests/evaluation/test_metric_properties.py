"""What must hold for any rankings and any judgments."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.evaluation import ESCI_LINEAR, ESCI_OFFICIAL, EXPONENTIAL, evaluate

pytestmark = pytest.mark.filterwarnings("ignore:no judgment reaches")  # drawn judgments may all be low
METRICS = ["ndcg@3", "ndcg", "ndcg_full_ideal@3", "recall@3", "precision@3", "mrr@3", "ap@3", "ap", "err@3", "err", "success@2", "judged@3", "zero_result_rate"]


@st.composite
def worlds(draw):
    """Rankings and judgments of up to four queries over eight products, scores with ties."""
    seed, n, levels = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 4)), draw(st.integers(1, 8))
    rng = np.random.default_rng(seed)
    judged = [(f"q{q}", f"p{p}", float(rng.integers(0, 4))) for q in range(n) for p in range(8) if rng.random() < 0.6]
    judged.append(("q0", "p0", 3.0)) if not any(r[:2] == ("q0", "p0") for r in judged) else None
    ranked = [(f"q{q}", f"p{p}", float(rng.integers(0, levels))) for q in range(n) for p in range(8) if rng.random() < 0.7]
    ranked.append(("q0", "p0", 0.5)) if not any(r[:2] == ("q0", "p0") for r in ranked) else None
    queries = [f"q{q}" for q in range(n)]
    return (pd.DataFrame(ranked, columns=["query_id", "product_id", "score"]),
            pd.DataFrame(judged, columns=["query_id", "product_id", "grade"]), queries, rng)


def wide(rankings, judgments, queries, **options):
    result = evaluate(rankings, judgments, METRICS, queries=queries, **options)
    return result.to_frame().pivot(index="query_id", columns="metric", values="value")[METRICS]


@settings(max_examples=30, deadline=None)
@given(worlds(), st.sampled_from([ESCI_LINEAR, ESCI_OFFICIAL, EXPONENTIAL]), st.sampled_from(["zero", "condensed"]))
def test_values_stay_in_the_unit_interval(world, gains, unjudged):
    rankings, judgments, queries, _ = world
    values = wide(rankings, judgments, queries, gains=gains, unjudged=unjudged).to_numpy()
    assert ((values >= 0) & (values <= 1 + 1e-15) | np.isnan(values)).all()


@settings(max_examples=30, deadline=None)
@given(worlds())
def test_row_order_query_order_and_names_do_not_matter(world):
    rankings, judgments, queries, rng = world
    expected = wide(rankings, judgments, queries)
    shuffled = wide(rankings.sample(frac=1, random_state=int(rng.integers(2**31))), judgments.sample(frac=1, random_state=1), queries[::-1])
    pd.testing.assert_frame_equal(shuffled.loc[expected.index], expected, check_exact=True)
    names = {f"p{p}": f"item-{p}" for p in range(8)}  # an order-keeping renaming: ties stay as they are
    renamed = wide(rankings.assign(product_id=rankings["product_id"].map(names)),
                   judgments.assign(product_id=judgments["product_id"].map(names)), queries)
    pd.testing.assert_frame_equal(renamed, expected, check_exact=True)


@settings(max_examples=30, deadline=None)
@given(worlds())
def test_tie_bounds_hold_every_renaming(world):
    rankings, judgments, queries, rng = world
    first = evaluate(rankings, judgments, METRICS, queries=queries).means
    names = dict(zip([f"p{p}" for p in range(8)], [f"n{i}" for i in rng.permutation(8)], strict=True))
    renamed = evaluate(rankings.assign(product_id=rankings["product_id"].map(names)),
                       judgments.assign(product_id=judgments["product_id"].map(names)), METRICS, queries=queries).means
    fair = ~first["metric"].isin(["judged@3"]).to_numpy()  # judged@k is about which products, not how good
    inside = (renamed["mean"] >= first["tie_worst"] - 1e-12) & (renamed["mean"] <= first["tie_best"] + 1e-12) | first["mean"].isna()
    assert inside.to_numpy()[fair].all()
    np.testing.assert_allclose(renamed.loc[fair, "tie_best"], first.loc[fair, "tie_best"], atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(worlds())
def test_the_best_order_scores_one_and_a_better_swap_never_hurts(world):
    _, judgments, queries, _ = world
    ideal = judgments.rename(columns={"grade": "score"})
    values = wide(ideal, judgments, queries)
    assert (values["ndcg"].dropna() == 1.0).all() and (values["ndcg@3"].dropna() == 1.0).all()
    assert (values["mrr@3"].dropna() == 1.0).all() and (values["judged@3"].dropna() == 1.0).all()
    reversed_ = wide(ideal.assign(score=-ideal["score"]), judgments, queries)
    both = values.drop(columns=["judged@3", "zero_result_rate"])
    worse = reversed_[both.columns]
    assert ((worse <= both + 1e-12) | both.isna()).to_numpy().all()
