"""Lineage of placed assets: a later action on a placed copy has the source that was written at placement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolkit.lineage.results import card
from toolkit.lineage.tables import column
from toolkit.tables import ACTIONS, check

PLACE = "place"
PROBLEMS = {
    "broken chain": "an action on a placed copy whose placement is not in the log, or was logged without a source",
    "cycle": "a chain of copies of copies that comes back to itself",
    "overwrite": "an action logged with a source other than its placement's; the logged one is kept",
}


@dataclass(frozen=True)
class Inherited:
    """Actions with inherited sources, and what could not be inherited.

    Attributes
    ----------
    table : DataFrame
        The actions; ``source_retrieval_id`` filled where a placement gives it.
    problems : DataFrame
        action_id, problem, placed_id, logged, inherited.
    filled : int
    """

    table: pd.DataFrame
    problems: pd.DataFrame
    filled: int

    def to_frame(self) -> pd.DataFrame:
        """The actions."""
        return self.table

    def summary(self) -> str:
        """Counts in words."""
        counts = self.problems["problem"].value_counts()
        return f"{self.filled} sources inherited from placements; " + ", ".join(f"{int(counts.get(name, 0))} {name}s" for name in PROBLEMS)

    def _repr_html_(self) -> str:
        return card("Inherited sources", self.summary(), self.problems)


def inherit_sources(actions: pd.DataFrame) -> Inherited:
    """Fill the source of actions on placed copies from the placement.

    Parameters
    ----------
    actions : DataFrame
        Actions with ``placed_id``: a ``place`` action creates the copy of that id; a copy of a copy is a ``place`` action whose
        ``consumed_asset_id`` is the earlier copy's placed_id. Later actions carry the placed_id they act on.

    Returns
    -------
    Inherited
        A logged source is never overwritten; every broken chain, cycle and overwrite is listed.
    """
    check(actions, ACTIONS)
    placed = column(actions, "placed_id")
    source = column(actions, "source_retrieval_id").astype(object)
    origin, cyclic = _origins(actions, placed, source)
    known = placed.notna().to_numpy()
    inherited = placed.map(origin).astype(object)
    inherited[inherited.isna()] = None
    has, gives = source.notna().to_numpy(), inherited.notna().to_numpy()
    cycle = known & placed.isin(cyclic).to_numpy()
    fill = known & ~has & gives
    problem = np.select([cycle, known & ~has & ~gives, known & has & gives & (source != inherited).to_numpy()],
                        ["cycle", "broken chain", "overwrite"], default=None)
    table = actions.copy()
    table["source_retrieval_id"] = source.where(~fill, inherited).astype("str")
    rows = pd.DataFrame({"action_id": actions["action_id"], "problem": problem, "placed_id": placed, "logged": source, "inherited": inherited})
    return Inherited(table, rows[rows["problem"].notna()].reset_index(drop=True), int(fill.sum()))


def _origins(actions: pd.DataFrame, placed: pd.Series, source: pd.Series) -> tuple[dict[str, str], set[str]]:
    """Source of each placed copy, followed through copies of copies; and the copies on a cycle."""
    is_place = ((actions["action"] == PLACE) & placed.notna()).to_numpy()
    first = pd.DataFrame({"id": placed[is_place], "source": source[is_place], "of": column(actions, "consumed_asset_id")[is_place]}).drop_duplicates("id")
    own = {row.id: row.source for row in first.itertuples() if isinstance(row.source, str)}
    parent = {row.id: row.of for row in first.itertuples() if isinstance(row.of, str)}
    origin: dict[str, str] = {}
    cyclic: set[str] = set()
    for start in first["id"]:
        path, node = [], start
        while node not in own and node in parent and node not in path:
            path.append(node)
            node = parent[node]
        if node in path:
            cyclic.update(path[path.index(node):])
        elif node in own:
            origin.update(dict.fromkeys([*path, node], own[node]))
    return origin, cyclic
