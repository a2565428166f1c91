"""The tail of ordinary rows' scores, extrapolated from the bulk of all scores: how often chance gives so high a score.

Ranks alone do not tell how many rows are outliers. That takes an assumption about the scores of ordinary rows beyond
their bulk: they fall off at least as fast as an exponential law or, if the bulk has a heavier tail, as the power law
that continues it. The bulk lies between the median and the 90 % quantile, which a few outliers hardly move.

For the sum of several views there is another law, `Gamma`.

The hazard at a score is the share of the rows at or above it that lie within the next unit. It is constant for an
exponential law. For a power law (generalised Pareto) of shape ξ > 0, it falls as u^ξ, where u is the share of rows
still above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaincc, gammaincinv

from .protocols import Scores

_BEGIN, _MIDDLE, _END = 0.5, 0.25, 0.1
"""Shares of rows above the start, the middle and the end of the bulk."""

CAUTIOUS = 1.645
"""Standard errors between the estimated shape and its upper 95 % bound."""


@dataclass(frozen=True)
class Tail:
    """Shares of ordinary rows that score at least as high, counted up to `start` and by a law beyond."""

    ordered: Scores
    start: float
    share: float
    """The share of rows that score `start` or more."""
    rate: float
    """The hazard at `start`; 0 where the scores of the bulk are equal."""
    shape: float

    def p_values(self, scores: Scores) -> Scores:
        """For each score, the share of ordinary rows that reach it."""
        counted = 1 - np.searchsorted(self.ordered, scores, side="left") / len(self.ordered)
        beyond = self.rate * np.maximum(scores - self.start, 0.0)
        law = np.exp(-beyond) if self.shape == 0 else np.exp(-np.log1p(self.shape * beyond) / self.shape)
        return np.where(scores >= self.start, self.share * law, counted)

    @property
    def highest(self) -> float:
        """The score that about one row would reach under an exponential law, to make models of folds comparable."""
        n_beyond = max(1.0, self.share * len(self.ordered))
        return self.start + math.log(n_beyond) / self.rate if self.rate > 0 else self.start


@dataclass(frozen=True)
class Gamma:
    """The gamma law with the quantiles of the bulk. Its shape is 0 if the bulk is 0 or varies too little."""

    shape: float
    scale: float

    @classmethod
    def of(cls, scores: Scores, heaviest: float) -> Gamma:
        """Fit the law to the logarithms of the quartiles and the 90 % quantile, ignoring those that are 0.

        A sum falls off no faster than its heaviest summand. If that one falls off more slowly than the law, the law
        follows it from the 90 % quantile.
        """
        found = np.quantile(scores, _QUANTILES)
        shares, logarithms = _QUANTILES[found > 0], np.log(found[found > 0])
        if len(shares) < _FEWEST_QUANTILES or np.ptp(logarithms) < _LEAST_SPREAD:
            return cls(0.0, 1.0)

        def above(logarithm: float) -> Scores:
            return np.asarray(logarithms - np.log(gammaincinv(math.exp(logarithm), shares)))

        shape = _least(lambda logarithm: float(above(logarithm).var()))
        scale = math.exp(float(above(math.log(shape)).mean()))
        if scale >= heaviest:
            return cls(shape, scale)
        return cls(_least(lambda logarithm: (above(logarithm)[-1] - math.log(heaviest)) ** 2), heaviest)

    def p_values(self, scores: Scores) -> Scores:
        """For each score, the share of ordinary rows that reach it."""
        return np.ones(len(scores)) if self.shape == 0 else np.asarray(gammaincc(self.shape, scores / self.scale))


def _least(loss: Callable[[float], float]) -> float:
    """Return the shape whose logarithm minimises the loss."""
    return math.exp(float(minimize_scalar(loss, bounds=_SHAPES, method="bounded").x))


_QUANTILES = np.array([0.25, 0.5, 0.75, 0.9])
_FEWEST_QUANTILES = 2
_LEAST_SPREAD = 1e-6
_SHAPES = (math.log(0.05), math.log(1000.0))


def tails_of(folds: Sequence[Scores], errors: float = CAUTIOUS) -> list[Tail]:
    """Return the tail of each fold. All share one shape, since the models see rows of the same kind.

    `errors`: standard errors to add to the estimated shape.
    """
    ordered = [np.sort(scores) for scores in folds]
    shape = _shape(ordered, errors)
    return [_tail(scores, shape) for scores in ordered]


def _tail(ordered: Scores, shape: float) -> Tail:
    start = _at(ordered, _END)
    share = float(1 - np.searchsorted(ordered, start, side="left") / len(ordered))
    rate = _hazard(ordered, _BEGIN, _END)[0] * (_END / math.sqrt(_BEGIN * _END)) ** shape
    return Tail(ordered, start, share, rate, shape)


def _shape(folds: list[Scores], errors: float) -> float:
    """Estimate the shape from the fall of the hazard between the lower and upper bulk, and add `errors`."""
    falls, variances = [], []
    for ordered in folds:
        (lower, n_lower), (upper, n_upper) = _hazard(ordered, _BEGIN, _MIDDLE), _hazard(ordered, _MIDDLE, _END)
        if min(n_lower, n_upper) == 0:
            return _STEEPEST
        falls.append(math.log(lower / upper))
        variances.append(1 / n_lower + 1 / n_upper)
    steps = math.log(math.sqrt(_BEGIN * _MIDDLE) / math.sqrt(_MIDDLE * _END))
    error = math.sqrt(sum(variances)) / len(folds)
    return float(np.clip((np.mean(falls) + errors * error) / steps, 0.0, _STEEPEST))


_STEEPEST = 10.0
"""The largest shape, used where the bulk tells nothing; it makes no score unlikely."""


def _hazard(ordered: Scores, above: float, end: float) -> tuple[float, int]:
    """Return the hazard between two quantiles, and the number of rows between them."""
    low, high = _at(ordered, above), _at(ordered, end)
    n = int(np.searchsorted(ordered, high, side="right") - np.searchsorted(ordered, low, side="right"))
    time = float(np.clip(ordered - low, 0.0, high - low).sum())
    return (n / time, n) if time > 0 else (0.0, 0)


def _at(ordered: Scores, above: float) -> float:
    """Return the score that this share of the rows lies above."""
    return float(ordered[int((1 - above) * (len(ordered) - 1))])
