"""The shipped sample, indexed once for all tests of views."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import pytest

import toolkit as tk


class Sample(NamedTuple):
    """The sample and an engine over it."""

    engine: tk.EmbeddedEngine
    products: pd.DataFrame
    queries: pd.DataFrame
    judgments: pd.DataFrame
    config: tk.MultiMatch


@pytest.fixture(scope="session")
def sample() -> Sample:
    products, queries, judgments = tk.load_sample()
    config = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2})
    return Sample(tk.EmbeddedEngine.build(products, progress=False), products, queries, judgments, config)
