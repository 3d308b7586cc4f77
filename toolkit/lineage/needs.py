"""Which fields each metric needs, for the readiness audit."""

from __future__ import annotations

_LIST = "retrievals.returned_asset_ids"
_SOURCE, _ASSET, _ACTOR = "actions.source_retrieval_id", "actions.consumed_asset_id", "actions.actor"
_REQUESTS = ("retrievals.request_id", "actions.request_id")
_USE = (_LIST, _SOURCE, _ASSET, _ACTOR)
_SIGNALS = ("actions.action = reject_result", "retrievals.retry_of", "actions.expected_retrieval_id", _SOURCE, _ACTOR)
_SESSIONS = ("retrievals.session_id", "retrievals.time", "actions.session_id", "actions.time")

# Field -> what it is for.
FIELD_ROWS: dict[str, str] = {
    _LIST: "full ordered list, before any filter; on retrievals",
    _SOURCE: "retrieval that supplied the asset; on uses, goals, rejections and corrections",
    _ASSET: "asset that was used; on uses and goals",
    _ACTOR: "user or agent; on the same actions",
    "retrievals.displayed": "whether anything was shown to the user; on retrievals",
    "retrievals.displayed_asset_ids": "what was shown after the agent's filter; on retrievals",
    "retrievals.role": "why the agent retrieved, recorded when it did; on retrievals",
    "retrievals.request_id": "request the retrieval ran in; on retrievals",
    "actions.request_id": "request the action happened in; on uses and goals",
    "retrievals.retry_of": "the retrieval whose need this one repeats; recorded at all",
    "actions.expected_retrieval_id": "the retrieval whose asset should have been used; recorded at all",
    "actions.action = reject_result": "the user says that a result is wrong; recorded at all",
    "actions.action = correct_output": "the user corrects the generated output; recorded at all",
    "actions of active use": "any action that the declared active use counts; recorded at all",
    "actions of goals": "export, share or download; recorded at all",
    "prompts": "a table of prompts, also those without a retrieval",
    "retrievals.prompt_id": "the prompt that caused the retrieval; on retrievals",
    "prompts.in_scope": "label: is retrieval the right tool?; on prompts",
    "prompts.n_intents": "label: number of retrieval intents; on prompts",
    "prompts.goal_met": "label: was the goal met?; on prompts",
    "judgments.grade": "offline judgments of the first assets returned; on retrievals with a list",
    "retrievals.session_id": "session of the retrieval",
    "retrievals.time": "when it ran, timezone-aware",
    "retrievals.query": "query text",
    "retrievals.user_id": "pseudonymous user; on retrievals",
    "actions.session_id": "session of the action",
    "actions.time": "when it happened, timezone-aware",
    "actions.position": "ordinal as the client logged it; on actions with an asset",
}

# Metric -> (layer, fields it needs).
NEEDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "retrieval rate": ("0", ("prompts", "retrievals.prompt_id")),
    "misroute rate": ("0", ("prompts", "retrievals.prompt_id", "prompts.in_scope")),
    "missed-retrieval rate": ("0", ("prompts", "retrievals.prompt_id", "prompts.in_scope")),
    "multi-intent share": ("0", ("prompts", "prompts.n_intents")),
    "empty-result rate": ("1", (_LIST,)),
    "good retrieval rate": ("1", (_LIST, "judgments.grade")),
    "P@k and NDCG@k": ("1", (_LIST, "judgments.grade")),
    "GPR": ("2", ("actions of active use", *_USE, "retrievals.displayed", "retrievals.displayed_asset_ids")),
    "ACR": ("2", (*_USE, *_REQUESTS)),
    "ORF": ("2", _SIGNALS),
    "UOR": ("2", ("actions of active use", *_USE, *_REQUESTS, "retrievals.displayed", "retrievals.displayed_asset_ids", *_SIGNALS[:3])),
    "downstream correction": ("2", ("actions.action = correct_output", _SOURCE, _ACTOR)),
    "rates per role": ("2", ("retrievals.role",)),
    "goal by lineage": ("3", ("actions of goals", *_USE)),
    "goal met (label)": ("3", ("prompts", "retrievals.prompt_id", "prompts.goal_met")),
    "position of the consumed asset": ("3", (_LIST, _SOURCE, _ASSET)),
    "product health": ("3", ("actions of goals", "actions.session_id")),
    "masked failure": ("1x3", (_LIST, "judgments.grade", _SOURCE, _ASSET, _ACTOR, *_SIGNALS[:3])),
    "search reformulation rate": ("rewrites", ("retrievals.session_id", "retrievals.time", "retrievals.query")),
    "attribution by session": ("attribution", _SESSIONS),
    "attribution gap": ("attribution", (*_SESSIONS, _SOURCE, _ASSET, _LIST)),
    "rank reconciliation": ("audit", (_LIST, _SOURCE, _ASSET, "actions.position")),
    "intervals clustered by user": ("intervals", ("retrievals.user_id",)),
}
