"""What would help features whose scales differ: advice that fits the values."""

from __future__ import annotations

import numpy as np

from .blocks import Block

_WIDE = 20.0
"""Values of which the largest is so many times the median can gain by logarithms; logarithms themselves stay below."""


def scaling_advice(rows: Block) -> str:
    """What to do about scales, as the end of a sentence: no logarithms of what is negative, or has been one."""
    values = rows.as_sparse().multiplied().data
    if len(values) and values.min() >= 0 and values.max() > _WIDE * float(np.median(values)):
        return "take logarithms or scale them (--scale log or auto)"
    return "scale them (--scale standard)"
