"""The ceiling of reordering against that of retrieving."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from toolkit.diagnosis import headroom
from toolkit.diagnosis.ceiling import ALL, NOT_FAILING
from toolkit.evaluation import evaluate


def tables(grades, judged_elsewhere=()):
    """One query whose returned products have these grades (None: unjudged)."""
    rankings = pd.DataFrame({"query_id": "q", "product_id": [f"p{i}" for i in range(len(grades))], "rank": range(1, len(grades) + 1)})
    rows = [("q", f"p{i}", float(g)) for i, g in enumerate(grades) if g is not None] + [("q", f"away{i}", float(g)) for i, g in enumerate(judged_elsewhere)]
    return rankings, pd.DataFrame(rows, columns=["query_id", "product_id", "grade"])


def steps(found, bucket=ALL):
    rows = found.means[found.means["bucket"] == bucket]
    return {(r.action, None if pd.isna(r.depth) else int(r.depth)): r.ndcg for r in rows.itertuples()}


def test_by_hand():
    rankings, judgments = tables([None, 0, 2, 3], judged_elsewhere=[3])
    found = steps(headroom(rankings, judgments, depths=(2, 3, 4), k=2, bucket_depths=(2, 4)))
    ideal = 3 + 3 / np.log2(3)
    assert found["now", None] == 0 and found["reorder", 2] == 0
    assert found["reorder", 3] == pytest.approx(2 / ideal)
    assert found["reorder", 4] == pytest.approx((3 + 2 / np.log2(3)) / ideal)
    assert found["retrieve", None] == pytest.approx(1)


def test_no_order_of_the_top_does_better():
    rankings, judgments = tables([0, None, 2, 1, 3], judged_elsewhere=[2])
    ceiling = steps(headroom(rankings, judgments, depths=(4,), k=3, bucket_depths=(3, 5)))["reorder", 4]
    values = []
    for order in permutations(range(4)):
        changed = rankings.assign(rank=[*(np.array(order) + 1), 5])
        values.append(evaluate(changed, judgments, ["ndcg@3"]).mean("ndcg@3"))
    assert ceiling == pytest.approx(max(values))


def test_what_is_not_indexed_cannot_be_retrieved():
    rankings, judgments = tables([0, 2], judged_elsewhere=[3])
    indexed = headroom(rankings, judgments, depths=(2,), k=2, bucket_depths=(2,), products=["p0", "p1"])
    ideal = 3 + 2 / np.log2(3)
    assert steps(indexed)["retrieve", None] == pytest.approx(2 / ideal)
    assert "all indexed judged products retrieved" in indexed.summary()
    told = headroom(rankings, judgments, depths=(2,), k=2, bucket_depths=(2,)).summary()
    assert "all judged products (which are indexed is not known) retrieved 1.000" in told


def test_cut_lists_leave_the_mean_unknown(diagnosed):
    found = headroom(diagnosed.engine.search(diagnosed.queries, diagnosed.config, depth=60), diagnosed.judgments)
    means = steps(found)
    assert np.isnan(means["reorder", 100]) and np.isfinite(means["reorder", 50])
    assert found.means.loc[found.means["ndcg"].isna(), "unknown"].gt(0).all()
    assert "deeper than 60 is unknown" in found.summary()


def test_failed_requests_have_no_value():
    rankings, judgments = tables([0, 3])
    status = pd.DataFrame({"query_id": ["q"], "status": ["failed"], "reason": ["down"]})
    found = headroom(rankings.head(0), judgments, depths=(20,), status=status)
    assert found.table["ndcg"].isna().all() and "No query has a defined" in found.summary()


def test_grows_with_depth_and_helps_the_buckets_it_promises(diagnosed):
    found = headroom(diagnosed.run, diagnosed.judgments, products=diagnosed.products)
    for bucket in found.means["bucket"].unique():
        values = list(steps(found, bucket).values())
        assert values == sorted(values), bucket
    assert steps(found, "11-50")["reorder", 50] > 0.5 and steps(found, "51-200")["reorder", 50] == 0
    assert steps(found, "51-200")["reorder", 200] > 0.5 and steps(found, "not retrieved")["reorder", 200] == 0
    assert steps(found, "no relevant product indexed")["retrieve", None] == 0
    assert steps(found)["now", None] == pytest.approx(evaluate(diagnosed.run, diagnosed.judgments, ["ndcg@10"]).mean("ndcg@10"))
    assert found.means["bucket"].iloc[0] == ALL and NOT_FAILING in set(found.means["bucket"])
    assert "<script" not in found._repr_html_() and "top 50 reordered" in found._repr_html_()


@pytest.mark.parametrize("depths", [(), (5, 20)])
def test_refuses_depths_above_the_cut(depths):
    with pytest.raises(ValueError, match="at least k = 10"):
        headroom(*tables([3]), depths=depths)
