"""Why relevant products are missing: small indexes made for one reason each."""

import pandas as pd
import pytest

import toolkit as tk
from toolkit.diagnosis import diagnose_failures, drill_down, explain_missing
from toolkit.diagnosis import missing as m

FILLER = {f"n{i:02}": "red lamp" for i in range(12)}


def explained(query, products, relevant=("p",), **config):
    """Diagnosis and reasons for one query over titles; ``FILLER`` fills the top."""
    table = pd.DataFrame(list(products.items()), columns=["product_id", "title"])
    queries = pd.DataFrame({"query_id": ["q"], "query": [query]})
    judgments = pd.DataFrame({"query_id": "q", "product_id": [*relevant, "n00"], "grade": [3.0] * len(relevant) + [0.0]})
    engine, shape = tk.EmbeddedEngine.build(table, progress=False), tk.MultiMatch({"title": 1}, **config)
    diagnosis = diagnose_failures(engine.run(queries, shape, 100), judgments, queries=queries, products=table)
    return explain_missing(engine, queries, judgments, diagnosis, shape)


def reason(found):
    assert len(found.queries) == 1
    return found.queries["reason"].iloc[0]


def test_no_term_in_common():
    found = explained("red settee", {**FILLER, "p": "blue sofa"})
    assert reason(found) == m.NO_TERM and found.queries["cause"].tolist() == ["vocabulary_gap"]
    assert found.tokens.set_index("token")["meets"].to_dict() == {"red": "none", "settee": "none"}


@pytest.mark.parametrize(("query", "fuzziness", "edits"), [("bakkkpak", "AUTO", 3), ("backpaks", 0, 2), ("sokz", "AUTO", 2)])
def test_lost_to_fuzziness(query, fuzziness, edits):
    found = explained(query, {**FILLER, "p": "green backpack socks"}, fuzziness=fuzziness)
    assert reason(found) == m.LOST_TO_FUZZINESS
    row = found.tokens.iloc[0]
    assert row["meets"] == "beyond fuzziness" and row["edits"] == edits and row["field"] == "title"
    assert "edits from" in found.table["detail"].iloc[0]


def test_outscored_names_field_competitor_and_gap():
    found = explained("red lamp", {**FILLER, "p": "a quite long title that at its end says red"})
    row = found.table.iloc[0]
    assert row["reason"] == m.OUTSCORED and row["rank"] == 13 and row["top_id"] == "n00" and row["top_field"] == "title"
    assert row["gap"] == pytest.approx(row["top_score"] - row["score"]) and row["gap"] > 0
    assert found.outscored_by_field()["n"].tolist() == [1]


def test_matched_only_through_fuzziness():
    found = explained("lamp", {**FILLER, "p": "a lump of coal in a box"})
    assert reason(found) == m.ONLY_FUZZY and found.tokens["edits"].tolist() == [1]
    assert found.table["detail"].iloc[0].startswith("has 'lump' (for 'lamp') in title")


def test_negated_term():
    shelf = {f"n{i:02}": "chair with wheels" for i in range(12)}
    found = explained("chair without wheels", {**shelf, "p": "oak chair"})
    assert reason(found) == m.NEGATED and "'wheels'" in found.table["detail"].iloc[0]
    assert found.tokens.set_index("token")["negated"].to_dict() == {"chair": False, "without": False, "wheels": True}


def test_a_negation_that_the_results_respect_is_not_the_reason():
    shelf = {f"n{i:02}": "chair" for i in range(12)}
    assert reason(explained("chair without wheels", {**shelf, "p": "one more oak chair"})) == m.OUTSCORED


def test_operator_and():
    found = explained("red sofa", {**{f"n{i:02}": "red sofa" for i in range(12)}, "p": "blue sofa"}, operator="and", fuzziness=0)
    assert reason(found) == m.NOT_TOGETHER
    assert found.tokens.set_index("token")["meets"].to_dict() == {"red": "none", "sofa": "exact"}


def test_not_indexed():
    found = explained("red lamp", FILLER, relevant=("absent",))
    assert reason(found) == m.UNINDEXED and found.table["product_id"].isna().all() and found.tokens.empty


def test_the_first_returned_product_decides_for_the_query():
    products = {**FILLER, "a": "unseen thing", "b": "unseen too", "p": "some small light, not a table one but red"}
    found = explained("red lamp", products, relevant=("a", "b", "p"))
    assert reason(found) == m.OUTSCORED
    assert found.queries["n"].tolist() == [3] and found.queries["agreeing"].tolist() == [1]


def test_queries_without_text_are_refused(diagnosed):
    with pytest.raises(ValueError, match="no text in queries"):
        explain_missing(diagnosed.engine, diagnosed.queries.head(3), diagnosed.judgments, diagnosed.diagnosis, diagnosed.config)


def test_nothing_fails_nothing_is_explained():
    found = explained("red", {"p": "red"})
    assert found.queries.empty and found.table.empty and "0 failing queries" in found.summary()


def test_counts_add_up_and_card_is_plain(diagnosed):
    found = explain_missing(diagnosed.engine, diagnosed.queries, diagnosed.judgments, diagnosed.diagnosis, diagnosed.config, per_query=1)
    counts = found.counts()
    assert counts["all"].sum() == len(found.queries) == len(diagnosed.diagnosis.failing)
    assert (found.table.groupby("query_id").size() == 1).all()
    assert "<script" not in found._repr_html_() and "outscored" in found._repr_html_()
    scored = found.table.dropna(subset=["top_score"])
    run = diagnosed.run.rankings.set_index(["query_id", "product_id"])["score"]
    for row in scored.head(20).itertuples():
        assert run[row.query_id, row.top_id] == row.top_score
        assert pd.isna(row.rank) or run[row.query_id, row.product_id] == row.score


def test_drill_down_shows_the_case(diagnosed):
    case = drill_down(diagnosed.engine, "100109", diagnosed.queries, diagnosed.judgments, diagnosed.config, products=diagnosed.products)
    assert case.traits == ["negation"] and case.first_rank > 10
    assert len(case.table) == 11 and case.table["rank"].iloc[-1] == case.first_rank
    assert case.leader.score == case.table["score"].iloc[0] and case.relevant.score == case.table["score"].iloc[-1]
    assert "<script" not in case._repr_html_() and "toothpaste" in repr(case)


def test_drill_down_without_results_or_relevant_products(diagnosed):
    gap = drill_down(diagnosed.engine, "100108", diagnosed.queries, diagnosed.judgments, diagnosed.config)
    assert gap.first_rank is None and not gap.relevant.matched
    with pytest.raises(KeyError, match="not among the 240 queries"):
        drill_down(diagnosed.engine, "nope", diagnosed.queries, diagnosed.judgments, diagnosed.config)


@pytest.mark.reference
def test_a_real_query_without_a_term_in_common(reference_data):
    """Shoppers write firestick; the listings write Fire TV Stick."""
    data = tk.load_esci(reference_data / "esci150")
    engine, config = tk.EmbeddedEngine.build(data.products, progress=False), tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1})
    run = engine.run(data.queries, config, depth=1_000)
    diagnosis = diagnose_failures(run, data.judgments, queries=data.queries, products=data.products)
    found = explain_missing(engine, data.queries, data.judgments, diagnosis, config)
    assert found.queries["query"].tolist() == ["firestick"] and reason(found) == m.NO_TERM
