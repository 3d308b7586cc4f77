"""Create an Elasticsearch index for a products table and load it."""

from __future__ import annotations

import html
import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from elastic_transport import ObjectApiResponse
from tqdm.auto import tqdm

from toolkit.search.elasticsearch_failures import RETRY_STATUS, SPLIT_STATUS, Failure, describe
from toolkit.search.elasticsearch_requests import Connection
from toolkit.search.products import cell_texts, check_products, text_fields

ANALYZER = "toolkit_text"
"""Name of the analyzer in the index: standard tokenizer, lowercase, asciifolding."""

KEYWORD_LENGTH = 256
"""Longest value [characters] that a field's ``.keyword`` part keeps, for terms aggregations."""

BULK_DOCUMENTS, BULK_BYTES = 1_000, 5_000_000
"""Bounds of one ``_bulk`` request."""


class LoadError(RuntimeError):
    """An index could not be created or loaded."""


@dataclass(frozen=True)
class LoadReport:
    """What happened to every document of a bulk load.

    Attributes
    ----------
    index : str
    sent, loaded : int
        Products given, and documents in the index afterwards.
    errors : DataFrame
        product_id, status, reason of each refused document.
    """

    index: str
    sent: int
    loaded: int
    errors: pd.DataFrame

    @property
    def failed(self) -> int:
        """Documents that the server refused."""
        return len(self.errors)

    def to_frame(self) -> pd.DataFrame:
        """The refused documents."""
        return self.errors

    def summary(self) -> str:
        """The load in one sentence."""
        text = f"{self.index}: {self.loaded} of {self.sent} products loaded, {self.failed} refused"
        if self.failed:
            first = self.errors.iloc[0]
            text += f" (first: {first['product_id']!r}: {first['reason']})"
        return text

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>"


def index_settings(fields: Sequence[str], shards: int = 1, replicas: int = 0) -> dict:
    """Settings and mappings of an index whose scores the embedded engine reproduces (with one shard).

    Each field is analysed by the standard tokenizer, lowercase and asciifolding, and has a
    ``.keyword`` part for terms aggregations; ``product_id`` is a keyword, so that it can break ties.
    """
    text = {"type": "text", "analyzer": ANALYZER, "fields": {"keyword": {"type": "keyword", "ignore_above": KEYWORD_LENGTH}}}
    analyzer = {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "asciifolding"]}
    return {
        "settings": {"number_of_shards": shards, "number_of_replicas": replicas, "refresh_interval": "-1",
                     "analysis": {"analyzer": {ANALYZER: analyzer}}},
        "mappings": {"dynamic": False, "_meta": {"complete": False},
                     "properties": {"product_id": {"type": "keyword"}, **{name: text for name in fields}}},
    }


def load_index(connection: Connection, products: pd.DataFrame, fields: Sequence[str] | None = None, *, shards: int = 1,
               replicas: int = 0, replace: bool = False, progress: bool = True) -> LoadReport:
    """Create the connection's index and load a products table into it.

    Parameters
    ----------
    connection : Connection
    products : DataFrame
        A products table; null cells are left out of the document.
    fields : sequence of str, optional
        Columns to index as text; default all text columns.
    shards, replicas : int
        With more than one shard each shard has its own term statistics (see ``Connection.dfs``).
    replace : bool
        Delete an index of that name first.
    progress : bool

    Returns
    -------
    LoadReport
        With every refused document.

    Raises
    ------
    TableError
        If the products table is not one.
    LoadError
        If the index exists, or the server refuses or cannot be reached. An index whose load was
        interrupted keeps the mark ``_meta.complete: false``, which searches warn about.
    """
    check_products(products)
    fields = text_fields(products, fields)
    if replace:
        _must(connection.call(lambda client: client.indices.delete(index=connection.index, ignore_unavailable=True)), "delete")
    _create(connection, index_settings(fields, shards, replicas))
    errors = []
    with tqdm(total=len(products), desc=f"load {connection.index}", unit="product", disable=not progress) as bar:
        for batch in _batches(products, fields):
            errors += _bulk(connection, batch)
            bar.update(len(batch))
    _finish(connection)
    count = _must(connection.call(lambda client: client.count(index=connection.index)), "count")["count"]
    return LoadReport(connection.index, len(products), count, pd.DataFrame(errors, columns=["product_id", "status", "reason"]))


def _must(answer: ObjectApiResponse | Failure, what: str) -> ObjectApiResponse:
    if isinstance(answer, Failure):
        raise LoadError(f"cannot {what} the index: {answer.reason}")
    return answer


def _create(connection: Connection, body: dict) -> None:
    """Create the index; one that an earlier attempt made, whose answer was lost, is ours as well."""
    name, load = connection.index, uuid.uuid4().hex
    body["mappings"]["_meta"]["load"] = load
    answer = connection.call(lambda client: client.indices.create(index=name, **body))
    if isinstance(answer, Failure) and answer.status == 400 and "already_exists" in answer.reason:
        found = _must(connection.call(lambda client: client.indices.get_mapping(index=name)), "look at").body
        if [index["mappings"].get("_meta", {}).get("load") for index in found.values()] == [load]:
            return
        raise LoadError(f"cannot create the index: {answer.reason}; give replace=True to delete an index of that name first")
    _must(answer, "create")


def _batches(products: pd.DataFrame, fields: Sequence[str]) -> Iterator[list[tuple[str, dict]]]:
    """(product_id, document) pairs in batches within the bounds of one bulk request."""
    columns = [cell_texts(products[name], name) for name in fields]
    batch: list[tuple[str, dict]] = []
    size = 0
    for product_id, *cells in zip(products["product_id"].tolist(), *columns, strict=True):
        document = {"product_id": product_id, **{name: cell for name, cell in zip(fields, cells, strict=True) if cell is not None}}
        length = len(json.dumps(document))
        if batch and (len(batch) >= BULK_DOCUMENTS or size + length > BULK_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((product_id, document))
        size += length
    if batch:
        yield batch


def _bulk(connection: Connection, batch: list[tuple[str, dict]]) -> list[tuple[str, int | None, str]]:
    """Load one batch; the refused documents as (product_id, status, reason), after retries of the busy ones."""
    refused: list[tuple[str, int | None, str]] = []
    for attempt in range(connection.retry.attempts):
        if attempt:
            connection.retry.wait(attempt - 1)
        operations = [line for product_id, document in batch for line in ({"index": {"_id": product_id}}, document)]
        answer = connection.call(lambda client, lines=operations: client.bulk(index=connection.index, operations=lines))
        if isinstance(answer, Failure):
            if answer.status in SPLIT_STATUS and len(batch) > 1:  # one document can make the server refuse them all
                half = len(batch) // 2
                return refused + _bulk(connection, batch[:half]) + _bulk(connection, batch[half:])
            return refused + [(product_id, answer.status, answer.reason) for product_id, _ in batch]
        items = [(pair, item["index"]) for pair, item in zip(batch, answer["items"], strict=True)]
        busy = [pair for pair, item in items if item["status"] in RETRY_STATUS]
        last = not busy or attempt == connection.retry.attempts - 1
        refused += [(pair[0], item["status"], describe(item)) for pair, item in items
                    if item["status"] >= 300 and (last or item["status"] not in RETRY_STATUS)]
        if last:
            break
        batch = busy
    return refused


def _finish(connection: Connection) -> None:
    """Make everything searchable, merge to one segment (deleted copies count in term statistics), mark as complete."""
    patient = Connection(connection.client, connection.index, max(600.0, connection.timeout), connection.retry)
    index = connection.index
    _must(patient.call(lambda client: client.indices.put_settings(index=index, settings={"index": {"refresh_interval": None}})), "set up")
    _must(patient.call(lambda client: client.indices.refresh(index=index)), "refresh")
    _must(patient.call(lambda client: client.indices.forcemerge(index=index, max_num_segments=1)), "merge")
    _must(patient.call(lambda client: client.indices.put_mapping(index=index, meta={"complete": True})), "mark")
    _must(patient.call(lambda client: client.indices.refresh(index=index)), "refresh")
