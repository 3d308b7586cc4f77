"""Layer 0, routing: was retrieval used where it was the right tool? Over prompts with intent labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolkit.lineage.coded import three_valued
from toolkit.lineage.layer2 import clusters_of, weights_of
from toolkit.lineage.results import Rates, rates_by
from toolkit.lineage.tables import Log, column

DEFINITIONS = {
    "retrieval rate": "prompts with at least one retrieval / all prompts",
    "misroute rate": "prompts that retrieved but were out of scope / labelled prompts that retrieved",
    "missed-retrieval rate": "in-scope prompts without a retrieval / labelled in-scope prompts",
    "multi-intent share": "prompts with two or more distinct retrieval intents / prompts with an intent count",
}
NOT_AN_EFFECT = ("A difference between prompts that retrieved and prompts that did not is no effect of retrieval: "
                 "the agent chose when to retrieve.")


def routing_flags(log: Log) -> pd.DataFrame:
    """One row per prompt: retrieved, and the Layer 0 flags (null outside the metric's denominator).

    Returns
    -------
    DataFrame
        prompt_id, entry_point, retrieved, and one nullable boolean column per metric of ``DEFINITIONS``.
    """
    prompts = log.prompts
    retrieved = prompts["prompt_id"].isin(column(log.retrievals, "prompt_id").dropna()).to_numpy()
    scope = three_valued(column(prompts, "in_scope"))
    intents = pd.to_numeric(column(prompts, "n_intents"), errors="coerce").to_numpy(dtype=np.float64)
    return pd.DataFrame({
        "prompt_id": prompts["prompt_id"].to_numpy(), "entry_point": column(prompts, "entry_point").to_numpy(), "retrieved": retrieved,
        "retrieval rate": pd.array(retrieved, dtype="boolean"),
        "misroute rate": masked(scope == 0, retrieved & (scope >= 0)),
        "missed-retrieval rate": masked(~retrieved, scope == 1),
        "multi-intent share": masked(intents >= 2, ~np.isnan(intents))})


def routing(log: Log, *, cluster: str | None = "auto") -> Rates:
    """Layer 0 rates, overall and by entry point, with design weights where labels are on a sample.

    Parameters
    ----------
    log : Log
    cluster : {"auto", "user_id", "session_id", None}
        Unit that is resampled for intervals.
    """
    log = Log.of(log)
    flags = routing_flags(log)
    entry = flags["entry_point"]
    by = dict(groups=entry if entry.notna().any() else None, clusters=clusters_of(log.prompts, cluster), pooled="all prompts")
    # Sampling weights belong to labels; which prompts retrieved is known for all of them.
    everywhere = rates_by(flags, {"retrieval rate": DEFINITIONS["retrieval rate"]}, **by)
    labelled = rates_by(flags, {name: text for name, text in DEFINITIONS.items() if name != "retrieval rate"},
                        weights=weights_of(log.prompts), **by)
    unlinked = int(column(log.retrievals, "prompt_id").isna().sum())
    notes = (NOT_AN_EFFECT,) + ((f"{unlinked} retrievals name no prompt: their prompts count as not retrieved; see bounds.",) if unlinked else ())
    return Rates(pd.concat([everywhere, labelled], ignore_index=True), "Layer 0, routing", notes, flags)


def misrouted(log: Log) -> np.ndarray:
    """Retrievals of prompts labelled out of scope, shape (n retrievals,): they leave Layer 1."""
    out = log.prompts.loc[three_valued(column(log.prompts, "in_scope")) == 0, "prompt_id"]
    return column(log.retrievals, "prompt_id").isin(out).to_numpy()


def masked(flag: np.ndarray, inside: np.ndarray) -> pd.arrays.BooleanArray:
    """A flag that is null outside its denominator."""
    return pd.arrays.BooleanArray(np.asarray(flag & inside, dtype=bool), np.asarray(~inside, dtype=bool))
