"""Small logs by hand, and the reference log, for the lineage tests."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from toolkit.lineage import Log, empty_prompts


def table(rows: list[dict], columns: list[str]) -> pd.DataFrame:
    """A table of rows given as mappings; absent keys are null, times in seconds become UTC."""
    frame = pd.DataFrame([{name: row.get(name) for name in columns} for row in rows], columns=columns)
    if "time" in columns:
        frame["time"] = pd.to_datetime(pd.Series([row.get("time") for row in rows], dtype="float64"), unit="s", utc=True)
    return frame


@pytest.fixture
def make_log():
    """Build a log from lists of mappings; only the columns that are used exist."""

    def build(retrievals: list[dict], actions: list[dict] = (), prompts: list[dict] = (), judgments: list[dict] | None = None, **declared) -> Log:
        actions = [{"action_id": f"e{number}", **row} for number, row in enumerate(actions)]

        def made(rows: list[dict], needed: list[str]) -> pd.DataFrame:
            return table(list(rows), needed + [name for name in dict.fromkeys(key for row in rows for key in row) if name not in needed])

        return Log(made(prompts, ["prompt_id"]) if prompts else empty_prompts(), made(retrievals, ["retrieval_id"]),
                   made(actions, ["action_id", "action"]), None if judgments is None else pd.DataFrame(judgments), **declared)

    return build


@pytest.fixture(scope="session")
def ubi_log(reference_data: Path) -> Log:
    """The reference log, all three producers."""
    from toolkit.datasets.ubi import read_ubi

    return Log.of(read_ubi(reference_data / "ubi" / "ubi_queries_events.ndjson.gz"))
