"""The shipped sample is the generator's, byte for byte, and teaches what it says."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from toolkit.datasets import EXAMPLE_QUERIES, load_sample, load_sample_causes
from toolkit.datasets.sample import FOLDER, TABLES, write_sample


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("sample"))


def test_generating_again_gives_the_shipped_bytes(written):
    for file in written:
        assert file.read_bytes() == (FOLDER / file.name).read_bytes(), f"{file.name} differs: run `make data` and look at the change"


def test_it_is_small():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 3_000_000


def test_absent_files_are_generated(tmp_path):
    generated, read = load_sample(tmp_path / "absent"), load_sample()
    for one, other in zip((*generated, load_sample_causes(tmp_path / "absent")), (*read, load_sample_causes()), strict=True):
        assert_frame_equal(one, other)


def test_tables_fit_together():
    products, queries, judgments = load_sample()
    causes = load_sample_causes().set_index("query_id")
    assert products["product_id"].is_unique and queries["query_id"].is_unique and queries["query"].is_unique
    assert set(judgments["query_id"]) == set(queries["query_id"]) == set(causes.index)
    assert not judgments.duplicated(["query_id", "product_id"]).any()
    missing = judgments[~judgments["product_id"].isin(products["product_id"])]
    assert (causes.loc[missing["query_id"], "cause"] == "no_relevant_indexed").all()
    assert (products["category"] == "Other").all()


def test_examples_have_the_causes_they_are_shown_for():
    causes = load_sample_causes().set_index("query_id")
    found = {name: causes.loc[query_id, "cause"] for name, query_id in EXAMPLE_QUERIES.items()}
    assert found == {"easy": "none", "noisy": "none", "negated": "negation", "misspelt": "misspelling", "vocabulary_gap": "vocabulary_gap"}
    assert pd.notna(causes.loc[EXAMPLE_QUERIES["noisy"], "noise"])


def test_every_table_is_written(written):
    assert [file.stem for file in written] == list(TABLES)
