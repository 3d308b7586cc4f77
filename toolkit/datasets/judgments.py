"""Relevance judgments from the files people have, told apart by content."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pandas as pd

from toolkit.datasets import rank_eval, trec, workbench
from toolkit.datasets.columns import JUDGMENT_ROLES, known_names, normalise
from toolkit.datasets.dataset import ESCI_GRADES
from toolkit.datasets.delimited import guess_delimiter, lenient
from toolkit.datasets.records import Source, is_nested, load, raw_from_frame, raw_from_nested, raw_from_records, raw_from_text
from toolkit.datasets.report import ReadError, ReadReport, TableRead
from toolkit.datasets.tidy import finish, fold_repeats, number, set_aside, tidy_ids

ESCI_WORDS = {"exact": 3.0, "substitute": 2.0, "complement": 1.0, "irrelevant": 0.0}
NEEDED = (("query_id", "query"), ("product_id",), ("grade", "label"))


def read_judgments(path: str | Path, *, columns: Mapping[str, str] | None = None, labels: Mapping[str, float] | None = None,
                   delimiter: str | None = None, encoding: str | None = None,
                   on_conflict: Literal["first", "last", "max"] = "first", strict: bool = False) -> TableRead:
    """Read judgments: TREC qrels, delimited text, ``_rank_eval``, Workbench or other JSON, Parquet.

    Parameters
    ----------
    path : path
        May be gzipped. The format is recognised by content, not by name.
    columns : mapping of str to str, optional
        Role (query_id, query, product_id, grade, label) -> the file's column name; needed only where
        a name is not recognised. The mapping used is in the report.
    labels : mapping of str to float, optional
        Grade of each non-numeric label (any case); default ESCI's letters and words.
    delimiter, encoding : str, optional
        Overrule what is found out. Without a byte order mark, text is UTF-8, else Windows-1252.
    on_conflict : {"first", "last", "max"}
        Which of several grades of one pair is kept; the others are set aside.
    strict : bool
        Raise at the first row that would be set aside.

    Returns
    -------
    TableRead
        ``.table``: query_id, product_id, grade (finite, >= 0) and label where given; ``.queries`` where
        the file has texts (a file without ids, such as Quepid's ``query,docid,rating``, has its
        text as id); ``.report``: every row of the file. Unpacks as ``table, report``.

    Raises
    ------
    ReadError
        For an unreadable file or missing columns; in strict mode for the first bad row, naming file,
        row, value and what to do.

    Warns
    -----
    ReadWarning
        If rows were set aside.
    """
    if on_conflict not in ("first", "last", "max"):
        raise ReadError(f"read_judgments: on_conflict {on_conflict!r}; expected 'first', 'last' or 'max'")
    report = ReadReport(Path(path).name, strict=strict)
    raw = _raw(load(path, report, encoding), columns, delimiter, report)
    if "repair" not in raw:
        raw = raw.assign(repair=None)
    raw, queries = tidy_ids(raw.reset_index(drop=True), report)
    raw = _grades(raw, labels, report)
    raw = fold_repeats(raw, "grade", report, on_conflict)
    finish(raw, report)
    report.warn()
    table = raw[["query_id", "product_id", *(["label"] if "label" in raw else []), "grade"]].reset_index(drop=True)
    ids = {name: "str" for name in ("query_id", "product_id", "label") if name in table}
    return TableRead(table.astype(ids), report, queries)


def _raw(source: Source, columns: Mapping[str, str] | None, delimiter: str | None, report: ReadReport) -> pd.DataFrame:
    """Dispatch by content."""
    options = {"columns": columns, "needed": NEEDED}
    if source.frame is not None:
        return raw_from_frame(source.frame, JUDGMENT_ROLES, report, **options)
    if source.records is not None:
        if any(workbench.is_judgment_list(record) for _, record in source.records):
            return workbench.read_ratings([record for _, record in source.records], report)
        return raw_from_records(source.records, JUDGMENT_ROLES, report, **options)
    if source.text is None:
        return _from_json(source.json, options, report)
    first = next((line for line in source.text.split("\n") if line.strip() and not line.startswith("#")), "")
    if delimiter is None and columns is None and not _has_header(first):
        if trec.looks_like_qrels(first):
            return trec.read_qrels(source.text, report)
        if trec.looks_like_run(first):
            raise ReadError(f"{report.source}: this is a TREC run, not judgments (first line {first.strip()[:60]!r}); use read_rankings")
    return raw_from_text(source.text, JUDGMENT_ROLES, report, delimiter=delimiter,
                         headerless={3: ("query", "product_id", "grade")}, **options)


def _has_header(line: str) -> bool:
    """Does the line name at least two known columns?"""
    known = known_names(JUDGMENT_ROLES)
    delimiter = guess_delimiter(line, known)
    return delimiter is not None and sum(normalise(name) in known for name in lenient(line, delimiter)) >= 2


def _from_json(data: object, options: Mapping, report: ReadReport) -> pd.DataFrame:
    if rank_eval.is_request(data):
        return rank_eval.read_request(data, report)
    if rank_eval.is_response(data):
        return rank_eval.read_rated_hits(data, report)
    if workbench.is_judgment_list(data):
        return workbench.read_ratings(data, report)
    if is_nested(data):
        return raw_from_nested(data, "grade", report)
    if isinstance(data, list):
        return raw_from_records(enumerate(data), JUDGMENT_ROLES, report, **options)
    if isinstance(data, dict):
        return raw_from_records([(0, data)], JUDGMENT_ROLES, report, **options)
    raise ReadError(f"{report.source}: JSON of a form that holds no judgments; expected _rank_eval, judgmentRatings, "
                    "{query: {product: grade}} or a list of objects")


def _grades(raw: pd.DataFrame, labels: Mapping[str, float] | None, report: ReadReport) -> pd.DataFrame:
    """Add numeric grades; ratings that are none are set aside by reason."""
    known = _known_labels(labels)
    given = (raw["grade"] if "grade" in raw else raw["label"]).astype(object)
    given = given.where(given.notna(), None)
    look = {word: _grade(word, known) for word in given.unique()}
    raw = raw.assign(_given=given, grade=[look[word][0] for word in given], _reason=[look[word][1] for word in given])
    if "label" not in raw and any(isinstance(word, str) and word.strip().casefold() in known for word in look):
        raw = raw.assign(label=given)
    for reason in dict.fromkeys(raw["_reason"].dropna()):
        raw = set_aside(raw, raw["_reason"] == reason, f"rating {reason}", "_given", report,
                        advice="remove the row or give a grade of 0 or more, for example 0 to 3")
    return raw.drop(columns=["_given", "_reason"]).astype({"grade": "float64"})


def _known_labels(labels: Mapping[str, float] | None) -> dict[str, float]:
    """Label (any case) -> grade."""
    known = {str(word).strip().casefold(): float(grade) for word, grade in ({**ESCI_GRADES, **ESCI_WORDS} if labels is None else labels).items()}
    bad = {word: grade for word, grade in known.items() if not (math.isfinite(grade) and grade >= 0)}
    if bad:
        raise ReadError(f"read_judgments: labels={bad}; a grade is finite and 0 or more")
    return known


def _grade(word: object, known: Mapping[str, float]) -> tuple[float | None, str | None]:
    """The grade of one rating, or the reason why it has none."""
    if isinstance(word, str) and word.strip().casefold() in known:
        return known[word.strip().casefold()], None
    value, reason = number(word)
    if value is not None and value < 0:
        return None, "is negative (trec_eval takes such a document as unjudged)"
    return value, reason
