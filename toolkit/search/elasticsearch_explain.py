"""Elasticsearch's explanation trees in the toolkit's one readable form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from toolkit.search.config import MultiMatch
from toolkit.search.elasticsearch_failures import Failure
from toolkit.search.elasticsearch_requests import Connection
from toolkit.search.explain import ClauseScore, Explanation, FieldScore, TermScore, best_first

K1_PLUS_1 = 2.2
"""Elasticsearch multiplies the boost by k1 + 1; explanations show the product."""

_WEIGHT = re.compile(r"weight\((?P<field>[^:]+):(?P<term>.*) in \d+\) \[[^\]]*\], result of:", re.DOTALL)


def explain_body(query: Mapping, product_id: str, id_field: str) -> dict:
    """A search that explains one product's score: the filter comes after scoring, so it changes none."""
    return {"query": query, "post_filter": {"term": {id_field: product_id}}, "size": 1, "explain": True, "_source": False}


def explain_product(connection: Connection, query_text: str, product_id: str, config: MultiMatch, *, id_field: str,
                    engine: str) -> Explanation:
    """Explanation of one product's score.

    Each field is also explained alone: the tree of the whole query joins some fields' clauses (tie
    breaker 1) and says nothing about fields of weight 0.

    Parameters
    ----------
    connection : Connection
    query_text : str
    product_id : str
    config : MultiMatch
    id_field : str
    engine : str
        Name of the engine, for the result.

    Raises
    ------
    ValueError
        If the index does not hold the product.
    ConnectionError
        If the server does not answer.
    """
    alone = {name: MultiMatch({name: weight or 1.0}, operator=config.operator, fuzziness=config.fuzziness,
                              prefix_length=config.prefix_length, max_expansions=config.max_expansions)
             for name, weight in config.fields.items()}
    bodies = [explain_body(one.to_query(query_text), product_id, id_field) for one in (config, *alone.values())]
    exists = {"query": {"term": {id_field: product_id}}, "size": 1, "_source": False}
    answers = [_answered(answer) for _, answer in connection.searches([exists, *bodies])]
    if not answers[0]:
        raise ValueError(f"product {product_id!r} is not in index {connection.index!r}")
    fields = [_field_score(name, config.fields[name], hits[0]["_explanation"])
              for name, hits in zip(alone, answers[2:], strict=True) if hits]
    score = _float32(answers[1][0]["_explanation"]) if answers[1] else 0.0
    analyzed = connection.call(lambda client: client.indices.analyze(index=connection.index, field=next(iter(alone)), text=query_text))
    terms = () if isinstance(analyzed, Failure) else tuple(token["token"] for token in analyzed["tokens"])
    return Explanation(query_text, product_id, config, score, bool(answers[1]), best_first(fields), engine, terms)


def _answered(answer: dict | Failure) -> list[dict]:
    if isinstance(answer, Failure):
        raise ConnectionError(f"cannot explain: {answer.reason}")
    return answer["hits"]["hits"]


def _float32(node: Mapping) -> float:
    """The value of a node: a float32 printed with just enough digits, read back to the same bits."""
    return float(np.float32(node["value"]))


def _field_score(name: str, weight: float, tree: Mapping) -> FieldScore:
    """One field from the tree of its own query; a weight of 0 keeps the terms and zeroes their scores."""
    nodes = [tree] if _WEIGHT.fullmatch(tree["description"]) else tree["details"]
    clauses = []
    for node in nodes:
        terms = tuple(_term(leaf, weight) for leaf in _leaves(node))
        names = dict.fromkeys(term.term for term in sorted(terms, key=lambda term: -term.boost))
        clauses.append(ClauseScore(" + ".join(names), _float32(node) if weight else 0.0, terms))
    return FieldScore(name, float(np.float32(weight)), _float32(tree) if weight else 0.0, tuple(clauses))


def _leaves(node: Mapping) -> Iterator[Mapping]:
    if _WEIGHT.fullmatch(node["description"]):
        yield node
        return
    for child in node["details"]:
        yield from _leaves(child)


def _term(leaf: Mapping, weight: float) -> TermScore:
    values = dict(_values(leaf))
    return TermScore(
        term=_WEIGHT.fullmatch(leaf["description"])["term"], tf=values["freq"], df=int(values["n"]), documents=int(values["N"]),
        idf=values["idf"], length=values["dl"], average_length=values["avgdl"],
        boost=values.get("boost", K1_PLUS_1) / K1_PLUS_1 if weight else 0.0, score=_float32(leaf) if weight else 0.0)


def _values(node: Mapping) -> Iterator[tuple[str, float]]:
    """The named numbers below a leaf: ``n``, ``N``, ``idf``, ``freq``, ``dl``, ``avgdl``, ``boost``."""
    for child in node["details"]:
        yield child["description"].split(",")[0], _float32(child)
        yield from _values(child)
