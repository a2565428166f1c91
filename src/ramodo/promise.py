"""What a fitted detector's cut-off promises, in words."""

from __future__ import annotations

import math
from typing import Any

from .conformal import Conformal
from .thresholding import Cantelli, TopFraction, TopK


def promise(detector: Any) -> str:
    """What may be said of the rows at or above `threshold_`."""
    rule = detector._stages().cutoff
    if isinstance(rule, Conformal):
        return f"Benjamini and Hochberg's rule at a false-discovery rate of {rule.fdr:g}"
    if isinstance(rule, TopFraction):
        return f"the share that was asked for, {rule.fraction:g} of the training rows"
    if isinstance(rule, TopK):
        return f"the number that was asked for, {rule.count:,} of the training rows"
    if isinstance(rule, Cantelli):
        bound = detector.false_positive_bound_
        factor = math.sqrt(1 / bound - 1)
        shown = "√3" if math.isclose(factor, math.sqrt(3)) else f"{factor:.3g}"
        return f"mean + {shown} deviations; at most {100 * bound:.0f} % of any scores lie above such a line"
    return f"a rule of your own, {type(rule).__name__}"


def caveat(detector: Any) -> str:
    """What may not be said of them."""
    rule = detector._stages().cutoff
    if isinstance(rule, Conformal):
        return (
            "Of the rows that it flags, about this share at most is expected to be flagged falsely, among rows like "
            "those that were held out of training."
        )
    if isinstance(rule, Cantelli):
        return (
            "This holds whatever the distribution of the scores is. It bounds how many rows can be flagged and does "
            "not say that all flagged rows are outliers: the ranking says which to look at first."
        )
    return "It says how many rows are flagged, not how many of them are outliers: the ranking says which come first."
