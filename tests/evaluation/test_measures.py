"""Measures print as their definition and parse back; gain maps have names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.evaluation import ESCI_LINEAR, ESCI_OFFICIAL, EXPONENTIAL, Measure
from toolkit.evaluation.measures import SENTENCES, parse_measures

NUMBER = st.floats(0.001, 100, allow_nan=False)


@settings(deadline=None)
@given(name=st.sampled_from(sorted(SENTENCES)), k=st.none() | st.integers(1, 10_000), number=st.none() | NUMBER,
       gains=st.none() | st.sampled_from(["linear", "esci_official", "exponential"]))
def test_round_trip(name, k, number, gains):
    inside = {"gains": gains} if name in ("ndcg", "ndcg_full_ideal", "dcg") else {}
    inside |= {"relevant": number} if name in ("recall", "precision", "mrr", "ap", "success") else {}
    inside |= {"max_grade": number} if name == "err" else {"p": number} if name == "rbo" else {}
    measure = Measure(name, None if name == "zero_result_rate" else k, **inside)
    assert Measure.parse(str(measure)) == measure
    assert Measure.parse(measure) is measure


def test_printed_forms():
    assert str(Measure("ndcg", 10)) == "ndcg@10"
    assert str(Measure("recall", 20, relevant=1.0)) == "recall(relevant=1)@20"
    assert str(Measure.parse("ndcg( gains = exponential )@10")) == "ndcg(gains=exponential)@10"
    assert str(Measure("zero_result_rate")) == "zero_result_rate"


@pytest.mark.parametrize("text", ["ndcg@", "nDCG@10", "ndcg@0", "ndcg@ten", "ndcg(relevant=1)@10", "recall(relevant=x)", "zero_result_rate@10",
                                  "bpref", "", "recall(gains=linear)@10", "ndcg(gains=burges)@10", "ndcg(k=3)", 10])
def test_what_cannot_be_read_says_so(text):
    with pytest.raises(ValueError, match="measure"):
        Measure.parse(text)


def test_the_same_measure_twice_is_an_error():
    with pytest.raises(ValueError, match="twice"):
        parse_measures(["ndcg@10", Measure("ndcg", 10)])
    with pytest.raises(ValueError, match="empty"):
        parse_measures([])


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_every_definition_says_when_it_is_undefined(name):
    text = Measure(name, None if name == "zero_result_rate" else 7).definition(ESCI_OFFICIAL, 2.0)
    assert "Undefined where" in text and "{" not in text
    if name in ("ndcg", "dcg"):
        assert "esci_official" in text and "7" in text
    if name == "recall":
        assert ">= 2" in text


def test_definitions_without_a_cut_speak_of_the_whole_list():
    assert "over the whole list" in Measure("ndcg").definition() and "cut at" not in Measure("ndcg").definition()
    assert "in the whole list, divided by the products returned;" in Measure("precision").definition()
    assert "in the top 5, divided by 5 (also where fewer were returned);" in Measure("precision", 5).definition()
    assert "cut at 5;" in Measure("ndcg", 5).definition()
    assert Measure("ap", 5).definition().startswith("ap@5: sum of the precision at each relevant product's rank within the top 5, divided by all relevant")


def test_gain_maps():
    grades = np.array([3.0, 2.0, 1.0, 0.0, np.nan])
    assert ESCI_LINEAR.of(grades).tolist() == [3, 2, 1, 0, 0]
    assert ESCI_OFFICIAL.of(grades).tolist() == [1, 0.1, 0.01, 0, 0]
    assert EXPONENTIAL.of(grades).tolist() == [7, 3, 1, 0, 0]
    with pytest.raises(ValueError, match=r"grade 2\.5 has no gain"):
        ESCI_OFFICIAL.of(np.array([2.5]))
    assert "3: 1" in str(ESCI_OFFICIAL) and ESCI_OFFICIAL.levels.tolist() == [0, 1, 2, 3]
