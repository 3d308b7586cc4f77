"""Random draws that are the same on every platform and with every version of numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Draw:
    """Whole-number draws from a seeded PCG64 bit stream.

    numpy promises that a bit generator's raw stream never changes, but not how its distributions use
    it; only the raw stream is used here, with integer arithmetic.

    Parameters
    ----------
    seed : int
    stream : int
        Independent streams for independent parts: adding queries then leaves the products as they were.
    """

    BUFFER = 4096  # raw 64-bit numbers fetched at a time

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, stream]))
        self._raw: list[int] = []

    def below(self, n: int) -> int:
        """A whole number from 0 to ``n - 1``, each as likely (bias below n / 2**64)."""
        if not self._raw:
            self._raw = self._bits.random_raw(self.BUFFER).tolist()
        return (self._raw.pop() * n) >> 64

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: float) -> bool:
        """True in ``percent`` of 100 cases (a resolution of one in a million)."""
        return self.below(1_000_000) < round(percent * 10_000)

    def one(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def early(self, items: Sequence[T]) -> T:
        """One of the items; the first ones are the most popular (density falls linearly)."""
        return items[min(self.below(len(items)), self.below(len(items)))]

    def some(self, items: Sequence[T], k: int) -> list[T]:
        """``k`` different items (all of them when there are fewer) in drawn order."""
        pool = list(items)
        k = min(k, len(pool))
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]
