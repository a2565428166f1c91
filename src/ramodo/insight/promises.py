"""What a fitted detector's cut-off promises, in words: to the rows that it was drawn on, and to others."""

from __future__ import annotations

import math
from typing import Any

from ..stages.conformal import Conformal
from ..stages.thresholding import Cantelli, TopFraction, TopK


def promise(detector: Any, is_training: bool = True) -> str:
    """What may be said of the rows at or above `threshold_`: of the training rows, or of others."""
    rule = detector._stages().cutoff
    if isinstance(rule, Conformal):
        text = f"that of Benjamini and Hochberg's rule at {rule.fdr:g} on the training rows"
        which = "row" if is_training else "training row"
        nothing = f"; no {which} is a discovery at this rate, so the line lies above all of them"
        rate = "; the false-discovery rate holds for new rows only, by `discoveries`"
        return f"{text}{nothing if _finds_nothing(detector) else ''}{rate}"
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
    if isinstance(rule, Conformal):
        return _caveat_of_rate(detector, is_training)
    if not is_training:
        return (
            "That holds for the training rows only. Of other rows, such as these, any share can be flagged: many "
            "flagged rows say that these data differ from the training data."
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


def _caveat_of_rate(detector: Any, is_training: bool) -> str:
    """The p-values of rows that were trained on are not those of new ones, nor does a fixed line know the batch."""
    if not is_training:
        return (
            "Of other rows than those of the training, such as these, the line can flag any share: many flagged rows "
            "say that these data differ from the training data. The detector's `discoveries` applies the rule to rows "
            "such as these."
        )
    if _finds_nothing(detector):
        return "A higher rate, or more rows, may find some. The ranking says which to look at first all the same."
    return (
        "How many of the flagged rows are flagged falsely is not known: the detector was fitted to these rows. The "
        "ranking says which to look at first."
    )
