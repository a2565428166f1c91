"""Turn scores (and labels) into candidate sets: equation 2. The same cut-offs apply to the final scores.

By Cantelli's inequality, at most 1/(1+α²) of the scores lie α or more standard deviations above the mean, whatever
their distribution. Rows at or above that threshold are the outlier candidates O, all others the inlier candidates I.

A user-defined thresholder needs `split(scores, labels)`, which returns `Candidates`; a subclass of `Cutoff` needs only
`cutoff(scores)`, and can then also be the `cutoff` of the final scores.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from .. import bounds
from ..data.labels import Labels
from ..options import check, option_error
from .protocols import OF_OTHERS, Candidates, Cutoff, Guarantee

Scores = npt.NDArray[np.float64]

FALLBACK = 10
"""Number of candidates if no score reaches the threshold."""

SMALLEST_SHARE = 0.005
"""The smallest share of the rows to take as candidates. If fewer reach the threshold, the highest are taken.

Scores with an upper bound (distances between rows of length 1, say) can have a threshold that only one or two of many
thousand rows reach by chance. With that few negatives, the layer learns those rows and nothing else.
"""


class Cantelli(Cutoff):
    """Mean plus `alpha` standard deviations, with `alpha` given or derived from a bound on the share above.

    `false_positives=0.25` is `alpha=√3`. If too few scores reach the threshold, the highest are the candidates: half
    a percent of the rows, or ten.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Cantelli
    >>> Cantelli(alpha=2).cutoff(np.array([1.0, 3.0]))
    4.0
    """

    def __init__(self, alpha: float = math.sqrt(3), *, false_positives: float | None = None) -> None:
        self.alpha = alpha
        self.false_positives = false_positives

    def _alpha(self) -> float:
        check(self.get_params(deep=False))
        return self.alpha if self.false_positives is None else bounds.cantelli_alpha(self.false_positives)

    def bound(self) -> float:
        """Return the largest possible share of scores at or above the threshold, for any distribution (section 5.2)."""
        return bounds.cantelli_bound(self._alpha())

    def cutoff(self, scores: Scores) -> float:
        """Return the threshold; above every score if all are equal, since then none stands out."""
        return bounds.cantelli_cutoff(scores, self._alpha())

    def flags_of_noise(self, n_rows: int) -> int:
        """Return a share exp(-(1 + α)) of the rows, since evidence falls off exponentially by construction."""
        return round(n_rows * math.exp(-(1 + self._alpha())))

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        caveat = (
            "This holds for any distribution of scores. It bounds how many rows can be flagged and does not say that "
            "all flagged rows are outliers: the ranking says which to look at first."
        )
        return Guarantee(self.meaning(is_training), caveat if is_training else OF_OTHERS)

    def meaning(self, is_training: bool) -> str:
        alpha, most = self._alpha(), f"at most {100 * self.bound():.0f} %"
        rule = f"mean + {'√3' if math.isclose(alpha, math.sqrt(3)) else f'{alpha:.3g}'} deviations"
        if is_training:
            return f"{rule}; {most} of any scores can lie at or above it"
        return f"{rule} of the training rows' scores; {most} of them can lie at or above it"

    def split(self, scores: Scores, labels: Labels, n_elsewhere: int = 0) -> Candidates:
        """Return candidates by score, or the highest if too few reach the threshold; known rows go by label.

        `n_elsewhere` outliers are known outside X; that many fewer candidates are needed.
        """
        unknown = labels == 0
        outliers = ((scores >= self.cutoff(scores)) & unknown) | (labels == 1)
        fewest = max(0 if outliers.any() else FALLBACK, int(SMALLEST_SHARE * len(scores)) - n_elsewhere)
        missing = min(fewest, int(unknown.sum()) // 2) - int(outliers.sum())
        fallback = missing > 0
        if fallback:
            order = np.argsort(-scores, kind="stable")
            outliers[order[(unknown & ~outliers)[order]][:missing]] = True
        return Candidates.of(outliers, labels, fallback)


class TopFraction(Cutoff):
    """The score that the given share of rows reaches.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import TopFraction
    >>> TopFraction(0.25).cutoff(np.array([1.0, 2.0, 3.0, 10.0]))
    10.0
    """

    sets_number = True

    def __init__(self, fraction: float = 0.05) -> None:
        self.fraction = fraction

    def cutoff(self, scores: Scores) -> float:
        """Return the lowest of the highest `fraction` of the scores, and at least of one."""
        check(self.get_params(deep=False))
        return _lowest_of_highest(scores, max(1, round(self.fraction * len(scores))))

    def flags_of_noise(self, n_rows: int) -> int:
        return round(self.fraction * n_rows)

    def meaning(self, is_training: bool) -> str:
        return f"the requested share, {self.fraction:g} of the training rows"


class TopK(Cutoff):
    """The score that `count` rows reach.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import TopK
    >>> TopK(2).cutoff(np.array([1.0, 2.0, 3.0, 10.0]))
    3.0
    """

    sets_number = True

    def __init__(self, count: int = 10) -> None:
        self.count = count

    def cutoff(self, scores: Scores) -> float:
        """Return the lowest of the `count` highest scores, or of all if there are fewer."""
        check(self.get_params(deep=False))
        return _lowest_of_highest(scores, min(self.count, len(scores)))

    def flags_of_noise(self, n_rows: int) -> int:
        return min(self.count, n_rows)

    def meaning(self, is_training: bool) -> str:
        return f"the requested number, {self.count:,} of the training rows"


class GivenSet(BaseEstimator):
    """Outlier candidates that the user gives by row number; scores only weight them.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import GivenSet
    >>> GivenSet([2]).split(np.array([0.1, 0.3, 0.2]), np.zeros(3, dtype=np.int8)).outliers
    array([2])
    """

    def __init__(self, rows: Any = ()) -> None:
        self.rows = rows

    def split(self, scores: Scores, labels: Labels) -> Candidates:
        """Return the given rows as outliers and the others as inliers; known rows go by label."""
        rows = np.asarray(self.rows)
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise option_error("rows of GivenSet", "a list of row numbers", repr(self.rows))
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(scores)):
            numbers = f"row numbers of X, from 0 to {len(scores) - 1}"
            raise option_error("rows of GivenSet", numbers, f"{rows.min()} to {rows.max()}")
        chosen = np.zeros(len(scores), dtype=bool)
        chosen[rows.astype(np.int64)] = True
        return Candidates.of(chosen, labels)


def _lowest_of_highest(scores: Scores, count: int) -> float:
    return float(np.partition(scores, len(scores) - count)[len(scores) - count])
