"""Readers of the conformance files, kept apart from the toolkit's own readers on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest


def trec_qrels(path: Path) -> pd.DataFrame:
    """query, iteration, document, grade; '#' lines are comments."""
    rows = [line.split()[:4] for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    frame = pd.DataFrame(rows, columns=["query_id", "_", "product_id", "grade"])
    return frame.astype({"grade": float}).drop(columns="_")


def trec_run(path: Path) -> pd.DataFrame:
    """query, Q0, document, rank (ignored, as trec_eval does), score; words after the tag are ignored."""
    rows = [line.split()[:5] for line in path.read_text().splitlines() if line.strip()]
    frame = pd.DataFrame(rows, columns=["query_id", "_", "product_id", "rank", "score"])
    return frame.astype({"score": float}).drop(columns=["_", "rank"])


def in_trec_order(run: pd.DataFrame) -> pd.DataFrame:
    """Ranks under trec_eval's tie rule (score, then document id, both descending) instead of scores."""
    ordered = run.sort_values(["query_id", "score", "product_id"], ascending=[True, False, False])
    return ordered.assign(rank=ordered.groupby("query_id").cumcount() + 1).drop(columns="score")


def trec_out(path: Path) -> dict[tuple[str, str], float]:
    """(measure, query) -> printed value."""
    found = {}
    for line in path.read_text().splitlines():
        parts = line.split()
        if len(parts) == 3:
            try:
                found[parts[0], parts[1]] = float(parts[2])
            except ValueError:
                continue
    return found


def small_qrels(qrels: dict) -> pd.DataFrame:
    """{query: {product: grade}} or {query: [[product, grade], ...]} to a judgments table."""
    rows = [(q, p, float(g)) for q, docs in qrels.items() for p, g in (docs.items() if isinstance(docs, dict) else docs)]
    return pd.DataFrame(rows, columns=["query_id", "product_id", "grade"])


def small_run(run: dict) -> pd.DataFrame:
    """{query: {product: score}} or {query: [products in rank order]} to a rankings table."""
    first = next(iter(run.values()), {})
    if isinstance(first, dict):
        rows = [(q, p, float(s)) for q, docs in run.items() for p, s in docs.items()]
        return pd.DataFrame(rows, columns=["query_id", "product_id", "score"]).astype({"query_id": "str", "product_id": "str"})
    rows = [(q, p, i + 1) for q, docs in run.items() for i, p in enumerate(docs)]
    return pd.DataFrame(rows, columns=["query_id", "product_id", "rank"])


@pytest.fixture(scope="session")
def conformance(reference_data):
    """Paths and readers of the conformance data."""
    folder = reference_data / "conformance"
    return SimpleNamespace(
        folder=folder, qrels=trec_qrels, run=trec_run, in_trec_order=in_trec_order, out=trec_out, small_qrels=small_qrels, small_run=small_run,
        micro={case["id"]: case for case in json.loads((folder / "derived" / "micro_cases.json").read_text())},
        replays={case["issue"]: case for case in json.loads((folder / "derived" / "issue_replays.json").read_text())},
        stats={case["id"]: case for case in json.loads((folder / "derived" / "stats_cases.json").read_text())},
        precise=json.loads((folder / "derived" / "expected_full_precision.json").read_text()))
