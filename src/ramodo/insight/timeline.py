"""How many lines of a log came when: counts in equal steps of time, which a figure adds up as far as it is zoomed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_MOST = 1200
"""Steps."""

_FEWEST = 2
"""Lines that a timeline needs."""

_ROUND = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
"""Seconds in a step, as people count; longer ones are whole days."""


class Timeline(NamedTuple):
    """Where steps begin and how long each is, in seconds since 1970; the step of each line; and how many there are."""

    begin: float
    step: float
    of_line: Integers
    n_steps: int

    @classmethod
    def of(cls, times: Doubles) -> Timeline | None:
        """The steps of lines with these times; None if all came at once."""
        if len(times) < _FEWEST or not np.ptp(times):
            return None
        least = float(np.ptp(times)) / _MOST
        step = float(next((size for size in _ROUND if size >= least), math.ceil(least / 86_400) * 86_400))
        begin = math.floor(float(times.min()) / step) * step
        of_line = ((times - begin) // step).astype(np.int64)
        return cls(begin, step, of_line, int(of_line.max()) + 1)

    def counts(self, rows: npt.NDArray[np.bool_] | Integers | None = None) -> Integers:
        """How many of these lines each step has; of all by default."""
        return np.bincount(self.of_line if rows is None else self.of_line[rows], minlength=self.n_steps)
