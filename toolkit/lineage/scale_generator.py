"""Large logs with known truth, in the manner of the simulator, drawn by DuckDB within bounded memory.

The knobs are those of :class:`toolkit.lineage.World`; every draw is a hash of its row's number, so that
no row waits for another and the same settings give the same log (for one version of DuckDB).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from toolkit.lineage.scale import statement
from toolkit.lineage.scale_duckdb import DuckDBEngine, literal
from toolkit.lineage.simulation import World
from toolkit.lineage.simulation_world import next_prime

KNOBS = ("in_scope", "missed", "misroute", "multi_intent", "quality", "empty", "repeat", "agent_use", "use", "masking", "display", "wrong", "retry",
         "other", "correction", "goal", "later_session")
TABLES = ("prompts", "retrievals", "judgments", "actions", "truth")
USERS_HAVE = 6  # prompts: two sessions of three
MACROS = ("below(number, limit_) AS CAST(hash(number) % limit_ AS BIGINT)",
          "draw(number, salt) AS (hash(number * 32 + salt) % 1000000) / 1000000.0",
          "asset_of(start, step, spot) AS 'a' || ((start + step * spot) % $assets)",
          "list_of(start, step, size) AS list_transform(range(size), lambda spot: asset_of(start, step, spot))",
          "make_timestamptz_ms(ms) AS to_timestamp(ms / 1000)")


@dataclass(frozen=True)
class Generated:
    """A generated log: the folder with ``prompts``, ``retrievals``, ``judgments``, ``actions`` and (apart) ``truth``; its sizes."""

    folder: Path
    truth: Path
    prompts: int
    retrievals: int
    actions: int
    judgments: int


def generate_log(folder: str | Path, *, retrievals: int = 5_000_000, events: int = 20_000_000, world: World | None = None, judged: float = 0.1,
                 memory_limit: str = "2GB", threads: int | None = None) -> Generated:
    """Write a log of at least so many retrievals and about so many events as Parquet files.

    Parameters
    ----------
    folder : path
        Tables go to ``folder/log``, the truth to ``folder/truth.parquet``; existing files are replaced.
    retrievals, events : int
        Impressions fill up to the number of events; uses and failures come as the world has them.
    world : World, optional
        Its probabilities; users, sessions and prompts follow from the size, and lists hold ``list_length`` assets.
    judged : float
        Share of the retrievals whose returned assets are judged; ``sampling_weight`` is 1 / judged there.
    memory_limit, threads
        As for :class:`~toolkit.lineage.scale_duckdb.DuckDBEngine`.
    """
    world = world or World(assets=50_021, list_length=8)
    folder = Path(folder)
    (folder / "log").mkdir(parents=True, exist_ok=True)
    values = {name: repr(float(getattr(world, name))) for name in KNOBS}
    values |= {"assets": str(next_prime(world.assets)), "list_length": str(world.list_length), "judged": repr(float(judged)),
               "prompts": str(_prompts(retrievals, world)), "whole": "0", "fraction": "0"}
    with DuckDBEngine(memory_limit=memory_limit, threads=threads, temp_directory=folder) as engine:
        for macro in MACROS:
            engine.connection.execute(f"CREATE MACRO {macro.replace('$assets', values['assets'])}")
        for name in ("drawn_prompts", "drawn", "outcome"):
            engine.define(name, statement(f"generator/{name}", values))
        natural, lists = (int(engine.frame(text).iloc[0, 0]) for text in (
            f"SELECT count(*) FROM ({statement('generator/actions', values)})", "SELECT count(*) FROM outcome WHERE size > 0"))
        wanted = min(max(events - natural, 0) / max(lists, 1), float(world.list_length))
        values |= {"whole": str(int(wanted)), "fraction": repr(wanted % 1)}
        counts = {name: _write(engine, name, folder, values) for name in TABLES}
    return Generated(folder / "log", folder / "truth.parquet", **{name: counts[name] for name in ("prompts", "retrievals", "actions", "judgments")})


def _prompts(retrievals: int, world: World) -> int:
    """Prompts that give at least so many retrievals (with five standard deviations to spare), whole users."""
    mean = world.in_scope * (1 - world.missed) * (1 + world.multi_intent) + (1 - world.in_scope) * world.misroute
    needed = (retrievals + 5 * math.sqrt(retrievals) + 5) / mean
    return USERS_HAVE * math.ceil(needed / USERS_HAVE)


def _write(engine: DuckDBEngine, name: str, folder: Path, values: dict[str, str]) -> int:
    """One table as Parquet; returns its rows."""
    path = folder / "truth.parquet" if name == "truth" else folder / "log" / f"{name}.parquet"
    done = engine.connection.execute(f"COPY ({statement(f'generator/{name}', values)}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 100000)")
    return int(done.fetchone()[0])
