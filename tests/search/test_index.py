"""The index against counting by hand, and what it refuses."""

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from toolkit.search.analysis import Analyzer
from toolkit.search.index import build_index
from toolkit.search.products import joined_texts, text_fields
from toolkit.tables import TableError


def test_postings_equal_counting_by_hand(make_products):
    products = make_products(1, 60)
    index = build_index(products, progress=False)
    analyze = Analyzer().terms
    table = products.set_index("product_id").loc[list(index.product_ids)]
    for f, field in enumerate(index.fields):
        counts = [Counter(analyze(text)) for text in joined_texts(table[field])]
        assert index.documents[f] == sum(bool(c) for c in counts)
        assert index.tokens[f] == sum(c.total() for c in counts)
        for t, term in enumerate(index.vocabulary):
            here = slice(index.ptr[f, t], index.ptr[f, t + 1])
            expected = [(d, c[term]) for d, c in enumerate(counts) if term in c]
            assert list(zip(index.docs[here].tolist(), index.tf[here].tolist(), strict=True)) == expected


def test_arrays_cannot_be_changed(make_products):
    index = build_index(make_products(4, 5), progress=False)
    with pytest.raises(ValueError, match="read-only"):
        index.den[0] = 1


def test_order_is_that_of_id_bytes():
    ids = ["b", "a", "Z", "é", "𝒜", "￿"]
    index = build_index(pd.DataFrame({"product_id": ids, "title": ["x"] * 6}), progress=False)
    assert list(index.product_ids) == sorted(ids, key=str.encode)
    assert index.vocabulary == sorted(index.vocabulary)


def test_row_order_changes_nothing(make_products):
    products = make_products(2, 80)
    first, second = (build_index(table, progress=False) for table in (products, products.sample(frac=1, random_state=1)))
    assert first.fingerprint == second.fingerprint
    for name in ("ptr", "docs", "tf", "den", "norms"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_fingerprint_sees_any_change(make_products):
    products = make_products(3, 20)
    base = build_index(products, progress=False).fingerprint
    changed = products.copy()
    changed.loc[0, "title"] = "something else"
    assert build_index(changed, progress=False).fingerprint != base
    assert build_index(products, ["title"], progress=False).fingerprint != base
    assert build_index(products.assign(product_id=products["product_id"] + "x"), progress=False).fingerprint != base


def test_text_does_not_slip_between_products():
    left, right = (pd.DataFrame({"product_id": ["1", "2"], "title": titles}) for titles in (["a b", ""], ["a", "b"]))
    assert build_index(left, progress=False).fingerprint != build_index(right, progress=False).fingerprint


def test_cells_are_text_lists_or_null():
    column = pd.Series(["a", None, ["b", None, "c"], [], np.array(["d"], object), float("nan"), pd.NA, ""], dtype=object)
    assert joined_texts(column) == ["a", "", "b\nc", "", "d", "", "", ""]


@pytest.mark.parametrize("value", [27, 1.5, True, ["a", 3], [["a"]], {"a": 1}, b"a"])
def test_other_cells_are_refused_with_their_row(value):
    products = pd.DataFrame({"product_id": ["1", "2"], "title": pd.Series(["x", value], dtype=object)})
    with pytest.raises(TableError, match=r"row 1: title holds"):
        build_index(products, progress=False)


def test_a_repeated_id_is_refused_with_its_row():
    with pytest.raises(TableError, match="row 2: product_id 'a' occurs more than once"):
        build_index(pd.DataFrame({"product_id": ["a", "b", "a"], "title": ["x"] * 3}), progress=False)


def test_default_fields_are_the_text_columns():
    products = pd.DataFrame({"product_id": ["1"], "title": ["x"], "locale": ["us"], "price": [1.5],
                             "color": pd.Categorical(["red"]), "bullets": pd.Series([["a"]], dtype=object)})
    assert text_fields(products) == ["title", "color", "bullets"]
    assert text_fields(products, ["locale"]) == ["locale"]
    for wrong in (["nothing"], ["title", "title"], []):
        with pytest.raises(TableError):
            text_fields(products, wrong)


@pytest.mark.parametrize("dtype", [object, "str", "category", "string[python]", pd.ArrowDtype(pa.string())], ids=str)
def test_text_of_any_type_is_indexed(dtype):
    products = pd.DataFrame({"product_id": ["a", "b"], "title": pd.Series(["one", None], dtype=dtype), "note": pd.Series(["two", None], dtype=dtype)})
    index = build_index(products, progress=False)
    assert index.fields == ("title", "note") and index.vocabulary == ["one", "two"]


def test_fields_of_the_schema_are_never_dropped_for_their_type():
    products = pd.DataFrame({"product_id": ["a", "b"], "title": ["x", "y"], "brand": [np.nan, np.nan], "price": [1.5, 2.5]})
    assert text_fields(products) == ["title", "brand"]
    with pytest.raises(TableError, match="row 0: brand holds int"):
        build_index(products.assign(brand=7), progress=False)


def test_fields_and_tables_of_a_wrong_kind_are_named():
    products = pd.DataFrame({"product_id": ["a"], "title": ["x"]})
    with pytest.raises(TableError, match=r"expected a list, for example \['title'\]"):
        text_fields(products, "title")
    with pytest.raises(TableError, match=r"column\(s\) \['title'\] occur more than once"):
        build_index(pd.concat([products, products[["title"]]], axis=1), progress=False)
    with pytest.raises(TableError, match="products: got list; expected a DataFrame"):
        build_index([1, 2], progress=False)


def test_a_catalogue_without_text_or_products_is_searchable():
    for products in (pd.DataFrame({"product_id": ["1"], "title": ["!!!"]}),
                     pd.DataFrame({"product_id": pd.Series([], dtype="str"), "title": pd.Series([], dtype="str")})):
        index = build_index(products, progress=False)
        assert index.vocabulary == [] and index.documents.tolist() == [0]
