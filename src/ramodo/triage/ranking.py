"""Rows from the highest score down, and where they stand against the cut-off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ABOVE, NEAR, BELOW = "above", "near", "below"
"""Strata: rows at or above the cut-off; the same number of rows just below it; all others."""

_FEWEST_NEAR = 50


@dataclass(frozen=True)
class Ranking:
    """Rows from the highest score down, and how many are in the first two strata."""

    order: Integers
    places: Integers
    """The score of each row in `order`."""
    n_above: int
    n_near: int

    @classmethod
    def of(cls, scores: Doubles, threshold: float) -> Ranking:
        order = np.argsort(-scores, kind="stable")
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        n_above = int((scores >= threshold).sum())
        return cls(order, places, n_above, min(max(n_above, _FEWEST_NEAR), len(order) - n_above))

    @cached_property
    def listed(self) -> list[int]:
        """`order` as a list, which queues read at every label."""
        return self.order.tolist()

    @cached_property
    def drawn(self) -> list[int]:
        """All rows below the cut-off in random order: two near it, then one from farther below, and so on."""
        rng = np.random.default_rng(len(self.order))
        near, below = (rng.permutation(self.rows(stratum)).tolist() for stratum in (NEAR, BELOW))
        turns = [near[2 * i : 2 * i + 2] + below[i : i + 1] for i in range(max(len(below), (len(near) + 1) // 2))]
        return [row for turn in turns for row in turn]

    def stratum(self, row: int) -> str:
        """Return where a row stands against the cut-off."""
        place = int(self.places[row])
        return ABOVE if place < self.n_above else NEAR if place < self.n_above + self.n_near else BELOW

    def rows(self, stratum: str) -> Integers:
        """Return all rows of a stratum, highest first."""
        ends = {ABOVE: (0, self.n_above), NEAR: (self.n_above, self.n_above + self.n_near)}
        first, last = ends.get(stratum, (self.n_above + self.n_near, len(self.order)))
        return self.order[first:last]
