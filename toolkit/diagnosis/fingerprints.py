"""Short fingerprints of what a result rests on: index, analyzer, judgments, configuration."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from toolkit.search.config import MultiMatch

ANALYZER = "standard tokenizer, lowercase, asciifolding"


def config_fingerprint(config: MultiMatch) -> str:
    """16 hex digits of everything the query body says (the order of fields plays no part)."""
    parts = (sorted(config.fields.items()), config.type, config.tie_breaker, config.operator, config.fuzziness,
             config.prefix_length, config.max_expansions)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def table_fingerprint(table: pd.DataFrame, columns: list[str]) -> str:
    """16 hex digits of some columns of a table; the order of rows plays no part."""
    rows = np.sort(pd.util.hash_pandas_object(table[columns], index=False).to_numpy())
    return hashlib.sha256(rows.tobytes()).hexdigest()[:16]


def source_fingerprint(source: object) -> dict[str, str]:
    """``{"index": …, "analyzer": …}`` of an engine, or of field lists."""
    table = source if isinstance(source, pd.DataFrame) else getattr(source, "table", None)
    index = getattr(source, "fingerprint", None)
    if index is None and isinstance(table, pd.DataFrame):
        index = f"lists {table_fingerprint(table, ['query_id', 'product_id', 'field', 'score'])}"
    return {"index": str(index if index is not None else source), "analyzer": ANALYZER}
