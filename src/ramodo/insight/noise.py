"""How many rows a cut-off would flag if there were nothing to find."""

from __future__ import annotations

import math
from typing import Any

from ..stages.thresholding import Cantelli, TopFraction, TopK

_MANY = 100
"""More flags than most people look at one by one."""

_MORE = 2
"""Flags may all be noise unless they are this many times as many as noise gives."""


def flags_of_noise(detector: Any, n_rows: int) -> int | None:
    """About how many of `n_rows` rows without any outlier would reach the cut-off; None where nobody can tell.

    A cut-off that asks for a number or a share gets it from noise too. For mean + α deviations it depends on how scores
    fall off: where they do so exponentially, as evidence does by its construction, exp(-(1 + α)) of them lie above.
    """
    cutoff = _cutoff(detector)
    if isinstance(cutoff, TopK):
        return min(cutoff.count, n_rows)
    if isinstance(cutoff, TopFraction):
        return round(cutoff.fraction * n_rows)
    return round(n_rows * math.exp(-(1 + cutoff._alpha()))) if isinstance(cutoff, Cantelli) else None


def says_little(detector: Any, n_flagged: int, n_rows: int) -> bool:
    """Whether flags are too many to look at one by one, or hardly more than noise gives and nobody asked for them."""
    expected = flags_of_noise(detector, n_rows)
    few_more = expected is not None and 0 < n_flagged < _MORE * expected
    return n_flagged >= _MANY or (few_more and not isinstance(_cutoff(detector), TopK | TopFraction))


def _cutoff(detector: Any) -> Any:
    return detector._stages().cutoff.adapted if hasattr(detector, "_stages") else Cantelli()
