"""The guard keeps what a rewrite may not lose and refuses what it may not invent."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.interventions import RewriteGuard
from toolkit.interventions.text_facts import model_names, numbers, quantities
from toolkit.search.analysis import Analyzer

PRODUCTS = pd.DataFrame({
    "product_id": list("abcdef"), "title": ["Water bottle", "Sun hat", "Sun cream", "Sun glasses", "Blue jug", "Red jug"],
    "brand": ["Klean Kanteen", "Sun", "Acme", "Other", None, "Veltec"],
})
GUARD = RewriteGuard.for_products(Analyzer().terms, PRODUCTS, max_title_share=0.3)


@pytest.mark.parametrize(("original", "rewritten"), [
    ("tires without rims", "tyres without rims"),
    ("tires without rims", "tires no rims"),
    ("tires w/o rims", "tires without rims"),
    ("toothpaste without sweetner", "toothpaste without sweetener"),
    ("non-slip mat", "non slip rug"),
    ("sugar-free gum", "chewing gum free of sugar"),
    ("sugar free gum", "sugar-free chewing gum"),
    ("sugar free gum", "gum without sugar"),
    ("gum free of sugar", "sugar free gum"),
    ("1½ inch pipe", "1 1/2 inch pipe"),
    ('60" round dining table', "60 inch round dining table"),
    ("1,000 piece puzzle", "1000 piece jigsaw puzzle"),
    ("sony wh-1000xm4", "sony headphones WH-1000XM4"),
    ("veltek jug", "veltec jug"),
    ("klean kanteen", "klean kanteen bottle"),
    ("hat", "sun hat"),
])
def test_accepted(original, rewritten):
    assert GUARD.reasons(original, rewritten) == []


@pytest.mark.parametrize(("original", "rewritten", "reason"), [
    ("tires without rims", "tires rims", "loses the negation 'without rims'"),
    ("tires without rims", "tires", "loses the negation 'without rims'"),
    ("tires without steel rims", "tires without rims", "changes what"),
    ("!awnmower tires without rims", "lawnmower tires not blue", "loses the negation"),
    ("sugar free gum", "sugar gum", "loses the negation"),
    ("½ inch pipe", "inch pipe", "loses the number 1/2"),
    ("case without lid", "case without kid", "loses the negation"),
    ("jug", "jug without handle", "adds the negation"),
    ("# 2 pencils", "pencils", "loses the number 2"),
    ("pencils", "pencils 12", "adds the number 12"),
    ('60" table', "60 cm table", "changes the unit of 60 inch"),
    ("1 1/2 leather belts", "1 leather belts", "loses the number 1 1/2"),
    ("sony wh-1000xm4", "sony headphones", "loses the model name 'wh-1000xm4'"),
    ("sony headphones", "sony wh-1000xm4", "adds the model name 'wh-1000xm4'"),
    ("k cliffs heavy duty clear backpack", "Klean Kanteen heavy duty clear water bottle", "invents the brand 'klean kanteen'"),
    ("jug", "!!", "nothing is left"),
])
def test_refused_with_the_reason(original, rewritten, reason):
    assert any(reason in found for found in GUARD.reasons(original, rewritten))


@given(st.text(alphabet=st.sampled_from("ab12 \"'-/.,!#without noWO"), max_size=30))
def test_the_same_text_is_never_refused_for_what_it_holds(text):
    assert [reason for reason in GUARD.reasons(text, text) if "nothing is left" not in reason] == []


def test_quantities_and_model_names():
    assert quantities('2 pk 60" 3.5 mm #1') == {("2", "pack"), ("60", "inch"), ("3.5", "millimetre"), ("1", None)}
    assert numbers("1 1/2 belts 1,000") == {"1 1/2", "1000"}
    assert model_names("sony WH-1000XM4 5-pack 12oz 10x12 2nd b07") == {"wh-1000xm4", "10x12", "b07"}


def test_a_catalogue_without_brands_still_guards_the_rest():
    guard = RewriteGuard.for_products(Analyzer().terms, PRODUCTS[["product_id", "title"]])
    assert guard.reasons("2 jugs", "jugs") and not guard.reasons("jug", "klean kanteen")
