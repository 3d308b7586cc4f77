"""What every engine asks of the queries it is given."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolkit.search.config import MultiMatch
from toolkit.tables import QUERIES, TableError, check


def check_config(config: MultiMatch) -> None:
    """Raise a TypeError for anything but a ``MultiMatch``."""
    if not isinstance(config, MultiMatch):
        raise TypeError(f"config is {type(config).__name__} {str(config)[:60]}; expected a MultiMatch, for example MultiMatch({{'title': 4, 'brand': 2}})")


def check_queries(queries: pd.DataFrame, depth: int = 1) -> pd.DataFrame:
    """Check a queries table and a depth before a search.

    Raises
    ------
    TableError
        For null or repeated query ids, or a query that is not text, naming the row.
    ValueError
        For a depth that is no integer of at least 1.
    """
    check(queries, QUERIES, source="queries")
    repeated = queries["query_id"].duplicated().to_numpy()
    if repeated.any():
        row = int(repeated.argmax())
        raise TableError(f"queries row {row}: query_id {queries['query_id'].iloc[row]!r} occurs more than once; keep one row a query")
    for row, text in enumerate(queries["query"]):
        if not isinstance(text, str):
            raise TableError(f"queries row {row}: query is {text!r}; expected text (an empty string finds nothing)")
    if isinstance(depth, bool) or not isinstance(depth, (int, np.integer)) or depth < 1:
        raise ValueError(f"depth is {depth!r}; expected an integer of at least 1")
    return queries
