"""Steps for whole users: pure, indifferent to how users are cut into pieces."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolkit.lineage import attribute, generate_log, goal_flags, inherit_sources, outcome_flags
from toolkit.lineage.tables import Log
from toolkit.lineage.users import credit_touches, inherit_user_sources, run_by_user, whole_users

SCHEMA = pa.schema({"key": pa.string(), "kind": pa.string(), "id": pa.string(), "time_ms": pa.int64()})


def credited(table, **options):
    return sorted(map(tuple, credit_touches(table, **options).to_pandas().to_numpy().tolist()))


def touches_of(retrievals, actions):
    """Distinct times, so that no tie needs an order."""
    rows = [{"key": r["session_id"], "kind": "touch", "id": r["retrieval_id"], "time_ms": r["time"] * 1000} for r in retrievals]
    return pa.Table.from_pylist(rows + [{"key": a["session_id"], "kind": "outcome", "id": a["action_id"], "time_ms": a["time"] * 1000} for a in actions], SCHEMA)


EVENT = st.tuples(st.sampled_from([None, "s1", "s2", "s3"]), st.booleans())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENT, max_size=14), shuffled=st.randoms())
def test_credits_are_those_of_the_reference(make_log, events, shuffled):
    times = list(range(len(events)))
    shuffled.shuffle(times)
    retrievals = [{"retrieval_id": f"r{at}", "session_id": key, "time": time} for at, ((key, touch), time) in enumerate(zip(events, times)) if touch]
    actions = [{"action_id": f"e{at}", "action": "export", "session_id": key, "time": time} for at, ((key, touch), time) in enumerate(zip(events, times)) if not touch]
    if not retrievals or not actions:
        return
    named = [{key: value for key, value in row.items() if key != "action_id"} for row in actions]
    log = make_log(retrievals, named)
    log = Log(log.prompts, log.retrievals, log.actions.assign(action_id=[row["action_id"] for row in actions]))
    table = touches_of(retrievals, actions)
    for rule in ("first_touch", "last_touch", "any_touch"):
        assert credited(table, rule=rule) == sorted(map(tuple, attribute(log, rule).credits.to_numpy().tolist()))
    window = attribute(log, "time_window", window="3s").credits
    assert credited(table, rule="time_window", window_ms=3_000) == sorted(map(tuple, window.to_numpy().tolist()))


def test_ties_and_unknown_rules():
    rows = [("s", "touch", "b", 5), ("s", "touch", "a", 5), ("s", "outcome", "x", 5), ("s", "outcome", "early", 4), ("s", "outcome", "timeless", None)]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row)) for row in rows], SCHEMA)
    assert credited(table) == [("x", "b")] == credited(table.take([4, 3, 2, 1, 0]))
    assert credited(table, rule="first_touch") == [("x", "a")]
    assert len(credited(table, rule="any_touch")) == 6
    assert credited(table.slice(0, 0)) == []
    with pytest.raises(ValueError, match="last_touch"):
        credit_touches(table, rule="nearest")


@given(users=st.lists(st.integers(1, 7), max_size=6), size=st.integers(1, 5))
def test_pieces_hold_whole_users(users, size):
    keys = [f"u{at}" for at, count in enumerate(users) for _ in range(count)]
    table = pa.table({"key": pa.array(keys, pa.string()), "row": pa.array(range(len(keys)), pa.int64())})
    pieces = list(whole_users(table.to_batches(max_chunksize=size), "key"))
    assert [row for piece in pieces for row in piece["row"].to_pylist()] == list(range(len(keys)))
    owners = [set(piece["key"].to_pylist()) for piece in pieces]
    assert sum(map(len, owners)) == len(set(keys))


def test_a_step_over_pieces_is_the_step_over_all():
    rows = [(f"s{at % 5}", "outcome" if at % 3 == 0 else "touch", f"{at:03d}", at * 1000) for at in range(60)]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row)) for row in rows], SCHEMA).sort_by("key")
    pieces = run_by_user(table.to_batches(max_chunksize=7), credit_touches, "key")
    assert sorted(map(tuple, pa.concat_tables(pieces).to_pandas().to_numpy().tolist())) == credited(table)


def test_inherited_sources_are_those_of_the_reference():
    rows = [("place", "d1", "a", "r1"), ("place", "d2", "d1", None), ("export", "d2", None, None), ("edit", "d1", None, "r9"), ("export", "gone", None, None)]
    actions = pd.DataFrame([{"action_id": f"e{at}", **dict(zip(("action", "placed_id", "consumed_asset_id", "source_retrieval_id"), row))}
                            for at, row in enumerate(rows)])
    found, expected = inherit_user_sources(pa.Table.from_pandas(actions)).to_pandas(), inherit_sources(actions)
    assert found["source_retrieval_id"].fillna("").tolist() == expected.table["source_retrieval_id"].fillna("").tolist()
    assert found.dropna(subset="problem").set_index("action_id")["problem"].to_dict() == expected.problems.set_index("action_id")["problem"].to_dict()


def test_a_generated_log_gives_back_its_truth(tmp_path):
    made = generate_log(tmp_path, retrievals=1_000, events=4_000)
    tables = {name: pd.read_parquet(made.folder / f"{name}.parquet") for name in ("prompts", "retrievals", "actions", "judgments")}
    log = Log(**tables)
    truth = pd.read_parquet(made.truth).set_index("retrieval_id").loc[log.retrievals["retrieval_id"]]
    flags = outcome_flags(log)
    for name in ("active_use", "agent_use", "said_wrong", "retried", "used_other", "corrected"):
        assert flags[name].tolist() == truth[name].tolist() and truth[name].any()
    assert goal_flags(log)["goal"].tolist() == truth["goal"].tolist()
    assert made.retrievals == len(log.retrievals) >= 1_000 and abs(made.actions - 4_000) < 200
    assert len(log.judgments) == made.judgments > 0
