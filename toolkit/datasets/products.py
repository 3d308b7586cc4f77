"""One's own product catalogue: CSV/TSV, JSON, JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from toolkit.datasets.columns import normalise
from toolkit.datasets.records import Source, load, raw_from_frame, raw_from_records, raw_from_text
from toolkit.datasets.report import ReadError, ReadReport, TableRead
from toolkit.datasets.text import as_text
from toolkit.datasets.tidy import finish, set_aside, tidy_ids

PRODUCT_ROLES: dict[str, Sequence[str]] = {
    "product_id": ("product_id", "productid", "docid", "doc_id", "item_id", "object_id", "asin", "sku", "pid", "_id", "id"),
    "title": ("title", "product_title", "name", "product_name"),
    "brand": ("brand", "product_brand", "manufacturer"),
    "bullet_point": ("bullet_point", "product_bullet_point", "bullet_points", "bullets", "features"),
    "description": ("description", "product_description", "body", "text"),
    "color": ("color", "product_color", "colour"),
    "category": ("category", "product_category", "categories", "category_path"),
    "locale": ("locale", "product_locale", "market"),
}
NEEDED = (("product_id",), ("title",))


def read_products(path: str | Path, *, columns: Mapping[str, str] | None = None, keep: Sequence[str] = (),
                  delimiter: str | None = None, encoding: str | None = None, strict: bool = False) -> TableRead:
    """Read a product catalogue as the canonical products table.

    Parameters
    ----------
    path : path
        Delimited text with a header, a JSON list of objects, JSON lines or Parquet; may be gzipped.
    columns : mapping of str to str, optional
        Canonical column -> the file's column, where the name is not recognised.
    keep : sequence of str
        Further columns of the file to keep as text, for example to search them.
    delimiter, encoding, strict
        As for :func:`toolkit.datasets.read_judgments`.

    Returns
    -------
    TableRead
        ``.table``: product_id, title and the other product columns that the file has; lists of
        texts are joined by newlines, an empty cell of a delimited file is null.

    Raises
    ------
    ReadError
        For an unreadable file, or no column for product_id or title.
    """
    report = ReadReport(Path(path).name, strict=strict)
    roles = {**PRODUCT_ROLES, **{name: (normalise(name),) for name in keep}}
    raw = _raw(load(path, report, encoding), roles, columns, delimiter, report)
    raw, _ = tidy_ids(raw.reset_index(drop=True), report, names=("product_id",))
    names = [name for name in raw.columns if name not in ("row", "repair")]
    same = raw.fillna("").duplicated(names)
    if same.any():
        report.note("folded", "the same product row again", count=int(same.sum()), row=raw.loc[same, "row"].iloc[0])
    raw = raw[~same]
    raw = set_aside(raw, raw.duplicated("product_id"), "another row for a product id (the first is kept)", "product_id", report)
    finish(raw, report)
    report.warn()
    return TableRead(raw[names].astype("str").reset_index(drop=True), report)


def _raw(source: Source, roles: Mapping[str, Sequence[str]], columns: Mapping[str, str] | None, delimiter: str | None,
         report: ReadReport) -> pd.DataFrame:
    options = {"columns": columns, "needed": NEEDED}
    if source.frame is not None:
        return raw_from_frame(source.frame, roles, report, convert=_text, **options)
    if source.text is not None:
        raw = raw_from_text(source.text, roles, report, delimiter=delimiter, headerless={}, **options)
        return raw.replace("", None)
    records = source.records if source.records is not None else None
    if records is None:
        data = source.json if isinstance(source.json, list) else [source.json]
        records = list(enumerate(data))
    if not any(isinstance(record, dict) for _, record in records):
        raise ReadError(f"{report.source}: expected JSON objects, one a product")
    return raw_from_records(records, roles, report, convert=_text, **options)


def _text(value: object) -> str | None:
    """A text; a list of texts (bullet points) is joined by newlines."""
    if isinstance(value, (list, tuple)):
        return "\n".join(as_text(part) or "" for part in value)
    return as_text(value)
