"""Layers 0 to 3 of logs larger than memory: the reference's numbers, counted by a SQL engine.

The SQL is in ``toolkit/lineage/sql`` (its README says what each table holds); one text runs on DuckDB and on Spark
(:func:`toolkit.lineage.spark.count_log_on_spark`). What is counted is defined in ``layer0`` to ``layer3``; this module
only says it in another language, and the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from string import Template

import pandas as pd

from toolkit.lineage import layer0, layer1, layer2, layer3
from toolkit.lineage.definitions import CORRECT, REJECT, USE_LADDER, ActiveUse, GoodRetrieval
from toolkit.lineage.matrix import CELLS
from toolkit.lineage.results import POOLED, RATE_COLUMNS, Rates
from toolkit.lineage.scale_checks import Look, look_at, sizes_of
from toolkit.lineage.scale_measures import Engine, Measure, rates_of
from toolkit.lineage.scale_sources import SCHEMAS, find_tables
from toolkit.lineage.tables import Log

NO_LIMIT = 2_147_483_647
CLICKS = ("click", "select")


@dataclass(frozen=True)
class Settings:
    """What the counts depend on, as in the reference functions.

    Parameters
    ----------
    use : ActiveUse, optional
    good : GoodRetrieval, optional
        Default: grade at least 2 among the first ``k``.
    k : int
        Depth of P and NDCG.
    list_limit : int, optional
        Returned lists of at least this length may have been cut.
    ladder : sequence of str
        Action names from the narrowest reading of active use to the widest.
    cluster : {"auto", "user_id", "session_id", None}
        Unit of the intervals.
    """

    use: ActiveUse = ActiveUse()
    good: GoodRetrieval | None = None
    k: int = 5
    list_limit: int | None = None
    ladder: tuple[str, ...] = USE_LADDER
    cluster: str | None = "auto"

    @property
    def verdict(self) -> GoodRetrieval:
        """When a retrieval is good."""
        return self.good or GoodRetrieval(k=self.k)

    def __post_init__(self) -> None:
        if self.cluster not in ("auto", "user_id", "session_id", None):
            raise ValueError(f"cluster {self.cluster!r}; expected 'auto', 'user_id', 'session_id' or None")
        if self.k < 1 or not self.verdict.grade > 0:
            raise ValueError(f"k {self.k} and {self.verdict}; expected k of at least 1 and a grade above 0")

    def literals(self) -> dict[str, str]:
        """The settings as SQL literals."""
        steps = " ".join(f"WHEN {text_literal(name)} THEN {step}" for step, name in enumerate(self.ladder, start=1))
        return {"use_actions": in_list(self.use.actions), "clicks": in_list(CLICKS), "reject": text_literal(REJECT), "correct": text_literal(CORRECT),
                "by_user": "coalesce(actor, 'user') = 'user'" if self.use.actor == "implied" else "actor = 'user'",
                "seen": "shown" if self.use.display == "required" else "NOT hidden", "ladder_step": f"CASE action {steps} END",
                "k": str(int(self.k)), "good_k": str(int(self.verdict.k)), "good_grade": repr(float(self.verdict.grade)),
                "list_limit": str(NO_LIMIT if self.list_limit is None else int(self.list_limit))}


@dataclass(frozen=True)
class ScaleCounts:
    """The tables of all layers, each as its reference function gives it.

    Attributes
    ----------
    routing, quality, click_through, outcomes, sensitivity, goals, product_health : Rates
        Of :func:`toolkit.lineage.routing` and so on.
    cells : Rates
        Shares of the cross-reading matrix: metric is the cell.
    positions : DataFrame
        role, position, and counts of actions by position of their asset in their source's list (0: not there; -1: returned only
        by another execution of the source's id).
    empty_results : DataFrame or None
        Empty results at three grains, where executions were given.
    sizes : dict of str to int
        Rows of each table.
    """

    routing: Rates
    quality: Rates
    click_through: Rates
    outcomes: Rates
    sensitivity: Rates
    goals: Rates
    product_health: Rates
    cells: Rates
    positions: pd.DataFrame
    empty_results: pd.DataFrame | None
    sizes: dict[str, int]

    def to_frame(self) -> pd.DataFrame:
        """All rates in one table, with the result they belong to."""
        named = {item.name: getattr(self, item.name) for item in fields(self) if isinstance(getattr(self, item.name), Rates)}
        return pd.concat([found.table.assign(table=name) for name, found in named.items()], ignore_index=True)[["table", *RATE_COLUMNS]]

    @property
    def table(self) -> pd.DataFrame:
        """As ``to_frame``."""
        return self.to_frame()

    def summary(self) -> str:
        """Sizes and the pooled rates in words."""
        sizes = ", ".join(f"{count:,} {name}" for name, count in self.sizes.items())
        return " ".join([f"{sizes}.", *(found.summary() for found in (self.routing, self.quality, self.outcomes, self.goals))])

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return "".join(found._repr_html_() for found in (self.routing, self.quality, self.outcomes, self.goals, self.product_health))


def count_log(source: str | Path | Mapping[str, str | Path], settings: Settings | None = None, *, memory_limit: str = "2GB", threads: int | None = None,
              temp_directory: str | Path | None = None, progress: bool = True) -> ScaleCounts:
    """Count all layers of a log in DuckDB, out of core, straight from its files.

    Parameters
    ----------
    source : path, or mapping of str to path
        Canonical tables as Parquet, CSV or JSON lines (as for :func:`toolkit.lineage.scale_sources.find_tables`). ``executions`` in
        place of ``retrievals`` are folded; beside them, their lists count as returned too.
    settings : Settings, optional
    memory_limit, threads, temp_directory
        As for :class:`toolkit.lineage.scale_duckdb.DuckDBEngine`; the temporary folder must hold a few times the actions' size.
    progress : bool

    Raises
    ------
    TableError, ValueError
        On what would make a count wrong: missing columns, ids that are null, repeated or no text, naive times, unknown
        actors, contradictory judgments.
    """
    from toolkit.lineage.scale_duckdb import DuckDBEngine

    with DuckDBEngine(memory_limit=memory_limit, threads=threads, temp_directory=temp_directory) as engine:
        paths = find_tables(source)
        for name in SCHEMAS:
            engine.load(name, paths.get(name))
        return count_views(engine, set(paths), settings or Settings(), progress=progress)


def count_views(engine: Engine, given: set[str], settings: Settings, *, progress: bool = False) -> ScaleCounts:
    """Count the views ``prompts``, ``retrievals``, ``actions``, ``judgments`` and ``executions`` of an engine.

    Parameters
    ----------
    given : set of str
        Views that stand for logged tables (the others are empty).
    """
    from tqdm.auto import tqdm

    steps = tqdm(total=8, desc="counting", disable=not progress)
    prepare(engine, given)
    look = look_at(engine, given)
    facts = _facts(look, settings)
    steps.update()
    values = settings.literals() | {"retrieval_unit": _unit("r", facts["retrieval_cluster"], "retrieval_id"),
                                    "prompt_unit": _unit("p", facts["prompt_cluster"], "prompt_id")}
    engine.view("judged", statement("judged_by_query" if facts["by_query"] else "judged_by_id", values))
    for name in ("uses", "evidence", "placed", "verdicts", "retrieval_flags"):
        (engine.view if name == "placed" else engine.define)(name, statement(name, values))
        steps.update(name != "placed")
    positions = _positions(engine, values)
    for name in ("uses", "evidence", "verdicts"):
        engine.drop(name)
    tables = _layer_tables(engine, settings, values, facts)
    steps.update()
    empties = _empties(engine, values) if "executions" in given else None
    engine.drop("retrieval_flags")
    steps.update(steps.total - steps.n)
    steps.close()
    return ScaleCounts(**tables, positions=positions, empty_results=empties, sizes=sizes_of(look, given))


def prepare(engine: Engine, given: set[str]) -> None:
    """Fold executions where retrievals are logged so, and collect what other executions returned."""
    if "retrievals" not in given:
        engine.define("retrievals", statement("folded", {}))
    engine.define("executed", statement("executed", {}))


def statement(name: str, values: Mapping[str, str]) -> str:
    """The SQL text of a table with its settings filled in."""
    text = files("toolkit.lineage").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
    return Template(text).substitute(values)


def text_literal(text: str) -> str:
    """A text as a literal of both dialects, which disagree on backslashes and quotes: such names are refused."""
    if "'" in text or "\\" in text:
        raise ValueError(f"action name {text!r}: quotes and backslashes cannot be counted in SQL; rename the action in the log")
    return f"'{text}'"


def in_list(names: Sequence[str]) -> str:
    """Names as the right side of IN."""
    return "(" + ", ".join(text_literal(name) for name in names) + ")"


def _facts(look: Look, settings: Settings) -> dict[str, object]:
    """What of the log decides how it is counted."""
    prompts, retrievals, judgments = look["prompts"], look["retrievals"], look["judgments"]
    return {"retrieval_cluster": _cluster(retrievals, settings.cluster, "retrievals"), "prompt_cluster": _cluster(prompts, settings.cluster, "prompts"),
            "entries": bool(prompts["entries"]), "retrieval_weights": bool(retrievals["weights"]), "prompt_weights": bool(prompts["weights"]),
            "by_query": bool(judgments["rows"] and not judgments["by_id"]), "graded": bool(judgments["rows"] and retrievals["lists"])}


def _cluster(look: Mapping[str, int], cluster: str | None, name: str) -> str | None:
    """The column whose values are resampled together; None: rows."""
    if cluster == "auto":
        return "user_id" if look["users"] else "session_id" if look["sessions"] else None
    if cluster is not None and look["rows"] and not look["users" if cluster == "user_id" else "sessions"]:
        raise ValueError(f"cluster {cluster!r}: no row of {name} has a value; expected one of the logged columns, or None for row-wise intervals")
    return cluster


def _unit(prefix: str, column: str | None, key: str) -> str:
    """SQL of the unit: a row without a value is a unit of its own."""
    return f"{prefix}.{key}" if column is None else f"coalesce('c' || {prefix}.{column}, 'z' || {prefix}.{key})"


def _layer_tables(engine: Engine, settings: Settings, values: Mapping[str, str], facts: Mapping[str, object]) -> dict[str, Rates]:
    """The rates of every layer from the flags tables."""
    engine.define("prompt_flags", statement("prompt_flags", values))
    engine.define("session_flags", statement("session_flags", values))
    table, units = "retrieval_flags", facts["retrieval_cluster"] is not None

    def made(title: str, measures: list[Measure], notes: tuple[str, ...] = (), **options: object) -> Rates:
        options = {"table": table, "pooled": POOLED, "units": units} | options
        return Rates(rates_of(engine, measures=measures, **options), title, notes)

    return {
        "routing": made("Layer 0, routing", routing_measures(facts), (layer0.NOT_AN_EFFECT,), table="prompt_flags", pooled="all prompts",
                        grouped=facts["entries"], units=facts["prompt_cluster"] is not None),
        "quality": made("Layer 1, retrieval quality", quality_measures(settings, facts), ("Independent of anything done later.",)),
        "click_through": made("Click-through", [Measure(name, "clicked", text) for name, text in layer1.click_definitions(CLICKS).items()],
                              ("A direction to look in, not retrieval quality.",)),
        "outcomes": made("Layer 2, use and failure evidence", outcome_measures(settings), (f"{settings.use}.", layer2.NOT_SATISFACTION)),
        "sensitivity": _sensitivity(engine, settings, units),
        "goals": made("Layer 3, goals by lineage", goal_measures()),
        "product_health": made("Product health", [Measure(name, name.rsplit(" ", 1)[1], text) for name, text in layer3.health_definitions().items()],
                               (f"This is {layer3.PRODUCT_HEALTH}.",), table="session_flags", pooled="all sessions", grouped=False, units=False),
        "cells": made("Layer 1 against outcomes", cell_measures(settings, facts), units=False),
    }


def routing_measures(facts: Mapping[str, object]) -> list[Measure]:
    """Layer 0: sampling weights belong to labels; which prompts retrieved is known for all."""
    columns = {"retrieval rate": "retrieved", "misroute rate": "misroute", "missed-retrieval rate": "missed", "multi-intent share": "multi_intent"}
    return [Measure(name, columns[name], text, weighted=bool(facts["prompt_weights"]) and name != "retrieval rate")
            for name, text in layer0.DEFINITIONS.items()]


def quality_measures(settings: Settings, facts: Mapping[str, object]) -> list[Measure]:
    """Layer 1; graded means only where there are lists and judgments."""
    weighted, k = bool(facts["retrieval_weights"]), settings.k
    texts = layer1.quality_definitions(settings.verdict)
    rates = [Measure("empty-result rate", "empty", texts["empty-result rate"]),
             Measure("good retrieval rate", "good", texts["good retrieval rate"], weighted)]
    graded = {"precision@1": "precision_1", f"precision@{k}": "precision_k", f"ndcg@{k}": "ndcg_k", f"judged@{k}": "judged_k"}
    return rates + [Measure(name, column, layer1.mean_definition(name), weighted, mean=True) for name, column in graded.items() if facts["graded"]]


def outcome_measures(settings: Settings) -> list[Measure]:
    """Layer 2."""
    texts = layer2.definitions(settings.use)
    return [Measure(name, "both_kinds" if flag == "both" else flag, texts[name]) for name, flag in layer2.METRICS.items()]


def goal_measures() -> list[Measure]:
    """Layer 3."""
    columns = {"goal by lineage": "goal", "goal met (label)": "goal_met"}
    return [Measure(name, columns.get(name, name.split(" ")[0]), text) for name, text in layer3.goal_definitions().items()]


def cell_measures(settings: Settings, facts: Mapping[str, object]) -> list[Measure]:
    """The cells of the cross-reading matrix, among retrievals with a Layer 1 verdict."""
    return [Measure(cell, f"CASE WHEN layer1 IS NOT NULL THEN layer1 = '{left}' AND outcome = '{right}' END",
                    f"retrievals of the cell / retrievals with a Layer 1 verdict; {settings.verdict}; {settings.use}", bool(facts["retrieval_weights"]))
            for (left, right), cell in CELLS.items()]


def _sensitivity(engine: Engine, settings: Settings, units: bool) -> Rates:
    """GPR as the definition of active use widens by one kind of action at a time."""
    from dataclasses import replace

    measures = []
    for step, name in enumerate(settings.ladder, start=1):
        use = replace(settings.use, actions=settings.ladder[:step])
        measures.append(Measure(name if step == 1 else f"+ {name}", f"(ladder_step <= {step})", layer2.definitions(use)["GPR"]))
    table = rates_of(engine, "retrieval_flags", measures, pooled=POOLED, grouped=False, units=units)
    table["role"], table["metric"] = table["metric"], "GPR"
    low, high = table["value"].iloc[0], table["value"].iloc[-1]
    note = f"By the definition of active use alone, GPR runs from {100 * low:.1f} % to {100 * high:.1f} % (n={table['n'].iloc[0]})."
    return Rates(table, "Sensitivity of GPR to the definition of active use", (note,))


def _positions(engine: Engine, values: Mapping[str, str]) -> pd.DataFrame:
    """Counts of actions by role and position."""
    frame = engine.frame(statement("positions", values))
    numbers = [name for name in frame.columns if name != "role"]
    return frame.astype(dict.fromkeys(numbers, "int64")).astype({"role": "str"}).sort_values(["role", "position"], ignore_index=True)


def _empties(engine: Engine, values: Mapping[str, str]) -> pd.DataFrame:
    """Empty results at three grains, as :func:`toolkit.lineage.layer1.empty_results`."""
    frame = engine.frame(statement("empties", values)).sort_values("grain")
    counts = frame[["empty", "n"]].astype("int64").reset_index(drop=True)
    texts = layer1.EMPTY_GRAINS
    return pd.DataFrame({"grain": list(texts), "empty": counts["empty"], "n": counts["n"],
                         "value": (counts["empty"] / counts["n"].where(counts["n"] > 0)).astype("float64"), "definition": list(texts.values())})
