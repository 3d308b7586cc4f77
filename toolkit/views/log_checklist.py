"""What to log: one page for the people who own a log, made from its readiness audit.

>>> from toolkit.lineage import birthday_log
>>> page = log_checklist(birthday_log(), name="birthday invitation")
>>> print(page.to_markdown().splitlines()[0])
# What to log: birthday invitation
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from toolkit.lineage import ActiveUse, Log, birthday_log, bounds, readiness
from toolkit.lineage.audit import Readiness
from toolkit.lineage.results import POOLED, percent
from toolkit.tables import ACTIONS, RETRIEVALS, Schema
from toolkit.views.html import escape, table_html

# Definitions of audited metrics that are no bounded share.
OTHER_DEFINITIONS = {
    "P@k and NDCG@k": "means over retrievals with a logged list and judgments; unjudged assets count as not relevant",
    "rates per role": "each Layer 1-3 rate over the retrievals of one role",
    "goal met (label)": "retrievals whose prompt's goal a judge or person called met / retrievals with such a label",
    "position of the consumed asset": "place of each used asset in the list that its logged source returned",
    "product health": "sessions with an export, share or download / sessions; not a retrieval signal",
    "search reformulation rate": "retrieval turns that are reformulated / retrieval turns",
    "attribution by session": "retrievals credited with an outcome by session and time",
    "attribution gap": "retrievals credited by a session rule less those credited by lineage / retrievals",
    "rank reconciliation": "logged ordinals against places in the returned list",
    "intervals clustered by user": "95 % intervals that resample users, not rows",
}
SHOWN = ["metric", "layer", "status", "value", "n", "definition"]  # what is missing stands in the list of fields
_EXAMPLE = ("r4", "e4")  # a retrieval of the birthday example, and the placement that used it
_STYLE = ("body{font:13px/1.35 sans-serif;max-width:62em;margin:1.5em auto;padding:0 1em;color:#111}h1{font-size:1.6em;margin:0}h2{font-size:1.15em;"
          "margin:1em 0 .2em}ul{list-style:none;padding:0;margin:0}li{margin:.15em 0}code{background:#eee;padding:0 .2em}pre{background:#eee;"
          "padding:.5em;white-space:pre-wrap}td,th{font-size:12px}@media print{body{margin:0;font-size:10px}td,th{font-size:9px}}")


@dataclass(frozen=True)
class LogChecklist:
    """The one-pager.

    Attributes
    ----------
    name : str
        What the log is called.
    sizes : str
        Rows of its tables, in words.
    audit : Readiness
    metrics : DataFrame
        metric, layer, status, value (a point, an interval, or null), n, missing, definition.
    use : str
        The declared active use.
    """

    name: str
    sizes: str
    audit: Readiness
    metrics: pd.DataFrame
    use: str

    @property
    def table(self) -> pd.DataFrame:
        """The metrics."""
        return self.metrics

    def to_frame(self) -> pd.DataFrame:
        """The metrics."""
        return self.metrics

    def summary(self) -> str:
        """What the log gives today and what comes first, in words."""
        return f"{self.name}: {self.sizes}. {self.audit.summary()}"

    @property
    def missing(self) -> pd.DataFrame:
        """Fields to log, the best next one first."""
        return self.audit.fields[self.audit.fields["share"] < 1]

    @property
    def complete(self) -> pd.DataFrame:
        """Fields that every row that matters has."""
        return self.audit.fields[self.audit.fields["share"] >= 1]

    def to_markdown(self) -> str:
        """The page as Markdown with check boxes, for an issue or a wiki."""
        shown = self.metrics[SHOWN]
        rows = [f"| {' | '.join(_cell(value) for value in row)} |" for row in shown.itertuples(index=False)]
        parts = [f"# What to log: {self.name}", self.summary(),
                 "## Log next, in this order", _marks(self.missing, " ") or "Nothing is missing.", "## Logged already", _marks(self.complete, "x") or "Nothing yet.",
                 "## What the log gives today", f"{_sentence(self.use)} Intervals are worst and best case over what is not logged.",
                 "\n".join([f"| {' | '.join(SHOWN)} |", f"|{'---|' * len(SHOWN)}", *rows]),
                 "## How a complete row looks", *(f"```json\n{text}\n```" for text in _examples())]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """The page as one HTML document without scripts or outside files."""
        return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>What to log: {escape(self.name)}</title><style>{_STYLE}</style></head>'
                f"<body>{self._body()}</body></html>")

    def _body(self) -> str:
        examples = "".join(f"<pre>{escape(text)}</pre>" for text in _examples())
        return (f"<h1>What to log: {escape(self.name)}</h1><p>{escape(self.summary())}</p>"
                f"<h2>Log next, in this order</h2>{_list_html(self.missing, '☐')}<h2>Logged already</h2>{_list_html(self.complete, '☑')}"
                f"<h2>What the log gives today</h2><p>{escape(_sentence(self.use))} Intervals are worst and best case over what is not logged.</p>"
                f"{table_html(self.metrics[SHOWN], 'Metrics, with their definitions')}<h2>How a complete row looks</h2>{examples}")

    def _repr_html_(self) -> str:
        # Below a notebook's own headings the page must not add another first-level one.
        body = self._body()
        for level in (2, 1):
            body = body.replace(f"<h{level}>", f"<h{level + 3}>").replace(f"</h{level}>", f"</h{level + 3}>")
        return f'<div class="toolkit-card">{body}</div>'

    def __repr__(self) -> str:
        return self.summary()

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``what_to_log.html`` and ``what_to_log.md`` into a folder (made if need be); returns both paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        made = {folder / "what_to_log.html": self.to_html(), folder / "what_to_log.md": self.to_markdown()}
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
        return list(made)


def log_checklist(log: Log, use: ActiveUse | None = None, *, name: str = "this log") -> LogChecklist:
    """Audit a log and put the result on one page.

    Parameters
    ----------
    log : Log
        However incomplete.
    use : ActiveUse, optional
        What counts as active use; printed on the page.
    name : str
        What the log is called.
    """
    log, use = Log.of(log), use or ActiveUse()
    audit = readiness(log, use)
    found = bounds(log, use, roles=()).table
    known = found[found["role"] == POOLED].set_index("metric")
    metrics = audit.metrics.assign(value=[_value(row) for row in audit.metrics.itertuples()], n=audit.metrics["metric"].map(known["n"]).astype("Int64"),
                                   definition=audit.metrics["metric"].map({**OTHER_DEFINITIONS, **known["definition"]}))
    return LogChecklist(name, log.summary(), audit, metrics[["metric", "layer", "status", "value", "n", "missing", "definition"]], str(use))


def _value(row: object) -> str | None:
    """A point or an interval as text; null where nothing is said."""
    if pd.isna(row.low) or row.status == "not computable":
        return None
    text = percent(row.low) if row.high - row.low < 1e-12 else f"{100 * row.low:.1f} to {100 * row.high:.1f} %"
    return text.replace(" ", "\u00a0")  # blanks that do not break keep each interval on one line


def _coverage(row: object) -> str:
    """What a field is for and how far it is there, in words."""
    there = "not logged" if row.share == 0 else f"{100 * row.share:.0f} % of {row.rows:,} rows have it" if row.share < 1 else f"all {row.rows:,} rows have it"
    alone = f"; it alone would complete {row.unlocks}" if row.unlocks else ""
    return f"{row.meaning}; {there}; needed by {row.needed_by} metric{'s' if row.needed_by > 1 else ''}{alone}"


def _marks(fields: pd.DataFrame, mark: str) -> str:
    """Markdown check boxes."""
    return "\n".join(f"- [{mark}] `{row.field}`: {_coverage(row)}" for row in fields.itertuples())


def _list_html(fields: pd.DataFrame, mark: str) -> str:
    """The same as an HTML list."""
    items = "".join(f"<li>{mark} <code>{escape(row.field)}</code>: {escape(_coverage(row))}</li>" for row in fields.itertuples())
    return f'<ul style="list-style:none;padding:0">{items}</ul>' if items else "<p>None.</p>"


def _examples() -> list[str]:
    """A complete retrieval and the action that used it, as JSON."""
    log = birthday_log()
    retrieval = log.retrievals[log.retrievals["retrieval_id"] == _EXAMPLE[0]]
    action = log.actions[log.actions["action_id"] == _EXAMPLE[1]]
    return [json.dumps(_known(frame, schema), ensure_ascii=False) for frame, schema in ((retrieval, RETRIEVALS), (action, ACTIONS))]


def _known(row: pd.DataFrame, schema: Schema) -> dict[str, object]:
    """Known values of a one-row table in the schema's order, as JSON has them."""
    values = {column.name: row[column.name].iloc[0] for column in schema.columns if column.name in row}
    return {name: value.isoformat() if isinstance(value, pd.Timestamp) else getattr(value, "item", lambda value=value: value)()
            for name, value in values.items() if not (pd.api.types.is_scalar(value) and pd.isna(value))}


def _cell(value: object) -> str:
    """A Markdown table's cell."""
    text = "–" if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)
    return text.replace("|", "\\|")


def _sentence(text: str) -> str:
    """A definition as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."
