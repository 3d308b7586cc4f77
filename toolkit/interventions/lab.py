"""The search lab's published runs in the tables of an experiment, to stand beside one's own."""

from __future__ import annotations

import pandas as pd

from toolkit.datasets.searchops import SearchopsLab
from toolkit.evaluation.comparison import Comparison, adjust_together
from toolkit.evaluation.comparing import compare
from toolkit.interventions import effects
from toolkit.interventions.outcome import Outcome
from toolkit.interventions.statuses import RerankStatus, RewriteStatus

ARMS = {"rerank 20": "rerank_20", "rerank 50": "rerank_50", "rerank 100": "rerank_100", "rewrite": "rewrite"}
FAMILY = ("ndcg@10", "recall@10", "precision@10", "mrr@10")


def lab_comparisons(lab: SearchopsLab) -> dict[str, Comparison]:
    """Arm -> its comparison with the lab's baseline on the holdout; one family of tests over all arms.

    The lab published values, not rankings, so there is no judged share, tie or hole to report.
    """
    return adjust_together({name: _against_baseline(lab, run) for name, run in ARMS.items()})


def lab_effects(lab: SearchopsLab) -> pd.DataFrame:
    """All comparisons of the lab: arm, then columns as in ``Experiment.to_frame()``."""
    frames = [comparison.to_frame().assign(arm=name) for name, comparison in lab_comparisons(lab).items()]
    table = pd.concat(frames, ignore_index=True)
    return table[["arm", *[name for name in table.columns if name != "arm"]]]


def lab_coverage(lab: SearchopsLab) -> pd.DataFrame:
    """What became of the lab's queries: the columns of ``Experiment.coverage()``."""
    return effects.coverage({name: (_outcome(lab, run), _against_baseline(lab, run)) for name, run in ARMS.items()})


def lab_noise(lab: SearchopsLab) -> pd.DataFrame:
    """How much the lab's second run of N = 50 differs from its first: the columns of ``Experiment.noise``."""
    return effects.noise("rerank 50", _against_baseline(lab, "rerank_50"), _against_baseline(lab, "rerank_50_rerun"))


def late_answers(lab: SearchopsLab) -> pd.DataFrame:
    """Rewrites that failed and yet recorded another text: it came after the deadline and was not searched.

    Returns
    -------
    DataFrame
        query_id, query, status, rewritten_query.
    """
    table = lab.statuses["rewrite"].merge(lab.queries.drop_duplicates("query_id"), on="query_id", how="left")
    failed = table["status"].map(lambda status: RewriteStatus(status).failure)
    other = table["rewritten_query"].notna() & (table["rewritten_query"] != table["query"])
    return table.loc[failed & other, ["query_id", "query", "status", "rewritten_query"]].reset_index(drop=True)


def _against_baseline(lab: SearchopsLab, run: str) -> Comparison:
    return compare(lab.runs["baseline"], lab.runs[run], primary="ndcg@10", family=FAMILY, degraded=lab.degraded(run))


def _outcome(lab: SearchopsLab, run: str) -> Outcome:
    """The lab's statuses; no rankings were published."""
    statuses = RewriteStatus if run == "rewrite" else RerankStatus
    return Outcome(pd.DataFrame(columns=["query_id", "product_id", "rank"]), lab.statuses[run], statuses)
