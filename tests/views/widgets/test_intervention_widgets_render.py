"""Rerank viewer and rewrite table: what the HTML says, without a kernel."""

import pandas as pd
import pytest

import toolkit as tk
from toolkit.interventions import Rerank, Rewrite, RewriteGuard, combine, run_intervention
from toolkit.interventions.models import Reply
from toolkit.views.widgets import render_rerank, render_rewrites, rerank_explorer, rewrite_explorer
from toolkit.views.widgets.rerank_viewer import most_changed
from toolkit.views.widgets.rewrite_table import rewrite_rows


class Backwards:
    """Reverses candidates; rewrites by a fixed table."""

    model_id, concurrency = "backwards", 1
    texts = {"rubbish bin": "trash can", "toothpaste without fluoride": "toothpaste", "white bluetooth headphones": None}

    def rerank(self, request):
        return Reply(list(range(len(request.texts), 0, -1)))

    def rewrite(self, request):
        return Reply(self.texts.get(request.query, request.query), note="a <note>")


@pytest.fixture(scope="module")
def parts():
    products, queries, judgments = tk.load_sample()
    engine = tk.EmbeddedEngine.build(products, progress=False)
    config = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1})
    few = queries[queries["query"].isin(Backwards.texts) | queries.index.isin(range(12))].reset_index(drop=True)
    guard = RewriteGuard.for_products(engine.analyze, products)
    run = engine.run(few, config, 200)
    both = combine(*(run_intervention(engine, few, arm, judgments, products, config, depths=(20,), baseline=run, progress=False)
                     for arm in (Rerank(Backwards()), Rewrite(Backwards(), guard))))
    return both, guard


def test_the_viewer_shows_status_change_movements_and_both_lists(parts):
    experiment, _ = parts
    label, query_id = most_changed(experiment)[0]
    html = render_rerank(experiment, arm="rerank 20", query_id=query_id, k=5)
    assert "rerank 20: APPLIED; ndcg@10" in html["summary"] and "→" in html["summary"]
    assert 'alt="Rank movements' in html["movements"] and html["rankings"].count("<tr>") == 6
    rewritten = render_rerank(experiment, arm="rewrite", query_id="100108")
    assert "searched as “trash can”" in rewritten["summary"]
    refused = render_rerank(experiment, arm="rewrite", query_id="100109")
    assert "NO_CHANGE (refused by the guard" in refused["summary"]
    sizes = [abs(experiment.extremes("rerank 20", 50).set_index("query_id")["delta"].get(q, 0)) for _, q in most_changed(experiment, 3)]
    assert max(sizes) > 0


def test_every_query_is_accepted_refused_unchanged_or_failed(parts):
    experiment, guard = parts
    arm = experiment.arms["rewrite"]
    rows = rewrite_rows(arm.outcome, arm.comparison).set_index("query")
    assert rows.loc["rubbish bin", "decision"] == "accepted" and rows["change"].notna().any()
    assert rows.loc["toothpaste without fluoride", "decision"] == "refused by the guard"
    assert rows.loc["toothpaste without fluoride", "why"] == "loses the negation 'without fluoride'"
    assert rows.loc["white bluetooth headphones", "decision"] == "failed"
    assert (rows["decision"] == "unchanged").sum() == len(rows) - 3


def test_the_table_filters_escapes_and_asks_the_guard(parts):
    experiment, guard = parts
    outcome = experiment.arms["rewrite"].outcome
    html = render_rewrites(outcome, guard, decision="refused by the guard", typed="2 jugs", proposed="jugs")
    assert html["rewrites"].count("<tr>") == 2 and "Shown: 1." in html["summary"] and "refused: loses the number 2" in html["own"]
    assert "Shown: 0." in render_rewrites(outcome, contains="no such words")["summary"]
    assert "a &lt;note&gt;" in render_rewrites(outcome, contains="RUBBISH")["rewrites"]
    assert "accepted" in render_rewrites(outcome, guard, typed="jug", proposed="jug")["own"]
    assert "guard is off" in render_rewrites(outcome, typed="jug", proposed="x")["own"] and render_rewrites(outcome)["own"] == ""


def test_boxes_follow_their_controls_and_close(parts):
    experiment, guard = parts
    viewer = rerank_explorer(experiment, query_ids=["100108", "100109"])
    viewer.controls["arm"].value = "rewrite"
    assert viewer.error == "" and "trash can" in viewer.parts["summary"].value
    viewer.close()
    arm = experiment.arms["rewrite"]
    box = rewrite_explorer(arm.outcome, guard, arm.comparison)
    box.controls["decision"].value = "accepted"
    assert box.error == "" and "Shown: 1." in box.parts["summary"].value and "loses the negation" in box.parts["own"].value
    box.close()


def test_a_query_without_relevant_judgments_is_undefined_not_zero(parts):
    experiment, _ = parts
    nothing = experiment.baseline.rankings["query_id"].iloc[0]
    from dataclasses import replace

    arm = experiment.arms["rerank 20"]
    pairs = arm.comparison.pairs.assign(delta=arm.comparison.pairs["delta"].where(arm.comparison.pairs["query_id"] != nothing, pd.NA))
    changed = replace(experiment, arms={"rerank 20": replace(arm, comparison=replace(arm.comparison, pairs=pairs))})
    assert "undefined" in render_rerank(changed, arm="rerank 20", query_id=nothing)["summary"]
