"""Which changes of a configuration leave every ranking as it is: derived, then shown on data.

A document's score is ``max + tie * (sum of the other fields)`` over ``w_f * s_f``. Multiplying all
weights by one positive number multiplies every score by it, for every tie and both types, so only
ratios of weights matter. What float32 makes of that is another matter: a power of two shifts
exponents and keeps every bit, any other factor rounds anew after each term.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pandas as pd

from toolkit.search.config import MultiMatch
from toolkit.search.protocol import SearchEngine

SAME, ROUNDING, CHANGES = "same to the last bit", "same but for rounding", "may change"


def canonical(config: MultiMatch) -> MultiMatch:
    """One representative of all configurations that rank alike by construction.

    * weights become ratios to the largest one (12 significant digits); field order is dropped
    * type and tie_breaker become the tie in force; with at most one field of weight > 0 there is
      nothing to break, so the tie is dropped
    * a weight of 0 stays 0: the field still matches, leaving it out would lose results
    * without fuzziness, prefix_length and max_expansions mean nothing and take their defaults

    Two configurations with the same canonical form have the same rankings in real arithmetic.
    """
    largest = max(config.fields.values())
    scale = largest or 1.0
    fields = {name: float(f"{config.fields[name] / scale:.12g}") for name in sorted(config.fields)}
    weighed = sum(weight > 0 for weight in fields.values())
    tie = config.tie if weighed > 1 and config.tie else None
    loose = {} if config.fuzziness == "AUTO" else {"prefix_length": 0, "max_expansions": 50}
    return replace(config, fields=fields, type="best_fields", tie_breaker=tie, **loose)


class HasRankingPrints(Protocol):
    """A result that knows which configurations ranked alike, for example a sweep."""

    configs: tuple[MultiMatch, ...]
    ranking_prints: np.ndarray


@dataclass(frozen=True)
class EquivalenceClasses:
    """Configurations grouped by equal rankings.

    Attributes
    ----------
    table : DataFrame
        One row a configuration: index, configuration, class_id (in order of first appearance), class_size.
    by : str
        What made two configurations equal.
    """

    table: pd.DataFrame
    by: str

    @property
    def count(self) -> int:
        """Number of different rankings."""
        return int(self.table["class_id"].nunique())

    def to_frame(self) -> pd.DataFrame:
        """One row a configuration."""
        return self.table

    def classes(self) -> pd.DataFrame:
        """One row a class, largest first: class_id, size, first configuration."""
        grouped = self.table.groupby("class_id", sort=False)
        return pd.DataFrame({"size": grouped.size(), "first": grouped["configuration"].first()}).reset_index().sort_values(
            ["size", "class_id"], ascending=[False, True], ignore_index=True)

    def summary(self) -> str:
        """How many are different."""
        return f"{len(self.table)} configurations are {self.count} different rankings ({self.by})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.classes().head(10).to_html(index=False)}"


def equivalence_classes(source: Iterable[MultiMatch] | Mapping[str, pd.DataFrame] | HasRankingPrints) -> EquivalenceClasses:
    """Group configurations that rank alike.

    Parameters
    ----------
    source : iterable of MultiMatch, mapping of str to DataFrame, or Sweep
        Configurations are grouped by :func:`canonical` (what must be equal on any data);
        a mapping of names to rankings tables, or a sweep, by their actual rankings on its queries.
    """
    if isinstance(source, Mapping):
        keys = [_ranking_key(frame) for frame in source.values()]
        return _grouped([str(name) for name in source], keys, "identical rankings")
    if hasattr(source, "ranking_prints"):
        prints = source.ranking_prints
        return _grouped([str(config) for config in source.configs], [row.tobytes() for row in prints],
                        f"identical top results of all {prints.shape[1]} queries")
    configs = list(source)
    return _grouped([str(config) for config in configs], [canonical(config) for config in configs], "same canonical form")


def _ranking_key(frame: pd.DataFrame) -> bytes:
    ordered = frame.sort_values(["query_id", "rank"], kind="stable")
    return pd.util.hash_pandas_object(ordered[["query_id", "product_id"]], index=False).to_numpy().tobytes()


def _grouped(names: list[str], keys: list, by: str) -> EquivalenceClasses:
    first: dict = {}
    number = [first.setdefault(key, len(first)) for key in keys]
    table = pd.DataFrame({"index": range(len(names)), "configuration": pd.Series(names, dtype="str"), "class_id": number})
    table["class_size"] = table.groupby("class_id")["class_id"].transform("size")
    return EquivalenceClasses(table, by)


@dataclass(frozen=True)
class Invariances:
    """What changing a configuration does to rankings: the derivation, and the data.

    Attributes
    ----------
    table : DataFrame
        change, configuration, derived (same to the last bit / same but for rounding / may change),
        why; with data also queries (compared), rankings_changed, scores_off (queries in which a
        score is not exactly the factor times the old one; null where that is no claim).
    config : MultiMatch
    depth : int or None
    """

    table: pd.DataFrame
    config: MultiMatch
    depth: int | None

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def summary(self) -> str:
        """What holds, and where rounding showed."""
        kept = self.table[self.table["derived"] != CHANGES]["change"]
        text = f"Rankings of {self.config} are kept by: {', '.join(kept)}."
        if self.depth is None:
            return text
        broken = self.table[(self.table["derived"] == ROUNDING) & (self.table["rankings_changed"] > 0)]
        seen = "; ".join(f"{row.change}: {row.rankings_changed} of {row.queries} queries" for row in broken.itertuples())
        return text + (f" Rounding reorders near ties within the top {self.depth} in {seen}." if seen else
                       f" No query's top {self.depth} was reordered by rounding.")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.table.drop(columns='configuration').to_html(index=False)}"


def invariances(config: MultiMatch, engine: SearchEngine | None = None, queries: pd.DataFrame | None = None, *,
                depth: int = 10) -> Invariances:
    """Derive what leaves the rankings of a configuration unchanged; with an engine, show it.

    Parameters
    ----------
    config : MultiMatch
    engine : SearchEngine, optional
        Embedded or Elasticsearch.
    queries : DataFrame, optional
        query_id, query; needed with an engine.
    depth : int
        Top results compared.
    """
    if (engine is None) != (queries is None):
        raise ValueError("invariances: give both an engine and queries, or neither")
    rows = [{"change": change, "configuration": new, "derived": derived, "why": why, "factor": factor}
            for change, new, derived, why, factor in _changes(config)]
    table = pd.DataFrame(rows)
    if engine is not None:
        before = engine.run(queries, config, depth)
        seen = [_compare(before, engine.run(queries, new, depth), factor) for new, factor in zip(table["configuration"], table["factor"])]
        table = pd.concat([table, pd.DataFrame(seen)], axis=1)
    return Invariances(table.drop(columns="factor"), config, depth if engine is not None else None)


def _changes(config: MultiMatch):
    """(change, new configuration, derived effect, why, factor of the scores or null)."""
    names = list(config.fields)
    weighed = [name for name in names if config.fields[name] > 0]
    tie_matters = len(weighed) > 1
    for label, factor in (("all weights × 2", 2.0), ("all weights × 2.5", 2.5), ("all weights ÷ 3", 1 / 3)):
        inlined = config.tie == 1 and any(w in (1.0, factor * w) or factor * w == 1 for w in config.fields.values())
        exact = factor == 2.0 and not inlined
        why = ("every score is multiplied by the factor; a power of two only shifts exponents" if exact else
               "every score is multiplied by the factor in real arithmetic; float32 rounds anew after each term")
        if inlined:
            why += "; with tie 1, a field of weight exactly 1 is summed without its own rounding"
        yield label, replace(config, fields={n: w * factor for n, w in config.fields.items()}), SAME if exact else ROUNDING, why, factor
    yield ("fields in another order", replace(config, fields=dict(reversed(config.fields.items()))), SAME,
           "maximum and sum do not depend on the order of fields", 1.0)
    other = "most_fields" if config.type == "best_fields" else "best_fields"
    yield (f"type {other}, same tie", replace(config, type=other, tie_breaker=config.tie), SAME,
           "the type only sets the default tie_breaker", 1.0)
    tie = 0.3 if config.tie != 0.3 else 0.6
    yield (f"tie_breaker {tie:g}", replace(config, tie_breaker=tie), CHANGES if tie_matters else SAME,
           "other fields now add to the best one" if tie_matters else "no second field has a score to add", np.nan if tie_matters else 1.0)
    yield (f"type {other}, its own tie", replace(config, type=other, tie_breaker=None), CHANGES if tie_matters else SAME,
           "its default tie_breaker is another one" if tie_matters else "no second field has a score to add", np.nan if tie_matters else 1.0)
    yield from _field_changes(config, weighed)


def _field_changes(config: MultiMatch, weighed: list[str]):
    """Zero, removal and fuzziness."""
    if len(weighed) > 1:
        last = min(weighed, key=config.fields.__getitem__)
        rest = {name: weight for name, weight in config.fields.items() if name != last}
        yield (f"{last} × 0.5", replace(config, fields={**config.fields, last: config.fields[last] / 2}), CHANGES,
               "a ratio of weights changes", np.nan)
        yield (f"{last} = 0", replace(config, fields={**config.fields, last: 0.0}), CHANGES,
               "the same documents match, but what only this field finds goes to the end with score 0", np.nan)
        yield f"{last} left out", replace(config, fields=rest), CHANGES, "what only this field finds is lost", np.nan
    if config.fuzziness == "AUTO":
        yield "fuzziness 0", replace(config, fuzziness=0), CHANGES, "misspelt and neighbouring terms no longer match", np.nan
    else:
        yield ("prefix_length 2, max_expansions 10", replace(config, prefix_length=2, max_expansions=10), SAME,
               "without fuzziness nothing is expanded", 1.0)
        yield "fuzziness AUTO", replace(config, fuzziness="AUTO"), CHANGES, "neighbouring terms match as well", np.nan


def _compare(before, after, factor: float) -> dict[str, object]:
    """Queries whose top results differ, and whose scores are not exactly ``factor`` times the old ones."""
    queries = before.status["query_id"]
    old, new = (dict(list(run.rankings.groupby("query_id", sort=False))) for run in (before, after))
    changed = off = 0
    for query in queries:
        one, two = old.get(query), new.get(query)
        same = (one is None and two is None) or (one is not None and two is not None and
                                                  one["product_id"].tolist() == two["product_id"].tolist())
        changed += not same
        off += bool(same and one is not None and not np.array_equal(one["score"].to_numpy() * factor, two["score"].to_numpy()))
    return {"queries": len(queries), "rankings_changed": changed, "scores_off": off if np.isfinite(factor) else None}
