"""The shipped record of a server that disagrees with itself."""

import pytest

from toolkit.datasets import load_restart_record


def test_only_flagged_queries_ever_changed_and_some_did() -> None:
    changes = load_restart_record().changes()
    assert changes["flagged"].sum() >= 10 and (~changes["flagged"]).sum() >= 5
    changed = changes[changes["different_scores"] > 1]
    assert len(changed) >= 3 and changed["flagged"].all()
    assert (changes["different_orders"] > 1).any() and changes["largest_score_ratio"].max() > 1.05
    assert (changes["different_orders"] <= changes["different_scores"]).all()


def test_two_starts_side_by_side() -> None:
    record = load_restart_record()
    changed = record.changes().query("different_orders > 1")["query_id"].iloc[0]
    pairs = [record.compare(changed, 1, start) for start in range(2, record.starts + 1)]
    assert any((pair.iloc[:, 1] != pair.iloc[:, 3]).any() for pair in pairs)
    assert pairs[0]["rank"].tolist() == list(range(1, len(pairs[0]) + 1))
    with pytest.raises(ValueError, match="no recorded answer of 'r99' at start 1"):
        record.compare("r99", 1, 2)


def test_the_summary_counts_what_the_table_shows() -> None:
    record = load_restart_record()
    flagged = record.changes().query("flagged")
    assert f"of {len(flagged)} flagged queries, {(flagged['different_scores'] > 1).sum()} changed scores" in record.summary()
    assert "0 changed scores and 0 changed their top 10" in record.summary()
