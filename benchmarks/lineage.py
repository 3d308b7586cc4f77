"""Lineage against simulated truth: 1,000 seeded logs, 1,000 patterns of missing fields, coverage of the masked cell, seconds."""

from __future__ import annotations

import time

import numpy as np

from toolkit.lineage import (Faults, World, attribute, attribution_gap, bounds, goal_flags, goals, good_retrievals, outcome_flags, outcomes,
                             routing, simulate)
from toolkit.lineage.definitions import GOAL_ACTIONS
from toolkit.lineage.intervals import rate
from toolkit.lineage.matrix import cross_reading
from toolkit.lineage.simulation import Simulation
from toolkit.lineage.simulation_faults import LOSSES
from toolkit.lineage.tables import ROLES

FLAGS = ("active_use", "agent_use", "said_wrong", "retried", "used_other", "corrected", "positive", "failure", "both", "unobserved")


def run(quick: bool = False) -> dict[str, float]:
    """1,000 seeds (quick: 50), counts of disagreement with the truth, CPU milliseconds a log, coverage."""
    seeds = 50 if quick else 1_000
    return truth(seeds) | missing(seeds) | coverage(200 if quick else 4_000) | scale(2_000 if quick else 20_000)


def truth(seeds: int) -> dict[str, float]:
    """Full logs: retrieval flags and credits that differ from the truth."""
    wrong, start = 0, time.process_time()
    for seed in range(seeds):
        simulation = simulate(World(users=5), seed=seed)
        found, true = outcome_flags(simulation.log), simulation.truth.retrievals
        wrong += sum(int((found[name].to_numpy() != true[name].to_numpy()).sum()) for name in FLAGS)
        wrong += int((goal_flags(simulation.log)["goal"].to_numpy() != true["goal"].to_numpy()).sum())
        wrong += int((good_retrievals(simulation.log).certain != true["good"].to_numpy()).sum())
        wrong += wrong_credits(simulation)
    return {"lineage_truth_seeds": seeds, "lineage_truth_wrong_flags": wrong, "lineage_truth_cpu_ms_per_log": 1_000 * (time.process_time() - start) / seeds}


def wrong_credits(simulation: Simulation) -> int:
    """Goal actions that lineage does not credit to their true source."""
    done = simulation.truth.actions[simulation.truth.actions["action"].isin(GOAL_ACTIONS)]
    given = attribute(simulation.log).credits.set_index("action_id")["retrieval_id"]
    return int((done["source_retrieval_id"].to_numpy() != given.reindex(done["action_id"]).to_numpy()).sum())


def missing(seeds: int) -> dict[str, float]:
    """Random patterns of missing fields: intervals that miss the truth, and their mean width."""
    misses, rows, widths, start = 0, 0, [], time.process_time()
    for seed in range(seeds):
        rng = np.random.default_rng([3, seed])
        faults = Faults(**{name: float(rng.choice([0, 0, 0.3, 1])) for name in LOSSES}, links=bool(rng.random() < 0.3),
                        truncate=int(rng.integers(1, 8)) if rng.random() < 0.3 else None, duplicate=0.3 * (rng.random() < 0.2))
        simulation = simulate(World(users=5), faults, seed=seed)
        for row in bounds(simulation.log, roles=ROLES).table.itertuples():
            value = simulation.truth.rate(row.metric, row.role)
            rows += 1
            misses += not np.isnan(value) and not row.low - 1e-12 <= value <= row.high + 1e-12
            widths.append(row.width)
    return {"lineage_bounds_seeds": seeds, "lineage_bounds_intervals": rows, "lineage_bounds_missing_the_truth": misses,
            "lineage_bounds_mean_width": float(np.mean(widths)), "lineage_bounds_cpu_ms_per_log": 1_000 * (time.process_time() - start) / seeds}


def coverage(draws: int) -> dict[str, float]:
    """Share of 95 % intervals of the masked cell that contain it, over fresh stratified samples of judged retrievals."""
    simulation = simulate(World(users=600, masking=0.5, agent_use=0.9, quality=0.6, empty=0.0), seed=5)
    rows = cross_reading(simulation.full).rows
    masked, chance = (rows["cell"] == "masked failure").to_numpy(), np.where(rows["role"] == "generation_reference", 0.5, 0.1)
    rng, hits = np.random.default_rng(1), 0
    for _ in range(draws):
        taken = rng.random(len(rows)) < chance
        found = rate(masked[taken], weights=1 / chance[taken], method="design")
        hits += found.low <= masked.mean() <= found.high
    return {"lineage_masked_cell_coverage": float(hits / draws), "lineage_masked_cell_draws": draws}


def scale(users: int) -> dict[str, float]:
    """CPU seconds of all layers and the gap on one larger log, in pandas."""
    log = simulate(World(users=users), seed=1).full
    numbers = {"lineage_large_retrievals": len(log.retrievals), "lineage_large_actions": len(log.actions)}
    for name, step in (("outcomes", outcomes), ("goals", goals), ("routing", routing), ("gap", attribution_gap), ("bounds", bounds)):
        start = time.process_time()
        step(log)
        numbers[f"lineage_large_{name}_cpu_s"] = time.process_time() - start
    return numbers
