"""Weight sliders and pair map without a kernel, and the weight plots' artists."""

import re

import numpy as np
import pandas as pd
import pytest
from ipywidgets.widgets.widget import _instances as models

from toolkit.diagnosis import field_report, pair_map, query_hinges, sweep, weight_curve
from toolkit.diagnosis.configs import axis_grid, lab_218
from toolkit.search.field_lists import FieldLists
from toolkit.views.plots import plot_field_ranges, plot_hinges, plot_pair_map, plot_sweep, plot_weight_curve
from toolkit.views.widgets import pair_map_explorer, render_pair_map, render_weights, weight_sliders
from toolkit.views.widgets.weight_board import WeightBoard, rank_changes
from toolkit.views.widgets.weight_pictures import colour, curve_svg


@pytest.fixture(scope="module")
def lists(sample):
    return FieldLists.from_engine(sample.engine, sample.queries, sample.config, 11, progress=False)


@pytest.fixture(scope="module")
def board(sample, lists):
    return WeightBoard.of(lists, sample.judgments, sample.queries, sample.products, sample.config)


@pytest.fixture(scope="module")
def small(sample, lists):
    return pair_map(lists, sample.judgments, "title", "description", sample.config, steps=5, octaves=2)


def test_the_summary_is_the_engines_own_evaluation(sample, board):
    import toolkit as tk

    weights = {"title": 4, "brand": 0.5, "bullet_point": 1, "description": 2.5, "category": 1.2}
    parts = render_weights(board, field="title", query_id=sample.queries["query_id"].iloc[0], **weights)
    runs = [sample.engine.run(sample.queries, config, 10) for config in (sample.config, tk.MultiMatch(weights))]
    before, after = (tk.evaluate(run, sample.judgments, ["ndcg@10"]).to_frame()["value"].mean() for run in runs)
    assert f"Mean ndcg@10 {after:.4f} ({after - before:+.4f} against the base&#x27;s {before:.4f}, 240 queries)" in parts["summary"]
    moved = sum(a["product_id"].tolist() != b["product_id"].tolist() for a, b in zip(
        *([frame for _, frame in run.rankings.groupby("query_id")] for run in runs)))
    assert f"{moved} queries rank differently" in parts["summary"]


def test_the_base_itself_changes_nothing(sample, board):
    query = sample.queries["query_id"].iloc[3]
    parts = render_weights(board, field="brand", query_id=query, **sample.config.fields)
    assert "0 queries rank differently: 0 better, 0 worse" in parts["summary"]
    assert set(rank_changes(board, query, sample.config)["move"]) == {"="}


def test_rank_changes_name_newcomers_and_leavers(sample, board):
    config = sample.config.with_fields(title=0.5, description=9)
    moves = pd.concat([rank_changes(board, query, config) for query in sample.queries["query_id"].head(40)])
    assert {"new", "out"} <= set(moves["move"])
    assert (moves.loc[moves["move"] == "out", "rank"].isna()).all() and (moves.loc[moves["move"] == "new", "before"].isna()).all()
    up = moves[moves["move"].str.startswith("▲")]
    assert (up["before"] - up["rank"] == up["move"].str[2:].astype(int)).all()


def test_the_gap_in_the_summary_holds(sample, board):
    query, fields = sample.queries["query_id"].iloc[0], dict(sample.config.fields)
    for start, pattern in ((4.0, r"stays above (\S+?)\.<"), (1.5, r"stays between (\S+) and (\S+?)\.<")):
        text = render_weights(board, field="title", query_id=query, **{**fields, "title": start})["summary"]
        edges = [float(edge) for edge in re.search(pattern, text).groups()]
        value = re.search(r"Mean ndcg@10 (\S+)", text)[1]
        assert edges[0] < start < ([*edges, 99][1])
        for x in (0.999 * start + 0.001 * edges[0], 40.0 if len(edges) == 1 else 0.5 * (start + edges[1])):
            assert f"Mean ndcg@10 {value}" in render_weights(board, field="title", query_id=query, **{**fields, "title": x})["summary"]


def test_pictures_have_a_name_hover_text_and_no_script(sample, board, small):
    svg = render_weights(board, field="title", query_id=sample.queries["query_id"].iloc[0], **sample.config.fields)["curve"]
    assert svg.startswith('<svg role="img" aria-label="Mean metric against the weight of title, 240 queries') and "<script" not in svg
    assert svg.count("<title>") > 50  # breakpoints say where they are
    picture = render_pair_map(small)["map"]
    assert picture.count("<rect") == 25 == picture.count("<title>")
    corner = small.cells.iloc[0]
    assert f"title {corner['x']:.3g}, description {corner['y']:.3g}: {corner['value']:.4f}" in picture
    assert colour(0) == "#00224e" and colour(1) == colour(2) == "#fee838"


def test_a_dead_field_has_a_flat_picture(sample, lists):
    curve = weight_curve(lists, sample.judgments, "category", sample.config)
    assert curve.is_flat and 'fill="#029e73"' not in curve_svg(curve)
    assert plot_weight_curve(curve).get_title(loc="left") == "The weight of category changes nothing"


def test_boxes_follow_their_controls_and_leave_nothing_behind(sample, lists):
    before = set(models)
    box = weight_sliders(lists, sample.judgments, sample.queries, sample.products, sample.config)
    old = box.parts["summary"].value
    box.controls["title"].value = 1.0
    assert box.error == "" and box.parts["summary"].value != old
    for name in sample.config.fields:
        box.controls[name].value = 0.0
    assert "all weights are 0" in box.error
    box.close()
    chart = pair_map_explorer(lists, sample.judgments, sample.config, steps=3)
    chart.controls["y_field"].value = "title"
    assert "expected two fields" in chart.error
    chart.controls["y_field"].value = "description"
    assert chart.error == "" and "title and description" in chart.parts["summary"].value
    chart.close()
    assert set(models) == before


def test_plots_show_what_the_results_hold(sample, lists, small):
    curve = weight_curve(lists, sample.judgments, "title", sample.config)
    axes = plot_weight_curve(curve)
    assert axes.get_xscale() == "log" and f"{curve.best:.4f}" in axes.get_title(loc="left")
    hinges = query_hinges(lists, sample.judgments, sample.queries["query_id"].iloc[1], "title", sample.config)
    assert len(plot_hinges(hinges, field="title", current=4).lines) == len(hinges) + 1
    swept = sweep(sample.engine, sample.queries, sample.judgments, lab_218(sample.config), ["ndcg@10"], progress=False)
    points = [line for line in plot_sweep(swept.table).lines if line.get_linestyle() == "None"]
    assert sum(len(line.get_xdata()) for line in points) == 218
    with pytest.raises(ValueError, match="no row of 'mrr@10'"):
        plot_sweep(swept.table, metric="mrr@10")
    mesh = plot_pair_map(small).collections[0]
    assert sorted(np.asarray(mesh.get_array()).ravel()) == sorted(small.cells["value"])
    report = field_report(sample.engine, sample.queries, sample.judgments, sample.config, lists=lists)
    labels = [label.get_text() for label in plot_field_ranges(report).get_yticklabels()]
    assert "category: dead in information" in labels


def test_grids_reach_their_exact_ends(sample):
    assert axis_grid(sample.config, [0, 10], fields=["title"]).to_frame()["title"].tolist() == [0, 10]
