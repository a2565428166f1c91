"""The tail of ordinary rows' scores, as the bulk of all scores tells it: how often a score as high comes by chance.

Ranks of rows do not tell how many are outliers; that takes an assumption on how scores of ordinary
rows go on beyond their bulk. Here it is: they fall off at least as fast as an exponential law, or, where they fall off
ever more slowly within the bulk, as a power law that goes on so. The bulk is what lies between the median and the 90 %
quantile, which a few outliers hardly move.

A sum of several views is another matter: `Gamma` is the law of what ordinary rows add up to.

The hazard is the share of the rows at or above a score that end within the next unit. An exponential law has the same
hazard everywhere; a power law (generalised Pareto) with the shape ξ > 0 one that falls with the share u of rows that
are left, as u^ξ.
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
"""Shares of rows above the bulk's beginning, its middle and its end."""

CAUTIOUS = 1.645
"""Standard errors up to the upper bound of the shape at 95 %."""


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
        """A score that about one row would reach by an exponential law: what models of two folds have in common."""
        n_beyond = max(1.0, self.share * len(self.ordered))
        return self.start + math.log(n_beyond) / self.rate if self.rate > 0 else self.start


@dataclass(frozen=True)
class Gamma:
    """The gamma law whose quantiles are those of the bulk; shape 0 where the bulk is 0 or varies too little."""

    shape: float
    scale: float

    @classmethod
    def of(cls, scores: Scores, heaviest: float) -> Gamma:
        """The law closest to the logarithms of the quartiles and the 90 % quantile, as far as they are above 0.

        A sum falls off no faster than its heaviest summand: where that is slower, the law falls off as it does, from
        the 90 % quantile.
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
    """The shape whose logarithm has the least loss."""
    return math.exp(float(minimize_scalar(loss, bounds=_SHAPES, method="bounded").x))


_QUANTILES = np.array([0.25, 0.5, 0.75, 0.9])
_FEWEST_QUANTILES = 2
_LEAST_SPREAD = 1e-6
_SHAPES = (math.log(0.05), math.log(1000.0))


def tails_of(folds: Sequence[Scores], errors: float = CAUTIOUS) -> list[Tail]:
    """The tail of each fold; their shape is taken to be the same, since models see rows of the same kind.

    `errors`: standard errors by which the shape is larger than it looks.
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
    """By how much the hazard falls within the bulk, from its lower to its upper part, and some errors more."""
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
"""The largest shape: where nothing is known of the bulk, no score is unlikely."""


def _hazard(ordered: Scores, above: float, end: float) -> tuple[float, int]:
    """The hazard between two quantiles, and the number of rows that end there."""
    low, high = _at(ordered, above), _at(ordered, end)
    n = int(np.searchsorted(ordered, high, side="right") - np.searchsorted(ordered, low, side="right"))
    time = float(np.clip(ordered - low, 0.0, high - low).sum())
    return (n / time, n) if time > 0 else (0.0, 0)


def _at(ordered: Scores, above: float) -> float:
    """The score that this share of the rows lies above."""
    return float(ordered[int((1 - above) * (len(ordered) - 1))])
