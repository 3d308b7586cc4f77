"""A recorded run: the same queries on the same Elasticsearch index, before and after restarts of the server."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

NAME = "elasticsearch_restarts.json"


@dataclass(frozen=True)
class RestartRecord:
    """What one Elasticsearch answered after each of several starts, its data untouched in between.

    Attributes
    ----------
    queries : DataFrame
        query_id, query, flagged (the embedded engine says that Elasticsearch does not score it reproducibly).
    rankings : DataFrame
        start (from 1), query_id, rank, product_id, score: the top 10.
    config : dict
        Fields with weights, and fuzziness, of all searches.
    about : str
        Server version, index, how it was recorded.
    """

    queries: pd.DataFrame
    rankings: pd.DataFrame
    config: dict
    about: str

    @property
    def starts(self) -> int:
        """Number of starts."""
        return int(self.rankings["start"].max())

    def changes(self) -> pd.DataFrame:
        """One row a query: query_id, query, flagged, different_scores, different_orders, largest_score_ratio.

        ``different_scores`` and ``different_orders`` count different top-10 score lists and product orders
        over the starts (1 = never changed); ``largest_score_ratio`` is the largest ratio of two scores
        that one product got.
        """
        rows = []
        for query_id, part in self.rankings.groupby("query_id", sort=False):
            lists = [(tuple(one["product_id"]), tuple(one["score"])) for _, one in part.groupby("start")]
            spread = part.groupby("product_id")["score"].agg(["min", "max"])
            rows.append((query_id, len({scores for _, scores in lists}), len({ids for ids, _ in lists}),
                         float((spread["max"] / spread["min"]).max())))
        table = pd.DataFrame(rows, columns=["query_id", "different_scores", "different_orders", "largest_score_ratio"])
        return self.queries.merge(table, on="query_id", validate="one_to_one")

    def compare(self, query_id: str, start: int, other: int) -> pd.DataFrame:
        """Two starts side by side for one query: rank, then product_id and score of each."""
        sides = []
        for number in (start, other):
            chosen = self.rankings[(self.rankings["query_id"] == query_id) & (self.rankings["start"] == number)]
            if chosen.empty:
                raise ValueError(f"no recorded answer of {query_id!r} at start {number}; "
                                 f"there are starts 1 to {self.starts} of {self.queries['query_id'].tolist()}")
            sides.append(chosen.set_index("rank")[["product_id", "score"]].add_suffix(f"_start_{number}"))
        return pd.concat(sides, axis=1).reset_index()

    def to_frame(self) -> pd.DataFrame:
        """The table of :meth:`changes`."""
        return self.changes()

    def summary(self) -> str:
        """What changed, in words."""
        table = self.changes()
        parts = []
        for flagged, part in table.groupby("flagged", sort=False):
            parts.append(f"of {len(part)} {'flagged' if flagged else 'other'} queries, {int((part['different_scores'] > 1).sum())} "
                         f"changed scores and {int((part['different_orders'] > 1).sum())} changed their top 10")
        return f"{self.starts} starts of one server on one index: " + "; ".join(parts)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.changes().to_html(index=False)}"


def load_restart_record() -> RestartRecord:
    """The shipped record (made by ``scripts/record_restarts.py`` on a real server)."""
    content = json.loads(files("toolkit.datasets").joinpath("data", NAME).read_text(encoding="utf-8"))
    rows = [(start, query_id, rank, product_id, score)
            for query_id, starts in content["hits"].items() for start, hits in enumerate(starts, 1)
            for rank, (product_id, score) in enumerate(hits, 1)]
    rankings = pd.DataFrame(rows, columns=["start", "query_id", "rank", "product_id", "score"])
    return RestartRecord(pd.DataFrame(content["queries"]), rankings, content["config"], content["about"])
