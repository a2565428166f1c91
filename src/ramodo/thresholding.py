"""Scores (and labels) to candidate sets: equation 2.

Cantelli's inequality bounds, for any distribution of scores, the share of them that lies α standard deviations above
the mean: at most 1/(1+α²). Rows at or above that line are the outlier candidates O, all others the inlier candidates I.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .options import OptionError

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
    fallback: bool


@dataclass(frozen=True)
class Cantelli:
    """Mean plus `alpha` standard deviations."""

    alpha: float

    def bound(self) -> float:
        """The largest share of scores at or above the line, whatever their distribution (section 5.2)."""
        return 1 / (1 + self.alpha**2)

    def cutoff(self, scores: npt.NDArray[np.float64]) -> float:
        """The line; above every score where they do not differ, since then none stands out."""
        mean, deviation = float(np.mean(scores)), float(np.std(scores))
        if deviation <= 1e-12 * abs(mean) or len(scores) == 0:
            return float(np.nextafter(np.max(scores, initial=0.0), np.inf))
        return mean + self.alpha * deviation

    def split(self, scores: npt.NDArray[np.float64], labels: npt.NDArray[np.int8]) -> Candidates:
        """Candidates by score, known outliers (1) and known inliers (-1) by label.

        The line is that of all scores. Known outliers are never inlier candidates, nor the other way round.
        """
        unknown = labels == 0
        outliers = ((scores >= self.cutoff(scores)) & unknown) | (labels == 1)
        fewest = max(0 if outliers.any() else FALLBACK, int(SMALLEST_SHARE * len(scores)))
        missing = min(fewest, int(unknown.sum()) // 2) - int(outliers.sum())
        fallback = missing > 0
        if fallback:
            order = np.argsort(-scores, kind="stable")
            outliers[order[(unknown & ~outliers)[order]][:missing]] = True
        return Candidates(np.flatnonzero(outliers), np.flatnonzero(~outliers), fallback)


@dataclass(frozen=True)
class TopFraction:
    """The score that the given share of rows reaches."""

    fraction: float

    def bound(self) -> float:
        """NaN: a share that was asked for bounds nothing."""
        return float("nan")

    def cutoff(self, scores: npt.NDArray[np.float64]) -> float:
        """The lowest of the highest `fraction` of the scores, at least one of them."""
        count = max(1, round(self.fraction * len(scores)))
        return float(np.partition(scores, len(scores) - count)[len(scores) - count])


def read_labels(y: object, n_rows: int) -> npt.NDArray[np.int8]:
    """`y` as int8: 1 known outlier, -1 known inlier, 0 unknown; None is all unknown."""
    if y is None:
        return np.zeros(n_rows, dtype=np.int8)
    values = np.asarray(y)
    if values.shape not in ((n_rows,), (n_rows, 1)):
        raise OptionError(f"y of shape {values.shape} was given; allowed: one label for each of the {n_rows} rows.")
    values = values.reshape(-1)
    known = np.isin(values, (-1, 0, 1)) if values.dtype.kind in "biuf" else np.zeros(n_rows, dtype=bool)
    if not known.all():
        first = int(np.flatnonzero(~known)[0])
        raise OptionError(
            f"y[{first}]={values[first]!r} was given; allowed: 1 (known outlier), -1 (known inlier) and 0 (unknown)."
        )
    return values.astype(np.int8)
