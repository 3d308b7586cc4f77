"""Layer 2, use and failure evidence per role: flags per retrieval, never per event.

A click logged as click and add_to_cart is one use of one retrieval. UOR, the unobserved outcome rate,
is its own class: neither abandonment nor success.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from toolkit.lineage.definitions import USE_LADDER, ActiveUse, action_names
from toolkit.lineage.evidence import (AGENT_USE, CORRECTED, SAID_WRONG, Evidence, action_evidence, active_use_rule, retried, used_other)
from toolkit.lineage.results import POOLED, Rates, rates_by
from toolkit.lineage.tables import Log, column

# Printed name of each rate -> the flag it is the mean of.
METRICS = {"GPR": "active_use", "ACR": "agent_use", "ORF": "failure", "1-ORF": "no_failure", "UOR": "unobserved",
           "positive": "positive", "positive and failure": "both", "ORF: said wrong": "said_wrong", "ORF: retried": "retried",
           "ORF: other asset used": "used_other", "downstream correction": "corrected"}
NOT_SATISFACTION = "1-ORF is the share without observed failure, not satisfaction. Unobserved is neither success nor abandonment."


def definitions(use: ActiveUse) -> dict[str, str]:
    """Definition of each Layer 2 rate; all are over retrievals."""
    return {
        "GPR": f"retrievals with active use by the user / retrievals; {use}",
        "ACR": "retrievals with a returned asset the agent used within the same request / retrievals",
        "ORF": "retrievals with any of the three failure signals / retrievals",
        "1-ORF": "retrievals without a failure signal / retrievals; never satisfaction",
        "UOR": "retrievals with neither use nor failure evidence / retrievals",
        "positive": f"retrievals with active use or agent use / retrievals; {use}",
        "positive and failure": "retrievals with both kinds of evidence / retrievals",
        "ORF: said wrong": "retrievals the user called wrong (reject_result) / retrievals",
        "ORF: retried": "retrievals whose need a later retrieval repeats (retry_of) / retrievals",
        "ORF: other asset used": "retrievals whose asset should have been used where another's was (expected_retrieval_id) / retrievals",
        "downstream correction": "retrievals whose asset was kept and the generated output corrected (correct_output) / retrievals; not ORF",
    }


def outcome_evidence(log: Log, use: ActiveUse, assumptions: tuple = (), *, bounds: bool = True) -> dict[str, Evidence]:
    """Evidence of every Layer 2 flag except the unobserved class, which is the complement of positive and failure."""
    found = {"active_use": action_evidence(log, active_use_rule(use), assumptions, bounds=bounds),
             "agent_use": action_evidence(log, AGENT_USE, assumptions, bounds=bounds),
             "said_wrong": action_evidence(log, SAID_WRONG, assumptions, bounds=bounds),
             "retried": retried(log), "used_other": used_other(log),
             "corrected": action_evidence(log, CORRECTED, assumptions, bounds=bounds)}
    found["positive"] = found["active_use"] | found["agent_use"]
    found["failure"] = found["said_wrong"] | found["retried"] | found["used_other"]
    found["both"] = found["positive"] & found["failure"]
    return found


def outcome_flags(log: Log, use: ActiveUse | None = None) -> pd.DataFrame:
    """One row per retrieval: its Layer 2 flags as observed.

    Returns
    -------
    DataFrame
        retrieval_id, role, and boolean active_use, agent_use, said_wrong, retried, used_other, corrected,
        positive, failure, both, no_failure, unobserved.
    """
    log = Log.of(log)
    found = outcome_evidence(log, use or ActiveUse(), bounds=False)
    flags = pd.DataFrame({"retrieval_id": log.retrievals["retrieval_id"].to_numpy(), "role": column(log.retrievals, "role").to_numpy()}
                         | {name: evidence.observed for name, evidence in found.items()})
    flags["no_failure"] = ~flags["failure"]
    flags["unobserved"] = ~(flags["positive"] | flags["failure"])
    return flags


def outcomes(log: Log, use: ActiveUse | None = None, *, cluster: str | None = "auto", method: str = "auto") -> Rates:
    """Layer 2 rates per role and pooled.

    Parameters
    ----------
    log : Log
    use : ActiveUse, optional
        What counts as active use; printed with every number.
    cluster : {"auto", "user_id", "session_id", None}
        Unit that is resampled for intervals; ``auto`` takes users where logged, else sessions.
    method : str
        As in :func:`toolkit.lineage.intervals.rate`.
    """
    log, use = Log.of(log), use or ActiveUse()
    flags = outcome_flags(log, use)
    named = flags[list(METRICS.values())].set_axis(list(METRICS), axis=1)
    table = rates_by(named, definitions(use), flags["role"], clusters=clusters_of(log.retrievals, cluster), method=method)
    return Rates(table, "Layer 2, use and failure evidence", (f"{use}.", NOT_SATISFACTION), flags)


def identity_gap(rates: Rates, role: str = POOLED) -> float:
    """P(positive) + P(failure) - P(both) + UOR - 1, which is 0 up to rounding."""
    return (rates.value("positive", role) + rates.value("ORF", role) - rates.value("positive and failure", role)
            + rates.value("UOR", role) - 1)


def sensitivity_to_definition(log: Log, ladder: Sequence[str] = USE_LADDER, *, use: ActiveUse | None = None, role: str | None = None,
                              cluster: str | None = "auto") -> Rates:
    """GPR as the definition of active use widens by one kind of action at a time.

    Parameters
    ----------
    ladder : sequence of str
        Action names from the narrowest reading to the widest.
    use : ActiveUse, optional
        How display and actor are read; its actions are replaced by the ladder's.
    role : str, optional
        Only retrievals of this role.
    """
    log, base, ladder = Log.of(log), use or ActiveUse(), action_names(ladder, "sensitivity_to_definition: ladder")
    keep = slice(None) if role is None else (column(log.retrievals, "role") == role).fillna(False).to_numpy(dtype=bool)
    clusters = clusters_of(log.retrievals, cluster)
    tables = []
    for step in range(1, len(ladder) + 1):
        use = replace(base, actions=tuple(ladder[:step]))
        flag = action_evidence(log, active_use_rule(use), bounds=False).observed[keep]
        label = ladder[0] if step == 1 else f"+ {ladder[step - 1]}"
        tables.append(rates_by(pd.DataFrame({"GPR": flag}), {"GPR": definitions(use)["GPR"]}, None,
                               clusters=None if clusters is None else clusters[keep], pooled=label))
    table = pd.concat(tables, ignore_index=True)
    low, high = table["value"].iloc[0], table["value"].iloc[-1]
    note = f"By the definition of active use alone, GPR runs from {100 * low:.1f} % to {100 * high:.1f} %."
    return Rates(table, "Sensitivity of GPR to the definition of active use" + (f", {role}" if role else ""), (note,))


def clusters_of(frame: pd.DataFrame, cluster: str | None) -> np.ndarray | None:
    """Cluster labels of each row, or None where rows are their own units."""
    if cluster == "auto":
        cluster = next((name for name in ("user_id", "session_id") if column(frame, name).notna().any()), None)
    if cluster is None:
        return None
    if column(frame, cluster).isna().all():
        raise ValueError(f"cluster {cluster!r}: no row has a value; expected one of the logged columns, or None for row-wise intervals")
    return column(frame, cluster).to_numpy(dtype=object)


def weights_of(frame: pd.DataFrame) -> np.ndarray | None:
    """Design weights where any are given; a null weight counts as 1."""
    if column(frame, "sampling_weight").isna().all():
        return None
    weights = pd.to_numeric(frame["sampling_weight"]).fillna(1.0).to_numpy(dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError("sampling_weight: expected finite weights above 0, each 1 / the probability of being labelled")
    return weights
