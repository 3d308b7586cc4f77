"""The product file of ESCI, streamed in batches: the published Parquet may be one huge row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.datasets.report import ReadError, ReadReport

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# Published column -> canonical column. ESCI has no category; files that add one are read too.
PRODUCT_COLUMNS = {
    "product_title": "title",
    "product_brand": "brand",
    "product_bullet_point": "bullet_point",
    "product_description": "description",
    "product_color": "color",
    "product_category": "category",
}
BATCH_ROWS = 4096
PAGE_BUFFER = 1 << 20  # bytes read ahead per column


def sql_path(path: Path) -> str:
    """A path as an SQL string; glob characters of the path itself are taken literally."""
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
    return "'" + escaped.replace("'", "''") + "'"


def read_esci_products(db: duckdb.DuckDBPyConnection, path: Path, locale: str, columns: Sequence[str] | None,
                       only: pd.Series | None, report: ReadReport) -> pd.DataFrame:
    """One market's products under canonical column names.

    Parameters
    ----------
    db : DuckDBPyConnection
        Reads JSON lines.
    path : Path
        Parquet or JSON lines with the published column names.
    locale : str
    columns : sequence of str, optional
        Canonical text columns to load; None for all.
    only : Series of str, optional
        Product ids to keep; None for all.
    report : ReadReport
        Gets the file's and the result's sizes, noted.

    Returns
    -------
    DataFrame
        product_id (unique), the text columns, locale.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = _chosen(path, _columns(path), columns)
    wanted = None if only is None else pa.array(only.unique(), pa.large_string())
    total, kept = 0, []
    for batch in _batches(db, path, ["product_id", *names, "product_locale"]):
        total += batch.num_rows
        keep = pc.equal(batch["product_locale"].cast(pa.large_string()), locale)
        if wanted is not None:
            keep = pc.and_(keep, pc.is_in(batch["product_id"].cast(pa.large_string()), value_set=wanted))
        if pc.any(keep).as_py():
            # A copy: a slice would keep its whole batch in memory.
            kept.append(batch.filter(keep))
    products = _frame(kept, names)
    repeated = products.duplicated("product_id") | products["product_id"].isna()
    if repeated.any():
        report.note("noted", "product rows without an id or whose id was already read (the first is kept)", count=int(repeated.sum()))
        products = products[~repeated].reset_index(drop=True)
    report.note("noted", f"{path.name}: {total} products, {len(products)} of them wanted (locale {locale}"
                         f"{', judged in the chosen version' if only is not None else ''})")
    return products.drop(columns=[name for name in ("category",) if name in products and products[name].isna().all()])


def _columns(path: Path) -> list[str]:
    """Column names of the file; JSON lines may have any of the known ones."""
    if path.suffix != ".parquet":
        return ["product_id", *PRODUCT_COLUMNS, "product_locale"]
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise ReadError(f"{path.name}: not a readable Parquet file ({error}); fetch it again") from error


def _batches(db: duckdb.DuckDBPyConnection, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """The file's rows in batches of bounded size."""
    if path.suffix == ".parquet":
        yield from _parquet_batches(path, columns)
        return
    types = ", ".join(f"{name}: 'VARCHAR'" for name in columns)
    rows = db.sql(f"SELECT * FROM read_json({sql_path(path)}, format='newline_delimited', columns={{{types}}})")
    yield from rows.to_arrow_reader(BATCH_ROWS)


def _parquet_batches(path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=PAGE_BUFFER) as file:
            yield from file.iter_batches(BATCH_ROWS, columns=columns, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ReadError(f"{path.name}: damaged Parquet file ({error}); fetch it again") from error


def _chosen(path: Path, have: Sequence[str], columns: Sequence[str] | None) -> dict[str, str]:
    """Published name -> canonical name of the columns to load."""
    there = {source: name for source, name in PRODUCT_COLUMNS.items() if source in have}
    missing = [name for name in ("product_id", "product_locale") if name not in have]
    if missing:
        raise ReadError(f"{path.name}: missing column(s) {missing}; got {list(have)}")
    if columns is None:
        return there
    unknown = sorted(set(columns) - set(there.values()) - {"product_id", "locale"})
    if unknown:
        raise ReadError(f"{path.name}: no column(s) {unknown}; available are {sorted(there.values())}")
    return {source: name for source, name in there.items() if name in columns}


def _frame(kept: list[pa.RecordBatch], names: dict[str, str]) -> pd.DataFrame:
    """Kept batches as one table of texts under canonical names."""
    import pyarrow as pa

    canonical = ["product_id", *names.values(), "locale"]
    schema = pa.schema([(name, pa.large_string()) for name in canonical])
    if not kept:
        return schema.empty_table().to_pandas()
    table = pa.Table.from_batches(kept).rename_columns(canonical).cast(schema)
    kept.clear()
    return table.to_pandas(self_destruct=True, split_blocks=True)
