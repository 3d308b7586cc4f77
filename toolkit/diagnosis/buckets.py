"""The rank buckets of failing queries: names, meanings, and the rule that fills them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from toolkit.diagnosis.shares import share_table

NOT_RETRIEVED = "not retrieved"
NOT_RETRIEVED_OR_INDEXED = "not retrieved or not indexed"
NOT_INDEXED = "no relevant product indexed"
NO_ANSWER = "no answer recorded"
REQUEST_FAILED = "request failed"
MEANINGS = {
    NOT_RETRIEVED: "no relevant product matches the query at all: only another query (rewrite, synonyms) can help",
    NOT_RETRIEVED_OR_INDEXED: "no relevant product was returned; whether one is indexed is not known (pass products=)",
    NOT_INDEXED: "every product judged relevant is absent from the index: no search can help",
    NO_ANSWER: "the rankings do not hold the query: zero results, a failed request or never searched (pass a run or status=)",
    REQUEST_FAILED: "the search gave no answer: an operational failure, not one of relevance",
}


def bucket_names(depths: Sequence[int]) -> list[str]:
    """Names of the rank buckets, for example ``11-50``, ``51-200``, ``beyond 200``."""
    return [f"{low + 1}-{high}" for low, high in zip(depths, depths[1:], strict=False)] + [f"beyond {depths[-1]}"]


def bucket_of(row: tuple, depths: tuple[int, ...], asked: int) -> str | None:
    """Bucket of one query; a list that was cut leaves open what lies below it."""
    if row.state == "failed":
        return REQUEST_FAILED
    if not row.failing:
        return None
    if not pd.isna(row.first_rank):
        return bucket_names(depths)[int(np.searchsorted(depths, row.first_rank)) - 1]
    unknown_index = pd.isna(row.relevant_indexed)
    if not unknown_index and row.relevant_indexed == 0:
        return NOT_INDEXED
    if row.state == "missing":
        return NO_ANSWER
    if row.returned < asked:  # the list ended by itself: whatever matches is in it
        return NOT_RETRIEVED_OR_INDEXED if unknown_index else NOT_RETRIEVED
    return f"beyond {min(asked, depths[-1])} or {NOT_RETRIEVED_OR_INDEXED if unknown_index else NOT_RETRIEVED}"


def bucket_shares(table: pd.DataFrame, depths: tuple[int, ...]) -> pd.DataFrame:
    """Counts and shares of the buckets, in order of depth; buckets of open questions only where they occur."""
    found = table["bucket"].value_counts()
    ends = [NOT_RETRIEVED, NOT_INDEXED, REQUEST_FAILED]
    open_ones = [name for name in found.index if name not in (*bucket_names(depths), *ends)]
    order = [*bucket_names(depths), *sorted(open_ones), *ends]
    shares = share_table({name: int(found.get(name, 0)) for name in order}, int(found.sum())).rename(columns={"name": "bucket"})
    shares["meaning"] = [_meaning(name) for name in order]
    return shares.astype({"meaning": "str"})


def _meaning(bucket: str) -> str:
    """What a bucket means for what could help."""
    if bucket in MEANINGS:
        return MEANINGS[bucket]
    if " or " in bucket:
        return "the lists were cut here: search deeper to tell these apart"
    if bucket.startswith("beyond"):
        return "a relevant product matches but stands deeper than a reranker reads: another query or other weights"
    return f"a reranker that reads the top {bucket.split('-')[1]} can lift a relevant product into view"
