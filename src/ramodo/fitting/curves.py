"""The evidence of a view by the law of its bulk (stages/tail.py), for fits that give p-values.

If a curve took its tail from the highest rows, it would only count ranks: if those are outliers, none would stand out.
"""

from __future__ import annotations

import numpy as np

from ..model.evidence import KNOTS, Curve
from ..model.terms import Scores
from ..model.ties import Tied
from ..stages.tail import tails_of

_BEYOND = np.concatenate([np.arange(0.25, 5, 0.25), np.arange(5, 41)])
"""Steps of evidence beyond the bulk at which the law is sampled; the last step continues without end."""


def curve_by_law(tied: Tied) -> Curve:
    """Return the curve of training rows' scores: counted shares up to the end of the bulk, the law beyond."""
    (tail,) = tails_of([tied.ordered], errors=0.0)  # the sum of all evidence is judged with caution
    end = int(np.searchsorted(tail.ordered, tail.start, side="left"))
    knots = tied.knots(np.linspace(0, end, min(KNOTS - len(_BEYOND), end + 1)).astype(np.int64))
    scores, values = tied.plateaus(knots, -np.log(tail.p_values(knots)))
    if tail.rate == 0 or not tied.differ(1 / tail.rate, tail.start):
        return Curve(scores, values, 0.0)
    beyond = tail.start + _stretched(_BEYOND, tail.shape) / tail.rate
    kept = beyond > scores[-1]
    scores, values = np.concatenate([scores, beyond[kept]]), np.concatenate([values, values[-1] + _BEYOND[kept]])
    return Curve(scores, values, float((values[-1] - values[-2]) / (scores[-1] - scores[-2])))


def counted_curve(tied: Tied) -> Curve:
    """Return a curve of counted shares only: the highest score has the evidence of its own share."""
    n = len(tied.ordered)
    knots = tied.knots(np.linspace(0, n - 1, min(KNOTS, n)).astype(np.int64))
    values = -np.log1p(-np.searchsorted(tied.ordered, knots, "left") / n)
    return Curve(*tied.plateaus(knots, values), 0.0)


def _stretched(evidence: Scores, shape: float) -> Scores:
    """Return how far beyond the bulk a power law reaches this evidence; for an exponential law the evidence itself."""
    return evidence if shape == 0 else np.expm1(shape * evidence) / shape
