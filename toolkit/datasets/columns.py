"""Which column of a foreign file means what; every mapping is told in the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolkit.datasets.report import ReadError, ReadReport

# Role -> column names that mean it, the most specific first (normalised spelling).
_QUERY = {
    "query_id": ("query_id", "queryid", "qid", "topic_id", "topic", "topicid"),
    "query": ("query", "query_text", "querytext", "user_query", "search_term", "searchterm", "search_text", "searchtext", "keywords",
              "keyword", "term", "q"),
    "product_id": ("product_id", "productid", "docid", "doc_id", "documentid", "document_id", "docno", "doc", "_id", "item_id", "itemid",
                   "object_id", "objectid", "asin", "sku", "pid", "id"),
}
JUDGMENT_ROLES = {
    **_QUERY,
    "grade": ("grade", "rating", "relevance", "relevance_grade", "relevance_score", "judgment", "judgement", "gain", "rel", "score"),
    "label": ("label", "esci_label", "esci", "relevance_label"),
}
RANKING_ROLES = {
    **_QUERY,
    "rank": ("rank", "position", "pos", "doc_position", "ordinal"),
    "score": ("score", "_score", "sim", "similarity", "relevance_score"),
}


def normalise(name: str) -> str:
    """A column name without case, surrounding space and punctuation: ``"Doc ID"`` is ``doc_id``."""
    return re.sub(r"[^0-9a-z_]+", "_", name.strip().strip("\"'").casefold())


def known_names(roles: Mapping[str, Sequence[str]]) -> set[str]:
    """All spellings of all roles."""
    return {alias for aliases in roles.values() for alias in aliases}


def map_columns(header: Sequence[str], roles: Mapping[str, Sequence[str]], given: Mapping[str, str] | None,
                report: ReadReport) -> dict[str, int]:
    """Role -> index of its column, by the caller's word or by alias; noted in the report.

    Parameters
    ----------
    header : sequence of str
    roles : mapping
        Role -> accepted spellings, best first.
    given : mapping of str to str, optional
        Role -> exact column name, overruling the aliases.
    report : ReadReport

    Raises
    ------
    ReadError
        If ``given`` names a role or a column that does not exist.
    """
    found: dict[str, int] = {}
    for role, name in (given or {}).items():
        if role not in roles or name not in header:
            raise ReadError(f"{report.source}: columns={{{role!r}: {name!r}}} does not fit; roles are {list(roles)}, columns are {list(header)}")
        found[role] = list(header).index(name)
    names = [normalise(name) for name in header]
    for role, aliases in roles.items():
        if role not in found:
            hit = next((alias for alias in aliases if alias in names and names.index(alias) not in found.values()), None)
            if hit is not None:
                found[role] = names.index(hit)
    for role, index in found.items():
        if header[index] != role:
            report.note("noted", f"column {header[index]!r} read as {role}")
    unused = [name for index, name in enumerate(header) if index not in found.values()]
    if unused and found:
        report.note("noted", f"columns not used: {unused}")
    return found
