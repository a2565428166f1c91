"""Scores that differ by rounding alone.

Equal rows can differ in the last bits of their scores, by how they are stored, by the processor, or because they are
multiples of each other that were divided by their lengths. Such scores tie, and are on the same side of a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]

ROUNDING = 2.0**-21
"""Relative error of scores: eight rounding errors of single precision, in which representations are computed."""

_APART = 16
"""The least distance between knots, in units of `ROUNDING`."""

_SLACK = 2.0**-19
"""How far from a threshold a score must be, relative to it: more than rounding can move a score."""


@dataclass(frozen=True)
class Tied:
    """Sorted scores; scores that differ only by rounding are set to the lowest of them."""

    ordered: Scores
    size: float
    """Typical size of what scores are computed from: a score s has an error of up to ROUNDING * (s + size)."""

    @classmethod
    def of(cls, scores: Scores, size: float) -> Tied:
        """Return the sorted scores with ties."""
        ordered = np.sort(scores)
        places = np.log1p(ordered / size) / ROUNDING  # on this scale the error is 1 everywhere
        starts = np.concatenate([[True], np.diff(places) > 1])
        begins = places[np.maximum.accumulate(np.where(starts, np.arange(len(places)), 0))]
        steps = np.floor(places - begins)  # in a long run of close scores a tie must end somewhere
        starts[1:] |= np.diff(steps) > 0
        return cls(ordered[np.maximum.accumulate(np.where(starts, np.arange(len(places)), 0))], size)

    def knots(self, places: npt.NDArray[np.int64]) -> Scores:
        """Return the scores at these places, leaving out any that are too close to the one before."""
        kept: list[float] = []
        for score in self.ordered[places].tolist():
            if not kept or self.differ(score - kept[-1], kept[-1]):
                kept.append(score)
        return np.array(kept)

    def differ(self, distance: float, score: float) -> bool:
        """Return whether a distance from a score is so large that rounding hardly matters."""
        return distance > _APART * ROUNDING * (score + self.size)

    def plateaus(self, knots: Scores, values: Scores) -> tuple[Scores, Scores]:
        """Return two points for each knot: the curve is flat as far as rounding can move a tied score."""
        error = ROUNDING * (knots + self.size)
        return np.stack([knots - error, knots + 2 * error], axis=1).ravel(), np.repeat(values, 2)


def settled(threshold: float, scores: Scores) -> float:
    """Return a threshold on the scores of training rows, moved away from scores that differ from it by rounding alone.

    Such scores count as reaching it, so the threshold ends up below them. A threshold just above all scores, which
    flags none, stays above them.
    """
    slack, highest = _SLACK * abs(threshold), float(scores.max())
    if threshold == np.nextafter(highest, np.inf):
        return threshold + slack
    near = scores[np.abs(scores - threshold) <= slack]
    if len(near) == 0:
        return threshold
    lowest = float(near.min())
    below = float(scores[scores < lowest].max(initial=-np.inf))
    return max(lowest - slack, (lowest + below) / 2)
