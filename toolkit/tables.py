"""Canonical tables: their names, columns, dtypes and checks.

This is the one place that says what a column means. Every room of the toolkit takes and
returns these tables; outside data becomes one of them in :mod:`toolkit.datasets`.

Conventions: ids are strings (``"007"`` is not ``"7"``), ranks start at 1, unknown is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

Kind = Literal["id", "text", "integer", "number", "boolean", "time", "list"]


class TableError(ValueError):
    """A table does not have the columns, types or values its schema asks for."""


@dataclass(frozen=True)
class Column:
    """One column of a canonical table.

    Parameters
    ----------
    name : str
    kind : {"id", "text", "integer", "number", "boolean", "time", "list"}
        ``id`` is a non-null string; ``time`` is timezone-aware UTC; ``list`` holds lists of ids.
    meaning : str
        One sentence, with the unit where there is one.
    required : bool
        Whether a table without the column is refused.
    """

    name: str
    kind: Kind
    meaning: str
    required: bool = True


@dataclass(frozen=True)
class Schema:
    """Name and columns of a canonical table."""

    name: str
    columns: tuple[Column, ...]

    @property
    def required(self) -> list[str]:
        """Names of the columns that must be present."""
        return [column.name for column in self.columns if column.required]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(c.name + ('' if c.required else '?') for c in self.columns)})"


PRODUCTS = Schema("products", (
    Column("product_id", "id", "the product's own id, unique"),
    Column("title", "text", "product title"),
    Column("brand", "text", "brand name", required=False),
    Column("bullet_point", "text", "feature bullets, joined by newlines", required=False),
    Column("description", "text", "free description", required=False),
    Column("color", "text", "colour as the seller wrote it", required=False),
    Column("category", "text", "category path", required=False),
    Column("locale", "text", "market, for example us", required=False),
))
QUERIES = Schema("queries", (
    Column("query_id", "id", "the query's id, unique"),
    Column("query", "text", "the query exactly as typed"),
))
JUDGMENTS = Schema("judgments", (
    Column("query_id", "id", "the judged query"),
    Column("product_id", "id", "the judged product"),
    Column("label", "text", "the label as given, for example E, S, C or I", required=False),
    Column("grade", "number", "relevance grade, finite and not negative; ESCI: E 3, S 2, C 1, I 0"),
))
RANKINGS = Schema("rankings", (
    Column("query_id", "id", "the query that was searched"),
    Column("product_id", "id", "a returned product"),
    Column("rank", "integer", "position in the returned list, from 1", required=False),
    Column("score", "number", "the engine's score; larger is better", required=False),
))
QUERY_STATUS = Schema("query_status", (
    Column("query_id", "id", "the query that was sent"),
    Column("status", "text", "ok, zero_results or failed"),
    Column("reason", "text", "why it failed, else null", required=False),
))
METRIC_VALUES = Schema("metric_values", (
    Column("query_id", "id", "the query"),
    Column("metric", "text", "printed definition of the measure, for example ndcg@10"),
    Column("value", "number", "the value; null where the measure is undefined"),
))

PROMPTS = Schema("prompts", (
    Column("prompt_id", "id", "one prompt to an agent"),
    Column("session_id", "text", "the session it belongs to", required=False),
    Column("user_id", "text", "the (pseudonymous) user", required=False),
    Column("time", "time", "when it arrived", required=False),
    Column("entry_point", "text", "surface it came from, for example chat or library", required=False),
    Column("text", "text", "the prompt", required=False),
    Column("in_scope", "boolean", "is retrieval the right tool? null where unlabelled", required=False),
    Column("n_intents", "integer", "number of distinct retrieval intents; null where unlabelled", required=False),
    Column("goal_met", "boolean", "did a judge or person say the goal was met? null where unlabelled", required=False),
    Column("sampling_weight", "number", "1 / probability of being labelled; null counts as 1", required=False),
))
RETRIEVALS = Schema("retrievals", (
    Column("retrieval_id", "id", "one retrieval (LARA field)"),
    Column("prompt_id", "text", "the prompt that caused it", required=False),
    Column("request_id", "text", "the request it ran in", required=False),
    Column("session_id", "text", "session at retrieval time", required=False),
    Column("user_id", "text", "the (pseudonymous) user", required=False),
    Column("time", "time", "when it ran", required=False),
    Column("query", "text", "query text", required=False),
    Column("role", "text", "find, browse, operate_on, generation_reference, task_step or context_dependent", required=False),
    Column("returned_asset_ids", "list", "full ordered list, before any filter (LARA field)", required=False),
    Column("displayed", "boolean", "was anything of it shown to the user?", required=False),
    Column("displayed_asset_ids", "list", "what was shown after the agent's filter", required=False),
    Column("retry_of", "text", "retrieval_id whose need this one repeats", required=False),
    Column("sampling_weight", "number", "1 / probability of being judged; null counts as 1", required=False),
))
ACTIONS = Schema("actions", (
    Column("action_id", "id", "one action"),
    Column("time", "time", "when it happened", required=False),
    Column("session_id", "text", "session of the action", required=False),
    Column("user_id", "text", "the (pseudonymous) user", required=False),
    Column("request_id", "text", "the request it happened in", required=False),
    Column("actor", "text", "user or agent", required=False),
    Column("action", "text", "follow_up, select, edit, place, export, share, download, reject_result, correct_output, …"),
    Column("consumed_asset_id", "text", "the asset that was used (LARA field)", required=False),
    Column("source_retrieval_id", "text", "the retrieval that supplied it (LARA field)", required=False),
    Column("expected_retrieval_id", "text", "the retrieval whose asset should have been used", required=False),
    Column("placed_id", "text", "the placed copy of an asset; later actions on the copy inherit its source", required=False),
    Column("position", "number", "ordinal exactly as the client logged it, whatever its base", required=False),
))
LINEAGE_JUDGMENTS = Schema("lineage_judgments", (
    Column("retrieval_id", "text", "the judged retrieval; where absent, query says which", required=False),
    Column("query", "text", "the judged query text", required=False),
    Column("asset_id", "id", "the judged asset"),
    Column("grade", "number", "relevance grade, finite and not negative"),
))
REQUESTS = Schema("requests", (
    Column("request_id", "id", "one search request of an agent"),
    Column("client", "text", "hashed address of the client", required=False),
    Column("time", "time", "when it arrived; int64 milliseconds inside kernels"),
    Column("query", "text", "query text exactly as sent"),
    Column("k", "integer", "number of results asked for", required=False),
    Column("corpus", "text", "corpus searched", required=False),
    Column("session_id", "text", "published session id", required=False),
    Column("result_ids", "list", "returned document ids in order", required=False),
))


def check(frame: pd.DataFrame, schema: Schema, *, columns: Sequence[str] | None = None, source: str = "") -> pd.DataFrame:
    """Check a table against its schema and return it unchanged.

    Parameters
    ----------
    frame : DataFrame
        The table to check.
    schema : Schema
        What it must be.
    columns : sequence of str, optional
        Columns that must be present; default the schema's required ones.
    source : str
        Where the table came from (a file name, an argument's name), for the error text.

    Returns
    -------
    DataFrame
        ``frame`` itself.

    Raises
    ------
    TableError
        If it is no DataFrame; naming missing or repeated columns, null or non-string ids, each with a sample row.
    """
    where = source or schema.name
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"{where}: got {type(frame).__name__}; expected a DataFrame {schema!r}")
    if not frame.columns.is_unique:
        repeated = list(frame.columns[frame.columns.duplicated()].unique())
        raise TableError(f"{where}: column(s) {repeated} occur more than once; keep or rename one of each")
    wanted = list(columns) if columns is not None else schema.required
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise TableError(f"{where}: missing column(s) {missing}; got {list(frame.columns)}; expected {schema!r}")
    for column in schema.columns:
        if column.kind == "id" and column.name in frame.columns:
            _check_id(frame[column.name], column.name, where)
    return frame


def _check_id(values: pd.Series, name: str, where: str) -> None:
    """Ids are non-null strings: an integer id would silently miss its string twin."""
    null = values.isna()
    if null.any():
        raise TableError(f"{where} row {int(null.to_numpy().argmax())}: {name} is null; drop the row or give it an id")
    if isinstance(values.dtype, pd.StringDtype):
        return
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = pd.Series(values.cat.categories)
    bad = [value for value in values.unique() if not isinstance(value, str)]
    if bad:
        raise TableError(
            f"{where}: {name} must hold strings, got {type(bad[0]).__name__} {bad[0]!r}; "
            f"convert once and knowingly, for example frame[{name!r}].astype(str)")
