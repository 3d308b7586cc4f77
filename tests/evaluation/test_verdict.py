"""verdict(): three answers, each for a stated reason; it fails closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from toolkit.evaluation import HoldoutLog, Policy, compare, verdict
from toolkit.evaluation.deciding import INSUFFICIENT


def arms(differences, *, judged=(0.9, 0.9), zero=(0.0, 0.0), base=0.4, more=None):
    """Metric tables of two arms with ndcg@10, recall@10, judged@10 and zero_result_rate."""
    n = len(differences)
    ids = [str(i) for i in range(n)]
    def long(metric, values):
        return pd.DataFrame({"query_id": ids, "metric": metric, "value": np.broadcast_to(values, n).astype(float)})
    out = []
    for side in (0, 1):
        extra = more if more is not None and side else 0.0
        out.append(pd.concat([long("ndcg@10", base + side * np.asarray(differences)), long("recall@10", 0.5 + extra), long("judged@10", judged[side]),
                              long("zero_result_rate", (np.arange(n) < zero[side] * n).astype(float))]))
    return out


def gains(n=600, mean=0.05, sd=0.2, seed=0):
    return np.random.default_rng(seed).normal(mean, sd, n)


def decide(pair, policy=None, **options):
    return verdict(compare(*pair, **options), policy)


def test_a_clear_win_is_promoted_with_reasons():
    v = decide(arms(gains()), metrics=["ndcg@10", "recall@10"])
    assert v.decision == "promote" and any("ndcg@10 improves" in reason for reason in v.reasons)
    assert v.summary().startswith("Promote.") and v.table.equals(v.to_frame())


def test_the_gate_flaw_of_the_lab():
    """Five or six affected queries, all improving by 0.3, cannot be decided, whatever the seed."""
    for affected in (5, 6):
        differences = np.zeros(600)
        differences[:affected] = 0.3
        for seed in range(20):
            v = decide(arms(np.random.default_rng(seed).permutation(differences)), metrics=["ndcg@10"], seed=seed)
            assert v.decision == INSUFFICIENT and f"Only {affected} of 600 queries changed" in v.summary()


def test_harm_and_futility_block_and_the_open_case_does_not():
    assert decide(arms(gains(mean=-0.05)), metrics=["ndcg@10"]).decision == "block"
    futile = decide(arms(gains(mean=0.0, sd=0.1, seed=1)), metrics=["ndcg@10"])
    assert futile.decision == "block" and "rules out the smallest worthwhile gain" in futile.summary()
    opened = decide(arms(gains(n=60, mean=0.02, sd=0.3, seed=4)), metrics=["ndcg@10"])
    assert opened.decision == INSUFFICIENT and "holds both 0 and the smallest worthwhile gain" in opened.summary()


def test_unknown_never_promotes():
    base, cand = arms(gains())
    for missing, check in (("judged@10", "coverage"), ("zero_result_rate", "zero_results")):
        pair = [t[t["metric"] != missing] for t in (base, cand)]
        assert decide(pair, metrics=["ndcg@10"]).decision == INSUFFICIENT
        assert decide(pair, Policy(accept_unknown=("holes", "ties", check)), metrics=["ndcg@10"]).decision == "promote"


def test_guardrails_zero_results_drops_and_failures():
    assert decide(arms(gains(), more=-0.1), metrics=["ndcg@10", "recall@10"]).decision == "block"
    assert decide(arms(gains(), more=-0.1), metrics=["ndcg@10", "recall@10"], guardrails={"recall@10": 0.2}).decision == "promote"
    assert decide(arms(gains(), zero=(0.0, 0.01)), metrics=["ndcg@10"]).decision == "block"
    sharp = np.where(np.arange(600) < 60, -0.6, 0.2)
    v = decide(arms(sharp), metrics=["ndcg@10"])
    assert v.decision == "block" and "60 of 600 queries (10.0%) fall by 0.5 or more" in v.summary()
    base, cand = arms(gains())
    cand.loc[cand["metric"].eq("ndcg@10") & cand["query_id"].astype(int).lt(60), "value"] = np.nan
    v = decide((base, cand), metrics=["ndcg@10"])
    assert v.decision == INSUFFICIENT and "10.0% candidate" in v.summary()
    assert decide(arms(gains()), metrics=["ndcg@10"], degraded=60).decision == INSUFFICIENT


def test_unequal_coverage_is_named():
    for gap in ((0.9, 0.7), (0.7, 0.9)):
        v = decide(arms(gains(), judged=gap), metrics=["ndcg@10"])
        assert v.decision == INSUFFICIENT and "rests on unequal coverage" in v.summary()


@pytest.mark.parametrize(("low", "high", "word"), [("tie_low", "tie_high", "ties"), ("hole_low", "hole_high", "holes")])
def test_a_verdict_that_flips_inside_bounds_says_which(low, high, word):
    c = compare(*arms(gains()), metrics=["ndcg@10"])
    held = replace(c, table=c.table.assign(**{low: 0.001, high: 0.1}))
    flipped = replace(c, table=c.table.assign(**{low: -0.001, high: 0.1}))
    assert verdict(held).decision == "promote"
    assert verdict(flipped).decision == INSUFFICIENT and f"flips inside these {word} bounds" in verdict(flipped).summary()
    futile = compare(*arms(gains(mean=0.0, sd=0.1, seed=1)), metrics=["ndcg@10"])
    assert verdict(replace(futile, table=futile.table.assign(**{low: -0.1, high: 0.1}))).decision == INSUFFICIENT


def test_tipping_policy():
    c = compare(*arms(gains()), metrics=["ndcg@10"])
    holed = replace(c, table=c.table.assign(hole_low=-0.2, hole_high=0.2), tipping={"share": 0.3, "sentence": "it turns once 30%"})
    assert verdict(holed, Policy(holes="tipping")).decision == INSUFFICIENT
    assert verdict(holed, Policy(holes="tipping", min_tipping=0.2)).decision == "promote"
    assert verdict(holed, Policy(holes="report")).decision == "promote"


def test_a_win_made_of_judged_products_is_called_that():
    c = compare(*arms(gains()), metrics=["ndcg@10"])
    v = verdict(replace(c, table=c.table.assign(condensed_delta=-0.01)))
    assert v.decision == INSUFFICIENT and "explained by judged@k" in v.summary()


def test_a_second_look_is_not_evidence():
    log = HoldoutLog()
    first = decide(arms(gains()), metrics=["ndcg@10"], looks=log, hypothesis="h")
    second = decide(arms(gains(seed=1)), metrics=["ndcg@10"], looks=log, hypothesis="h")
    assert (first.decision, second.decision) == ("promote", INSUFFICIENT) and "1 allowed per hypothesis" in second.summary()


def test_self_comparison_is_no_evidence():
    base, _ = arms(np.zeros(600))
    v = decide((base, base), metrics=["ndcg@10", "recall@10"])
    assert v.decision == INSUFFICIENT and "No difference" in v.summary()


@pytest.mark.parametrize("bad", [{"holes": "hide"}, {"accept_unknown": ("everything",)}, {"max_drop_share": 2}, {"smallest_worthwhile": -1}])
def test_policies_are_checked(bad):
    with pytest.raises(ValueError, match="Policy"):
        Policy(**bad)


def test_card_is_escaped_and_says_it_in_words():
    v = decide(arms(gains()), metrics=["ndcg@10"])
    page = v._repr_html_()
    assert "Promote" in page and "<script" not in page and 'aria-label="verdict"' in page and repr(v).startswith("Verdict: Promote")
