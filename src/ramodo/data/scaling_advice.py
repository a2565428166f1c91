"""Advice for features whose scales differ."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from .blocks import Block

_WIDE = 20.0
"""Logarithms help if the largest value is more than this many times the median. Values of logarithms stay below it."""


_APART = 100.0
"""A column whose standard deviation is this many times the median hides the others from distances."""

_CONSTANT = 1e-6
"""A standard deviation below this share of the mean counts as 0."""


def warn_of_scales(rows: Block, names: Sequence[str]) -> None:
    """Warn if one column of a frame of numbers drowns out most others."""
    columns, means, squares = rows.moments()
    deviations = np.sqrt(np.maximum(squares - means**2, 0.0))
    varied = deviations > _CONSTANT * np.abs(means)
    if not varied.any():
        return
    largest, usual = int(np.argmax(deviations)), float(np.median(deviations[varied]))
    if usual and deviations[largest] > _APART * usual:
        name, times = names[int(columns[largest])], f"{deviations[largest] / usual:,.0f} times"
        warnings.warn(
            f"column {name!r} of X varies {times} as much as most others, and distances see little else. To "
            "let all columns count alike: fit(ramodo.TableReader(scale='auto').fit_read(X)).",
            UserWarning,
            stacklevel=3,
        )


def scaling_advice(rows: Block) -> str:
    """Return advice as the end of a sentence. It never suggests logarithms of negative values or of logarithms."""
    values = rows.as_sparse().multiplied().data
    if len(values) and values.min() >= 0 and values.max() > _WIDE * float(np.median(values)):
        return "take logarithms or scale them (--scale log or auto)"
    return "scale them (--scale standard)"
