"""What a fitted detector's cut-off promises, in words: to the rows that it was drawn on, and to others."""

from __future__ import annotations

import math
from typing import Any

from .conformal import Conformal
from .thresholding import Cantelli, TopFraction, TopK


def promise(detector: Any, is_training: bool = True) -> str:
    """What may be said of the rows at or above `threshold_`: of the training rows, or of others."""
    rule = detector._stages().cutoff
    if isinstance(rule, Conformal):
        text = f"Benjamini and Hochberg's rule at a false-discovery rate of {rule.fdr:g}"
        which = "row" if is_training else "training row"
        nothing = f"; no {which} is a discovery at this rate, so the line lies above all of them"
        return text + nothing if _finds_nothing(detector) else text
    if isinstance(rule, TopFraction):
        return f"the share that was asked for, {rule.fraction:g} of the training rows"
    if isinstance(rule, TopK):
        return f"the number that was asked for, {rule.count:,} of the training rows"
    if isinstance(rule, Cantelli):
        bound = detector.false_positive_bound_
        factor = math.sqrt(1 / bound - 1)
        line = f"mean + {'√3' if math.isclose(factor, math.sqrt(3)) else f'{factor:.3g}'} deviations"
        if is_training:
            return f"{line}; at most {100 * bound:.0f} % of any scores lie above such a line"
        return f"{line} of the training rows' scores, of which at most {100 * bound:.0f} % lie above such a line"
    return f"a rule of your own, {type(rule).__name__}"


def caveat(detector: Any, is_training: bool = True) -> str:
    """What may not be said of them."""
    rule = detector._stages().cutoff
    if not is_training:
        return _caveat_of_others(isinstance(rule, Conformal))
    if isinstance(rule, Conformal) and _finds_nothing(detector):
        return "A higher rate, or more rows, may find some. The ranking says which to look at first all the same."
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


def _finds_nothing(detector: Any) -> bool:
    """Whether the rule found no training row worth a line, and drew it above all of them."""
    return bool(detector.threshold_ > detector.outlier_scores_.max())


def _caveat_of_others(has_rate: bool) -> str:
    text = (
        "That holds for the training rows only. Of other rows, such as these, any share can be flagged: many flagged "
        "rows say that these data differ from the training data."
    )
    return f"{text} The detector's `discoveries` applies the rule to rows such as these." if has_rate else text
