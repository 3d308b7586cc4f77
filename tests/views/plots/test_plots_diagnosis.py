"""Pictures of the diagnosis: their artists say what the tables say."""

import pandas as pd
import pytest

from toolkit.diagnosis import diagnose_failures, explain_missing, headroom
from toolkit.diagnosis.shares import share_table
from toolkit.views.plots import plot_buckets, plot_first_ranks, plot_headroom, plot_reasons, plot_traits


@pytest.fixture(scope="module")
def found(sample):
    run = sample.engine.run(sample.queries, sample.config, depth=len(sample.products))
    diagnosis = diagnose_failures(run, sample.judgments, queries=sample.queries, products=sample.products)
    return {"diagnosis": diagnosis, "headroom": headroom(run, sample.judgments, products=sample.products),
            "missing": explain_missing(sample.engine, sample.queries, sample.judgments, diagnosis, sample.config, per_query=1)}


@pytest.fixture(scope="module")
def nothing():
    rankings = pd.DataFrame({"query_id": ["q"], "product_id": ["p"], "rank": [1]})
    judgments = pd.DataFrame({"query_id": ["q"], "product_id": ["p"], "grade": [3.0]})
    return diagnose_failures(rankings, judgments, queries=pd.DataFrame({"query_id": ["q"], "query": ["lamp"]}))


def title(ax):
    return ax.get_title(loc="left")


def test_buckets(found):
    shares = found["diagnosis"].shares
    ax = plot_buckets(shares)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(100 * shares["share"])
    assert [t.get_text() for t in ax.texts] == [f"{c} of {n}" for c, n in zip(shares["count"], shares["n"], strict=True)]
    assert [t.get_text() for t in ax.get_yticklabels()] == shares["bucket"].tolist()
    segments = ax.containers[-1].lines[2][0].get_segments()
    assert [s[0][0] for s in segments] == pytest.approx(100 * shares["low"], abs=1e-9)
    assert "failing queries" in title(ax) and "Wilson" in ax.get_xlabel()


def test_a_shared_lead_is_named_as_one():
    shares = share_table({"11-50": 2, "51-200": 1, "not retrieved": 2}).rename(columns={"name": "bucket"})
    assert title(plot_buckets(shares)) == "Most often 11-50 and not retrieved: 2 of 5 failing queries each"
    assert title(plot_buckets(shares.head(2))) == "Most often 11-50: 2 of 5 failing queries"


def test_traits(found):
    table = found["diagnosis"].by_trait()
    ax = plot_traits(table)
    assert len(ax.patches) == (table["n"] > 0).sum()
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(100 * table.set_index("trait").loc["all queries", "share"])
    assert title(ax) == "Negation: 15 of 15 queries fail"


def test_headroom(found):
    means = found["headroom"].means
    ax = plot_headroom(means)
    curve, end = ax.lines[0], ax.lines[1]
    first = means[means["bucket"] == "all queries"]["ndcg"].to_numpy()
    assert list(curve.get_ydata()) == pytest.approx(first[:-1]) and end.get_ydata()[0] == pytest.approx(first[-1])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["now", "top 20", "top 50", "top 100", "top 200", "all\nretrieved"]
    assert f"{first[-2]:.3f}" in title(ax)
    assert len(plot_headroom(means, buckets=["11-50"]).lines) == 2
    with pytest.raises(ValueError, match="deep"):
        plot_headroom(means, buckets=["deep"])


def test_first_ranks(found):
    table = found["diagnosis"].table
    ax = plot_first_ranks(table)
    drawn = sorted(x for group in ax.collections for x, _ in group.get_offsets())
    ranked = table[table["bucket"].notna() & table["first_rank"].notna()]
    assert drawn == sorted(ranked["first_rank"].astype(float)) and ax.get_xscale() == "log"
    assert title(ax).startswith(f"{len(ranked)} of {len(found['diagnosis'].failing)} failing queries")


def test_reasons(found):
    counts = found["missing"].counts()
    ax = plot_reasons(counts)
    assert sum(bar.get_width() for bar in ax.patches) == counts["all"].sum()
    assert [t.get_text() for t in ax.get_yticklabels()] == counts["reason"].tolist()


def test_nothing_fails(nothing):
    assert title(plot_buckets(nothing.shares)) == "No query fails" and title(plot_first_ranks(nothing.table)) == "No query fails"
    assert title(plot_traits(nothing.by_trait())) == "No query has a trait"


def test_given_axes_are_used(found):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plot_buckets(found["diagnosis"].shares, ax=ax) is ax
