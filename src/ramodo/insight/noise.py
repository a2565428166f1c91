"""How many rows a cut-off would flag if there were nothing to find."""

from __future__ import annotations

import math
from typing import Any

from ..stages.thresholding import Cantelli, TopFraction, TopK

MANY = 100
"""So many flags are more than most people look at one by one."""


def flags_of_noise(detector: Any, n_rows: int) -> int | None:
    """About how many of `n_rows` rows without any outlier would reach the cut-off; None where nobody can tell.

    A cut-off that asks for a number or a share gets it from noise too. For mean + α deviations it depends on how scores
    fall off: where they do so exponentially, as evidence does by its construction, exp(-(1 + α)) of them lie above.
    """
    cutoff = detector._stages().cutoff.adapted if hasattr(detector, "_stages") else Cantelli()
    if isinstance(cutoff, TopK):
        return min(cutoff.count, n_rows)
    if isinstance(cutoff, TopFraction):
        return round(cutoff.fraction * n_rows)
    return round(n_rows * math.exp(-(1 + cutoff._alpha()))) if isinstance(cutoff, Cantelli) else None
