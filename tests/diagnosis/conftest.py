"""The shipped sample, searched and diagnosed once for all tests of the diagnosis."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import pytest

import toolkit as tk
from toolkit.datasets import load_sample_causes
from toolkit.diagnosis import FailureDiagnosis, diagnose_failures
from toolkit.search import SearchRun


class Diagnosed(NamedTuple):
    """The sample, an engine over it, a deep run and its diagnosis."""

    engine: tk.EmbeddedEngine
    products: pd.DataFrame
    queries: pd.DataFrame
    judgments: pd.DataFrame
    causes: pd.DataFrame
    config: tk.MultiMatch
    run: SearchRun
    diagnosis: FailureDiagnosis


@pytest.fixture(scope="session")
def diagnosed() -> Diagnosed:
    products, queries, judgments = tk.load_sample()
    engine = tk.EmbeddedEngine.build(products, progress=False)
    config = tk.MultiMatch({"title": 4, "brand": 2, "bullet_point": 1, "description": 1, "category": 1.2})
    run = engine.run(queries, config, depth=len(products))
    diagnosis = diagnose_failures(run, judgments, queries=queries, products=products, vocabulary=engine.vocabulary)
    return Diagnosed(engine, products, queries, judgments, load_sample_causes(), config, run, diagnosis)


@pytest.fixture(scope="session")
def weight_catalogue():
    """A small generated catalogue with a dead category, for questions about weights."""
    from toolkit.datasets import generate_catalogue

    return generate_catalogue(products=1_500, queries=150, seed=11)


@pytest.fixture(scope="session")
def weight_engine(weight_catalogue):
    """Its engine."""
    from toolkit.search import EmbeddedEngine

    return EmbeddedEngine.build(weight_catalogue.products, progress=False)


@pytest.fixture(scope="session")
def weight_lists(weight_catalogue, weight_engine):
    """Its field lists, one deeper than the top 10."""
    from toolkit.diagnosis.configs import LAB_BASE
    from toolkit.search.field_lists import FieldLists

    return FieldLists.from_engine(weight_engine, weight_catalogue.queries, LAB_BASE, 11, progress=False)
