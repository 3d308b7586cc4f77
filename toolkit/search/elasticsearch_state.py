"""What an Elasticsearch index is at one moment, with a fingerprint that changes when its scores may."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from toolkit.search.elasticsearch_failures import Failure
from toolkit.search.elasticsearch_requests import Connection


@dataclass(frozen=True)
class IndexState:
    """What an index is at one moment.

    Attributes
    ----------
    version : str
        Of the server.
    fields : tuple of str
        Text fields, in the order in which the server lists them.
    id_is_keyword : bool
        Whether the id field can break ties.
    complete : bool
        False after an interrupted load.
    documents, deleted, shards : int
        Live documents, deleted copies that still count in term statistics, primary shards.
    fingerprint : str
        Hash over the index's identity, analysis, mapping, and the number of changes of every shard.
    """

    version: str
    fields: tuple[str, ...]
    id_is_keyword: bool
    complete: bool
    documents: int
    deleted: int
    shards: int
    fingerprint: str


def read_state(connection: Connection, id_field: str = "product_id") -> IndexState | Failure:
    """Look at an index: three small requests."""
    answers = []
    for request in (lambda client: client.info(), lambda client: client.indices.get(index=connection.index),
                    lambda client: client.indices.stats(index=connection.index, level="shards", metric="docs")):
        answer = connection.call(request)
        if isinstance(answer, Failure):
            return answer
        answers.append(answer.body)
    info, described, stats = answers
    if len(described) != 1:
        return Failure(f"{connection.index!r} names {len(described)} indices; give one index, or an alias of one")
    (name, index), = described.items()
    properties = index["mappings"].get("properties", {})
    settings = index["settings"]["index"]
    docs = stats["_all"]["primaries"].get("docs")
    if docs is None:  # right after a start of the server
        return Failure(f"no shard of index {name!r} is active", retryable=True)
    return IndexState(
        version=info["version"]["number"],
        fields=tuple(field for field, mapping in properties.items() if mapping.get("type") == "text"),
        id_is_keyword=properties.get(id_field, {}).get("type") == "keyword",
        complete=index["mappings"].get("_meta", {}).get("complete", True),
        documents=docs["count"], deleted=docs.get("deleted", 0), shards=int(settings["number_of_shards"]),
        fingerprint=_fingerprint(settings, index["mappings"], stats["indices"].get(name, {}).get("shards", {}), docs))


def _fingerprint(settings: dict, mappings: dict, shards: dict, docs: dict) -> str:
    changes = {number: max((copy.get("seq_no", {}).get("max_seq_no", -1) for copy in copies), default=-1)
               for number, copies in shards.items()}
    content = [settings["uuid"], settings.get("analysis"), settings["number_of_shards"], mappings.get("properties"),
               docs["count"], docs.get("deleted", 0), changes]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
