"""Search reformulation apart from downstream correction; keystrokes are neither."""

import pytest

from toolkit.lineage import Reformulation, reformulations, rewrite_rates
from toolkit.lineage.rewrites import is_keystroke

RULE = Reformulation()


@pytest.mark.parametrize(("first", "second", "seconds", "expected"), [
    ("printe", "printer toner", 0.5, True),     # still typing
    ("printe", "printer toner", 600, True),     # ends inside a word
    ("red shoe", "red shoe size 9", 30, False),  # a refinement
    ("red shoe", "red shoe size 9", 1, True),   # typed on without a pause
    ("printer", "print", 1, True),              # deleting
    ("cat", "dog", 1, False),
    ("cat", "cat", 1, False),                   # the same text is no typing
])
def test_keystrokes(first, second, seconds, expected):
    assert is_keystroke(first, second, seconds, RULE) is expected


def turn(number, entry, session="s", **more):
    return {"prompt_id": f"p{number}", "session_id": session, "time": 100 * number, "entry_point": entry, **more}


def test_the_two_kinds_and_the_pooled_rate(make_log):
    prompts = [turn(0, "chat"), turn(1, "chat"), turn(2, "chat"), turn(3, "library")]
    retrievals = [{"retrieval_id": "r0", "prompt_id": "p0", "session_id": "s", "time": 1, "query": "cats"},
                  {"retrieval_id": "r1", "prompt_id": "p1", "session_id": "s", "time": 101, "query": "cats indoor", "retry_of": "r0"}]
    actions = [{"action": "correct_output", "actor": "user", "session_id": "s", "time": 250},   # corrects p2, which did not retrieve
               {"action": "correct_output", "actor": "user", "session_id": "s", "time": 150}]   # after p1: a retrieval turn, not counted
    found = rewrite_rates(make_log(retrievals, actions, prompts))
    assert found.value("search reformulation rate", "all turns") == 1 / 2
    assert found.value("downstream correction rate", "all turns") == 1 / 2
    assert found.value("rewrite rate (pooled)", "all turns") == 2 / 4
    assert found.value("rewrite rate (pooled)", "library") == 0
    assert "mixes" in found.summary()


def test_second_intent_of_one_turn_is_no_rewrite(make_log):
    retrievals = [{"retrieval_id": "r0", "prompt_id": "p0", "session_id": "s", "time": 1, "query": "cats"},
                  {"retrieval_id": "r1", "prompt_id": "p0", "session_id": "s", "time": 2, "query": "cats", "retry_of": "r0"}]
    assert rewrite_rates(make_log(retrievals, prompts=[turn(0, "chat")])).value("search reformulation rate", "all turns") == 0


def test_texts_decide_where_links_are_not_recorded(make_log):
    texts = ["prin", "printer", "printer ink", "red dog", "red dog", "blue dog"]
    retrievals = [{"retrieval_id": f"r{i}", "session_id": "s", "time": 60 * i, "query": text} for i, text in enumerate(texts)]
    assert reformulations(make_log(retrievals))["kind"].tolist() == ["keystroke", "reformulation", "other", "same text", "reformulation"]
    assert rewrite_rates(make_log(retrievals)).value("search reformulation rate", "all turns") == 2 / 6
    far = [{**row, "time": 3_600 * i} for i, row in enumerate(retrievals)]
    assert "reformulation" not in set(reformulations(make_log(far))["kind"])


def test_sessions_are_not_mixed(make_log):
    retrievals = [{"retrieval_id": "r0", "session_id": "s", "time": 0, "query": "red dog"}, {"retrieval_id": "r1", "session_id": "t", "time": 1, "query": "red cat"}]
    assert reformulations(make_log(retrievals)).empty
