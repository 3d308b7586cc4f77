"""Draw ``notebooks/images/first_screen.png``, the picture on the README's first screen.

It is a photograph of the query explorer's real output on the shipped sample, taken by a Chromium on PATH::

    python scripts/make_picture.py
"""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import toolkit as tk
from toolkit.datasets import EXAMPLE_QUERIES
from toolkit.views.widgets import render_query

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "notebooks" / "images" / "first_screen.png"
WEIGHTS = {"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2}
STYLE = "body { font: 13px 'DejaVu Sans', sans-serif; margin: 16px; width: 1210px } p { margin: 8px 0 } h1 { font-size: 17px; margin: 0 }"
LIMIT = 150_000  # bytes


def page() -> str:
    """The explorer's parts for one query of the sample, as a page."""
    products, queries, judgments = tk.load_sample()
    engine = tk.EmbeddedEngine.build(products, progress=False)
    text = queries.set_index("query_id").loc[EXAMPLE_QUERIES["easy"], "query"]
    parts = render_query(engine, products, queries, judgments, config=tk.MultiMatch(WEIGHTS), text=text, depth=8)
    return (f"<!doctype html><meta charset='utf-8'><style>{STYLE}</style><h1>query: {text}</h1>"
            + "".join(parts[name] for name in ("summary", "ranking", "picture")))


def photograph(html: str) -> bytes:
    """PNG of a page, in few colours."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("BROWSER_BIN") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        raise SystemExit("no Chromium on PATH; install chromium or set BROWSER_BIN")
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox])
        view = browser.new_page(viewport={"width": 1250, "height": 400}, device_scale_factor=1.5)
        view.set_content(html)
        taken = view.screenshot(full_page=True)
        browser.close()
    small = io.BytesIO()
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    data = photograph(page())
    if len(data) > LIMIT:
        raise SystemExit(f"the picture has {len(data)} bytes, more than {LIMIT}")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(data)
    print(f"{TARGET.relative_to(ROOT)}: {len(data):,} bytes")
