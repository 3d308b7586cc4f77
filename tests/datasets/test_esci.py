"""load_esci: the published files out of core, and the CSV/JSONL excerpt."""

import gzip
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from toolkit.datasets import ReadError, load_esci
from toolkit.tables import JUDGMENTS, PRODUCTS, QUERIES, check

EXAMPLES = pd.DataFrame({
    "example_id": range(8),
    "query": ["27\" monitor", "27\" monitor", "None", "constructor", "constructor", "zapatos", "nan", "nan"],
    "query_id": [10, 10, 11, 12, 12, 13, 14, 14],
    "product_id": ["000123", "B2", "B2", "B3", "B3", "E1", "B4", "B5"],
    "product_locale": ["us", "us", "us", "us", "us", "es", "us", "us"],
    "esci_label": ["E", "S", "C", "I", "I", "E", "E", "X"],
    "small_version": [1, 1, 0, 1, 1, 1, 0, 0],
    "large_version": [1] * 8,
    "split": ["train"] * 7 + ["test"],
})
PRODUCT_ROWS = pd.DataFrame({
    "product_id": ["000123", "B2", "B3", "B4", "E1"],
    "product_title": ["27\" screen", "null", None, "four", "zapato"],
    "product_description": [None, "d", "d", "d", "d"],
    "product_bullet_point": ["a\nb", None, "", "x", "y"],
    "product_brand": ["N/A", "b", "b", "b", "b"],
    "product_color": ["red", None, None, None, None],
    "product_locale": ["us", "us", "us", "us", "es"],
})
SOURCES = pd.DataFrame({"query_id": [10, 11, 12, 13, 14], "source": ["negations", "other", "other", "other", "behavioral"]})


@pytest.fixture
def published(tmp_path):
    """A folder shaped like the published dataset."""
    EXAMPLES.to_parquet(tmp_path / "shopping_queries_dataset_examples.parquet")
    PRODUCT_ROWS.to_parquet(tmp_path / "shopping_queries_dataset_products.parquet", row_group_size=2)
    SOURCES.to_csv(tmp_path / "shopping_queries_dataset_sources.csv", index=False)
    return tmp_path


def test_published_files_become_canonical_tables(published):
    data = load_esci(published)
    products, queries, judgments = data
    check(products, PRODUCTS), check(queries, QUERIES), check(judgments, JUDGMENTS)
    assert list(products) == ["product_id", "title", "brand", "bullet_point", "description", "color", "locale"]
    assert set(products["product_id"]) == {"000123", "B2", "B3", "B4"}
    assert products.set_index("product_id").loc["000123", "title"] == '27" screen'
    assert products.set_index("product_id").loc["B2", "title"] == "null"
    assert products["title"].isna().sum() == 1
    assert dict(zip(queries["query_id"], queries["query"])) == {"10": '27" monitor', "11": "None", "12": "constructor", "14": "nan"}
    assert dict(zip(queries["query_id"], queries["source"]))["10"] == "negations"
    assert judgments.set_index(["query_id", "product_id"])["grade"].to_dict() == {
        ("10", "000123"): 3.0, ("10", "B2"): 2.0, ("11", "B2"): 1.0, ("12", "B3"): 0.0, ("14", "B4"): 3.0}


def test_every_example_row_is_accounted_for(published):
    report = load_esci(published).report
    assert (report.read, report.kept, report.folded, report.set_aside) == (8, 5, 1, 2)
    assert report.count("set_aside", "other locale") == 1
    assert report.count("set_aside", "label is not one of") == 1


def test_small_version_keeps_only_its_judged_products(published):
    data = load_esci(published, version="small")
    assert sorted(data.products["product_id"]) == ["000123", "B2", "B3"]
    assert len(data.judgments) == 3
    assert data.report.count("set_aside", "not in the small version") == 3


def test_locale_and_columns(published):
    data = load_esci(published, locale="es", columns=["title"])
    assert list(data.products) == ["product_id", "title", "locale"]
    assert list(data.queries["query"]) == ["zapatos"]


def test_a_category_column_is_read_where_a_file_has_one(published):
    PRODUCT_ROWS.assign(product_category="Other").to_parquet(published / "shopping_queries_dataset_products.parquet")
    assert set(load_esci(published).products["category"]) == {"Other"}


@pytest.mark.parametrize(("call", "words"), [
    ({"locale": "de"}, ["'de'", "es", "us"]),
    ({"version": "tiny"}, ["'tiny'", "small"]),
    ({"columns": ["titel"]}, ["titel", "title"]),
])
def test_wrong_arguments_say_what_there_is(published, call, words):
    with pytest.raises(ReadError) as error:
        load_esci(published, **call)
    assert all(word in str(error.value) for word in words)


def test_missing_parts_are_named(published):
    (published / "shopping_queries_dataset_products.parquet").unlink()
    with pytest.raises(ReadError, match="products file"):
        load_esci(published)
    with pytest.raises(ReadError, match="not a folder"):
        load_esci(published / "nowhere")


def test_damaged_product_file_is_an_error_not_an_empty_table(published):
    (published / "shopping_queries_dataset_products.parquet").write_bytes(b"PAR1 no longer")
    with pytest.raises(ReadError):
        load_esci(published)


def test_a_clone_without_lfs_is_recognised(published):
    (published / "shopping_queries_dataset_products.parquet").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(ReadError, match="git lfs pull"):
        load_esci(published)


def test_csv_and_jsonl_form(tmp_path):
    EXAMPLES.drop(columns=["example_id", "small_version"]).to_csv(tmp_path / "examples.csv", index=False)
    with gzip.open(tmp_path / "products.jsonl.gz", "wt") as stream:
        for row in PRODUCT_ROWS.astype(object).where(PRODUCT_ROWS.notna(), None).to_dict("records"):
            stream.write(json.dumps(row) + "\n")
    data = load_esci(tmp_path)
    assert data.products.set_index("product_id").loc["000123", "title"] == '27" screen'
    assert "category" not in data.products
    assert "None" in set(data.queries["query"])
    with pytest.raises(ReadError, match="small_version"):
        load_esci(tmp_path, version="small")


@pytest.mark.reference
def test_reference_excerpt(reference_data):
    products, queries, judgments = load_esci(reference_data / "esci150")
    assert (len(products), len(queries), len(judgments)) == (6764, 150, 6678)
    qrels = pd.read_csv(reference_data / "esci150" / "qrels.txt", sep=" ", header=None, dtype={0: str, 2: str})
    merged = judgments.merge(qrels, left_on=["query_id", "product_id"], right_on=[0, 2])
    assert len(merged) == 6678
    assert (merged["grade"] == merged[3]).all()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("groups", [1, 10])
def test_memory_stays_bounded_on_a_large_file_whatever_its_row_groups(tmp_path, groups):
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 100_000
    rng = np.random.default_rng(0)
    blob = rng.integers(97, 123, 4_000_000, dtype=np.uint8).tobytes().decode()
    wanted = set(range(0, n, 100))
    with pq.ParquetWriter(tmp_path / "products.parquet", pa.schema(
            [(c, pa.string()) for c in ("product_id", "product_title", "product_description", "product_locale")]),
            compression="none", use_dictionary=False) as writer:
        for group in range(groups):
            ids = range(group * n // groups, (group + 1) * n // groups)
            starts = rng.integers(0, 3_990_000, len(ids))
            writer.write_table(pa.table({
                "product_id": [f"P{i}" for i in ids], "product_title": [f"title {i}" for i in ids],
                "product_description": [blob[s:s + 2_500] for s in starts],
                "product_locale": ["us"] * len(ids)}))
    pd.DataFrame({"query_id": [1] * len(wanted), "query": "q", "product_id": [f"P{i}" for i in sorted(wanted)],
                  "product_locale": "us", "esci_label": "E", "small_version": 1, "large_version": 1}).to_parquet(tmp_path / "examples.parquet")
    script = textwrap.dedent("""
        import re, sys
        import duckdb, pandas, pyarrow
        from toolkit.datasets import load_esci
        # Not ru_maxrss: that starts with the parent's size.
        peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
        before = peak()
        data = load_esci(sys.argv[1], version="small", memory_limit="100MB")
        print(len(data.products), int(data.products["description"].str.len().sum()), peak() - before)
    """)
    out = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True).stdout.split()
    assert [int(out[0]), int(out[1])] == [len(wanted), 2_500 * len(wanted)]
    # The file holds 250 MB of text, the wanted part 2.5 MB.
    assert int(out[2]) < 220
