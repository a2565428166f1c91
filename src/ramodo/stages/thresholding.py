"""Scores (and labels) to candidate sets: equation 2. The same lines cut the final scores.

Cantelli's inequality bounds, for any distribution of scores, the share of them that lies α standard deviations above
the mean: at most 1/(1+α²). Rows at or above that line are the outlier candidates O, all others the inlier candidates I.

A thresholder of one's own needs `split(scores, labels)`, which gives `Candidates`; a subclass of `Line` needs only
`cutoff(scores)`, and can then also be the `cutoff` of the final scores.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from .. import bounds
from ..data.labels import Labels
from ..options import OptionError, check

Scores = npt.NDArray[np.float64]

FALLBACK = 10
"""Candidates where no score reaches the line."""

SMALLEST_SHARE = 0.005
"""Where fewer rows than this reach the line, the highest of this share are the candidates.

Scores with an upper bound (distances between rows of length 1, say) can have a line that only one or two of many
thousand rows reach by chance; a handful of negatives teaches the layer those rows and nothing else.
"""


@dataclass(frozen=True)
class Candidates:
    """Row numbers of the outlier and the inlier candidates; `fallback` where too few scores reached the line."""

    outliers: npt.NDArray[np.int64]
    inliers: npt.NDArray[np.int64]
    fallback: bool = False

    @classmethod
    def of(cls, chosen: npt.NDArray[np.bool_], labels: Labels, fallback: bool = False) -> Candidates:
        """The chosen rows and the others, except that known outliers (1) and known inliers (-1) go by their labels."""
        outliers = (chosen & (labels == 0)) | (labels == 1)
        return cls(np.flatnonzero(outliers), np.flatnonzero(~outliers), fallback)


class Line(ABC, BaseEstimator):
    """A cut-off: rows whose score is at or above it are on its upper side."""

    @abstractmethod
    def cutoff(self, scores: Scores) -> float:
        """The line for these scores."""

    def bound(self) -> float:
        """The largest share of scores that can be at or above the line, where that is known; else NaN."""
        return math.nan

    def split(self, scores: Scores, labels: Labels) -> Candidates:
        """Candidates by score, known outliers (1) and known inliers (-1) by label.

        The line is that of all scores.
        """
        return Candidates.of(scores >= self.cutoff(scores), labels)


class Cantelli(Line):
    """Mean plus `alpha` standard deviations, or what a bound on the share above the line asks for.

    `false_positives=0.25` is `alpha=√3`. Where too few scores reach the line, the highest are the candidates: half a
    percent of the rows, or ten.
    """

    def __init__(self, alpha: float = math.sqrt(3), *, false_positives: float | None = None) -> None:
        self.alpha = alpha
        self.false_positives = false_positives

    def _alpha(self) -> float:
        check(self.get_params(deep=False))
        return self.alpha if self.false_positives is None else bounds.cantelli_alpha(self.false_positives)

    def bound(self) -> float:
        """The largest share of scores at or above the line, whatever their distribution (section 5.2)."""
        return bounds.cantelli_bound(self._alpha())

    def cutoff(self, scores: Scores) -> float:
        """The line; above every score where they do not differ, since then none stands out."""
        mean, deviation = float(np.mean(scores)), float(np.std(scores))
        if deviation <= 1e-12 * abs(mean) or len(scores) == 0:
            return float(np.nextafter(np.max(scores, initial=0.0), np.inf))
        return mean + self._alpha() * deviation

    def split(self, scores: Scores, labels: Labels, n_beside: int = 0) -> Candidates:
        """Candidates by score, or the highest where too few reach the line; known rows by label.

        `n_beside` outliers are known that are no rows of the data: so many fewer have to be found among them.
        """
        unknown = labels == 0
        outliers = ((scores >= self.cutoff(scores)) & unknown) | (labels == 1)
        fewest = max(0 if outliers.any() else FALLBACK, int(SMALLEST_SHARE * len(scores)) - n_beside)
        missing = min(fewest, int(unknown.sum()) // 2) - int(outliers.sum())
        fallback = missing > 0
        if fallback:
            order = np.argsort(-scores, kind="stable")
            outliers[order[(unknown & ~outliers)[order]][:missing]] = True
        return Candidates.of(outliers, labels, fallback)


class TopFraction(Line):
    """The score that the given share of rows reaches."""

    def __init__(self, fraction: float = 0.05) -> None:
        self.fraction = fraction

    def cutoff(self, scores: Scores) -> float:
        """The lowest of the highest `fraction` of the scores, at least one of them."""
        check(self.get_params(deep=False))
        return _lowest_of_highest(scores, max(1, round(self.fraction * len(scores))))


class TopK(Line):
    """The score that `count` rows reach."""

    def __init__(self, count: int = 10) -> None:
        self.count = count

    def cutoff(self, scores: Scores) -> float:
        """The lowest of the `count` highest scores, or of all where there are fewer."""
        check(self.get_params(deep=False))
        return _lowest_of_highest(scores, min(self.count, len(scores)))


class GivenSet(BaseEstimator):
    """Outlier candidates that the user names, by row number; scores only weigh them."""

    def __init__(self, rows: Any = ()) -> None:
        self.rows = rows

    def split(self, scores: Scores, labels: Labels) -> Candidates:
        """The given rows and the others; known rows by label."""
        rows = np.asarray(self.rows)
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise OptionError(f"rows={self.rows!r} was given to GivenSet; allowed: a list of row numbers.")
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(scores)):
            raise OptionError(
                f"rows from {rows.min()} to {rows.max()} were given to GivenSet; allowed: 0 to {len(scores) - 1}, the "
                "rows of X."
            )
        chosen = np.zeros(len(scores), dtype=bool)
        chosen[rows.astype(np.int64)] = True
        return Candidates.of(chosen, labels)


def _lowest_of_highest(scores: Scores, count: int) -> float:
    return float(np.partition(scores, len(scores) - count)[len(scores) - count])
