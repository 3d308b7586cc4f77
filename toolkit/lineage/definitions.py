"""Declared definitions: what counts as active use, as a goal, as a good retrieval.

Each is one object whose text is printed with every number that depends on it. The published
effective-action rate of one product runs from 7.6 % to 40.5 % by this definition alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

USER, AGENT = "user", "agent"
GOAL_ACTIONS = ("export", "share", "download")
REJECT, CORRECT = "reject_result", "correct_output"
# From the narrowest reading of "use" to the widest; each step adds one kind of action.
USE_LADDER = ("export", "share", "download", "place", "edit", "select", "follow_up")


def action_names(given: Iterable[str], where: str) -> tuple[str, ...]:
    """The names as a tuple; a single text would silently be taken as its letters, and raises ValueError as an empty choice does."""
    names = () if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{where} {given!r}; expected one or more action names, for example ('select', 'export')")
    return names


def time_span(text: str, where: str) -> pd.Timedelta:
    """A length of time; raises ValueError saying what was expected."""
    try:
        return pd.Timedelta(text)
    except ValueError as error:
        raise ValueError(f"{where} {text!r}; expected a length of time, for example '30min' or '5s'") from error


@dataclass(frozen=True)
class ActiveUse:
    """Which user actions on a returned asset count as active use.

    Parameters
    ----------
    actions : tuple of str
        Action names that count.
    display : {"implied", "required"}
        ``implied``: a user who used an asset saw it, unless the log says that it was not displayed.
        ``required``: only where the log says that it was displayed.
    actor : {"logged", "implied"}
        ``implied``: an action without a logged actor is the user's (search logs from before there were agents).
    """

    actions: tuple[str, ...] = ("select", "edit", "place", "export", "share", "download")
    display: str = "implied"
    actor: str = "logged"

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", action_names(self.actions, "ActiveUse: actions"))
        if self.display not in ("implied", "required"):
            raise ValueError(f"ActiveUse: display {self.display!r}; expected 'implied' or 'required'")
        if self.actor not in ("logged", "implied"):
            raise ValueError(f"ActiveUse: actor {self.actor!r}; expected 'logged' or 'implied'")

    def __str__(self) -> str:
        shown = "displayed unless logged otherwise" if self.display == "implied" else "logged as displayed"
        actor = "" if self.actor == "logged" else "; an unlogged actor counts as the user"
        return f"active use = a user's {', '.join(self.actions)} on a returned asset, {shown}{actor}"


@dataclass(frozen=True)
class GoodRetrieval:
    """When Layer 1 calls a retrieval good: an asset of at least ``grade`` among the first ``k`` returned."""

    grade: float = 2.0
    k: int = 5

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"GoodRetrieval: k {self.k}; expected at least 1")

    def __str__(self) -> str:
        return f"good retrieval = an asset of grade >= {self.grade:g} among the first {self.k} returned"
