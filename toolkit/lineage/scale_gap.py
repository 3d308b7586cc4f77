"""The attribution gap of logs larger than memory: the counts of :func:`toolkit.lineage.attribution_gap`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from toolkit.lineage.attribution import RULES
from toolkit.lineage.definitions import GOAL_ACTIONS
from toolkit.lineage.gap import LINEAGE_ONLY, RULE_ONLY
from toolkit.lineage.results import card, percent
from toolkit.lineage.scale import in_list, prepare, statement
from toolkit.lineage.scale_checks import look_at
from toolkit.lineage.scale_measures import Engine
from toolkit.lineage.scale_sources import SCHEMAS, find_tables
from toolkit.lineage.users import credit_touches, run_by_user


@dataclass(frozen=True)
class GapCounts:
    """Success per retrieval by a session rule and by lineage.

    Attributes
    ----------
    table : DataFrame
        cause, side, retrievals, share, meaning, as in :class:`toolkit.lineage.gap.AttributionGap`.
    rule_rate, lineage_rate : float
    n : int
        Retrievals.
    abandoned, repeated : int
        Sessions that look abandoned although their assets were used later; outcomes whose asset several retrievals had returned.
    rule : str
    outcomes : tuple of str
    """

    table: pd.DataFrame
    rule_rate: float
    lineage_rate: float
    n: int
    abandoned: int
    repeated: int
    rule: str
    outcomes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """The decomposition."""
        return self.table

    def summary(self) -> str:
        """The gap in words."""
        return (f"Of {self.n:,} retrievals, {percent(self.rule_rate)} succeed by {self.rule} ({RULES[self.rule]}) and {percent(self.lineage_rate)} by "
                f"lineage; outcome = {', '.join(self.outcomes)}.")

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return card("Attribution gap", self.summary(), self.table)


def count_gap(source: str | Path | Mapping[str, str | Path], rule: str = "any_touch", *, outcomes: Sequence[str] = GOAL_ACTIONS, window: str = "30min",
              memory_limit: str = "2GB", threads: int | None = None, temp_directory: str | Path | None = None, progress: bool = True) -> GapCounts:
    """Compare a session rule with lineage in DuckDB, out of core.

    Parameters
    ----------
    source, memory_limit, threads, temp_directory, progress
        As for :func:`toolkit.lineage.scale.count_log`.
    rule, outcomes, window
        As for :func:`toolkit.lineage.attribution_gap`; credits of first and last touch and of the time window are made by
        :func:`toolkit.lineage.users.credit_touches` over whole users.
    """
    from toolkit.lineage.scale_duckdb import DuckDBEngine

    with DuckDBEngine(memory_limit=memory_limit, threads=threads, temp_directory=temp_directory) as engine:
        paths = find_tables(source)
        for name in SCHEMAS:
            engine.load(name, paths.get(name))
        prepare(engine, set(paths))
        look_at(engine, set(paths))
        return gap_of_views(engine, rule, outcomes, window, partial(_credit, engine, progress=progress))


def gap_of_views(engine: Engine, rule: str, outcomes: Sequence[str], window: str, credit: Callable[[str, Callable], None]) -> GapCounts:
    """The gap from the views of an engine.

    Parameters
    ----------
    credit : callable
        Given the SELECT of an owner's touches and a step of :mod:`toolkit.lineage.users`, makes the engine's table ``credits``.
    """
    if rule not in RULES or rule == "lineage":
        raise ValueError(f"count_gap: rule {rule!r}; expected one of {sorted(set(RULES) - {'lineage'})}")
    engine.define("outcomes", statement("outcomes", {"outcomes": in_list(outcomes)}))
    users = engine.frame("SELECT count(r.user_id) AS theirs FROM retrievals r")["theirs"].iloc[0]
    done = engine.frame("SELECT count(user_id) AS theirs FROM outcomes")["theirs"].iloc[0]
    if rule == "any_touch":
        engine.view("credits", statement("session_credits", {}))
    else:
        owner = "user_id" if rule == "time_window" and users and done else "session_id"
        step = partial(credit_touches, rule=rule, window_ms=int(pd.Timedelta(window).total_seconds() * 1000))
        credit(statement("touches", {"owner": owner}), step)
    for name in ("supplied", "ruled"):
        engine.define(name, statement(name, {}))
    causes = engine.frame(statement("gap", {})).set_index("cause")["retrievals"].astype("int64")
    abandoned = int(engine.frame(statement("abandoned", {}))["sessions"].iloc[0])
    repeated = int(engine.frame(statement("repeated", {"owner": "user_id" if users else "session_id"}))["outcomes"].iloc[0])
    return _result(causes, abandoned, repeated, rule, tuple(outcomes))


def _result(causes: pd.Series, abandoned: int, repeated: int, rule: str, outcomes: tuple[str, ...]) -> GapCounts:
    """The decomposition and both rates from the retrievals per cause."""
    n = int(causes.sum())
    rows, sums = [], {}
    for side, sign, names in (("rule only", 1, RULE_ONLY), ("lineage only", -1, LINEAGE_ONLY)):
        for cause, meaning in names.items():
            count = int(causes.get(cause, 0))
            rows.append({"cause": cause, "side": side, "retrievals": count, "share": sign * count / n if n else 0.0, "meaning": meaning})
        sums[side] = sum(int(causes.get(cause, 0)) for cause in names)
    both = int(causes.get("both", 0))
    rates = [(both + sums[side]) / n if n else float("nan") for side in ("rule only", "lineage only")]
    return GapCounts(pd.DataFrame(rows), rates[0], rates[1], n, abandoned, repeated, rule, outcomes)


def _credit(engine: object, touches: str, step: Callable, *, progress: bool) -> None:
    """Credits by a step over whole owners, streamed from DuckDB and back."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from tqdm.auto import tqdm

    from toolkit.lineage.scale_duckdb import literal

    target = engine.folder / "credits.parquet"
    schema = pa.schema({"action_id": pa.string(), "retrieval_id": pa.string()})
    with pq.ParquetWriter(target, schema) as writer:
        for piece in tqdm(run_by_user(engine.batches(f"SELECT * FROM ({touches}) ORDER BY key"), step, "key"), desc="crediting", disable=not progress):
            writer.write_table(piece)
    engine.view("credits", f"SELECT * FROM read_parquet({literal(str(target))})")
