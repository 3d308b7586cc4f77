"""What leaves rankings unchanged: canonical forms, the derivation, and the engine's own answers."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.diagnosis.configs import lab_218
from toolkit.diagnosis.invariance import CHANGES, ROUNDING, SAME, canonical, equivalence_classes, invariances
from toolkit.search import MultiMatch

weight = st.floats(1e-3, 1e3) | st.just(0.0)
config = st.builds(MultiMatch, fields=st.dictionaries(st.sampled_from(["title", "brand", "color"]), weight, min_size=1),
                   type=st.sampled_from(["best_fields", "most_fields"]), tie_breaker=st.sampled_from([None, 0.0, 0.3, 1.0]),
                   fuzziness=st.sampled_from([0, "AUTO"]))


@given(config=config, factor=st.sampled_from([0.25, 2.0, 2.5, 1 / 3]))
def test_scaling_never_changes_the_canonical_form(config, factor):
    scaled = MultiMatch({name: w * factor for name, w in config.fields.items()}, type=config.type, tie_breaker=config.tie_breaker,
                        fuzziness=config.fuzziness)
    assert canonical(scaled) == canonical(config) == canonical(canonical(config))


def test_the_type_is_only_a_default_tie():
    fields = {"title": 2, "brand": 1}
    assert canonical(MultiMatch(fields, type="most_fields", tie_breaker=0)) == canonical(MultiMatch(fields))
    assert canonical(MultiMatch(fields, type="most_fields")) == canonical(MultiMatch(fields, tie_breaker=1.0))
    assert canonical(MultiMatch(fields, type="most_fields")) != canonical(MultiMatch(fields))


def test_weight_zero_is_not_a_small_weight_and_not_absence():
    forms = [canonical(MultiMatch(fields)) for fields in ({"title": 1, "brand": 0}, {"title": 1, "brand": 1e-6}, {"title": 1})]
    assert len(set(map(str, forms))) == 3


def test_published_log_entries_that_differ_only_in_scale_are_equal():
    """Elastic's query tuning example, notebook "2 - Query tuning - best_fields", iterations 43, 68 and 72.

    The published log gives MRR@100 0.2292 for all three, and 0.2430 for iteration 41.
    """
    def entry(tie: float, url: float, title: float, body: float) -> MultiMatch:
        return MultiMatch({"url": url, "title": title, "body": body}, tie_breaker=tie, fuzziness=0)

    log = {43: entry(1.0, 0.0, 0.0, 10.0), 68: entry(1.0, 0.0, 0.0, 4.659845823372666),
           72: entry(0.3987754510119731, 0.0, 0.0, 4.439025166128158), 41: entry(0.0, 0.0, 10.0, 10.0)}
    classes = equivalence_classes(log.values())
    assert classes.table["class_id"].tolist() == [0, 0, 0, 1]  # with one field to score, the tie breaker has nothing to break
    assert classes.count == 2
    assert "4 configurations are 2 different rankings" in classes.summary()


def test_the_lab_sweep_has_no_equal_forms_but_its_published_metrics_coincide(reference_data):
    import json

    rows = [json.loads(line) for line in (reference_data / "searchops/experiments/sweep-train-log.jsonl").read_text().splitlines()]
    assert equivalence_classes(lab_218()).count == 218  # the lab pinned the title, so no scale is wasted
    category = {(row["ndcg10"], row["recall10"], row["mrr10"]) for row in rows if row["stage"] in ("A-axis:category", "baseline")}
    assert len(category) == 1  # 18 weights, bit-identical


@pytest.mark.parametrize("tie,type_", [(None, "best_fields"), (0.3, "best_fields"), (None, "most_fields")])
def test_what_is_derived_holds_on_the_engine(weight_catalogue, weight_engine, tie, type_):
    found = invariances(MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 3}, type=type_, tie_breaker=tie),
                        weight_engine, weight_catalogue.queries).table
    same = found[found["derived"] == SAME]
    assert len(same) >= 2
    assert (same["rankings_changed"] == 0).all() and (same["scores_off"] == 0).all()
    # A factor that is no power of two rounds anew: scores are off in the last bits, hardly any order is.
    rounded = found[found["derived"] == ROUNDING]
    assert (rounded["scores_off"] > 0).any() and (rounded["rankings_changed"] <= 0.02 * rounded["queries"]).all()
    assert (found[found["derived"] == CHANGES]["rankings_changed"] > 0).any()


def test_rankings_of_any_origin_are_grouped():
    one = pd.DataFrame({"query_id": ["q", "q"], "product_id": ["a", "b"], "rank": [1, 2]})
    other = one.assign(product_id=["b", "a"])
    assert equivalence_classes({"x": one, "y": other, "z": one.iloc[::-1]}).table["class_id"].tolist() == [0, 1, 0]


def test_an_engine_needs_queries():
    with pytest.raises(ValueError, match="give both an engine and queries"):
        invariances(MultiMatch({"title": 1}), engine=object())
