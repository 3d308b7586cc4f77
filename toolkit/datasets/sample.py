"""The shipped sample: a small fixed draw of the generated catalogue."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from toolkit.datasets.catalogue import Catalogue, generate_catalogue
from toolkit.tables import JUDGMENTS, PRODUCTS, QUERIES, check

SAMPLE = {"products": 2_400, "queries": 240, "seed": 26, "hard_share": 0.4}
"""Arguments of ``generate_catalogue`` that make the sample."""
EXAMPLE_QUERIES = {
    "easy": "100044",  # white bluetooth headphones: the words stand in the titles
    "noisy": "100019",  # # 1 30" handbag: signs and an inch mark that analysis must survive
    "negated": "100109",  # toothpaste without fluoride: the excluded word pulls in what has it
    "misspelt": "100239",  # comfy bakkkpak: beyond the two edits of fuzziness AUTO
    "vocabulary_gap": "100108",  # rubbish bin: sellers write trash can
}
"""Five instructive queries of the sample: what they teach -> query_id."""
FOLDER = Path(__file__).resolve().parents[2] / "data"
TABLES = ("products", "queries", "judgments", "causes")


def make_sample() -> Catalogue:
    """Generate the sample (about a second)."""
    return generate_catalogue(**SAMPLE)


def write_sample(folder: Path) -> list[Path]:
    """Write the sample's tables as CSV (UTF-8, LF, null as an empty cell); returns the files."""
    catalogue, folder = make_sample(), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.csv" for name in TABLES]
    for name, file in zip(TABLES, files, strict=True):
        getattr(catalogue, name).to_csv(file, index=False, encoding="utf-8", lineterminator="\n")
    return files


def load_sample(folder: Path | None = None) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Products, queries and judgments of the shipped sample.

    Parameters
    ----------
    folder : path, optional
        Folder of the CSV files; default the project's ``data/``. Where it is absent, as in an installed
        package, the same tables are generated.

    Returns
    -------
    products, queries, judgments : DataFrame
        Canonical tables (see ``toolkit.tables``).
    """
    tables = {name: _table(name, folder) for name in TABLES[:3]}
    return (check(tables["products"], PRODUCTS, source="sample products"), check(tables["queries"], QUERIES, source="sample queries"),
            check(tables["judgments"], JUDGMENTS, source="sample judgments"))


def load_sample_causes(folder: Path | None = None) -> pd.DataFrame:
    """The truth about the sample's queries: see ``Catalogue.causes``."""
    return _table("causes", folder)


def _table(name: str, folder: Path | None) -> pd.DataFrame:
    """One table, read or generated."""
    file = Path(folder or FOLDER) / f"{name}.csv"
    if not file.is_file():
        return getattr(make_sample(), name)
    return read_table(file)


def read_table(file: Path) -> pd.DataFrame:
    """Read one of the sample's files: text as it is, empty cells null, grade and planted_depth as numbers."""
    table = pd.read_csv(file, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8")
    numbers = {name: kind for name, kind in (("grade", "float64"), ("planted_depth", "Int64")) if name in table}
    return table.assign(**{name: pd.to_numeric(table[name]).astype(kind) for name, kind in numbers.items()})
