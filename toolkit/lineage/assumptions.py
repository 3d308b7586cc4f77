"""Named assumptions that tighten bounds. Each prints what it claims; none is used silently.

An assumption object has ``allows(log, pair_action, pair_row)`` (which pairs of an action without a logged
source and a retrieval stay possible), or one of the marks ``display_implied``, ``source_trusted``,
``null_actor_is_user``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.candidates import compatible
from toolkit.lineage.definitions import time_span
from toolkit.lineage.tables import Log, column


@dataclass(frozen=True)
class SameUser:
    """An asset is used by the user for whom it was retrieved."""

    def allows(self, log: Log, pair_action: np.ndarray, pair_row: np.ndarray) -> np.ndarray:
        """Pairs of one user, or of a user not logged."""
        return compatible(log, "user_id", pair_action, pair_row)

    def __str__(self) -> str:
        return "an asset is used by the user for whom it was retrieved"


@dataclass(frozen=True)
class SameSession:
    """An asset is used in the session of its retrieval: wrong wherever people come back later."""

    def allows(self, log: Log, pair_action: np.ndarray, pair_row: np.ndarray) -> np.ndarray:
        """Pairs of one session, or of a session not logged."""
        return compatible(log, "session_id", pair_action, pair_row)

    def __str__(self) -> str:
        return "an asset is used in the session in which it was retrieved"


@dataclass(frozen=True)
class NotBefore:
    """A use does not precede its retrieval by more than the clocks differ.

    Parameters
    ----------
    tolerance : str
        Largest difference of the clocks, a pandas Timedelta text.
    """

    tolerance: str = "0s"

    def __post_init__(self) -> None:
        time_span(self.tolerance, "NotBefore: tolerance")

    def allows(self, log: Log, pair_action: np.ndarray, pair_row: np.ndarray) -> np.ndarray:
        """Pairs in order of time, or with a time that is not logged."""
        ran = pd.to_datetime(column(log.retrievals, "time"), utc=True).to_numpy(dtype="datetime64[ns]")
        used = pd.to_datetime(column(log.actions, "time"), utc=True).to_numpy(dtype="datetime64[ns]")
        slack = pd.Timedelta(self.tolerance).to_timedelta64()
        left, right = ran[pair_row], used[pair_action] + slack
        return np.isnat(left) | np.isnat(right) | (left <= right)

    def __str__(self) -> str:
        return f"a use does not precede its retrieval by more than {self.tolerance}"


@dataclass(frozen=True)
class UseImpliesDisplay:
    """A user who used an asset had seen it."""

    display_implied: bool = True

    def __str__(self) -> str:
        return "a user who used an asset had seen it"


@dataclass(frozen=True)
class TrustSource:
    """A logged source did return the asset, also where its list is not logged."""

    source_trusted: bool = True

    def __str__(self) -> str:
        return "a logged source did return the asset"


@dataclass(frozen=True)
class NullActorIsUser:
    """An action without a logged actor is the user's."""

    null_actor_is_user: bool = True

    def __str__(self) -> str:
        return "an action without a logged actor is the user's"


MARKS = ("allows", "display_implied", "source_trusted", "null_actor_is_user")


def checked(assumptions: Sequence) -> tuple:
    """The assumptions as a tuple; raises TypeError for what is none (a name would be printed as assumed, and assume nothing)."""
    items = tuple(assumptions) if isinstance(assumptions, Sequence) and not isinstance(assumptions, str) else (assumptions,)
    for item in items:
        if isinstance(item, type) or not any(hasattr(item, mark) for mark in MARKS):
            raise TypeError(f"bounds: assumption {item!r}; expected objects of toolkit.lineage.assumptions, for example [SameUser(), NotBefore('5s')]")
    return items
