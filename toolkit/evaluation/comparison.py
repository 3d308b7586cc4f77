"""What a comparison of two rankers found, in tables and in words."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from toolkit.evaluation.looks import Looks
from toolkit.evaluation.resampling import benjamini_hochberg

# Column -> what it means; printed with exports.
COLUMNS = {
    "metric": "measure compared", "n": "pairs in the mean", "baseline": "mean of the baseline", "candidate": "mean of the candidate",
    "delta": "candidate minus baseline", "ci_low": "lower end of the paired percentile bootstrap interval of delta",
    "ci_high": "upper end", "p_value": "two-sided paired sign-flip p", "p_method": "exact (every sign pattern) or sampled",
    "in_family": "counts in the Benjamini-Hochberg family", "p_adjusted": "Benjamini-Hochberg adjusted p", "significant": "p_adjusted <= alpha",
    "wins": "queries that improved", "losses": "queries that worsened", "ties": "queries without a difference",
    "net_wins": "(wins - losses) / n", "rank_biserial": "matched-pairs rank-biserial correlation", "cohen_dz": "mean difference / its standard deviation",
    "sd": "standard deviation of the differences", "mde": "smallest true difference these queries find at the stated power, (z + z) * sd / sqrt(n)", "mde_t": "the same by the noncentral t, which small n need",
    "queries_needed": "queries with which a true difference of this delta would be found", "p_floor": "smallest p these changed queries can reach",
    "drops": "queries that fell by the catastrophic drop or more", "undefined": "queries undefined in both arms, left out",
    "failed_baseline": "queries without a baseline value only", "failed_candidate": "queries without a candidate value only",
    "tie_low": "least delta over all orders of tied products", "tie_high": "greatest", "hole_low": "least delta over all gradings of unjudged products",
    "hole_high": "greatest", "condensed_delta": "delta with unjudged products taken out",
}

SMALL_N = 100  # below it the sentence states the noncentral t's detectable difference


@dataclass(frozen=True)
class Comparison:
    """Two arms on the same queries.

    Attributes
    ----------
    table : DataFrame
        One row a metric; columns as in :data:`COLUMNS`.
    pairs : DataFrame
        query_id, metric, baseline, candidate, delta; in natural order of the query ids.
    primary : str
        The metric that decides.
    guardrails : dict of str to float
        Metric -> tolerated loss.
    settings : dict
        alpha, power, resamples, seed, confidence, catastrophic_drop, family size, definitions, arm names.
    coverage : DataFrame
        arm, judged (mean judged@k at the primary's k; null where unknown), zero_result_rate, failed_share.
    newcomers : DataFrame
        Products in one arm's top k only: query_id, product_id, arm, rank, judged, grade (empty for metric tables).
    tipping : dict
        See :func:`toolkit.evaluation.tipping.tipping_point`; empty where rankings are unknown.
    looks : Looks or None
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    primary: str
    guardrails: Mapping[str, float]
    settings: Mapping[str, object]
    coverage: pd.DataFrame
    newcomers: pd.DataFrame
    tipping: Mapping[str, object] = field(default_factory=dict)
    looks: Looks | None = None

    def to_frame(self) -> pd.DataFrame:
        """The table: metric, n, baseline, candidate, delta, ci_low, ci_high, p_value, …"""
        return self.table

    def row(self, metric: str | None = None) -> pd.Series:
        """One metric's row (default the primary's)."""
        name = metric or self.primary
        found = self.table.loc[self.table["metric"] == name]
        if found.empty:
            raise KeyError(f"metric {name!r} was not compared; compared: {list(self.table['metric'])}")
        return found.iloc[0]

    def deltas(self, metric: str | None = None) -> pd.DataFrame:
        """Pairs of one metric (default the primary), largest loss first."""
        chosen = self.pairs.loc[self.pairs["metric"] == (metric or self.primary)].dropna(subset=["delta"])
        return chosen.sort_values("delta", kind="stable").reset_index(drop=True)

    def judged_gap(self) -> float:
        """judged@k of the candidate minus that of the baseline; NaN where unknown."""
        judged = self.coverage.set_index("arm")["judged"]
        return float(judged["candidate"] - judged["baseline"])

    def sentence(self, metric: str | None = None) -> str:
        """One metric's result in words."""
        r, s = self.row(metric), self.settings
        changed = int(r["wins"] + r["losses"])
        if not changed:
            return f"{r['metric']}: no difference on any of {r['n']} queries ({r['baseline']:.4f}){_left_out(r)}."
        adjusted = f", adjusted {r['p_adjusted']:.4f}" if not math.isnan(r["p_adjusted"]) else ""
        return (f"{r['metric']}: {r['baseline']:.4f} → {r['candidate']:.4f}, {r['delta']:+.4f} "
                f"[{r['ci_low']:+.4f}, {r['ci_high']:+.4f}] ({s['confidence']:.0%} interval), p = {r['p_value']:.4f}{adjusted} ({r['p_method']}), "
                f"n = {r['n']}: {r['wins']} up, {r['losses']} down, {r['ties']} the same{_left_out(r)}. "
                f"These queries find {r['mde' if r['n'] >= SMALL_N else 'mde_t']:.4f} with {s['power']:.0%} power.")

    def coverage_sentence(self) -> str:
        """How much of each arm's top results is judged."""
        judged = self.coverage.set_index("arm")["judged"]
        if judged.isna().any():
            return "The share of judged products is unknown (metric tables without a judged@k, or an arm without results)."
        return f"Judged share of the top results: {judged['baseline']:.1%} baseline, {judged['candidate']:.1%} candidate."

    def summary(self) -> str:
        """The primary metric, the coverage, ties, holes and looks in words."""
        r = self.row()
        parts = [self.sentence(), self.coverage_sentence()]
        if not math.isnan(r["tie_low"]) and r["tie_high"] - r["tie_low"] > 1e-12:
            parts.append(f"Orders of tied products alone allow {r['tie_low']:+.4f} to {r['tie_high']:+.4f}.")
        if not math.isnan(r["hole_low"]):
            parts.append(f"Unjudged products allow {r['hole_low']:+.4f} to {r['hole_high']:+.4f}.")
        if self.tipping:
            parts.append(str(self.tipping["sentence"]))
        if self.looks is not None:
            parts.append(self.looks.summary().capitalize() + ".")
        return " ".join(parts)

    def to_markdown(self) -> str:
        """The main columns as a Markdown table, with the summary and the definitions."""
        rows = _cells(self.table)
        lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in rows]
        lines.insert(1, "|" + " --- |" * len(rows[0]))
        notes = "\n".join(f"- {text}" for text in self.settings["definitions"].values())
        return "\n".join(lines) + f"\n\n{self.summary()}\n\n{notes}\n"

    def to_latex(self) -> str:
        """The main columns as a LaTeX tabular."""
        rows = [" & ".join(_latex(cell) for cell in line) + r" \\" for line in _cells(self.table)]
        columns = "l" + "r" * (rows[0].count(" & "))
        return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\hline", rows[0], r"\hline", *rows[1:], r"\hline", r"\end{tabular}", ""])

    def to_json(self) -> str:
        """Everything but the pairs, as JSON; null where unknown."""
        body = {"primary": self.primary, "guardrails": dict(self.guardrails), "settings": dict(self.settings), "columns": COLUMNS,
                "table": json.loads(self.table.to_json(orient="records", double_precision=15)),
                "coverage": json.loads(self.coverage.to_json(orient="records", double_precision=15)),
                "tipping": dict(self.tipping), "looks": None if self.looks is None else self.looks.__dict__, "summary": self.summary()}
        return json.dumps(_finite(body), indent=1, ensure_ascii=False, default=str, allow_nan=False)

    def __repr__(self) -> str:
        return f"Comparison: {self.summary()}"

    def _repr_html_(self) -> str:
        head, *body = _cells(self.table)
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in body)
        titles = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
        notes = "".join(f"<li>{html.escape(text)}</li>" for text in self.settings["definitions"].values())
        return (f"<p>{html.escape(self.summary())}</p><table><thead><tr>{titles}</tr></thead><tbody>{cells}</tbody></table>"
                f"<details><summary>Definitions</summary><ul>{notes}</ul></details>")


def adjust_together(comparisons: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """Benjamini-Hochberg over the families of several comparisons taken as one family.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
        For example one per rerank depth, each with four metrics: a family of twelve tests.
    """
    rows = [(name, i) for name, c in comparisons.items() for i in c.table.index[c.table["in_family"]]]
    adjusted = dict(zip(rows, benjamini_hochberg(pd.Series([comparisons[n].table.loc[i, "p_value"] for n, i in rows], dtype=float).to_numpy()), strict=True))
    out = {}
    for name, c in comparisons.items():
        table = c.table.copy()
        table["p_adjusted"] = [adjusted.get((name, i), math.nan) for i in table.index]
        table["significant"] = table["p_adjusted"] <= c.settings["alpha"]
        out[name] = replace(c, table=table, settings={**c.settings, "family_size": len(rows)})
    return out


def _cells(table: pd.DataFrame) -> list[list[str]]:
    """Header and rows of the main columns, as text."""
    head = ["metric", "n", "baseline", "candidate", "delta", "interval", "p", "p adjusted", "up/down/same", "MDE"]
    rows = [[r.metric, str(r.n), f"{r.baseline:.4f}", f"{r.candidate:.4f}", f"{r.delta:+.4f}", f"[{r.ci_low:+.4f}, {r.ci_high:+.4f}]",
             f"{r.p_value:.4f}", "–" if math.isnan(r.p_adjusted) else f"{r.p_adjusted:.4f}", f"{r.wins}/{r.losses}/{r.ties}", f"{r.mde:.4f}"]
            for r in table.itertuples()]
    return [head, *rows]


def _left_out(row: pd.Series) -> str:
    """Queries that are not in the mean, in words."""
    counts = ((row["undefined"], "undefined in both"), (row["failed_baseline"], "without a baseline value"), (row["failed_candidate"], "without a candidate value"))
    told = ", ".join(f"{count} {words}" for count, words in counts if count)
    return f"; left out: {told}" if told else ""


def _latex(text: str) -> str:
    """Escape LaTeX's special characters."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", **{sign: "\\" + sign for sign in "&%_#${}"}}
    return "".join(special.get(sign, sign) for sign in text)


def _finite(value: object) -> object:
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
