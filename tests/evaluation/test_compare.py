"""compare(): alignment, bounds, newcomers, exports; invariances of the result."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.evaluation import EXPONENTIAL, EvaluationError, HoldoutLog, Measure, adjust_together, compare, evaluate
from toolkit.evaluation.comparison import COLUMNS
from toolkit.search import MultiMatch, SearchRun
from toolkit.tables import TableError


def table(values, metric="ndcg@10", start=0):
    return pd.DataFrame({"query_id": [str(i) for i in range(start, start + len(values))], "metric": metric, "value": np.asarray(values, dtype=float)})


def world(seed=0, queries=30, products=12, judged=0.5):
    """Two rankings of the same products, half of them judged."""
    rng = np.random.default_rng(seed)
    rows = [(f"q{q}", f"p{p}") for q in range(queries) for p in range(products)]
    arms = [pd.DataFrame(rows, columns=["query_id", "product_id"]).assign(score=np.round(rng.normal(size=len(rows)), 1)) for _ in range(2)]
    judgments = pd.DataFrame([(q, p, float(rng.integers(0, 4))) for q, p in rows if rng.random() < judged], columns=["query_id", "product_id", "grade"])
    return *arms, judgments


def test_table_has_the_promised_columns():
    c = compare(table([0.1, 0.2, 0.3]), table([0.2, 0.2, 0.1]))
    assert {"metric", "delta", "ci_low", "ci_high", "p_value"} <= set(c.to_frame().columns)
    assert set(c.to_frame().columns) == set(COLUMNS)
    assert c.row()[["n", "wins", "losses", "ties"]].tolist() == [3, 1, 1, 1]


def test_mismatched_queries_are_an_error():
    six, three = table(np.full(600, 0.4)), table(np.full(300, 0.5))
    with pytest.raises(EvaluationError, match=r"600 in baseline, 300 in candidate; only in baseline: 300 \['300', '301', '302'\]"):
        compare(six, three)
    assert compare(six, three, on_missing="intersect").row()["n"] == 300
    zeroed = compare(six, three, on_missing="zero").row()
    assert zeroed["n"] == 600 and zeroed["candidate"] == 0.25


def test_unreadable_arms_say_what_was_expected():
    good = table([0.1, 0.2])
    with pytest.raises(EvaluationError, match="lacks metric"):
        compare(good, table([0.1, 0.2], "recall@10"))
    with pytest.raises(EvaluationError, match="more than once"):
        compare(pd.concat([good, good]), good)
    with pytest.raises(TableError, match="must hold strings"):
        compare(good.assign(query_id=[1, 2]), good)
    with pytest.raises(EvaluationError, match="expected a metric table"):
        compare(pd.DataFrame({"query_id": ["1"], "product_id": ["a"]}), good)
    with pytest.raises(ValueError, match="primary: 'mrr@10' is not compared"):
        compare(good, good, primary="mrr@10")
    with pytest.raises(ValueError, match="guardrails"):
        compare(good, good, guardrails={"ndcg@10": -1})


def test_undefined_and_failed_are_told_apart():
    c = compare(table([0.1, np.nan, 0.3, 0.4]), table([0.1, np.nan, np.nan, 0.5]), degraded=["0"])
    assert c.row()[["n", "undefined", "failed_baseline", "failed_candidate"]].tolist() == [2, 1, 0, 1]
    assert c.coverage.set_index("arm")["failed_share"].tolist() == [0.0, 0.5]


def test_self_comparison_on_every_metric():
    a, _, judgments = world()
    c = compare(a, a, judgments, metrics=["ndcg@10", "recall@5", "mrr", "ap@10", "err@10"])
    t = c.to_frame()
    assert (t["delta"] == 0).all() and (t["p_value"] == 1).all() and (t["ci_low"] == 0).all() and (t["ci_high"] == 0).all()
    assert all("no difference" in c.sentence(m) for m in t["metric"])
    assert not t["significant"].any()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_order_names_swaps_and_constants(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random(25).round(2), rng.random(25).round(2)
    first = compare(table(a), table(b), resamples=200).row()
    shuffled = compare(table(a).sample(frac=1, random_state=1), table(b).sample(frac=1, random_state=2), resamples=200).row()
    pd.testing.assert_series_equal(first, shuffled)
    swapped = compare(table(b), table(a), resamples=200).row()
    assert swapped["delta"] == -first["delta"] and swapped["p_value"] == first["p_value"]
    assert swapped["ci_low"] == pytest.approx(-first["ci_high"], abs=1e-12)
    shift = rng.random(25)
    moved = compare(table(a + shift), table(b + shift), resamples=200).row()
    assert [moved["ci_low"], moved["ci_high"], moved["p_value"]] == pytest.approx([first["ci_low"], first["ci_high"], first["p_value"]], abs=1e-9)


def test_rankings_and_metric_tables_agree_and_bounds_hold():
    a, b, judgments = world()
    c = compare(a, b, judgments, metrics=["ndcg@5", "recall@5", "mrr@5"])
    from_tables = compare(*(evaluate(arm, judgments, ["ndcg@5", "recall@5", "mrr@5"]) for arm in (a, b)))
    for column in ("n", "delta", "ci_low", "p_value", "p_adjusted"):
        assert c.to_frame()[column].tolist() == from_tables.to_frame()[column].tolist()
    t = c.to_frame()
    assert (t["tie_low"] <= t["delta"]).all() and (t["delta"] <= t["tie_high"]).all() and (t["tie_low"] < t["tie_high"]).any()
    assert (t["hole_low"] < t["delta"]).all() and (t["delta"] < t["hole_high"]).all()
    assert from_tables.to_frame()["hole_low"].isna().all()
    filled = judgments
    holes = pd.concat([a, b])[["query_id", "product_id"]].drop_duplicates().merge(judgments, how="left").query("grade.isna()")
    for seed in range(5):
        rng = np.random.default_rng(seed)
        filled = pd.concat([judgments, holes.assign(grade=rng.integers(0, 4, len(holes)).astype(float))])
        delta = [evaluate(arm, filled, ["ndcg@5"], queries=sorted(c.deltas()["query_id"])).mean("ndcg@5") for arm in (a, b)]
        assert t["hole_low"][0] - 1e-12 <= delta[1] - delta[0] <= t["hole_high"][0] + 1e-12


def test_evaluations_bring_their_definitions_and_must_share_them():
    a, b, judgments = world()
    ours = [evaluate(arm, judgments, ["ndcg@5"]) for arm in (a, b)]
    assert compare(*ours).settings["definitions"]["ndcg@5"] == ours[0].definitions["ndcg@5"]
    assert compare(*ours).coverage["zero_result_rate"].tolist() == [0.0, 0.0]
    bare = compare(*(e.to_frame() for e in ours))
    assert "as supplied" in bare.settings["definitions"]["ndcg@5"] and bare.coverage["zero_result_rate"].isna().all()
    with pytest.raises(EvaluationError, match="different definitions .gains: linear .* against exponential"):
        compare(ours[0], evaluate(b, judgments, ["ndcg@5"], gains=EXPONENTIAL))
    with pytest.raises(EvaluationError, match="unjudged: zero against condensed"):
        compare(ours[0], evaluate(b, judgments, ["ndcg@5"], unjudged="condensed"))


def test_condensed_delta_and_coverage_match_evaluate():
    a, b, judgments = world(3)
    c = compare(a, b, judgments, metrics=["ndcg@5"])
    lean = [evaluate(arm, judgments, ["ndcg@5", "judged@5"], unjudged="condensed") for arm in (a, b)]
    assert c.row()["condensed_delta"] == pytest.approx(lean[1].mean("ndcg@5") - lean[0].mean("ndcg@5"))
    assert c.coverage["judged"].tolist() == pytest.approx([e.mean("judged@5") for e in lean])
    assert "baseline" in c.coverage_sentence()


def test_newcomers_are_in_one_top_only():
    a, b, judgments = world(1, queries=4)
    new = compare(a, b, judgments, metrics=["ndcg@3"]).newcomers
    tops = [set(map(tuple, arm.sort_values(["query_id", "score", "product_id"], ascending=[True, False, True]).groupby("query_id").head(3)[["query_id", "product_id"]].to_numpy()))
            for arm in (a, b)]
    for arm, mine, other in (("candidate", tops[1], tops[0]), ("baseline", tops[0], tops[1])):
        assert set(map(tuple, new.loc[new["arm"] == arm, ["query_id", "product_id"]].to_numpy())) == mine - other
    assert (new["judged"] == new["grade"].notna()).all()


def test_runs_need_equal_query_sets_and_keep_failures():
    a, b, judgments = world(2, queries=5)
    def run(rankings, status):
        return SearchRun(rankings, pd.DataFrame(status, columns=["query_id", "status", "reason"]), MultiMatch({"title": 1}), 12, "test")
    ok = [(f"q{i}", "ok", None) for i in range(5)]
    failing = [*ok[:4], ("q4", "failed", "timeout")]
    c = compare(run(a, ok), run(b.query("query_id != 'q4'"), failing), judgments)
    assert c.row()["failed_candidate"] == 1 and c.coverage.set_index("arm").loc["candidate", "failed_share"] == pytest.approx(0.2)
    with pytest.raises(EvaluationError, match="5 in the baseline, 4 in the candidate"):
        compare(run(a, ok), run(b, ok[:4]), judgments)
    with pytest.raises(EvaluationError, match="queries= with all that were searched"):
        compare(a, b.query("query_id != 'q1'"), judgments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compare(a, b.query("query_id != 'q1'"), judgments, queries=[f"q{i}" for i in range(5)]).coverage["zero_result_rate"].tolist() == [0.0, 0.2]


def test_tipping_point_turns_the_difference():
    a, b, judgments = world(5, queries=40, judged=0.4)
    c = compare(a, b, judgments, metrics=["ndcg@5"])
    tip = c.tipping
    assert tip["arm"] == ("baseline" if c.row()["delta"] > 0 else "candidate") and 0 < tip["share"] < 1
    worse = a if tip["arm"] == "baseline" else b
    new = c.newcomers.query("arm == @tip['arm'] and not judged")[["query_id", "product_id"]]
    assert tip["products"] >= len(new)
    everyone = pd.concat([judgments, new.assign(grade=3.0)])
    turned = compare(a, b, everyone, metrics=["ndcg@5"], queries=sorted(c.deltas()["query_id"])).row()["delta"]
    assert turned * c.row()["delta"] < 0 and len(worse)
    whole = pd.concat([judgments, pd.concat([a, b])[["query_id", "product_id"]].drop_duplicates().merge(judgments, how="left").query("grade.isna()").assign(grade=0.0)])
    assert compare(a, b, whole, metrics=["ndcg@5"]).tipping["sentence"].endswith("no grading of them turns the difference.")


def test_looks_are_counted_once_per_values(tmp_path):
    log = HoldoutLog(tmp_path / "looks.jsonl")
    a, b, other = table([0.1, 0.2, 0.3]), table([0.2, 0.3, 0.4]), table([0.3, 0.3, 0.4])
    assert compare(a, b, looks=log, hypothesis="weights").looks.of_hypothesis == 1
    assert compare(a, b, looks=log, hypothesis="weights").looks.of_hypothesis == 1  # the same notebook run again
    second = compare(a, other, looks=HoldoutLog(tmp_path / "looks.jsonl"), hypothesis="weights").looks
    assert (second.of_hypothesis, second.of_holdout, second.hypotheses) == (2, 2, 1)
    third = compare(a, other, looks=HoldoutLog(tmp_path / "looks.jsonl"), hypothesis="rerank").looks
    assert (third.of_hypothesis, third.of_holdout, third.hypotheses) == (1, 3, 2) and "look 1 at this holdout" in third.summary()
    assert len(HoldoutLog(tmp_path / "looks.jsonl").to_frame()) == 3
    with pytest.raises(ValueError, match="hypothesis is empty"):
        compare(a, b, looks=log)
    (tmp_path / "looks.jsonl").write_text("{broken\n")
    with pytest.raises(ValueError, match=r"looks.jsonl line 1 is not JSON"):
        HoldoutLog(tmp_path / "looks.jsonl")


def test_family_is_declared_and_may_span_comparisons():
    rng = np.random.default_rng(0)
    metrics = ["ndcg@10", "recall@10"]
    arms = [pd.concat([table(rng.random(40) + shift, m) for m in metrics]) for shift in (0, 0.1, 0.02)]
    alone = compare(arms[0], arms[1], family=["ndcg@10"])
    assert alone.to_frame()["in_family"].tolist() == [True, False] and np.isnan(alone.row("recall@10")["p_adjusted"])
    both = adjust_together({"a": compare(arms[0], arms[1]), "b": compare(arms[0], arms[2])})
    from scipy.stats import false_discovery_control
    p = [c.to_frame()["p_value"].tolist() for c in both.values()]
    assert [c.to_frame()["p_adjusted"].tolist() for c in both.values()] == [list(x) for x in np.split(false_discovery_control(p[0] + p[1]), 2)]


def test_exports_hold_the_numbers_and_escape():
    a, b, judgments = world()
    c = compare(a, b, judgments, metrics=["ndcg@5", "recall(relevant=1)@5"])
    delta = f"{c.row()['delta']:+.4f}"
    assert delta in c.to_markdown() and c.to_markdown().count("\n|") == 3 and "Undefined where" in c.to_markdown()
    assert delta in c.to_latex() and r"\begin{tabular}" in c.to_latex()
    strange = compare(table([0.1, 0.2], "a_b<i>\\%"), table([0.2, 0.2], "a_b<i>\\%"))
    assert r"a\_b<i>\textbackslash{}\%" in strange.to_latex() and "a_b&lt;i&gt;" in strange._repr_html_() and "<i>" not in strange._repr_html_()
    body = json.loads(c.to_json())
    assert body["table"][0]["delta"] == pytest.approx(c.row()["delta"]) and body["summary"] == c.summary() and "NaN" not in c.to_json()
    assert json.loads(strange.to_json())["table"][0]["hole_low"] is None
    assert repr(c).startswith("Comparison: ndcg@5") and "<script" not in c._repr_html_()
    assert Measure.parse("recall(relevant=1)@5").definition() in c.to_markdown()
