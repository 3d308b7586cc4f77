"""Traits of queries as shoppers type them."""

import json
import gzip

import pandas as pd
import pytest

from toolkit.diagnosis import negations, query_traits
from toolkit.diagnosis.spelling import Speller, sound_key
from toolkit.diagnosis.traits import MEANINGS, NOISE, TRAITS


def traits_of(text, vocabulary=None):
    row = query_traits(pd.DataFrame({"query_id": ["1"], "query": [text]}), vocabulary).iloc[0]
    return {name for name in TRAITS if row[name] is not pd.NA and row[name]}


@pytest.mark.parametrize(("query", "expected"), [
    ("!awnmower tires without rims", [("without", "rims")]),
    ("# 2 pencils not sharpened", [("not", "sharpened")]),
    ("1 1/2 leather belts without buckle", [("without", "buckle")]),
    ("shoes without laces for women", [("without", "laces")]),
    ("lights without wiring with switch", [("without", "wiring")]),
    ("fan without light or remote", [("without", "light or remote")]),
    ("dog bed w/o cover", [("w/o", "cover")]),
    ("milk no sugar no salt", [("no", "sugar"), ("no", "salt")]),
    ("non slip mat", [("non", "slip")]),
    ("non-toxic crayons", [("non", "toxic")]),
    ("sugar-free gum", [("-free", "sugar")]),
    ("oil free of parabens", [("free of", "parabens")]),
    ("Without Gelatin marshmallows", [("without", "Gelatin marshmallows")]),
    ("no. 2 pencils", []),
    ("no 2 pencils", []),
    ("notebook nonstick freestyle", []),
    ("pants without", []),
    ("free shipping", []),
    ("", []),
])
def test_negations_and_their_scope(query, expected):
    assert [tuple(found) for found in negations(query)] == expected


@pytest.mark.parametrize(("query", "expected"), [
    ("03 durango front calipers", {"model_year", "noise"}),
    ("2019 sofa", {"model_year", "noise"}),
    ("2020 x 30 board", {"model_year", "noise"}),
    ("part 20190 belt", set()),
    ('60" round dining table', {"inch_mark", "noise"}),
    ("60” round dining table", {"inch_mark", "noise"}),
    ("1 1/2 leather belts", {"fraction", "noise"}),
    ("½ inch bolt", {"fraction", "noise"}),
    ("faucet w/ handshower", {"abbreviation", "noise"}),
    ("#1 rated mint toothpaste", {"leading_punctuation", "noise"}),
    ("c++", set()),
    ("OR", set()),
    ("(size:10)", {"leading_punctuation", "noise"}),
    ("🎸", {"leading_punctuation", "noise"}),
    ("sofa", set()),
    ("", set()),
])
def test_noise(query, expected):
    assert traits_of(query) == expected


VOCABULARY = ["backpack", "socks", "hoodie", "stroller", "chair", "sneakers", "red", "kitchen", "cheap4"]


@pytest.mark.parametrize("word", ["bakpack", "bakkkpak", "sokz", "hodoie", "storelr", "sneekers"])
def test_misspellings_look_or_sound_alike(word):
    assert "misspelling" in traits_of(f"red {word}", VOCABULARY)


@pytest.mark.parametrize("word", ["backpack", "backpacks", "sneaker", "purple", "xk500", "tv", "chicken", "cheap"])
def test_known_and_merely_unknown_words_are_no_misspellings(word):
    assert "misspelling" not in traits_of(word, VOCABULARY)


def test_without_a_vocabulary_misspelling_is_unknown():
    table = query_traits(pd.DataFrame({"query_id": ["1"], "query": ["sokz"]}))
    assert table["misspelling"].isna().all() and not table["noise"].any()


def test_nearest_correction_comes_first():
    assert Speller(["flour", "floor", "flower"]).corrections("flooor")[0] == "floor"
    assert sound_key("phone")[0] == "p" and sound_key("kitchen") == sound_key("kitshen")


def test_every_trait_has_a_meaning():
    assert set(MEANINGS) == set(TRAITS) and set(NOISE) < set(TRAITS)


def test_planted_noise_is_found(diagnosed):
    traits = diagnosed.diagnosis.traits.merge(diagnosed.causes[["query_id", "noise", "cause"]].rename(columns={"noise": "planted"}), on="query_id")
    for planted, trait in {"leading punctuation": "leading_punctuation", "leading number sign": "leading_punctuation", "model year": "model_year"}.items():
        chosen = traits[traits["planted"] == planted]
        assert len(chosen) >= 3 and chosen[trait].all(), planted
    light = traits[traits["planted"] == "light misspelling"]
    assert light["misspelling"].mean() >= 0.7
    ordinary = traits[~traits["planted"].isin(["light misspelling", "misspelling"]) & (traits["cause"] == "none")]
    assert ordinary["misspelling"].mean() <= 0.05
    assert traits.loc[traits["cause"] == "negation", "negation"].all()
    assert not traits.loc[traits["cause"] != "negation", "negation"].any()


@pytest.mark.reference
def test_real_queries_hold_38_negations(reference_data):
    queries = pd.read_csv(reference_data / "esci150" / "examples.csv", dtype="str", usecols=["query_id", "query"]).drop_duplicates()
    with gzip.open(reference_data / "esci150" / "products.jsonl.gz", "rt") as file:
        titles = [json.loads(line)["product_title"] for line in file]
    words = {word for title in titles for word in str(title).lower().split()}
    traits = query_traits(queries, words)
    assert traits["negation"].sum() == 38
    assert "sweetner" in set(traits["misspelt"].dropna()) and traits["misspelling"].mean() < 0.1
