"""Draw a smaller test collection that depends on ids and a seed alone, never on file order."""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np
import pandas as pd

from toolkit.datasets.dataset import Dataset
from toolkit.datasets.report import ReadReport

DEFAULT_SEED = 20260816
RELEVANT_GRADE = 2.0  # E or S


def hash_order(ids: pd.Series, seed: int, kind: str) -> np.ndarray:
    """Ids in the order of SHA-256 of ``"{seed}|{kind}|{id}"``.

    Parameters
    ----------
    ids : Series of str
        Repeated ids count once.
    seed : int
    kind : str
        Keeps draws of products and queries apart.

    Returns
    -------
    ndarray of object, shape (number of different ids,)
        The first n are a uniform draw of n ids, and the same one for any order of ``ids``.
    """
    unique = ids.unique()
    keys = [hashlib.sha256(f"{seed}|{kind}|{value}".encode()).digest() for value in unique]
    return np.asarray(unique, dtype=object)[np.array(keys, dtype="S32").argsort(kind="stable")] if len(unique) else np.array([], object)


def sample_esci(dataset: Dataset, products: int = 20_000, queries: int = 10_000, seed: int = DEFAULT_SEED,
                mode: Literal["keep_judged", "lab"] = "keep_judged") -> Dataset:
    """Draw products and queries, and say how many judgments the draw loses.

    Parameters
    ----------
    dataset : Dataset
        For example from :func:`toolkit.datasets.load_esci`.
    products, queries : int
        Upper limits of the sample's sizes.
    seed : int
    mode : {"keep_judged", "lab"}
        ``keep_judged`` takes queries in hash order while *all* their judged products fit into
        ``products``, then fills up with other products: no chosen query loses a label, and there may be
        fewer than ``queries``. ``lab`` draws products and queries independently of each other, as the
        searchops lab did: with 20,000 of ESCI's products it loses about nine labels in ten and so
        makes the sparse judgments it then has to live with.

    Returns
    -------
    Dataset
        Rows in the input's order. The report counts judgments: kept, set aside with their query,
        set aside because their product was not drawn (labels lost).

    Raises
    ------
    ValueError
        For sizes below 1 or an unknown mode.
    """
    if mode not in ("keep_judged", "lab"):
        raise ValueError(f"sample_esci: mode {mode!r}; expected 'keep_judged' or 'lab'")
    if products < 1 or queries < 1:
        raise ValueError(f"sample_esci: products={products}, queries={queries}; expected at least 1 of each")
    query_order = hash_order(dataset.queries["query_id"], seed, "query")
    product_order = hash_order(dataset.products["product_id"], seed, "product")
    report = ReadReport(f"sample of {dataset.report.source} (mode {mode}, seed {seed})")
    if mode == "lab":
        chosen, drawn = set(query_order[:queries]), set(product_order[:products])
    else:
        chosen, drawn = _keep_judged(dataset, query_order[:queries], product_order, products)
        if len(chosen) < min(queries, len(query_order)):
            report.note("noted", f"{len(chosen)} queries instead of {queries}: the next query's judged products do not fit into {products}")
    return _cut(dataset, chosen, drawn, report)


def _keep_judged(dataset: Dataset, query_order: np.ndarray, product_order: np.ndarray, limit: int) -> tuple[set, set]:
    """Queries in order while their judged products fit, and these products filled up to the limit.

    A judged product that is not in the products table cannot be kept and takes no room.
    """
    there = dataset.judgments["product_id"].isin(dataset.products["product_id"])
    judged = dataset.judgments[there & dataset.judgments["query_id"].isin(query_order)].groupby("query_id", sort=False)["product_id"].agg(list)
    chosen: set = set()
    drawn: set = set()
    for query in query_order:
        new = set(judged.get(query, ())) - drawn
        if len(drawn) + len(new) > limit:
            break
        chosen.add(query)
        drawn |= new
    for product in product_order:
        if len(drawn) >= limit:
            break
        drawn.add(product)
    return chosen, drawn


def _cut(dataset: Dataset, chosen: set, drawn: set, report: ReadReport) -> Dataset:
    """The dataset's rows of the chosen queries and drawn products, with the losses counted."""
    judgments = dataset.judgments
    of_query = judgments["query_id"].isin(chosen)
    kept = of_query & judgments["product_id"].isin(drawn)
    report.read, report.kept = len(judgments), int(kept.sum())
    lost = int((of_query & ~kept).sum())
    if (~of_query).any():
        report.note("set_aside", "query not drawn", count=int((~of_query).sum()))
    if lost:
        report.note("set_aside", "label lost: query drawn, product not", count=lost)
    share = lost / max(int(of_query.sum()), 1)
    report.note("noted", f"{share:.1%} of the drawn queries' {int(of_query.sum())} judgments are lost", count=lost)
    left = judgments[kept]
    for reason, rows in (("drawn queries without any judgment left", left),
                         (f"drawn queries without a relevant product left (grade >= {RELEVANT_GRADE:g})",
                          left[left["grade"] >= RELEVANT_GRADE])):
        report.note("noted", reason, count=len(chosen) - rows["query_id"].nunique())
    return Dataset(dataset.products[dataset.products["product_id"].isin(drawn)].reset_index(drop=True),
                   dataset.queries[dataset.queries["query_id"].isin(chosen)].reset_index(drop=True),
                   left.reset_index(drop=True), report.check())
