"""A sweep's own file: finished blocks as JSON lines, so that an interrupted sweep goes on."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Block:
    """A finished part of a sweep.

    Attributes
    ----------
    method, number : str, int
        Together the block's name.
    configs, queries : list of int
        Positions in the sweep.
    values : float64 array (queries, configurations, metrics)
    prints : uint64 array (queries, configurations)
    flags : uint8 array (queries, configurations)
    searches : int
    """

    method: str
    number: int
    configs: list[int]
    queries: list[int]
    values: np.ndarray
    prints: np.ndarray
    flags: np.ndarray
    searches: int

    def to_json(self) -> dict:
        """Exact: arrays as base64 of their bytes."""
        packed = {name: base64.b64encode(np.ascontiguousarray(getattr(self, name)).tobytes()).decode()
                  for name in ("values", "prints", "flags")}
        return {"method": self.method, "number": self.number, "configs": self.configs, "queries": self.queries,
                "searches": self.searches, **packed}

    @classmethod
    def from_json(cls, row: dict) -> Block:
        """The inverse of :meth:`to_json`."""
        shape = (len(row["queries"]), len(row["configs"]))
        raw = {name: base64.b64decode(row[name]) for name in ("values", "prints", "flags")}
        return cls(row["method"], row["number"], row["configs"], row["queries"],
                   np.frombuffer(raw["values"], np.float64).reshape(*shape, -1), np.frombuffer(raw["prints"], np.uint64).reshape(shape),
                   np.frombuffer(raw["flags"], np.uint8).reshape(shape), row["searches"])


class SweepFile:
    """Blocks of one sweep, kept on disk where a path is given.

    Parameters
    ----------
    path : path or None
        Without a path, blocks are only kept in memory.
    header : dict
        Fingerprints of index, analyzer, judgments, queries, configurations and metrics.

    Raises
    ------
    ValueError
        If the file holds another sweep, naming what differs.
    """

    def __init__(self, path: str | Path | None, header: dict) -> None:
        self.path = None if path is None else Path(path)
        self.blocks: list[Block] = []
        if self.path is None:
            return
        if self.path.exists() and self.path.stat().st_size:
            self._read(header)
        else:
            self._write_line(header)

    @property
    def done(self) -> set[tuple[str, int]]:
        """Names of the finished blocks."""
        return {(block.method, block.number) for block in self.blocks}

    def add(self, block: Block) -> None:
        """Keep a block; it is on disk when this returns."""
        self.blocks.append(block)
        if self.path is not None:
            self._write_line(block.to_json())

    def _write_line(self, row: dict) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self, header: dict) -> None:
        """Read finished blocks; a last line cut off by a crash is dropped from the file."""
        whole = self.path.read_bytes()
        end = whole.rfind(b"\n") + 1
        lines = whole[:end].splitlines()
        try:
            found = json.loads(lines[0]) if lines else {}
        except json.JSONDecodeError:
            found = {}
        expected = json.loads(json.dumps(header))
        wrong = [name for name in expected if found.get(name) != expected[name]]
        if wrong:
            raise ValueError(f"{self.path}: holds another sweep ({', '.join(wrong)} differ); choose another file, or delete it to start again")
        self.blocks = [Block.from_json(json.loads(line)) for line in lines[1:]]
        if end < len(whole):
            with self.path.open("r+b") as file:
                file.truncate(end)
