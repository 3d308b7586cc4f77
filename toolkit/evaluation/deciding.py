"""``verdict``: promote, block or insufficient_evidence. It fails closed: what is unknown never promotes."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from toolkit.evaluation.comparison import Comparison

PROMOTE, BLOCK, INSUFFICIENT = "promote", "block", "insufficient_evidence"
WORDS = {PROMOTE: "Promote", BLOCK: "Block", INSUFFICIENT: "Insufficient evidence"}


@dataclass(frozen=True)
class Policy:
    """What a change must show, declared before looking.

    Parameters
    ----------
    smallest_worthwhile : float
        Gain of the primary metric worth shipping. A result that is not significant and whose
        interval lies below it blocks; one whose interval still reaches it is insufficient.
    min_changed : int
        Fewest queries with a difference: below it percentile intervals reject too often.
    max_drop_share : float
        Largest share of queries that may fall by the comparison's ``catastrophic_drop``.
    max_zero_result_rise : float
        Largest tolerated rise of the zero-result rate.
    max_judged_gap : float
        Largest difference of judged@k between the arms that still counts as comparable.
    max_failed_share : float
        Largest share of queries without an answer of their own, in either arm.
    max_looks : int
        Looks at the holdout allowed per hypothesis.
    holes : {"bounds", "tipping", "report"}
        How unjudged products may overturn the result: by any grading, by a tipping point below
        ``min_tipping``, or only reported.
    min_tipping : float
        With ``holes="tipping"``: smallest tipping share that is accepted.
    accept_unknown : tuple of str
        Checks whose missing data is accepted: "coverage", "zero_results", "holes", "ties".
    """

    smallest_worthwhile: float = 0.02
    min_changed: int = 10
    max_drop_share: float = 0.05
    max_zero_result_rise: float = 0.0
    max_judged_gap: float = 0.05
    max_failed_share: float = 0.05
    max_looks: int = 1
    holes: str = "bounds"
    min_tipping: float = 0.5
    accept_unknown: tuple[str, ...] = ("holes", "ties")

    def __post_init__(self) -> None:
        if self.holes not in ("bounds", "tipping", "report"):
            raise ValueError(f"Policy: holes is {self.holes!r}; expected 'bounds', 'tipping' or 'report'")
        strange = set(self.accept_unknown) - {"coverage", "zero_results", "holes", "ties"}
        if strange:
            raise ValueError(f"Policy: accept_unknown holds {sorted(strange)}; expected coverage, zero_results, holes, ties")
        for name in ("smallest_worthwhile", "max_drop_share", "max_judged_gap", "max_failed_share", "min_tipping"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"Policy: {name} is {getattr(self, name)!r}; expected a number from 0 to 1")


@dataclass(frozen=True)
class Check:
    """One question put to a comparison.

    ``outcome`` is pass; block (a reason to refuse); doubt (the data cannot carry a decision);
    unknown (data missing); or note.
    """

    name: str
    outcome: str
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """A decision with its reasons.

    Attributes
    ----------
    decision : str
        promote, block or insufficient_evidence.
    checks : tuple of Check
    comparison : Comparison
    policy : Policy
    """

    decision: str
    checks: tuple[Check, ...]
    comparison: Comparison
    policy: Policy

    @property
    def reasons(self) -> list[str]:
        """The sentences that made the decision."""
        decisive = {PROMOTE: ("pass",), BLOCK: ("block",), INSUFFICIENT: ("doubt", "unknown")}[self.decision]
        return [check.sentence for check in self.checks if check.outcome in decisive]

    def to_frame(self) -> pd.DataFrame:
        """check, outcome, sentence."""
        return pd.DataFrame([(c.name, c.outcome, c.sentence) for c in self.checks], columns=["check", "outcome", "sentence"])

    @property
    def table(self) -> pd.DataFrame:
        """The checks."""
        return self.to_frame()

    def summary(self) -> str:
        """Decision and reasons in words."""
        return f"{WORDS[self.decision]}. {' '.join(self.reasons)}"

    def __repr__(self) -> str:
        return f"Verdict: {self.summary()}"

    def _repr_html_(self) -> str:
        colour = {PROMOTE: "#0173b2", BLOCK: "#a13d00", INSUFFICIENT: "#5f5f5f"}[self.decision]
        mark = {PROMOTE: "▲", BLOCK: "■", INSUFFICIENT: "?"}[self.decision]
        reasons = "".join(f"<li>{html.escape(text)}</li>" for text in self.reasons)
        rows = "".join(f"<tr><td>{html.escape(c.name)}</td><td>{c.outcome}</td><td>{html.escape(c.sentence)}</td></tr>" for c in self.checks)
        return (f'<section aria-label="verdict" style="border-left:6px solid {colour};padding:.4em .8em;max-width:60em">'
                f'<p style="margin:0;font-size:1.2em;font-weight:bold;color:{colour}">{mark} {WORDS[self.decision]}</p>'
                f'<ul style="margin:.4em 0">{reasons}</ul><p style="margin:.4em 0">{html.escape(self.comparison.summary())}</p>'
                '<details><summary>All checks</summary><table><thead><tr><th scope="col">check</th><th scope="col">outcome</th>'
                f'<th scope="col">finding</th></tr></thead><tbody>{rows}</tbody></table></details></section>')


def verdict(comparison: Comparison, policy: Policy | None = None) -> Verdict:
    """Decide whether the candidate may replace the baseline.

    Parameters
    ----------
    comparison : Comparison
        From :func:`toolkit.evaluation.compare`.
    policy : Policy, optional
        Default :class:`Policy`.

    Returns
    -------
    Verdict
        ``promote`` only if the primary metric improves in interval and adjusted p, enough queries
        changed, no guardrail is significantly worse, zero results do not rise, catastrophic drops
        stay under their cap, the judged shares are known and comparable, few calls failed, and
        neither ties nor holes can overturn it. ``block`` if the data shows harm, or rules out a
        gain worth shipping. Everything else is ``insufficient_evidence``.
    """
    policy = policy or Policy()
    checks = tuple(check for question in _QUESTIONS for check in question(comparison, policy))
    outcomes = {check.outcome for check in checks}
    decision = INSUFFICIENT
    if "block" in outcomes and "doubt" not in outcomes:
        decision = BLOCK
    elif not outcomes & {"block", "doubt", "unknown"}:
        decision = PROMOTE
    return Verdict(decision, checks, comparison, policy)


def _direction(c: Comparison, p: Policy) -> str:
    """What the primary metric alone says: better, worse, futile or open."""
    r = c.row()
    if not math.isnan(r["p_adjusted"]) and r["p_adjusted"] <= c.settings["alpha"]:
        if r["delta"] > 0 and r["ci_low"] > 0:
            return "better"
        if r["delta"] < 0 and r["ci_high"] < 0:
            return "worse"
    return "futile" if r["ci_high"] < p.smallest_worthwhile else "open"


def _primary(c: Comparison, p: Policy) -> list[Check]:
    """Enough changed queries, then the direction."""
    r, name = c.row(), c.primary
    changed = int(r["wins"] + r["losses"])
    if changed == 0:
        return [Check("primary", "doubt", f"No difference in {name} on any of {r['n']} queries: there is nothing to decide on.")]
    if changed < p.min_changed or r["p_floor"] > c.settings["alpha"]:
        return [Check("changed queries", "doubt", f"Only {changed} of {r['n']} queries changed in {name} (at least {p.min_changed} are asked for; "
                      f"{changed} cannot give a p below {r['p_floor']:.3g}).")]
    found = f"{name} {r['delta']:+.4f} [{r['ci_low']:+.4f}, {r['ci_high']:+.4f}], adjusted p = {r['p_adjusted']:.4f}"
    direction = _direction(c, p)
    if direction == "better":
        return [Check("primary", "pass", f"{name} improves: {found}, over a family of {c.settings['family_size']} tests.")]
    if direction == "worse":
        return [Check("primary", "block", f"{name} gets worse: {found}.")]
    if direction == "futile":
        return [Check("primary", "block", f"No gain worth shipping: {found}; the interval rules out the smallest worthwhile gain of {p.smallest_worthwhile:g}.")]
    return [Check("primary", "doubt", f"Not decided: {found}; the interval holds both 0 and the smallest worthwhile gain of {p.smallest_worthwhile:g}. "
                  f"These queries find {r['mde']:.4f} with {c.settings['power']:.0%} power.")]


def _guardrails(c: Comparison, p: Policy) -> list[Check]:
    """No guardrail metric significantly worse than its margin."""
    checks = []
    for metric, margin in c.guardrails.items():
        r = c.row(metric)
        found = f"{metric} {r['delta']:+.4f} [{r['ci_low']:+.4f}, {r['ci_high']:+.4f}]"
        lost, n = r["failed_baseline"] + r["failed_candidate"], r["n"]
        if math.isnan(r["delta"]):
            checks.append(Check(f"guardrail {metric}", "unknown", f"Guardrail {metric} has no value."))
        elif lost > p.max_failed_share * (lost + n):
            checks.append(Check(f"guardrail {metric}", "doubt", f"Guardrail {metric} lacks one arm's value on {lost} of {lost + n} queries; the cap is {p.max_failed_share:.1%}."))
        elif r["ci_high"] < -margin and (math.isnan(r["p_adjusted"]) or r["p_adjusted"] <= c.settings["alpha"]):
            checks.append(Check(f"guardrail {metric}", "block", f"Guardrail {found} is significantly worse than the tolerated loss of {margin:g}."))
        else:
            checks.append(Check(f"guardrail {metric}", "pass", f"Guardrail {found} is not significantly worse (tolerated loss {margin:g})."))
    return checks


def _zero_results(c: Comparison, p: Policy) -> list[Check]:
    """The zero-result rate must not rise."""
    rate = c.coverage.set_index("arm")["zero_result_rate"]
    if rate.isna().any():
        return [Check("zero results", _unknown("zero_results", p), "The zero-result rates are unknown (give a zero_result_rate metric, or rankings).")]
    told = f"Zero-result rate {rate['baseline']:.2%} → {rate['candidate']:.2%}"
    rose = rate["candidate"] - rate["baseline"] > p.max_zero_result_rise + 1e-12
    return [Check("zero results", "block" if rose else "pass", told + (f": it rises by more than {p.max_zero_result_rise:.2%}." if rose else "."))]


def _drops(c: Comparison, p: Policy) -> list[Check]:
    """Share of catastrophic drops under its cap."""
    r, drop = c.row(), c.settings["catastrophic_drop"]
    if not r["n"]:
        return [Check("catastrophic drops", "unknown", "No query has a value in both arms.")]
    share = r["drops"] / r["n"]
    told = f"{r['drops']} of {r['n']} queries ({share:.1%}) fall by {drop:g} or more; the cap is {p.max_drop_share:.1%}."
    return [Check("catastrophic drops", "block" if share > p.max_drop_share else "pass", told)]


def _coverage(c: Comparison, p: Policy) -> list[Check]:
    """Judged shares known and comparable; a win made of judged products only is called that."""
    gap, r = c.judged_gap(), c.row()
    if math.isnan(gap):
        return [Check("coverage", _unknown("coverage", p), "The judged shares of the arms are unknown; a difference in them could make the result (give a judged@k metric, or rankings).")]
    checks = [Check("coverage", "doubt" if abs(gap) > p.max_judged_gap else "pass",
                    c.coverage_sentence() + (f" The gap of {gap:+.1%} is above {p.max_judged_gap:.1%}: the result rests on unequal coverage." if abs(gap) > p.max_judged_gap else ""))]
    if r["delta"] > 0 and not math.isnan(r["condensed_delta"]) and r["condensed_delta"] <= 0:
        checks.append(Check("judged@k", "doubt", f"The win is explained by judged@k: with unjudged products taken out, {c.primary} changes by {r['condensed_delta']:+.4f}."))
    return checks


def _failed(c: Comparison, p: Policy) -> list[Check]:
    """Few calls failed, in either arm."""
    share = c.coverage.set_index("arm")["failed_share"]
    if share.isna().any():
        return [Check("failed calls", "unknown", "The share of failed calls is unknown.")]
    told = f"Failed calls: {share['baseline']:.1%} baseline, {share['candidate']:.1%} candidate; the cap is {p.max_failed_share:.1%}."
    return [Check("failed calls", "doubt" if share.max() > p.max_failed_share else "pass", told)]


def _ties(c: Comparison, p: Policy) -> list[Check]:
    """The direction must hold for every order of tied products."""
    return _flip(c, p, "ties", "tie_low", "tie_high", "orders of tied products")


def _holes(c: Comparison, p: Policy) -> list[Check]:
    """The direction must hold for every grading of unjudged products (or up to the tipping share)."""
    r = c.row()
    if p.holes == "bounds" or math.isnan(r["hole_low"]):
        return _flip(c, p, "holes", "hole_low", "hole_high", "gradings of unjudged products")
    told = str(c.tipping.get("sentence", "Unjudged products cannot turn the difference."))
    if p.holes == "report":
        return [Check("holes", "note", told)]
    share = c.tipping.get("share", math.nan)
    easy = not math.isnan(share) and share < p.min_tipping
    return [Check("holes", "doubt" if easy else "pass", told + (f" That is below the asked {p.min_tipping:.0%}." if easy else ""))]


def _flip(c: Comparison, p: Policy, name: str, low: str, high: str, words: str) -> list[Check]:
    """Whether a pair of bounds of delta overturns the direction."""
    r, direction = c.row(), _direction(c, p)
    if math.isnan(r[low]):
        return [Check(name, _unknown(name, p), f"Bounds over {words} are unknown (metric tables, without rankings).")]
    told = f"All {words} allow {r[low]:+.4f} to {r[high]:+.4f}"
    if name == "holes" and r["undefined"]:
        told += f" (on {r['n']} queries; {r['undefined']} undefined ones stay left out, though a grading could define them)"
    flips = {"better": r[low] <= 0, "worse": r[high] >= 0, "futile": r[high] >= p.smallest_worthwhile, "open": False}[direction]
    return [Check(name, "doubt" if flips else "pass", f"{told}: the verdict flips inside these {name} bounds." if flips else f"{told}: the verdict holds.")]


def _looks(c: Comparison, p: Policy) -> list[Check]:
    """One look at the holdout per hypothesis."""
    if c.looks is None:
        return []
    many = c.looks.of_hypothesis > p.max_looks
    return [Check("looks", "doubt" if many else "pass", f"This is {c.looks.summary()}" + (f"; {p.max_looks} allowed per hypothesis." if many else "."))]


def _unknown(check: str, p: Policy) -> str:
    """Outcome of a check without data."""
    return "note" if check in p.accept_unknown else "unknown"


_QUESTIONS: tuple[Callable[[Comparison, Policy], list[Check]], ...] = (
    _primary, _guardrails, _zero_results, _drops, _coverage, _failed, _ties, _holes, _looks)
