"""Advice for features whose scales differ."""

from __future__ import annotations

import numpy as np

from .blocks import Block

_WIDE = 20.0
"""Logarithms help where the largest value is more than this many times the median; logarithms stay below it."""


def scaling_advice(rows: Block) -> str:
    """What to do about scales, as the end of a sentence; no logarithms of negative values or of logarithms."""
    values = rows.as_sparse().multiplied().data
    if len(values) and values.min() >= 0 and values.max() > _WIDE * float(np.median(values)):
        return "take logarithms or scale them (--scale log or auto)"
    return "scale them (--scale standard)"
