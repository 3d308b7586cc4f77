"""Shares of failing queries with their intervals."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd


def share_table(counts: Mapping[str, int], n: int | None = None, *, level: float = 0.95) -> pd.DataFrame:
    """Each count as a share of ``n``, with its Wilson score interval.

    Parameters
    ----------
    counts : mapping of str to int
        Name -> count.
    n : int, optional
        The denominator; default the sum of the counts.
    level : float
        Coverage of each interval (one at a time, not of all together).

    Returns
    -------
    DataFrame
        name, count, n, share, low, high; with n = 0 share, low and high are null.

    Raises
    ------
    ValueError
        For a negative count or one above n.

    Notes
    -----
    Source: Wilson 1927, JASA 22:209, as computed by ``scipy.stats.binomtest``. The queries are taken as a
    sample of the traffic; for the queries at hand the share itself is exact.
    """
    from scipy.stats import binomtest

    total = sum(counts.values()) if n is None else n
    wrong = {name: count for name, count in counts.items() if not 0 <= count <= total}
    if wrong:
        raise ValueError(f"share_table: counts {wrong} are not between 0 and n = {total}")
    rows = []
    for name, count in counts.items():
        interval = binomtest(count, total).proportion_ci(level, method="wilson") if total else (None, None)
        rows.append((name, count, total, count / total if total else None, *interval))
    table = pd.DataFrame(rows, columns=["name", "count", "n", "share", "low", "high"])
    return table.astype({"name": "str", "count": "int64", "n": "int64", "share": "float64", "low": "float64", "high": "float64"})
