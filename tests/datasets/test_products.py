"""read_products: one's own catalogue in the usual forms."""

import json
import warnings

import pandas as pd
import pytest

from toolkit.datasets import ReadError, ReadWarning, read_products
from toolkit.tables import PRODUCTS, check

ROWS = [{"sku": "007", "name": '27" monitor', "bullets": ["wide", "sharp"], "colour": None, "material": "steel"},
        {"sku": "008", "name": "mug", "bullets": [], "colour": "red", "material": None}]


@pytest.mark.parametrize("form", ["json", "jsonl", "parquet"])
def test_forms(tmp_path, form):
    path = tmp_path / f"products.{form}"
    if form == "parquet":
        pd.DataFrame(ROWS).to_parquet(path)
    else:
        path.write_text(json.dumps(ROWS) if form == "json" else "\n".join(map(json.dumps, ROWS)))
    table, report = read_products(path, keep=["material"])
    check(table, PRODUCTS)
    assert list(table) == ["product_id", "title", "bullet_point", "color", "material"]
    assert table.loc[0, ["product_id", "title", "bullet_point", "material"]].tolist() == ["007", '27" monitor', "wide\nsharp", "steel"]
    assert table["color"].isna().tolist() == [True, False]
    assert "column 'sku' read as product_id" in str(report)


def test_csv_and_repeated_ids(tmp_path):
    path = tmp_path / "products.csv"
    path.write_text("id;title;brand\n1;a;\n1;a;\n1;other;x\n;no id;x\n2;null;N/A\n")
    with pytest.warns(ReadWarning):
        table, report = read_products(path)
    assert table["product_id"].tolist() == ["1", "2"]
    assert table["title"].tolist() == ["a", "null"]
    assert table["brand"].isna().tolist() == [True, False]
    assert (report.read, report.kept, report.folded, report.set_aside) == (5, 2, 1, 2)


def test_without_a_title_column(tmp_path):
    (tmp_path / "p.csv").write_text("id,color,size\n1,a,2\n")
    with warnings.catch_warnings(), pytest.raises(ReadError, match="no column for title"):
        read_products(tmp_path / "p.csv")
