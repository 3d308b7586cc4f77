"""The text of products: which columns are text, and one string for each cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from toolkit.tables import PRODUCTS, TableError, check

NOT_TEXT = ("product_id", "locale")
"""Columns of the products table that are never searched unless asked for by name."""
_SCHEMA_TEXT = frozenset(column.name for column in PRODUCTS.columns if column.kind == "text")


def text_fields(products: pd.DataFrame, fields: Sequence[str] | None = None) -> list[str]:
    """Fields to index: the given ones, else every text column of the table.

    Parameters
    ----------
    products : DataFrame
        A products table.
    fields : sequence of str, optional
        Columns to index. Default: the text columns of the schema (title, brand, …), also where
        they are all null, and all others that hold text (or lists of text); not product_id and locale.

    Returns
    -------
    list of str
        In the table's column order, or as given.

    Raises
    ------
    TableError
        If fields is no list, a field is no column, or no text column is left.
    """
    if fields is None:
        fields = [name for name in products.columns if name not in NOT_TEXT and (name in _SCHEMA_TEXT or _may_hold_text(products[name]))]
        if not fields:
            raise TableError(f"products: no text column among {list(products.columns)}; expected {PRODUCTS!r}")
    if isinstance(fields, str):
        raise TableError(f"products: fields is the text {fields!r}; expected a list, for example [{fields!r}]")
    missing = [name for name in fields if name not in products.columns]
    if missing:
        raise TableError(f"products: missing field(s) {missing}; columns are {list(products.columns)}")
    if len(set(fields)) != len(fields) or not fields:
        raise TableError(f"products: fields {list(fields)} must be one or more different columns")
    return list(fields)


def _may_hold_text(column: pd.Series) -> bool:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    return isinstance(dtype, pd.StringDtype) or dtype == object or (isinstance(dtype, pd.ArrowDtype) and dtype.type in (str, list))


def check_products(products: pd.DataFrame) -> pd.DataFrame:
    """Check ids: non-null strings, each once.

    Raises
    ------
    TableError
        Naming the row of the first null, non-string or repeated product_id.
    """
    check(products, PRODUCTS, columns=["product_id"], source="products")
    repeated = products["product_id"].duplicated().to_numpy()
    if repeated.any():
        row = int(repeated.argmax())
        raise TableError(f"products row {row}: product_id {products['product_id'].iloc[row]!r} occurs more than once "
                         f"({int(repeated.sum())} repeated rows); keep one row a product")
    return products


def cell_texts(column: pd.Series, where: str = "") -> list[str | list[str] | None]:
    """Cells as Elasticsearch takes them: null, a string, or a list of strings.

    Parameters
    ----------
    column : Series
        A text column; lists, tuples and arrays of strings are arrays of values.
    where : str
        Name for errors; default the column's.

    Returns
    -------
    list
        One entry a row; nulls inside a list are dropped.

    Raises
    ------
    TableError
        Naming the first row that holds anything else, such as a number or a nested list.
    """
    name = where or str(column.name)
    return [_cell(value, row, name) for row, value in enumerate(column.astype(object).to_numpy())]


def joined_texts(column: pd.Series, where: str = "") -> list[str]:
    """One string a row: null is empty, the values of a list are joined by line feeds.

    A line feed ends every token, so the joined text has the tokens of its parts.
    """
    return ["" if text is None else text if isinstance(text, str) else "\n".join(text)
            for text in cell_texts(column, where)]


def _cell(value: object, row: int, name: str) -> str | list[str] | None:
    if isinstance(value, str):
        return value
    if _is_null(value):
        return None
    if isinstance(value, (list, tuple, np.ndarray)):
        parts = [part for part in value if not _is_null(part)]
        if all(isinstance(part, str) for part in parts):
            return parts
    raise TableError(f"products row {row}: {name} holds {type(value).__name__} {str(value)[:60]!r}; expected text, a list "
                     f"of texts or null; convert it knowingly, for example products[{name!r}].astype(str), or choose other fields")


def _is_null(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)
