"""From queries to search bodies, and from answers to a SearchRun: the part without a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from toolkit.search.config import MultiMatch
from toolkit.search.elasticsearch_failures import Failure
from toolkit.search.protocol import SearchRun

Hits = tuple[list[str], np.ndarray, int | None]
"""Product ids in order, their float32 scores, and the total number of hits (None where not counted)."""


def search_body(query: dict, depth: int, id_field: str, exact_totals: bool = False) -> dict:
    """Body of one search: best score first, then product id; no documents, only the sort values.

    Ties are broken by the UTF-8 bytes of the id, as in the embedded engine.
    """
    body = {"query": query, "size": depth, "sort": [{"_score": "desc"}, {id_field: "asc"}], "_source": False}
    return body | {"track_total_hits": True} if exact_totals else body


def read_hits(answer: dict) -> Hits | Failure:
    """Ids, scores and total of one answer of :func:`search_body`."""
    found = answer["hits"].get("hits", [])
    pairs = [hit["sort"] for hit in found]
    ids = [product_id for _, product_id in pairs]
    if None in ids:
        return Failure(f"document {found[ids.index(None)]['_id']!r} has no product id; give every document one, or another id_field")
    total = answer["hits"].get("total") or {}
    # A score is a float32 printed with just enough digits: reading it as float32 gives back every bit.
    return ids, np.array([score for score, _ in pairs], np.float32), total.get("value") if total.get("relation") == "eq" else None


def assemble(queries: pd.DataFrame, answers: Sequence[Hits | Failure], config: MultiMatch, depth: int, engine: str) -> SearchRun:
    """One SearchRun from one answer per query."""
    ids = queries["query_id"].reset_index(drop=True)
    hits = [([], np.empty(0, np.float32), None) if isinstance(answer, Failure) else answer for answer in answers]
    counts = [len(found) for found, _, _ in hits]
    rankings = pd.DataFrame({
        "query_id": ids.take(np.repeat(np.arange(len(ids)), counts)).reset_index(drop=True),
        "product_id": pd.array([product_id for found, _, _ in hits for product_id in found], dtype="str"),
        "rank": np.concatenate([np.arange(1, n + 1) for n in counts] or [np.empty(0, np.int64)]),
        "score": np.concatenate([scores for _, scores, _ in hits] or [np.empty(0, np.float32)]).astype(np.float64),
    })
    status = pd.DataFrame({
        "query_id": ids,
        "status": pd.array([_status(answer) for answer in answers], dtype="str"),
        "reason": pd.array([answer.reason if isinstance(answer, Failure) else None for answer in answers], dtype="str"),
        "total_hits": pd.array([total for _, _, total in hits], dtype="Int64"),
        # Only the embedded engine can tell: an answer does not show how its terms were merged.
        "irreproducible": pd.array([None] * len(ids), dtype="boolean"),
    })
    return SearchRun(rankings, status, config, depth, engine)


def _status(answer: Hits | Failure) -> str:
    if isinstance(answer, Failure):
        return "failed"
    return "ok" if answer[0] else "zero_results"


def earlier_answers(resume: SearchRun | None, queries: pd.DataFrame, config: MultiMatch, depth: int, engine: str,
                    unsent: Failure) -> list[Hits | Failure]:
    """Answers that an earlier run already has; ``unsent`` for the others.

    Raises
    ------
    ValueError
        If the earlier run is of another configuration, depth or state of the index.
    """
    if resume is None:
        return [unsent] * len(queries)
    if (resume.config, resume.depth, resume.engine) != (config, depth, engine):
        raise ValueError(f"resume is a run of {resume.config} at depth {resume.depth} on {resume.engine}; "
                         f"expected {config} at depth {depth} on {engine}; start a new run without resume")
    status = resume.status.set_index("query_id")
    lists = dict(list(resume.rankings.groupby("query_id", sort=False)))
    empty = resume.rankings.iloc[:0]
    answers: list[Hits | Failure] = []
    for query_id in queries["query_id"]:
        if query_id not in status.index or status.at[query_id, "status"] == "failed":
            answers.append(unsent)
            continue
        found, total = lists.get(query_id, empty), status.at[query_id, "total_hits"]
        answers.append((found["product_id"].tolist(), found["score"].to_numpy(np.float32), None if pd.isna(total) else int(total)))
    return answers
