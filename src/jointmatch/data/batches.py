"""Which rows each step uses: a function of (seed, step), so that no state has to be saved."""

from __future__ import annotations

import numpy as np

from jointmatch.randomness import generator


class Batches:
    """Row numbers of batch ``step`` from an endless series of shuffled passes.

    Args:
        rows: Number of rows.
        size: Rows per batch; 0, or more than there are, takes all of them each time.
        seed: Seed of the shuffles.
        name: Keeps this series distinct from others with the same seed.
    """

    def __init__(self, rows: int, size: int, seed: int, name: str) -> None:
        self.rows, self.seed, self.name = rows, seed, name
        self.size = rows if size == 0 else min(size, rows)
        self._passes: dict[int, np.ndarray] = {}

    def __getitem__(self, step: int) -> np.ndarray:
        if self.size == self.rows:
            return np.arange(self.rows)
        start = step * self.size
        number, offset = divmod(start, self.rows)
        batch = self._shuffled(number)[offset : offset + self.size]
        rest = self.size - len(batch)  # a batch may begin in one pass and end in the next
        return np.concatenate([batch, self._shuffled(number + 1)[:rest]]) if rest else batch.copy()

    def _shuffled(self, number: int) -> np.ndarray:
        if number not in self._passes:
            kept = {p: order for p, order in self._passes.items() if p >= number - 1}
            self._passes = {**kept, number: generator(self.seed, self.name, number).permutation(self.rows)}
        return self._passes[number]
