"""Rankings from the files people have: TREC runs, delimited text, ``_rank_eval`` and other JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from toolkit.datasets import rank_eval, trec, workbench
from toolkit.datasets.columns import RANKING_ROLES
from toolkit.datasets.records import Source, is_nested, load, raw_from_frame, raw_from_nested, raw_from_records, raw_from_text
from toolkit.datasets.report import ReadError, ReadReport, TableRead
from toolkit.datasets.tidy import finish, number, set_aside, tidy_ids

NEEDED = (("query_id", "query"), ("product_id",))


def read_rankings(path: str | Path, *, columns: Mapping[str, str] | None = None, delimiter: str | None = None,
                  encoding: str | None = None, configuration: str | None = None, strict: bool = False) -> TableRead:
    """Read rankings: TREC runs, delimited text, ``_rank_eval`` responses, Workbench or other JSON, Parquet.

    Parameters
    ----------
    path : path
        May be gzipped. The format is recognised by content, not by name.
    columns : mapping of str to str, optional
        Role (query_id, query, product_id, rank, score) -> the file's column name.
    delimiter, encoding : str, optional
        Overrule what is found out.
    configuration : str, optional
        Which search configuration of a Workbench export to read.
    strict : bool
        Raise at the first row that would be set aside.

    Returns
    -------
    TableRead
        ``.table``: query_id, product_id, rank (from 1, without gaps), score where given; ``.queries`` and
        ``.status`` where the file has them; ``.report``. Unpacks as ``table, report``.

    Raises
    ------
    ReadError
        As for :func:`toolkit.datasets.read_judgments`.

    Notes
    -----
    Order within a query: a TREC run is ordered by score, descending, then by product id (its rank column
    does not count, as in trec_eval). Other files are ordered by their rank column, else by score,
    else as they stand. A product that comes again in one list is set aside; the first stays.
    """
    report = ReadReport(Path(path).name, strict=strict)
    raw, status = _raw(load(path, report, encoding), columns, delimiter, configuration, report)
    if "repair" not in raw:
        raw = raw.assign(repair=None)
    raw, queries = tidy_ids(raw.reset_index(drop=True), report)
    for name in ("rank", "score"):
        raw = _numbers(raw, name, report)
    table = _ordered(raw, report)
    again = table.duplicated(["query_id", "product_id"])
    table = set_aside(table, again, "product again in the same list (the better rank is kept)", "product_id", report)
    finish(table, report)
    report.warn()
    table = table.assign(rank=table.groupby("query_id", sort=False).cumcount() + 1)
    names = ["query_id", "product_id", "rank", *(["score"] if "score" in table else [])]
    return TableRead(table[names].astype({"query_id": "str", "product_id": "str", "rank": "int64"}).reset_index(drop=True), report, queries, status)


def _raw(source: Source, columns: Mapping[str, str] | None, delimiter: str | None, configuration: str | None,
         report: ReadReport) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Dispatch by content: the raw table, and the status of each query where known."""
    options = {"columns": columns, "needed": NEEDED}
    if source.frame is not None:
        return raw_from_frame(source.frame, RANKING_ROLES, report, **options), None
    data = [record for _, record in source.records] if source.records is not None else source.json
    if source.text is None and workbench.is_result_list(data):
        return workbench.read_results(data, report, configuration)
    if source.records is not None:
        return raw_from_records(source.records, RANKING_ROLES, report, **options), None
    if source.text is None:
        return _from_json(data, options, report)
    first = next((line for line in source.text.split("\n") if line.strip() and not line.startswith("#")), "")
    if delimiter is None and columns is None:
        if trec.looks_like_run(first):
            return trec.read_run(source.text, report), None
        if trec.looks_like_qrels(first):
            raise ReadError(f"{report.source}: these are TREC qrels, not rankings (first line {first.strip()[:60]!r}); use read_judgments")
    return raw_from_text(source.text, RANKING_ROLES, report, delimiter=delimiter,
                         headerless={4: ("query", "product_id", "rank", "score")}, **options), None


def _from_json(data: object, options: Mapping, report: ReadReport) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    if rank_eval.is_response(data):
        return rank_eval.read_hits(data, report)
    if rank_eval.is_request(data):
        raise ReadError(f"{report.source}: a _rank_eval request holds ratings, not results; use read_judgments, or read the response")
    if is_nested(data):
        return raw_from_nested(data, "score", report), None
    if isinstance(data, list):
        return raw_from_records(enumerate(data), RANKING_ROLES, report, **options), None
    raise ReadError(f"{report.source}: JSON of a form that holds no rankings; expected a _rank_eval response, "
                    "{query: {product: score}} or a list of objects")


def _numbers(raw: pd.DataFrame, name: str, report: ReadReport) -> pd.DataFrame:
    """Parse one numeric column; rows whose value is no finite number are set aside, an all-empty column dropped."""
    if name not in raw:
        return raw
    if (raw[name].isna() | (raw[name] == "")).all():
        return raw.drop(columns=name)
    look = {word: number(None if pd.isna(word) else word) for word in raw[name].unique()}
    parsed = [look[word] if not pd.isna(word) else (None, "is empty") for word in raw[name]]
    raw = raw.assign(_given=raw[name], _reason=[reason for _, reason in parsed], **{name: [value for value, _ in parsed]})
    for reason in dict.fromkeys(raw["_reason"].dropna()):
        raw = set_aside(raw, raw["_reason"] == reason, f"{name} {reason}", "_given", report)
    return raw.drop(columns=["_given", "_reason"]).astype({name: "float64"})


def _ordered(raw: pd.DataFrame, report: ReadReport) -> pd.DataFrame:
    """Rows by query (first seen first), then by rank, else score, else as they stand."""
    raw = raw.assign(_query=pd.factorize(raw["query_id"])[0])
    if "rank" in raw:
        if "score" in raw:
            _compare(raw, report)
        _note_base(raw, report)
        return raw.sort_values(["_query", "rank"], kind="stable")
    if "score" in raw:
        return raw.assign(_minus=-raw["score"]).sort_values(["_query", "_minus", "product_id"], kind="stable")
    report.note("noted", "neither rank nor score: the order of the file is the ranking")
    return raw.sort_values("_query", kind="stable")


def _note_base(raw: pd.DataFrame, report: ReadReport) -> None:
    lowest = raw.groupby("_query")["rank"].min()
    if len(lowest) and lowest.min() != 1:
        report.note("noted", f"lowest rank of a query is {lowest.min():g}; ranks are renumbered from 1", count=int((lowest != 1).sum()))
    ties = raw.duplicated(["_query", "rank"])
    if ties.any():
        report.note("noted", "several products at one rank: the order of the file decides", count=int(ties.sum()), row=raw.loc[ties, "row"].iloc[0])


def _compare(raw: pd.DataFrame, report: ReadReport) -> None:
    """Note pairs of neighbours whose score rises although the rank says worse."""
    ordered = raw.sort_values(["_query", "rank"], kind="stable")
    rising = (np.diff(ordered["score"]) > 0) & (np.diff(ordered["_query"]) == 0)
    if rising.any():
        report.note("noted", "score rises from one rank to the next: the rank column decides", count=int(rising.sum()),
                    row=ordered["row"].iloc[int(rising.argmax()) + 1])
