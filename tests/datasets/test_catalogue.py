"""The generated catalogue: deterministic, ESCI-shaped, and true to its planted causes."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from toolkit.datasets import generate_catalogue
from toolkit.datasets.catalogue import CAUSES
from toolkit.datasets.catalogue_causes import BANDS
from toolkit.datasets.catalogue_draw import Draw
from toolkit.datasets.catalogue_products import Listing
from toolkit.datasets.catalogue_terms import auto_edits, tokens
from toolkit.datasets.catalogue_truth import MOST_JUDGED, Wish, complete
from toolkit.datasets.catalogue_types import TYPES

SIZE = {"products": 2_000, "queries": 400, "seed": 5, "hard_share": 0.5}


@pytest.fixture(scope="module")
def catalogue():
    return generate_catalogue(**SIZE)


@pytest.fixture(scope="module")
def texts(catalogue):
    """product_id -> set of its words in all searched columns."""
    columns = catalogue.products[["title", "brand", "bullet_point", "description", "category"]].fillna("")
    return dict(zip(catalogue.products["product_id"], (set(tokens(" ".join(row))) for row in columns.to_numpy()), strict=True))


@pytest.fixture(scope="module")
def hard(catalogue):
    return catalogue.causes.merge(catalogue.queries, on="query_id")


def edits(one: str, other: str) -> int:
    """Optimal string alignment distance, written out (the generator uses rapidfuzz)."""
    table = [[i + j if i * j == 0 else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (one[i - 1] != other[j - 1]))
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def test_same_seed_same_tables(catalogue):
    again = generate_catalogue(**SIZE)
    for name in ("products", "queries", "judgments", "causes"):
        assert_frame_equal(getattr(again, name), getattr(catalogue, name))
    other = generate_catalogue(**{**SIZE, "seed": 6})
    assert not set(other.products["product_id"]) & set(catalogue.products["product_id"])


def test_raw_stream_is_the_promised_one():
    draw = Draw(7, stream=1)
    assert [draw.below(1_000_000) for _ in range(4)] == [543709, 481380, 516303, 18627]


def test_draws_stay_in_range():
    draw = Draw(3)
    assert {draw.between(2, 4) for _ in range(200)} == {2, 3, 4}
    assert sorted(draw.some(range(5), 9)) == [0, 1, 2, 3, 4]
    assert not any(draw.chance(0) for _ in range(50)) and all(draw.chance(100) for _ in range(50))


def test_sizes_and_mix(catalogue):
    assert len(catalogue.products) == 2_000 and len(catalogue.queries) == 400
    counts = catalogue.causes["cause"].value_counts()
    assert set(counts.index) == {"none", *CAUSES} and 195 <= counts["none"] <= 205
    assert catalogue.queries["query"].is_unique and catalogue.products["product_id"].is_unique
    assert catalogue.judgments.groupby("query_id")["grade"].max().eq(3).all()


def test_nulls_at_escis_rates(catalogue):
    rates = catalogue.products.isna().mean()
    assert 0.04 < rates["brand"] < 0.11 and 0.25 < rates["color"] < 0.5 and 0.3 < rates["description"] < 0.55
    assert rates["title"] == 0


@pytest.mark.parametrize("cause", ["vocabulary_gap", "misspelling"])
def test_no_word_of_the_query_reaches_the_relevant_products(hard, texts, cause):
    chosen = hard[hard["cause"] == cause]
    assert len(chosen) >= 20
    for row in chosen.itertuples():
        for product in row.relevant_ids.split():
            near = [(token, word) for token in tokens(row.query) for word in texts[product] if edits(token, word) <= auto_edits(token)]
            assert not near, (row.query, near)


def test_gap_words_stand_in_no_listing(texts):
    written = set().union(*texts.values())
    gap = {word for kind in TYPES for phrase in kind.gap for word in phrase.split()}
    single = {phrase for kind in TYPES for phrase in kind.gap if " " not in phrase}
    assert not single & written
    assert len(gap & written) <= 12, sorted(gap & written)  # second words of phrases such as "swivel seat"


def test_outranked_products_match_in_the_description_only(hard, catalogue):
    products = catalogue.products.set_index("product_id")
    chosen = hard[hard["cause"] == "outranked"]
    assert chosen["band"].value_counts().min() >= 20
    for row in chosen.itertuples():
        low, high = BANDS[row.band]
        assert low <= row.planted_depth <= high
        theme = row.details.split("the real ")[1].split(" names")[0]
        for product in row.relevant_ids.split():
            assert theme not in tokens(products.loc[product, "title"])
            assert theme in {word.rstrip("s") for word in tokens(products.loc[product, "description"])} | set(tokens(products.loc[product, "description"]))


def test_negated_feature_stands_in_the_wrong_products_only(hard, catalogue, texts):
    labels = catalogue.judgments.set_index(["query_id", "product_id"])["label"]
    for row in hard[hard["cause"] == "negation"].itertuples():
        feature = set(tokens(row.details.split("offer ")[1].split(";")[0]))
        for product, label in labels[row.query_id].items():
            assert feature <= texts[product] if label == "I" else not feature <= texts[product], (row.query, product)


def test_unindexed_products_are_unindexed(hard, catalogue):
    stocked = set(catalogue.products["product_id"])
    for row in hard.itertuples():
        assert (row.cause == "no_relevant_indexed") == (not stocked & set(row.relevant_ids.split())), row.query


def test_noise_is_there(hard):
    noise = hard["noise"].value_counts()
    assert noise.index.nunique() >= 7
    assert hard["query"].str.contains(r'^[!#%(*]').any() and hard["query"].str.contains('"').any() and hard["query"].str.contains("c\\+\\+").any()


def test_planted_fields():
    made = generate_catalogue(products=1_000, queries=10, seed=1, dead_category=False, recall_only_field=True)
    plain = generate_catalogue(products=1_000, queries=10, seed=1, dead_category=False)
    assert made.products["category"].nunique() > 10
    pd.testing.assert_frame_equal(made.products.drop(columns="keywords"), plain.products)
    pd.testing.assert_frame_equal(made.queries[:10], plain.queries)
    asked = made.queries[10:].merge(made.judgments, on="query_id").merge(made.products, on="product_id")
    assert len(asked) == 10 and (asked["query"] == asked["keywords"]).all() and made.products["keywords"].is_unique
    other = set(tokens(" ".join(plain.products.fillna("").to_numpy().ravel())))
    assert not other & set(made.products["keywords"])


@pytest.mark.parametrize("wrong", [{"products": 10}, {"queries": 0}, {"hard_share": 1.5}, {"judged": "some"}])
def test_refuses_sizes_it_cannot_make(wrong):
    with pytest.raises(ValueError, match="generate_catalogue"):
        generate_catalogue(**{"products": 1_000, "queries": 10, "seed": 1, **wrong})


def test_says_what_was_planted(catalogue):
    assert "2000 products" in catalogue.summary() and "outranked" in catalogue.summary()
    assert "<script" not in catalogue._repr_html_()
    assert isinstance(catalogue.causes["planted_depth"].dtype, pd.Int64Dtype)


def test_complete_judgments_keep_everything_else_and_leave_no_hole(catalogue):
    full = generate_catalogue(**SIZE, judged="all")
    assert_frame_equal(full.products, catalogue.products)
    assert_frame_equal(full.queries, catalogue.queries)
    assert_frame_equal(full.causes.drop(columns="relevant_ids"), catalogue.causes.drop(columns="relevant_ids"))
    both = catalogue.judgments.merge(full.judgments, on=["query_id", "product_id"], how="left")
    assert (both["label_x"] == both["label_y"]).all()
    assert full.judgments.groupby("query_id").size().max() <= MOST_JUDGED
    ordinary = full.causes.loc[full.causes["cause"] == "none", "query_id"]
    kinds = [kind for kind in TYPES if full.products["title"].str.contains(f" {kind.name.title()}\\b").sum() > 20]
    checked = 0
    for query_id in ordinary.head(30):  # each product whose title names the query's type is judged E, S or C
        text = full.queries.set_index("query_id")["query"][query_id]
        for kind in [kind for kind in kinds if f" {kind.name}" in f" {text}"]:
            named = full.products.loc[full.products["title"].str.contains(f" {kind.name.title()}(?:,| with| for|$)"), "product_id"]
            labels = full.judgments[full.judgments["query_id"] == query_id].set_index("product_id")["label"]
            assert set(named) <= set(labels.index)
            checked += 1
    assert checked > 10


def test_labels_follow_the_wish():
    wish = Wish("sofa", "pillow", {"color": "red"}, excluded="legs")
    listing = {name: Listing(name, kind, group, facts) for name, kind, group, facts in (
        ("E", "plain", "sofa", {"color": "red"}), ("S", "plain", "sofa", {"color": "blue"}), ("C", "plain", "pillow", {}),
        ("I", "novelty", "sofa", {}), ("I2", "plain", "sofa", {"color": "red", "features": "legs"}), ("I3", "plain", "hose", {}))}
    assert complete({}, wish, listing.values(), listing.values()) == {"E": "E", "S": "S", "C": "C", "I": "I", "I2": "I", "I3": "I"}
    assert complete({"S": "E"}, wish, listing.values(), ()) == {"E": "E", "C": "C", "S": "E"}
    assert complete({"X": "E"}, None, (), [listing["I3"]]) == {"X": "E", "I3": "I"}
