"""Read the Shopping Queries Dataset (Amazon ESCI): the published files, or a CSV/JSONL excerpt.

The published product file holds 1.8 million products; DuckDB filters it out of core, so that
memory holds the wanted rows and columns plus ``memory_limit``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd

from toolkit.datasets.dataset import ESCI_GRADES, Dataset
from toolkit.datasets.report import ReadError, ReadReport

if TYPE_CHECKING:
    import duckdb

# Published column -> canonical column. ESCI has no category; files that add one are read too.
PRODUCT_COLUMNS = {
    "product_title": "title",
    "product_brand": "brand",
    "product_bullet_point": "bullet_point",
    "product_description": "description",
    "product_color": "color",
    "product_category": "category",
}
EXAMPLE_COLUMNS = ("query_id", "query", "product_id", "product_locale", "esci_label")
EXTRA_COLUMNS = ("split", "source", "small_version", "large_version")


@dataclass(frozen=True)
class EsciFiles:
    """Where the parts of the dataset are; ``sources`` may be missing."""

    examples: Path
    products: Path
    sources: Path | None


def find_esci(folder: str | Path) -> EsciFiles:
    """Find the dataset's files in a folder.

    Raises
    ------
    ReadError
        If a part is missing or there are several candidates, naming what is there.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ReadError(f"load_esci: {folder} is not a folder; give the folder that holds the ESCI files "
                        "(download_esci fetches them)")
    return EsciFiles(_one(folder, "examples", (".parquet", ".csv", ".csv.gz")),
                     _one(folder, "products", (".parquet", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")),
                     _one(folder, "sources", (".csv", ".csv.gz", ".parquet"), required=False))


def _one(folder: Path, part: str, endings: Sequence[str], *, required: bool = True) -> Path | None:
    found = sorted(p for p in folder.iterdir() if part in p.name and p.name.endswith(tuple(endings)))
    if len(found) == 1:
        return found[0]
    if not found and not required:
        return None
    have = sorted(p.name for p in folder.iterdir())
    raise ReadError(f"load_esci: expected one {part} file ({', '.join(endings)}) in {folder}, found "
                    f"{[p.name for p in found] or 'none'}; the folder has {have}")


def load_esci(folder: str | Path, locale: str = "us", version: Literal["small", "large"] | None = None,
              columns: Sequence[str] | None = None, *, memory_limit: str = "1GB") -> Dataset:
    """Read ESCI as canonical tables, keeping one market and, where asked, one published version.

    Parameters
    ----------
    folder : path
        Holds ``shopping_queries_dataset_{examples,products}.parquet`` and ``…_sources.csv`` as
        published, or ``examples.csv`` and ``products.jsonl[.gz]`` with the same column names.
    locale : str
        ``us``, ``es`` or ``jp``; a product's id is unique within its market only.
    version : {"small", "large"} or None
        Keep the examples of that version, and only the products they judge. None keeps all examples
        and all products of the market.
    columns : sequence of str, optional
        Canonical product columns to load besides product_id and locale, for example
        ``("title", "brand")``; default all that the file has. ESCI itself has no category.
    memory_limit : str
        What DuckDB may use while filtering, for example ``"500MB"``; it spills to disk beyond.

    Returns
    -------
    Dataset
        Unpacks as products, queries, judgments. Grades are E 3, S 2, C 1, I 0. queries also
        has ``split`` and ``source`` where the files have them.

    Raises
    ------
    ReadError
        For missing files or columns, an unknown locale or version, or a damaged file.

    Notes
    -----
    Source: Reddy et al., "Shopping Queries Dataset" (arXiv 2206.06588), and its repository's README.
    """
    if version not in (None, "small", "large"):
        raise ReadError(f"load_esci: version {version!r}; expected 'small', 'large' or None")
    files = find_esci(folder)
    report = ReadReport(files.examples.name)
    with _database(memory_limit) as db:
        judged = _judged(db, files, locale, version, report)
        products = _products(db, files.products, locale, columns, judged["product_id"] if version else None, report)
    queries = _queries(judged, report)
    judgments = judged[["query_id", "product_id", "label", "grade"]]
    without_text = ~judgments["product_id"].isin(products["product_id"])
    if without_text.any():
        report.note("noted", "judged product is not in the products file (the judgment is kept)", count=int(without_text.sum()),
                    value=judgments.loc[without_text, "product_id"].iloc[0])
    return Dataset(products, queries, judgments, report.check())


@contextmanager
def _database(memory_limit: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A private in-memory DuckDB that spills into a temporary folder; its errors become ReadError."""
    import duckdb

    with tempfile.TemporaryDirectory() as spill:
        db = duckdb.connect(config={"memory_limit": memory_limit, "temp_directory": spill})
        try:
            yield db
        except duckdb.Error as error:
            raise ReadError(f"load_esci: {error}") from error
        finally:
            db.close()


def _judged(db: duckdb.DuckDBPyConnection, files: EsciFiles, locale: str, version: str | None, report: ReadReport) -> pd.DataFrame:
    """The kept examples: query_id, query, product_id, label, grade and, where known, split and source."""
    have = _open_examples(db, files.examples)
    missing = [name for name in EXAMPLE_COLUMNS if name not in have]
    if version and f"{version}_version" not in have:
        missing.append(f"{version}_version")
    if missing:
        raise ReadError(f"{files.examples.name}: missing column(s) {missing}; got {have}")
    wanted = f"CAST({version}_version AS INTEGER) = 1" if version else "TRUE"
    counts = db.execute(f"""
        SELECT count(*), count(*) FILTER (product_locale IS DISTINCT FROM $locale),
               count(*) FILTER (product_locale = $locale AND NOT coalesce({wanted}, FALSE))
        FROM examples""", {"locale": locale}).fetchone()
    report.read = counts[0]
    if counts[0] and counts[1] == counts[0]:
        there = [row[0] for row in db.execute("SELECT DISTINCT product_locale FROM examples ORDER BY 1 LIMIT 10").fetchall()]
        raise ReadError(f"{files.examples.name}: no example has locale {locale!r}; the file has {there}")
    for count, reason in ((counts[1], f"other locale than {locale}"), (counts[2], f"not in the {version} version")):
        if count:
            report.note("set_aside", reason, count=count)
    extra = [name for name in ("split", "source") if name in have]
    frame = db.execute(f"""
        SELECT {', '.join(f'CAST({name} AS VARCHAR) AS {name}' for name in ('query_id', 'query', 'product_id', 'esci_label', *extra))}
        FROM examples WHERE product_locale = $locale AND {wanted}""", {"locale": locale}).df()
    if "source" not in frame and files.sources is not None:
        frame = frame.merge(_sources(db, files.sources), on="query_id", how="left")
    return _graded(frame.rename(columns={"esci_label": "label"}), report)


def _open_examples(db: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Make the relation ``examples``; returns its column names."""
    if path.suffix == ".parquet":
        db.execute(f"CREATE VIEW examples AS SELECT * FROM read_parquet({_literal(path)})")
    else:
        db.execute(f"CREATE VIEW examples AS SELECT * FROM {_csv(path)}")
    return [row[0] for row in db.execute("DESCRIBE examples").fetchall()]


def _literal(path: Path) -> str:
    """A path as an SQL string; glob characters of the path itself are taken literally."""
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
    return "'" + escaped.replace("'", "''") + "'"


def _csv(path: Path) -> str:
    """A strict CSV scan: every column is text, so that ids keep their zeros and no word becomes null."""
    return (f"read_csv({_literal(path)}, all_varchar=true, header=true, delim=',', quote='\"', escape='\"', "
            "nullstr='\\N', strict_mode=true)")


def _sources(db: duckdb.DuckDBPyConnection, path: Path) -> pd.DataFrame:
    scan = f"read_parquet({_literal(path)})" if path.suffix == ".parquet" else _csv(path)
    return db.execute(f"SELECT CAST(query_id AS VARCHAR) AS query_id, min(source) AS source FROM {scan} GROUP BY 1").df()


def _graded(frame: pd.DataFrame, report: ReadReport) -> pd.DataFrame:
    """Labels to grades; rows without ids or a known label are set aside, repeated pairs folded."""
    for name in ("query_id", "product_id", "query"):
        frame = _drop(frame, frame[name].isna(), f"{name} is null", name, report)
    letters = frame["label"].str.strip().str[:1].str.upper()
    frame = _drop(frame, ~letters.isin(list(ESCI_GRADES)), "label is not one of E, S, C, I", "label", report)
    frame = frame.assign(label=letters.loc[frame.index], grade=letters.loc[frame.index].map(ESCI_GRADES).astype("float64"))
    repeated = frame.duplicated(["query_id", "product_id"])
    if repeated.any():
        same = frame.duplicated(["query_id", "product_id", "label"])
        if same.any():
            report.note("folded", "the same judgment again", count=int(same.sum()))
        if (repeated & ~same).any():
            report.note("set_aside", "another label for a pair already read (the first is kept)", count=int((repeated & ~same).sum()))
        frame = frame[~repeated]
    report.kept = len(frame)
    return frame.reset_index(drop=True)


def _drop(frame: pd.DataFrame, bad: pd.Series, reason: str, column: str, report: ReadReport) -> pd.DataFrame:
    if bad.any():
        report.note("set_aside", reason, count=int(bad.sum()), value=frame.loc[bad, column].iloc[0])
        return frame[~bad]
    return frame


def _queries(judged: pd.DataFrame, report: ReadReport) -> pd.DataFrame:
    """One row a query; a second text or split of one id is reported and the first kept."""
    columns = ["query_id", "query", *[name for name in ("split", "source") if name in judged]]
    distinct = judged[columns].drop_duplicates()
    repeated = distinct.duplicated("query_id")
    if repeated.any():
        report.note("noted", "query id with a second text, split or source (the first is kept)", count=int(repeated.sum()),
                    value=distinct.loc[repeated, "query_id"].iloc[0])
    return distinct[~repeated].reset_index(drop=True)


def _products(db: duckdb.DuckDBPyConnection, path: Path, locale: str, columns: Sequence[str] | None,
              only: pd.Series | None, report: ReadReport) -> pd.DataFrame:
    """The market's products, or those of ``only``; text columns under their canonical names."""
    have = _open_products(db, path)
    names = _chosen(path, have, columns)
    keep = "product_locale = $locale"
    if only is not None:
        db.register("wanted", pd.DataFrame({"product_id": only.unique()}))
        keep += " AND product_id IN (SELECT product_id FROM wanted)"
    selected = ", ".join(f"CAST({source} AS VARCHAR) AS {name}" for source, name in names.items())
    rows = db.sql(f"SELECT product_id, {selected}{', ' if selected else ''}product_locale AS locale FROM products WHERE {keep}",
                  params={"locale": locale}).to_arrow_table()
    products = rows.to_pandas(self_destruct=True, split_blocks=True)
    repeated = products.duplicated("product_id")
    if repeated.any():
        report.note("noted", "product rows whose id was already read (the first is kept)", count=int(repeated.sum()))
        products = products[~repeated].reset_index(drop=True)
    total = db.execute("SELECT count(*) FROM products").fetchone()[0]
    report.note("noted", f"{path.name}: {total} products, {len(products)} of them wanted (locale {locale}"
                         f"{', judged in the chosen version' if only is not None else ''})")
    return products.drop(columns=[name for name in ("category",) if name in products and products[name].isna().all()])


def _open_products(db: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Make the relation ``products``; returns its column names."""
    if path.suffix == ".parquet":
        db.execute(f"CREATE VIEW products AS SELECT * FROM read_parquet({_literal(path)})")
    else:
        types = ", ".join(f"{name}: 'VARCHAR'" for name in ("product_id", *PRODUCT_COLUMNS, "product_locale"))
        db.execute(f"CREATE VIEW products AS SELECT * FROM read_json({_literal(path)}, format='newline_delimited', columns={{{types}}})")
    return [row[0] for row in db.execute("DESCRIBE products").fetchall()]


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
