"""Published results of a search lab: per-query metrics of its baseline, sweep, rerank and rewrite runs.

Source: geyuxu/searchops-agent-lab (MIT). The files are read as published; nothing is recomputed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from toolkit.datasets.report import ReadReport

METRICS = {"ndcg10": "ndcg@10", "recall10": "recall@10", "precision10": "precision@10", "mrr10": "mrr@10"}
RUNS = {
    "baseline_train": "baseline-v7-train", "baseline": "baseline-v7-holdout", "sweep_train": "sweep-best-train", "sweep": "sweep-best-holdout",
    "rerank_20": "rerank-holdout-n20", "rerank_20_degraded": "rerank-holdout-n20-run1-degraded", "rerank_50": "rerank-holdout-n50",
    "rerank_50_rerun": "rerank-holdout-n50-rerun", "rerank_100": "rerank-holdout-n100", "rewrite": "rewrite-holdout",
}
COVERAGE = {
    "rerank_20": "rerank-holdout-coverage-n20", "rerank_20_degraded": "rerank-holdout-coverage-n20-run1-degraded",
    "rerank_50": "rerank-holdout-coverage-n50", "rerank_50_rerun": "rerank-holdout-coverage-n50-rerun",
    "rerank_100": "rerank-holdout-coverage-n100", "rewrite": "rewrite-holdout-coverage",
}
FALLBACKS = ("TIMEOUT", "TRANSPORT_ERROR", "INVALID_RESPONSE", "INTERNAL_ERROR")


@dataclass(frozen=True)
class SearchopsLab:
    """The lab's runs as canonical tables.

    Attributes
    ----------
    runs : dict of str to DataFrame
        Arm -> query_id, metric (ndcg@10, recall@10, precision@10, mrr@10, zero_result_rate), value.
    queries : DataFrame
        query_id, query.
    statuses : dict of str to DataFrame
        Arm -> query_id, status (APPLIED, NO_CHANGE, TIMEOUT, …), rewritten_query where there is one.
    sweep : DataFrame
        One row a configuration tried on train: index, stage, title … category (weights), metrics as in ``runs``.
    verdicts : dict of str to dict
        rerank, rewrite, sweep: the lab's own published verdict files.
    split : dict
        The split manifest: split_seed, train_query_ids, holdout_query_ids (strings), their published hashes.
    reports : dict of str to ReadReport
    """

    runs: Mapping[str, pd.DataFrame]
    queries: pd.DataFrame
    statuses: Mapping[str, pd.DataFrame]
    sweep: pd.DataFrame
    verdicts: Mapping[str, dict]
    split: Mapping[str, object]
    reports: Mapping[str, ReadReport]

    def degraded(self, arm: str) -> list[str]:
        """Queries of an arm whose model call failed and fell back to the baseline's answer."""
        status = self.statuses[arm]
        return list(status.loc[status["status"].isin(FALLBACKS), "query_id"])

    def relevant_per_query(self) -> pd.Series:
        """Least number of relevant products of each holdout query that its published values imply.

        Where a run found any: 10 x precision@10 / recall@10, the largest over the runs; else 1, since
        the lab chose queries with a relevant product.
        """
        least = []
        for arm, run in self.runs.items():
            if not arm.endswith("_train"):
                wide = run.pivot(index="query_id", columns="metric", values="value").sort_index()
                least.append((10 * wide["precision@10"] / wide["recall@10"].where(wide["recall@10"] > 0)).round().fillna(1.0))
        return pd.concat(least, axis=1).max(axis=1).rename("relevant")

    def summary(self) -> str:
        """The lab's runs in a sentence."""
        return f"{len(self.runs)} runs ({', '.join(self.runs)}), {len(self.sweep)} swept configurations, {len(self.queries)} queries"

    def _repr_html_(self) -> str:
        return f"<p>{self.summary()}</p>"


def load_searchops(folder: str | Path) -> SearchopsLab:
    """Read the lab's published files.

    Parameters
    ----------
    folder : path
        Holds ``experiments/``.

    Returns
    -------
    SearchopsLab

    Raises
    ------
    FileNotFoundError
        Naming the file that is missing.
    ValueError
        A run whose rows do not match its own query count.
    """
    base = Path(folder) / "experiments"
    reports: dict[str, ReadReport] = {}
    raw = {arm: _read(base / f"{stem}.json") for arm, stem in RUNS.items()}
    runs = {arm: _metrics(body, arm, reports) for arm, body in raw.items()}
    queries = pd.concat([pd.DataFrame(body["queries"])[["query_id", "query"]] for body in raw.values()])
    queries = queries.assign(query_id=queries["query_id"].astype(str)).drop_duplicates().reset_index(drop=True)
    manifest = _read(base / "split-manifest.json")
    split = {**manifest, **{side: [str(q) for q in manifest[side]] for side in ("train_query_ids", "holdout_query_ids")}}
    verdicts = {name: _read(base / f"{name}-holdout-verdict.json") for name in ("rerank", "rewrite", "sweep")}
    statuses = {arm: _statuses(_read(base / f"{stem}.json"), arm) for arm, stem in COVERAGE.items()}
    return SearchopsLab(runs, queries, statuses, _sweep(base / "sweep-train-log.jsonl"), verdicts, split, reports)


def _read(path: Path) -> dict:
    """One JSON file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is missing in {path.parent.name}/; expected the published files of geyuxu/searchops-agent-lab")
    return json.loads(path.read_text(encoding="utf-8"))


def _metrics(body: dict, arm: str, reports: dict[str, ReadReport]) -> pd.DataFrame:
    """Long metric table of one run."""
    rows = pd.DataFrame(body["queries"])
    report = ReadReport(RUNS[arm], read=len(rows), kept=len(rows))
    if len(rows) != body["query_count"] or rows["query_id"].duplicated().any():
        raise ValueError(f"{RUNS[arm]}: {len(rows)} rows, {rows['query_id'].nunique()} queries; its own count is {body['query_count']}")
    rows = rows.assign(query_id=rows["query_id"].astype(str), zero_result=rows["zero_result"].astype(float))
    names = {**METRICS, "zero_result": "zero_result_rate"}
    reports[arm] = report.check()
    return rows.rename(columns=names).melt("query_id", list(names.values()), var_name="metric", value_name="value")


def _statuses(body: dict, arm: str) -> pd.DataFrame:
    """query_id, status of the model call, rewritten_query."""
    rows = pd.DataFrame(body["queries"])
    column = "ai_status" if "ai_status" in rows else "rerank_status"
    status = rows[column].fillna("NOT_REQUESTED").replace("NOT_APPLICABLE(no-call)", "NOT_REQUESTED")
    table = pd.DataFrame({"query_id": rows["query_id"].astype(str), "status": status.astype("str")})
    return table.assign(rewritten_query=rows["rewritten_query"].astype("str") if "rewritten_query" in rows else None)


def _sweep(path: Path) -> pd.DataFrame:
    """One row a configuration of the train sweep."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is missing in {path.parent.name}/; expected the published files of geyuxu/searchops-agent-lab")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    flat = [{"index": r["index"], "stage": r["stage"], **r["field_weights"], **{new: r[old] for old, new in METRICS.items()},
             "zero_result_rate": r["zero_result_rate"]} for r in rows]
    return pd.DataFrame(flat)
