"""A measure is an object whose printed form is its definition and parses back.

``str(Measure("ndcg", 10)) == "ndcg@10"`` and ``Measure.parse("ndcg@10") == Measure("ndcg", 10)``.
Parameters that differ from the evaluation's own stand inside: ``ndcg(gains=exponential)@10``,
``recall(relevant=1)@20``, ``err(max_grade=4)@10``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.evaluation.gains import ESCI_LINEAR, GAINS, Gains

# Name -> (what it is, in one sentence with {top}, {cut}, {per}, {shown}, {gains}, {relevant}, {max_grade}, {p}; when it is undefined).
SENTENCES: dict[str, tuple[str, str]] = {
    "ndcg": ("sum of gain/log2(rank+1) over {top}, divided by the same sum over all judged products of the "
             "query in their best order{cut}; gains {gains}", "no judged product has a positive gain"),
    "ndcg_full_ideal": ("as ndcg, but the ideal counts all judged products: {top} cannot reach 1 where more products "
                        "have a gain; gains {gains}", "no judged product has a positive gain"),
    "dcg": ("sum of gain/log2(rank+1) over {top}, not normalised; gains {gains}", "never"),
    "recall": ("relevant products in {top}, divided by all relevant products of the query; relevant = grade >= {relevant}",
               "the query has no relevant product"),
    "precision": ("relevant products in {top}, divided by {per}; relevant = grade >= {relevant}",
                  "the query has no relevant product"),
    "mrr": ("1/rank of the first relevant product within {top}, 0 where there is none; relevant = grade >= {relevant}",
            "the query has no relevant product"),
    "ap": ("sum of the precision at each relevant product's rank within {top}, divided by all relevant products of the "
           "query; relevant = grade >= {relevant}", "the query has no relevant product"),
    "err": ("expected 1/rank at which a user who stops with probability (2^grade-1)/2^{max_grade} stops, over {top}",
            "no judged product has a positive grade"),
    "success": ("1 where a relevant product is in {top}, else 0; relevant = grade >= {relevant}",
                "the query has no relevant product"),
    "judged": ("judged products in {top}, divided by {shown}; the mean is over queries", "nothing was returned"),
    "zero_result_rate": ("1 where the search returned nothing, else 0", "never"),
    "rbo": ("rank-biased overlap of two rankings over {top}, persistence {p}, residual shared by extrapolation", "both lists are empty"),
}
_FORM = re.compile(r"(?P<name>[a-z_]+)(\((?P<inside>[^()]*)\))?(@(?P<k>\d+))?")
_GAIN_MEASURES = ("ndcg", "ndcg_full_ideal", "dcg")
_RELEVANCE_MEASURES = ("recall", "precision", "mrr", "ap", "success")


@dataclass(frozen=True)
class Measure:
    """One measure with everything that defines it.

    Parameters
    ----------
    name : str
        One of ``SENTENCES``: ndcg, ndcg_full_ideal, dcg, recall, precision, mrr, ap, err, success,
        judged, zero_result_rate, rbo.
    k : int or None
        Cut-off; None is the whole returned list.
    gains : str or None
        Name of a gain map; None is the evaluation's.
    relevant : float or None
        Smallest relevant grade; None is the evaluation's.
    max_grade : float or None
        ERR's ceiling; None is the gain map's ``max_grade``.
    p : float or None
        RBO's persistence, default 0.9.

    Raises
    ------
    ValueError
        Unknown name, or a parameter that the measure does not have.
    """

    name: str
    k: int | None = None
    gains: str | None = None
    relevant: float | None = None
    max_grade: float | None = None
    p: float | None = None

    def __post_init__(self) -> None:
        if self.name not in SENTENCES:
            raise ValueError(f"measure {self.name!r} is not known; known: {sorted(SENTENCES)}")
        if self.k is not None and (isinstance(self.k, bool) or self.k < 1):
            raise ValueError(f"measure {self.name}: k is {self.k!r}; expected an integer from 1")
        if self.gains is not None and self.gains not in GAINS:
            raise ValueError(f"measure {self.name}: gains {self.gains!r}; known: {sorted(GAINS)}")
        allowed = {"gains": _GAIN_MEASURES, "relevant": _RELEVANCE_MEASURES, "max_grade": ("err",), "p": ("rbo",)}
        for parameter, names in allowed.items():
            if getattr(self, parameter) is not None and self.name not in names:
                raise ValueError(f"measure {self.name} has no parameter {parameter!r}; it belongs to {names}")
        if self.name == "zero_result_rate" and self.k is not None:
            raise ValueError("measure zero_result_rate has no cut-off: an empty list is empty at every k")

    @classmethod
    def parse(cls, text: str | Measure) -> Measure:
        """The measure that prints as ``text``.

        Raises
        ------
        ValueError
            Saying what is wrong with the text, with an example.
        """
        if isinstance(text, Measure):
            return text
        found = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise ValueError(f"measure {text!r} cannot be read; expected a form like 'ndcg@10' or 'recall(relevant=1)@20'")
        inside = dict(_parameter(part, text) for part in (found["inside"] or "").split(",") if part.strip())
        return cls(found["name"], int(found["k"]) if found["k"] else None, **inside)

    def __str__(self) -> str:
        inside = [f"{name}={value if isinstance(value, str) else _number(value)}"
                  for name in ("gains", "relevant", "max_grade", "p") if (value := getattr(self, name)) is not None]
        return self.name + (f"({','.join(inside)})" if inside else "") + (f"@{self.k}" if self.k else "")

    def definition(self, gains: Gains = ESCI_LINEAR, relevant_grade: float = 2.0) -> str:
        """The measure in one sentence, with the evaluation's gain map and threshold filled in."""
        sentence, undefined = SENTENCES[self.name]
        used = GAINS[self.gains] if self.gains else gains
        filled = sentence.format(
            **_extent(self.k), gains=used, p=self.p or 0.9,
            relevant=f"{relevant_grade if self.relevant is None else self.relevant:g}",
            max_grade=f"{used.max_grade if self.max_grade is None else self.max_grade:g}")
        return f"{self}: {filled}. Undefined where: {undefined}."


def _extent(k: int | None) -> dict[str, str]:
    """How far down the list a measure looks, in the words of its sentence."""
    if k is None:
        return {"top": "the whole list", "cut": "", "per": "the products returned", "shown": "the products returned"}
    return {"top": f"the top {k}", "cut": f", cut at {k}", "per": f"{k} (also where fewer were returned)", "shown": f"min({k}, products returned)"}


def _number(value: float) -> str:
    """Shortest text that reads back as the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _parameter(part: str, text: str) -> tuple[str, str | float]:
    """``"relevant=1"`` -> ``("relevant", 1.0)``."""
    name, _, value = (piece.strip() for piece in part.partition("="))
    if name not in ("gains", "relevant", "max_grade", "p") or not value:
        raise ValueError(f"measure {text!r}: parameter {part!r}; expected gains=, relevant=, max_grade= or p=")
    if name == "gains":
        return name, value
    try:
        return name, float(value)
    except ValueError:
        raise ValueError(f"measure {text!r}: {name} is {value!r}; expected a number") from None


def parse_measures(metrics: Sequence[str | Measure] | str | Measure) -> tuple[Measure, ...]:
    """Measures from texts or objects; one alone is accepted; the same twice is an error."""
    given = [metrics] if isinstance(metrics, (str, Measure)) else list(metrics)
    measures = tuple(Measure.parse(item) for item in given)
    if not measures:
        raise ValueError("metrics is empty; give at least one, for example ['ndcg@10']")
    if len(set(map(str, measures))) < len(measures):
        raise ValueError(f"metrics holds the same measure twice: {[str(m) for m in measures]}")
    return measures
