"""The retrieval shape: one ``multi_match`` query and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

LARGEST_WEIGHT = 1e30
"""Far above it the engine's float32 scores overflow to infinity, which has no order."""


@dataclass(frozen=True)
class MultiMatch:
    """An Elasticsearch ``multi_match`` query over weighted fields.

    Parameters
    ----------
    fields : mapping of str to float
        Field -> weight, each from 0 to 1e30. A weight of 0 still *matches* (with score 0.0);
        to leave a field out, leave it out of the mapping.
    type : {"best_fields", "most_fields"}
        How field scores meet: ``max + tie * rest``; ``most_fields`` has a default tie of 1.
    tie_breaker : float or None
        Between 0 and 1; None is the engine's default (0.0 for best_fields, 1.0 for most_fields).
    operator : {"or", "and"}
        Must one query token match, or all of them in the same field?
    fuzziness : {0, "AUTO"}
        ``AUTO``: 0 edits below 3 characters, 1 up to 5, 2 from 6.
    prefix_length : int
        Leading characters that must match exactly under fuzziness.
    max_expansions : int
        Fuzzy terms kept per token and field.

    Raises
    ------
    ValueError
        Naming the value that is out of range, and what is expected.

    Notes
    -----
    Source: Elasticsearch 9.2 ``multi_match``; the scoring rules are in ``toolkit/search/SCORING.md``.
    Features whose scores this toolkit does not reproduce (``cross_fields``, phrase types,
    ``minimum_should_match``, synonyms) are not offered rather than scored differently.
    """

    fields: Mapping[str, float]
    type: Literal["best_fields", "most_fields"] = "best_fields"
    tie_breaker: float | None = None
    operator: Literal["or", "and"] = "or"
    fuzziness: Literal[0, "AUTO"] = "AUTO"
    prefix_length: int = 0
    max_expansions: int = 50
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        if not isinstance(self.fields, Mapping):
            raise ValueError(f"MultiMatch: fields is {self.fields!r}; expected a mapping of field to weight, for example {{'title': 1}}")
        if not self.fields:
            raise ValueError("MultiMatch: fields is empty; give at least one field, for example {'title': 1}")
        clean: dict[str, float] = {}
        for name, weight in self.fields.items():
            if not isinstance(name, str) or not name or set(name) & set("^*"):
                raise ValueError(f"MultiMatch: field name {name!r}; expected a non-empty string without '^' and '*', "
                                 "which Elasticsearch reads as a weight and a wildcard")
            clean[name] = _weight(name, weight)
        if self.type not in ("best_fields", "most_fields"):
            raise ValueError(f"MultiMatch: type {self.type!r} is not supported; use 'best_fields' or 'most_fields'")
        if self.operator not in ("or", "and"):
            raise ValueError(f"MultiMatch: operator {self.operator!r}; expected 'or' or 'and'")
        if isinstance(self.fuzziness, bool) or self.fuzziness not in (0, "AUTO"):
            raise ValueError(f"MultiMatch: fuzziness {self.fuzziness!r}; expected 0 or 'AUTO'")
        if self.tie_breaker is not None and not (_is_number(self.tie_breaker) and 0 <= self.tie_breaker <= 1):
            raise ValueError(f"MultiMatch: tie_breaker {self.tie_breaker!r}; expected None or a number from 0 to 1")
        for name in ("prefix_length", "max_expansions"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < (name == "max_expansions"):
                raise ValueError(f"MultiMatch: {name} {value!r}; expected an integer >= {int(name == 'max_expansions')}")
            object.__setattr__(self, name, int(value))  # numpy's integers are not JSON
        object.__setattr__(self, "fields", MappingProxyType(clean))
        object.__setattr__(self, "_hash", hash((frozenset(clean.items()), self.type, self.tie_breaker, self.operator,
                                                self.fuzziness, self.prefix_length, self.max_expansions)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self):
        return (type(self), (dict(self.fields), self.type, self.tie_breaker, self.operator, self.fuzziness,
                             self.prefix_length, self.max_expansions))

    @property
    def tie(self) -> float:
        """The tie breaker in force: the given one, else the type's default."""
        if self.tie_breaker is not None:
            return float(self.tie_breaker)
        return 1.0 if self.type == "most_fields" else 0.0

    def with_fields(self, **weights: float) -> MultiMatch:
        """The same query with some weights replaced (other fields keep theirs)."""
        return replace(self, fields={**self.fields, **weights})

    def to_query(self, text: str) -> dict[str, Any]:
        """The Elasticsearch query clause for one query text, exactly as typed.

        Weights and tie breaker go as the decimals of their float32 values: Elasticsearch rounds
        the decimals it reads to float32 directly, this toolkit rounds a float64, and the two can
        differ for a number half way between two float32 values.
        """
        body: dict[str, Any] = {
            "query": text,
            "type": self.type,
            "operator": self.operator,
            "fields": [f"{name}^{_float32(weight)!r}" for name, weight in self.fields.items()],
        }
        if self.tie_breaker is not None:
            body["tie_breaker"] = _float32(self.tie_breaker)
        if self.fuzziness == "AUTO":
            body |= {"fuzziness": "AUTO", "prefix_length": self.prefix_length, "max_expansions": self.max_expansions}
        return {"multi_match": body}

    def __str__(self) -> str:
        weights = ", ".join(f"{name}^{weight:g}" for name, weight in self.fields.items())
        tie = "" if self.tie_breaker is None else f", tie_breaker {self.tie_breaker:g}"
        return f"{self.type}({weights}; {self.operator}, fuzziness {self.fuzziness}{tie})"


def _is_number(value: object) -> bool:
    """Is it a real number (Python's or numpy's), and not a truth value?"""
    return isinstance(value, Real) and not isinstance(value, bool)


def _weight(name: str, weight: object) -> float:
    """A weight as a float.

    Raises
    ------
    ValueError
        For anything but a number from 0 to ``LARGEST_WEIGHT``.
    """
    if not _is_number(weight) or not 0 <= weight <= LARGEST_WEIGHT:
        raise ValueError(f"MultiMatch: weight of {name!r} is {weight!r}; expected a number from 0 to {LARGEST_WEIGHT:g}")
    return abs(float(weight))  # -0.0 is 0.0


def _float32(value: float) -> float:
    return float(np.float32(value))
