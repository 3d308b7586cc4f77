"""The page "what to log": complete, escaped, the same in both forms."""

from __future__ import annotations

import json
import re

import pytest

from toolkit.lineage import ActiveUse, birthday_log, readiness, search_log
from toolkit.views.log_checklist import log_checklist


@pytest.fixture(scope="module")
def page():
    return log_checklist(search_log(users=15), ActiveUse(("click",), actor="implied"), name="shop <b>&</b>")


def test_every_field_stands_on_it_once_in_the_audits_order(page):
    text = page.to_markdown()
    marks = re.findall(r"^- \[([ x])\] `([^`]+)`", text, re.MULTILINE)
    fields = readiness(search_log(users=15), ActiveUse(("click",), actor="implied")).fields
    assert [name for _, name in marks] == list(fields["field"])
    assert [mark == "x" for mark, _ in marks] == list(fields["share"] >= 1)
    html = page.to_html()
    assert (html.count("☐"), html.count("☑")) == ((fields["share"] < 1).sum(), (fields["share"] >= 1).sum())


def test_every_metric_has_a_definition_and_numbers_have_n(page):
    table = page.to_frame()
    assert table["definition"].notna().all() and len(table) == 23
    assert table.loc[table["value"].notna(), "n"].notna().all()
    assert table.loc[table["status"] == "not computable", "value"].isna().all()
    assert "Active use = a user's click on a returned asset" in page.to_markdown()


def test_names_are_escaped_and_nothing_is_fetched(page):
    html = page.to_html()
    assert "shop &lt;b&gt;" in html and "<b>" not in html and "<script" not in html and "http" not in html
    assert "<h1" not in page._repr_html_() and page.summary() == repr(page)


def test_examples_are_json_with_the_four_fields(page):
    retrieval, action = (json.loads(text) for text in re.findall(r"```json\n(.*?)\n```", page.to_markdown(), re.DOTALL))
    assert action["source_retrieval_id"] == retrieval["retrieval_id"] and action["consumed_asset_id"] in retrieval["returned_asset_ids"]


def test_a_complete_log_has_points_and_almost_nothing_to_do():
    page = log_checklist(birthday_log(), name="birthday")
    assert set(page.missing["field"]) == {"actions.position"}
    assert page.to_frame().set_index("metric").loc["GPR", "value"] == "40.0\u00a0%"


def test_saving_makes_the_folder(page, tmp_path):
    html, text = page.save(tmp_path / "new" / "folder")
    assert html.read_text(encoding="utf-8") == page.to_html() and text.read_text(encoding="utf-8") == page.to_markdown()
