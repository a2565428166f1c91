"""Distinct numbers: `np.unique` hashes them since NumPy 2.3, which takes many times as long as sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def distinct_numbers(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each number once, in increasing order."""
    found = np.sort(numbers, axis=None)
    if len(found) == 0:
        return found
    first = np.empty(len(found), dtype=bool)
    first[0] = True
    np.not_equal(found[1:], found[:-1], out=first[1:])
    return found[first]
