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
"""Of single precision, in which representations are computed and many values are given: 8 times its last bit."""

_APART = 16
"""Times `ROUNDING` between knots."""

_SLACK = 2.0**-19
"""Of a threshold: what rounding may move a score by, and some more."""


@dataclass(frozen=True)
class Tied:
    """Sorted scores, of which those that differ by rounding alone are equal: to the lowest of them."""

    ordered: Scores
    size: float
    """Typical of what scores are computed from: the error of a score s is up to `ROUNDING` times s + size."""

    @classmethod
    def of(cls, scores: Scores, size: float) -> Tied:
        """The scores, tied."""
        ordered = np.sort(scores)
        places = np.log1p(ordered / size) / ROUNDING  # on this scale the error is 1 everywhere
        starts = np.concatenate([[True], np.diff(places) > 1])
        begins = places[np.maximum.accumulate(np.where(starts, np.arange(len(places)), 0))]
        steps = np.floor(places - begins)  # of many rows, all may be this close to the next: tied bit by bit
        starts[1:] |= np.diff(steps) > 0
        return cls(ordered[np.maximum.accumulate(np.where(starts, np.arange(len(places)), 0))], size)

    def error(self, scores: Scores) -> Scores:
        """How far rounding can move scores."""
        return ROUNDING * (np.asarray(scores) + self.size)

    def knots(self, places: npt.NDArray[np.int64]) -> Scores:
        """The scores at some places, from the lowest, without those too close to the one before."""
        kept: list[float] = []
        for score in self.ordered[places].tolist():
            if not kept or score - kept[-1] > _APART * self.error(kept[-1]):
                kept.append(score)
        return np.array(kept)

    def differ(self, distance: float, at: float) -> bool:
        """Whether a difference from a score is so large that rounding hardly matters."""
        return bool(distance > _APART * self.error(at))

    def plateaus(self, knots: Scores, values: Scores) -> tuple[Scores, Scores]:
        """A curve through knots that is flat as far as rounding can move a tie: points, two for each knot."""
        error = self.error(knots)
        return np.stack([knots - error, knots + 2 * error], axis=1).ravel(), np.repeat(values, 2)


def settled(threshold: float, scores: Scores) -> float:
    """The threshold of training rows' scores, moved away from any that is a rounding from it.

    The same row can differ in the last bits of its score, by how it is stored or by the processor, and is to be flagged
    all the same. Such a score counts as reaching the threshold; one above all scores is to stay so.
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
