"""A committed notebook of the first family in JupyterLab: it runs, and both its live explorers answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def test_rank_buckets_in_jupyterlab(lab_page):
    page = lab_page(NOTEBOOKS / "02_rank_buckets.ipynb", ".bucket-explorer")
    box = page.locator(".bucket-explorer")
    expect(box.get_by_role("status")).to_contain_text("of 240 queries fail")
    reads = box.get_by_role("spinbutton", name="a reranker reads")
    reads.fill("100")
    reads.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("Reranking the top 100")
    expect(page.get_by_text("Traceback")).to_have_count(0)
