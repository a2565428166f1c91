"""The order in which rows are shown, and what each order is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SCORE, VARIETY, CUTOFF, SECOND = "score", "variety", "cut-off", "second"

PURPOSES = {
    SCORE: "Highest score first: finds most outliers in least time.",
    VARIETY: "One of each kind before the next of the same kind: shows early what kinds of outliers there are.",
    CUTOFF: "Drawn at random near the cut-off and below it: tells how many outliers are left.",
    SECOND: "Rows that another analyst has labelled: tells how far you agree.",
}
"""Queues, and what to choose them for."""

ABOVE, NEAR, BELOW = "above", "near", "below"
"""Strata: at or above the cut-off; the next rows, as many again; all others."""

_FEWEST_NEAR = 50


@dataclass(frozen=True)
class Ranking:
    """Rows from the highest score down, and where the strata end."""

    order: Integers
    places: Integers
    """Of each row in `order`."""
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
        """`order` as a list, since queues are asked for at every label."""
        return self.order.tolist()

    @cached_property
    def drawn(self) -> list[int]:
        """All rows below the cut-off in random order: two near it, then one from farther below, and so on."""
        rng = np.random.default_rng(len(self.order))
        near, below = (rng.permutation(self.rows(stratum)).tolist() for stratum in (NEAR, BELOW))
        turns = [near[2 * i : 2 * i + 2] + below[i : i + 1] for i in range(max(len(below), (len(near) + 1) // 2))]
        return [row for turn in turns for row in turn]

    def stratum(self, row: int) -> str:
        """Where a row stands against the cut-off."""
        place = int(self.places[row])
        return ABOVE if place < self.n_above else NEAR if place < self.n_above + self.n_near else BELOW

    def rows(self, stratum: str) -> Integers:
        """All rows of a stratum, highest first."""
        ends = {ABOVE: (0, self.n_above), NEAR: (self.n_above, self.n_above + self.n_near)}
        first, last = ends.get(stratum, (self.n_above + self.n_near, len(self.order)))
        return self.order[first:last]


def by_score(ranking: Ranking, labelled: set[int]) -> Iterator[int]:
    """Highest first."""
    return (row for row in ranking.listed if row not in labelled)


def by_variety(ranking: Ranking, labelled: set[int], groups: Sequence[Sequence[int]]) -> Iterator[int]:
    """The best row of each kind, then the second best of each, ...; a row of no group is a kind of its own.

    A kind of which some rows are labelled waits for as many rounds.
    """
    rounds: dict[int, int] = {}
    for group in groups:
        ordered = sorted(group, key=lambda row: (row not in labelled, int(ranking.places[row])))
        rounds |= {row: number for number, row in enumerate(ordered)}
    last = max((int(ranking.places[row]) for row in rounds), default=-1) + 1
    first = [row for row in ranking.listed[:last] if row not in labelled]
    yield from sorted(first, key=lambda row: (rounds.get(row, 0), int(ranking.places[row])))
    yield from (row for row in islice(ranking.listed, last, None) if row not in labelled)


def near_cutoff(ranking: Ranking, labelled: set[int]) -> Iterator[int]:
    """Drawn at random, near the cut-off and below it."""
    return (row for row in ranking.drawn if row not in labelled)
