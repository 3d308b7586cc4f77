"""Rewrites one by one: accepted, refused and why, and what each did to the metric; try your own text on the guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from toolkit.evaluation import Comparison
from toolkit.interventions import Outcome, RewriteGuard
from toolkit.interventions.effects import primary_pairs
from toolkit.interventions.rewrite import REFUSED
from toolkit.views.html import line, table_html

if TYPE_CHECKING:
    from toolkit.views.box import Explorer

ANY = "all that a model was asked about"
DECISIONS = ("accepted", "refused by the guard", "unchanged", "failed")


def rewrite_rows(outcome: Outcome, comparison: Comparison | None = None) -> pd.DataFrame:
    """One row a query a model was asked about.

    Returns
    -------
    DataFrame
        query_id, query, proposed, decision (one of ``DECISIONS``), why (the guard's or the failure's reason, else the
        model's note), change (of the primary metric; null without a comparison).
    """
    table = outcome.to_frame()
    table = table[~table["status"].isin(["NOT_REQUESTED", "DISABLED"])].reset_index(drop=True)
    decision = pd.Series("unchanged", index=table.index)
    decision[table["status"] == "APPLIED"] = "accepted"
    decision[table["reason"].fillna("").str.startswith(REFUSED)] = "refused by the guard"
    decision[table["failure"]] = "failed"
    why = table["reason"].astype(object).where(table["reason"].notna(), table["note"].astype(object))
    change = primary_pairs(comparison).set_index("query_id")["delta"].reindex(table["query_id"]).to_numpy() if comparison is not None else float("nan")
    return pd.DataFrame({"query_id": table["query_id"], "query": table["query"], "proposed": table["proposed_query"], "decision": decision,
                         "why": why.str.removeprefix(REFUSED), "change": change})


def render_rewrites(outcome: Outcome, guard: RewriteGuard | None = None, comparison: Comparison | None = None, *, decision: str = ANY,
                    contains: str = "", typed: str = "", proposed: str = "") -> dict[str, str]:
    """Counts, the guard's answer to a text of one's own, and the rewrites.

    Parameters
    ----------
    outcome : Outcome
        Of a rewrite.
    guard : RewriteGuard, optional
        Asked about ``typed`` and ``proposed``.
    comparison : Comparison, optional
        For the change of the primary metric.
    decision : str
        One of ``DECISIONS``, or ``ANY``.
    contains : str
        Only queries or rewrites with this text in them; case does not matter.
    typed, proposed : str
        A query and a rewrite of one's own; both empty: nothing is asked.

    Returns
    -------
    dict
        HTML of ``summary``, ``own`` and ``rewrites``.
    """
    rows = rewrite_rows(outcome, comparison)
    counts = ", ".join(f"{int((rows['decision'] == name).sum())} {name}" for name in DECISIONS)
    shown = rows if decision == ANY else rows[rows["decision"] == decision]
    text = shown["query"].fillna("") + " " + shown["proposed"].fillna("")
    shown = shown[text.str.contains(contains, case=False, regex=False)]
    shown = shown.sort_values("decision", key=lambda column: column.map(DECISIONS.index), kind="stable")
    shown = shown.drop(columns="query_id").assign(change=[None if pd.isna(value) else f"{value:+.3f}" for value in shown["change"]])
    metric = "metric" if comparison is None else comparison.primary
    return {"summary": line(f"{len(rows)} queries asked about: {counts}. Shown: {len(shown)}."),
            "own": line(_own(guard, typed, proposed)) if typed or proposed else "",
            "rewrites": table_html(shown.rename(columns={"change": f"change of {metric}"}), "Rewrites", limit=25)}


def _own(guard: RewriteGuard | None, typed: str, proposed: str) -> str:
    """The guard's answer in words."""
    if guard is None:
        return "The guard is off: every rewrite is searched."
    reasons = guard.reasons(typed, proposed)
    return f"“{typed}” → “{proposed}”: " + (f"refused: {'; '.join(reasons)}." if reasons else "accepted.")


def rewrite_explorer(outcome: Outcome, guard: RewriteGuard | None = None, comparison: Comparison | None = None) -> Explorer:
    """Read the rewrites and question the guard.

    Parameters
    ----------
    outcome : Outcome
        Of a rewrite.
    guard : RewriteGuard, optional
    comparison : Comparison, optional
        Of the same rewrite, for the change of the primary metric.

    Returns
    -------
    Explorer
        A widget (CSS class ``rewrite-table``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    def text(label: str, value: str = "") -> widgets.Text:
        return widgets.Text(value=value, description=label, layout=widgets.Layout(width="24em"))

    controls = {
        "decision": widgets.Dropdown(options=[ANY, *DECISIONS], description="show", layout=widgets.Layout(width="auto")),
        "contains": text("with the words"),
        "typed": text("your query", "tires without rims"),
        "proposed": text("your rewrite", "tires with rims"),
    }

    def render(**values: object) -> dict[str, str]:
        return render_rewrites(outcome, guard, comparison, **values)

    return Explorer(controls, render, css_class="rewrite-table")
