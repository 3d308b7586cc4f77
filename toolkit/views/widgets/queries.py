"""Type a query: its ranking with labels and field scores, and the sum behind one score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from toolkit.evaluation import evaluate
from toolkit.search import MultiMatch, SearchRun
from toolkit.views.html import bar, details, format_value, line, table_html
from toolkit.views.plots.base import axes_html
from toolkit.views.plots.explanation import plot_explanation

if TYPE_CHECKING:
    from toolkit.search import EmbeddedEngine
    from toolkit.views.box import Explorer

TYPED = "typed"  # query_id of a text that is not in the queries table
SUGGESTIONS = 500  # queries offered while typing
TITLE_LENGTH = 60  # characters of a title in the table
CUT = 10  # the metrics are at 10, however few products are shown


def ranked_products(run: SearchRun, products: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """The ranking of one query with judgments and titles.

    Returns
    -------
    DataFrame
        rank, product_id, score, label (as given; null where there is none), grade (null where unjudged), title.
    """
    wanted = [name for name in ("product_id", "label", "grade") if name in judgments]
    query_id = run.status["query_id"].iloc[0]
    judged = judgments.loc[judgments["query_id"] == query_id, wanted].drop_duplicates("product_id")
    made = run.rankings.merge(judged, on="product_id", how="left").merge(products[["product_id", "title"]], on="product_id", how="left")
    return made.reindex(columns=["rank", "product_id", "score", "label", "grade", "title"])


def summary_line(run: SearchRun, terms: list[str], judgments: pd.DataFrame) -> str:
    """What the search found and how good it is, in two or three sentences."""
    state = run.status.iloc[0]
    hits = "no product matches" if state["status"] == "zero_results" else f"{format_value(state['total_hits'])} products match"
    said = [f"Searched for the {len(terms)} word(s) {' · '.join(terms) or '(none)'}: {hits}."]
    judged = judgments[judgments["query_id"] == state["query_id"]]
    if len(judged):
        scores = evaluate(run, judged, [f"ndcg@{CUT}", f"recall@{CUT}"], on_no_overlap="zero")
        values = ", ".join(f"{row.metric} {format_value(row.value)}" for row in scores.to_frame().itertuples())
        said.append(f"With {len(judged)} judgments: {values}.")
    else:
        said.append("Nobody has judged this text, so it has no metrics.")
    if not pd.isna(state["irreproducible"]) and state["irreproducible"]:
        said.append("Elasticsearch's own scores for this text change when it is restarted.")
    return " ".join(said)


def ranking_table(found: pd.DataFrame, fields: pd.DataFrame) -> str:
    """The ranking as HTML: a bar per field, the largest dark and in bold."""
    shown = pd.DataFrame({
        "rank": found["rank"],
        "judgment": [_judgment(label, grade) for label, grade in zip(found["label"], found["grade"], strict=True)],
        "product": [_short(title) for title in found["title"]],
        "id": found["product_id"],
        "score": found["score"],
    })
    largest, deciding = fields.max(axis=None), fields.max(axis=1)
    for name in fields:
        shown[name] = [_field_bar(value, largest, value == best) for value, best in zip(fields[name], deciding, strict=True)]
    return table_html(shown, "Ranking, with the weighted score of each field (dark and bold: the best field)",
                      digits=2, markup=list(fields))


def render_query(engine: EmbeddedEngine, products: pd.DataFrame, queries: pd.DataFrame, judgments: pd.DataFrame, *,
                 config: MultiMatch, text: str, depth: int = 10, explained_rank: int = 1) -> dict[str, str]:
    """Everything the explorer shows for one query text.

    Parameters
    ----------
    engine : EmbeddedEngine
        Or any engine with ``run``, ``analyze``, ``field_scores`` and ``explain``.
    products, queries, judgments : DataFrame
        Canonical tables; a text that equals a query's is shown with that query's judgments.
    config : MultiMatch
    text : str
        The query, exactly as typed.
    depth : int
        Products shown.
    explained_rank : int
        Rank of the product whose score is taken apart; the last product where there are fewer.

    Returns
    -------
    dict
        HTML of ``summary``, ``ranking``, ``picture`` and ``explanation`` (only ``summary`` without hits).
    """
    known = queries.loc[queries["query"] == text, "query_id"]
    asked = pd.DataFrame({"query_id": [known.iloc[0] if len(known) else TYPED], "query": [text]}, dtype="str")
    run = engine.run(asked, config, max(depth, CUT))
    parts = {"summary": line(summary_line(run, engine.analyze(text), judgments))}
    if run.rankings.empty:
        return parts
    found = ranked_products(run, products, judgments).head(depth)
    matrix = engine.field_scores(asked, config, run.rankings.head(depth)).matrix().droplevel("query_id").reindex(found["product_id"])
    weighted = matrix.mul(pd.Series(dict(config.fields))).reset_index(drop=True)
    chosen = found.iloc[min(explained_rank, len(found)) - 1]
    explanation = engine.explain(text, chosen["product_id"], config)
    heading = line(f"Rank {chosen['rank']}, {_short(chosen['title'])}: why this score")
    return parts | {
        "ranking": ranking_table(found, weighted),
        "picture": heading + axes_html(plot_explanation(explanation), f"Score of rank {chosen['rank']}. {explanation.summary()}"),
        "explanation": details("Every number behind this score", table_html(explanation.table, explanation.summary())),
    }


def query_explorer(engine: EmbeddedEngine, products: pd.DataFrame, queries: pd.DataFrame, judgments: pd.DataFrame, *,
                   config: MultiMatch, text: str | None = None) -> Explorer:
    """Explore single queries: type one or pick one, change how words meet, see the ranking and a score taken apart.

    Parameters
    ----------
    engine : EmbeddedEngine
    products, queries, judgments : DataFrame
        Canonical tables.
    config : MultiMatch
        Where the explorer starts; its weights are kept.
    text : str, optional
        First query shown; default the first of ``queries``.

    Returns
    -------
    Explorer
        A widget (CSS class ``query-explorer``); ``close()`` frees it.
    """
    import ipywidgets as widgets

    from toolkit.views.box import Explorer

    controls = {
        "text": widgets.Combobox(value=queries["query"].iloc[0] if text is None else text, description="query",
                                 options=list(dict.fromkeys(queries["query"].head(SUGGESTIONS))), layout=widgets.Layout(width="26em")),
        "operator": widgets.Dropdown(options=[("any word", "or"), ("all words", "and")], value=config.operator, description="match",
                                     layout=widgets.Layout(width="auto")),
        "fuzziness": widgets.Dropdown(options=[("AUTO", "AUTO"), ("exact", 0)], value=config.fuzziness, description="spelling",
                                      layout=widgets.Layout(width="auto")),
        "depth": widgets.BoundedIntText(value=10, min=1, max=50, description="products shown", layout=widgets.Layout(width="auto")),
        "explained_rank": widgets.BoundedIntText(value=1, min=1, max=50, description="explain rank", layout=widgets.Layout(width="auto")),
    }

    def render(*, operator: str, fuzziness: Any, **values: Any) -> dict[str, str]:
        return render_query(engine, products, queries, judgments,
                            config=replace(config, operator=operator, fuzziness=fuzziness), **values)

    return Explorer(controls, render, css_class="query-explorer")


def _judgment(label: object, grade: object) -> str | None:
    """``E (3)``; the grade alone without a label; null where unjudged."""
    if pd.isna(grade):
        return None
    return f"{grade:g}" if pd.isna(label) else f"{label} ({grade:g})"


def _short(title: object) -> str:
    """A title cut at ``TITLE_LENGTH`` characters."""
    text = format_value(title)
    return text if len(text) <= TITLE_LENGTH else text[:TITLE_LENGTH - 1].rstrip() + "…"


def _field_bar(value: float, largest: float, decides: bool) -> str:
    """A field's bar; nothing where the field does not match."""
    if pd.isna(value):
        return ""
    made = bar(value, largest, colour="#0173b2" if decides else "#a8cbe0", width=60, digits=1)
    return f"<strong>{made}</strong>" if decides else made
