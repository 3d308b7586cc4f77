"""Move the depths a reranker reads, pick a trait: which failing queries fall into which bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from toolkit.diagnosis import FailureDiagnosis, diagnose_failures, query_traits
from toolkit.diagnosis.buckets import NOT_INDEXED, NOT_RETRIEVED, REQUEST_FAILED, bucket_names
from toolkit.diagnosis.traits import TRAITS
from toolkit.search import SearchRun
from toolkit.views.html import line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.diagnosis import plot_buckets

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

CUT = 10  # the first page: NDCG and recall are at 10
ALL = "all"
# What a user can ask for -> the words in a bucket's name. Buckets that the lists leave open belong to both of their sides.
BUCKETS = {"first": "", "second": "", "beyond": "beyond", "not retrieved": NOT_RETRIEVED, "not indexed": NOT_INDEXED,
           "request failed": REQUEST_FAILED}


def failing_queries(diagnosis: FailureDiagnosis, bucket: str = ALL) -> pd.DataFrame:
    """Failing queries of one bucket, the shallowest first relevant product first.

    Parameters
    ----------
    diagnosis : FailureDiagnosis
    bucket : str
        ``all``, ``first`` or ``second`` (the two depths), or another key of ``BUCKETS``.

    Returns
    -------
    DataFrame
        query, bucket, first relevant rank, relevant (judged), indexed (of these), returned.
    """
    failing = diagnosis.failing
    if bucket != ALL:
        words = BUCKETS | dict(zip(("first", "second"), bucket_names(diagnosis.depths), strict=False))
        failing = failing[failing["bucket"].str.contains(words[bucket], regex=False)]
    shown = failing.sort_values(["first_rank", "query_id"], na_position="last")
    names = {"query": "query", "bucket": "bucket", "first_rank": "first relevant rank", "relevant": "relevant",
             "relevant_indexed": "indexed", "returned": "returned"}
    return shown[list(names)].rename(columns=names).reset_index(drop=True)


def render_buckets(run: SearchRun, judgments: pd.DataFrame, queries: pd.DataFrame, products: pd.DataFrame, traits: pd.DataFrame, *,
                   first_depth: int = 50, second_depth: int = 200, trait: str = ALL, bucket: str = ALL) -> dict[str, str]:
    """Everything the explorer shows for one choice of depths, trait and bucket.

    Parameters
    ----------
    run : SearchRun
        Searched deeper than ``second_depth``.
    judgments, queries, products : DataFrame
        Canonical tables.
    traits : DataFrame
        ``query_traits(queries, ...)``.
    first_depth, second_depth : int
        Edges of the buckets after 10: what a reranker, and a deep reranker, reads.
    trait : str
        Only queries with this trait; ``all`` for every query.
    bucket : str
        Queries listed in the table: see :func:`failing_queries`.

    Returns
    -------
    dict
        HTML of ``summary``, ``picture`` and ``table`` (only ``summary`` where no query has the trait).

    Raises
    ------
    ValueError
        If the depths do not ascend.
    """
    chosen = queries if trait == ALL else queries[queries["query_id"].isin(traits.loc[traits[trait].fillna(False).astype(bool), "query_id"])]
    if chosen.empty:
        return {"summary": line(f"None of {len(queries)} queries has the trait {trait.replace('_', ' ')}.")}
    if not CUT < first_depth < second_depth:
        raise ValueError(f"the depths are {first_depth} and {second_depth}; the second must be larger than the first, and both larger than {CUT}")
    diagnosis = diagnose_failures(run, judgments, queries=chosen, products=products, depths=(CUT, first_depth, second_depth))
    found = failing_queries(diagnosis, bucket)
    who = "queries" if trait == ALL else f"queries with the trait {trait.replace('_', ' ')}"
    summary = f"{len(diagnosis.failing)} of {len(diagnosis.countable)} {who} fail. {_saved(diagnosis)}"
    title = plot_buckets(diagnosis.shares)
    return {"summary": line(summary), "picture": axes_html(title, f"Share of failing queries per bucket. {summary}"),
            "table": table_html(found, f"Failing queries ({len(found)})", limit=15)}


def bucket_explorer(run: SearchRun, judgments: pd.DataFrame, queries: pd.DataFrame, products: pd.DataFrame, *,
                    vocabulary: list[str] | None = None) -> Explorer:
    """Explore failing queries by the rank of their first relevant product.

    Parameters
    ----------
    run : SearchRun
        A deep search of the queries (its depth limits the depths that can be told apart).
    judgments, queries, products : DataFrame
        Canonical tables.
    vocabulary : list of str, optional
        ``engine.vocabulary``, for the misspelling trait.

    Returns
    -------
    Explorer
        A widget (CSS class ``bucket-explorer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    traits = query_traits(queries, vocabulary)
    occurring = [name for name in TRAITS if traits[name].fillna(False).any()]
    deepest = max(run.depth, CUT + 2)
    auto = widgets.Layout(width="auto")
    controls = {
        "first_depth": widgets.IntSlider(value=min(50, deepest - 1), min=CUT + 1, max=deepest - 1, description="a reranker reads"),
        "second_depth": widgets.IntSlider(value=min(200, deepest), min=CUT + 2, max=deepest, description="a deep reranker reads"),
        "trait": widgets.Dropdown(options=[("all queries", ALL), *((name.replace("_", " "), name) for name in occurring)],
                                  description="queries", layout=auto),
        "bucket": widgets.Dropdown(options=[("all", ALL), ("to the first depth", "first"), ("to the second depth", "second"),
                                            *((name, name) for name in list(BUCKETS)[2:])], description="list bucket", layout=auto),
    }

    def render(**values: object) -> dict[str, str]:
        return render_buckets(run, judgments, queries, products, traits, **values)

    return Explorer(controls, render, css_class="bucket-explorer")


def _saved(diagnosis: FailureDiagnosis) -> str:
    """What the two depths could save, in words."""
    counts = diagnosis.failing["bucket"].value_counts()
    (first, second), (_, near, far) = bucket_names(diagnosis.depths)[:2], diagnosis.depths
    return (f"Reranking the top {near} could save {counts.get(first, 0)}; the top {far}, {counts.get(second, 0)} more; "
            f"reranking cannot save the other {len(diagnosis.failing) - counts.get(first, 0) - counts.get(second, 0)}.")
