"""Train and holdout queries by hash: the same split on any machine, in any file order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

LAB_SEED = 20260816


@dataclass(frozen=True)
class Split:
    """Two disjoint sets of queries.

    Attributes
    ----------
    train, holdout : tuple of str
        Query ids in natural order.
    seed : int
    """

    train: tuple[str, ...]
    holdout: tuple[str, ...]
    seed: int

    @property
    def fingerprints(self) -> dict[str, str]:
        """SHA-256 of each side's ids; equal on two machines exactly if the sets are equal."""
        return {"train": fingerprint(self.train), "holdout": fingerprint(self.holdout)}

    def to_frame(self) -> pd.DataFrame:
        """query_id, side."""
        return pd.DataFrame({"query_id": [*self.train, *self.holdout], "side": ["train"] * len(self.train) + ["holdout"] * len(self.holdout)})

    def summary(self) -> str:
        """The split in a sentence."""
        prints = self.fingerprints
        return (f"{len(self.train)} train (ids {prints['train'][:12]}…) and {len(self.holdout)} holdout queries (ids {prints['holdout'][:12]}…), "
                f"by SHA-256 of '{self.seed}|query_id'")

    def _repr_html_(self) -> str:
        return f"<p>{self.summary()}</p>"


def split(query_ids: Iterable[str], *, seed: int = LAB_SEED, train: float | int = 0.7, total: int | None = None) -> Split:
    """Split queries by the SHA-256 of ``"{seed}|{query_id}"``.

    Parameters
    ----------
    query_ids : iterable of str
        Distinct query ids; their order does not matter.
    seed : int
    train : float or int
        Share (below 1) or number of train queries.
    total : int, optional
        Use only this many queries, the first by hash.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        Repeated or non-string ids, or sizes that do not fit.
    """
    ids = list(query_ids)
    strange = next((q for q in ids if not isinstance(q, str)), None)
    if strange is not None:
        raise ValueError(f"split: query id {strange!r} is {type(strange).__name__}; expected str, for example str(query_id)")
    if len(set(ids)) < len(ids):
        raise ValueError(f"split: {len(ids) - len(set(ids))} query ids are repeated; give each once, for example judgments['query_id'].unique()")
    chosen = sorted(ids, key=lambda q: (hashlib.sha256(f"{seed}|{q}".encode()).hexdigest(), natural_key(q)))[:total]
    n_train = round(train * len(chosen)) if isinstance(train, float) else train
    if total is not None and total > len(ids) or not 0 < n_train < len(chosen):
        raise ValueError(f"split: {len(ids)} queries cannot give total={total} with train={train}; both sides need at least one query")
    return Split(tuple(natural_order(chosen[:n_train])), tuple(natural_order(chosen[n_train:])), seed)


def natural_key(query_id: str) -> tuple[bool, int, str]:
    """Sort key: whole numbers by value first, then the rest as text."""
    number = query_id.isascii() and query_id.isdecimal()
    return (not number, int(query_id) if number else 0, query_id)


def natural_order(query_ids: Iterable[str]) -> list[str]:
    """Ids in natural order, the order used before any resampling (file order would change its digits)."""
    return sorted(query_ids, key=natural_key)


def fingerprint(query_ids: Iterable[str]) -> str:
    """SHA-256 of the ids in natural order, joined by commas."""
    return hashlib.sha256(",".join(natural_order(query_ids)).encode()).hexdigest()
