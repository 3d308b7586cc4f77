"""The birthday invitation: small, complete but for the export's source, and consistent."""

from __future__ import annotations

import pandas as pd

from toolkit.datasets import load_birthday


def test_sizes_and_times():
    tables = load_birthday()
    assert [len(frame) for frame in (tables.prompts, tables.retrievals, tables.actions, tables.judgments)] == [6, 5, 8, 16]
    for frame in (tables.prompts, tables.retrievals, tables.actions):
        assert isinstance(frame["time"].dtype, pd.DatetimeTZDtype) and frame["time"].is_monotonic_increasing
        assert set(frame["session_id"]) == {"monday", "thursday"}


def test_what_is_displayed_and_used_was_returned():
    tables = load_birthday()
    returned = tables.retrievals.set_index("retrieval_id")["returned_asset_ids"]
    for row in tables.retrievals.itertuples():
        assert set(row.displayed_asset_ids) <= set(row.returned_asset_ids)
        assert row.displayed == bool(row.displayed_asset_ids)
    used = tables.actions.dropna(subset=["consumed_asset_id", "source_retrieval_id"])
    for row in used.itertuples():
        assert returned[row.source_retrieval_id][int(row.position) - 1] == row.consumed_asset_id


def test_only_the_export_lacks_its_source():
    actions = load_birthday().actions
    bare = actions[actions["source_retrieval_id"].isna()]
    assert set(bare["action"]) == {"export"} and bare["placed_id"].notna().all()


def test_every_returned_asset_is_judged():
    tables = load_birthday()
    pairs = {(row.retrieval_id, asset) for row in tables.retrievals.itertuples() for asset in row.returned_asset_ids}
    assert pairs == set(zip(tables.judgments["retrieval_id"], tables.judgments["asset_id"]))
