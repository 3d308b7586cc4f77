"""Read the Shopping Queries Dataset (Amazon ESCI): the published files, or a CSV/JSONL excerpt.

Files are filtered out of core: memory holds the wanted rows and columns plus what ``memory_limit``
and one batch of products take.
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
from toolkit.datasets.download import LFS_POINTER
from toolkit.datasets.esci_products import read_esci_products, sql_path
from toolkit.datasets.report import ReadError, ReadReport

if TYPE_CHECKING:
    import duckdb

EXAMPLE_COLUMNS = ("query_id", "query", "product_id", "product_locale", "esci_label")


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
        _refuse_pointer(found[0])
        return found[0]
    if not found and not required:
        return None
    have = sorted(p.name for p in folder.iterdir())
    raise ReadError(f"load_esci: expected one {part} file ({', '.join(endings)}) in {folder}, found "
                    f"{[p.name for p in found] or 'none'}; the folder has {have}")


def _refuse_pointer(path: Path) -> None:
    """A clone without Git LFS has text stubs under the files' names."""
    with path.open("rb") as stream:
        if stream.read(len(LFS_POINTER)) == LFS_POINTER:
            raise ReadError(f"load_esci: {path} is a Git LFS pointer, not the data; run `git lfs pull` in its repository, or download_esci")


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
        What DuckDB may use for the examples (and JSON lines), for example ``"500MB"``; it spills to disk
        beyond. Product Parquet is streamed page by page, whatever its row groups.

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
        products = read_esci_products(db, files.products, locale, columns, judged["product_id"] if version else None, report)
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
        db.execute(f"CREATE VIEW examples AS SELECT * FROM read_parquet({sql_path(path)})")
    else:
        db.execute(f"CREATE VIEW examples AS SELECT * FROM {_csv(path)}")
    return [row[0] for row in db.execute("DESCRIBE examples").fetchall()]


def _csv(path: Path) -> str:
    """A strict CSV scan: every column is text, so that ids keep their zeros and no word becomes null."""
    return (f"read_csv({sql_path(path)}, all_varchar=true, header=true, delim=',', quote='\"', escape='\"', "
            "nullstr='\\N', strict_mode=true)")


def _sources(db: duckdb.DuckDBPyConnection, path: Path) -> pd.DataFrame:
    scan = f"read_parquet({sql_path(path)})" if path.suffix == ".parquet" else _csv(path)
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
