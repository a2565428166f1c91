"""What each stage must provide, and what stages pass to one another.

A user-defined stage needs only the methods of its protocol. Built-in stages offer more, which the fit asks
for by name and never by type: a native form, rows to hold out, what a cut-off guarantees. `custom_stages.py` has the
defaults for user-defined stages.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..data.blocks import Block
from ..data.labels import Labels
from ..data.rows import Rows

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


class Scorer(Protocol):
    """Ranks rows, and detects in the representation.

    One that scores by distances to drawn references also has `phi`, `subsample_size` and `draw(eligible, rng)`, the
    numbers of the references, a subsample a row.
    """

    def ranking(
        self, rows: Rows, eligible: Integers, rng: np.random.Generator, n_threads: int
    ) -> Callable[[Block], Scores]:
        """A function that scores blocks of rows, higher being more outlying, fitted to the eligible rows."""


class Thresholder(Protocol):
    """Tells outlier candidates from inlier candidates.

    If `split` takes `n_elsewhere`, it is passed the number of known outliers outside X.
    """

    def split(self, scores: Scores, labels: Labels) -> Candidates:
        """Candidates by score; `labels` are 1 for known outliers, -1 for known inliers, 0 for all others."""


class Sampler(Protocol):
    """Draws meta-triplets from the candidates."""

    n_queries: int

    def draw(self, pools: Pools, n_epochs: int, n: int, batch_size: int, rng: np.random.Generator) -> Integers:
        """Row numbers, epochs x n x (queries, positive, negative)."""


class Head(Protocol):
    """What follows the sums x W of the first layer."""

    def forward(self, hidden: Floats) -> Floats:
        """Rows of the representation."""

    def backward(self, gradient: Floats) -> Floats:
        """The gradient with respect to `hidden` of the last forward; may take a step of its own parameters."""


class RepresentationStage(Protocol):
    """The shape of f."""

    first_width: int

    def head(self, rng: np.random.Generator) -> Head:
        """What follows the first layer."""


class Loss(Protocol):
    """What training minimises."""

    def __call__(self, rows: Floats, triplets: npt.NDArray[np.int32]) -> tuple[float, npt.NDArray[Any]]:
        """The mean loss of triplets, given as positions in `rows`, and its gradient with respect to the rows."""


@dataclass(frozen=True)
class Candidates:
    """Row numbers of the outlier and the inlier candidates; `fallback` if too few scores reached the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Candidates
    >>> high, labels = np.array([True, False, False, False]), np.array([0, 0, 1, -1])
    >>> Candidates.of(high, labels).outliers
    array([0, 2])
    """

    outliers: Integers
    inliers: Integers
    fallback: bool = False

    @classmethod
    def of(cls, chosen: npt.NDArray[np.bool_], labels: Labels, fallback: bool = False) -> Candidates:
        """The chosen rows and the others; known outliers (1) and inliers (-1) as labelled."""
        outliers = (chosen & (labels == 0)) | (labels == 1)
        return cls(np.flatnonzero(outliers), np.flatnonzero(~outliers), fallback)


@dataclass(frozen=True)
class Pools:
    """Row numbers to draw triplets from, and the scores that weigh them."""

    inliers: Integers
    inlier_scores: Scores
    outliers: Integers
    outlier_scores: Scores
    labeled_outliers: Integers


class Guarantee(NamedTuple):
    """What can be said about the rows at or above a threshold, and what cannot."""

    text: str
    caveat: str


class Cutoff(ABC, BaseEstimator):
    """A rule that gives a threshold: rows whose score is at or above it are flagged.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Cutoff, REPEN
    >>> class Median(Cutoff):
    ...     def cutoff(self, scores):
    ...         return float(np.median(scores))
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> detector = REPEN(n_epochs=1, cutoff=Median(), random_state=0).fit(X)
    >>> int((detector.predict(X) == -1).sum())
    50
    """

    sets_number = False
    """Whether it flags a given number or share of the rows, whatever their scores."""

    by_evidence = False
    """Whether it looks at rows by views that are not learned, and needs more than scores."""

    @abstractmethod
    def cutoff(self, scores: Scores) -> float:
        """The threshold for these scores."""

    def bound(self) -> float:
        """The largest possible share of scores at or above the threshold, or NaN if that is not known."""
        return math.nan

    def split(self, scores: Scores, labels: Labels) -> Candidates:
        """Candidates by score, known outliers (1) and known inliers (-1) by label.

        The threshold is taken over all scores.
        """
        return Candidates.of(scores >= self.cutoff(scores), labels)

    def hold_out(self, candidates: Integers, rng: np.random.Generator) -> Integers:
        """Rows to keep out of training, for `cutoff_from` to use; none by default."""
        return np.empty(0, dtype=np.int64)

    def cutoff_from(self, scores: Scores, held_out: Scores) -> float:
        """The threshold for the final scores, given those of the held-out rows."""
        return self.cutoff(scores)

    def n_folds(self) -> int:
        """The number of models of a fit, each trained without one fold of the rows, which it scores; usually 1."""
        return 1

    def cutoff_of_folds(self, folds: Sequence[Scores]) -> float:
        """The threshold, given the scores of each fold by the model that did not see it."""
        return self.cutoff(np.concatenate(folds))

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        """What holds for flagged rows, of the training data or of other data.

        `finds_nothing`: no training row is flagged.
        """
        return Guarantee(self.meaning(is_training), COUNTED if is_training else OF_OTHERS)

    def flags_of_noise(self, n_rows: int) -> int | None:
        """About how many of `n_rows` rows without any outlier would be flagged; None if that is not known."""
        return None

    def meaning(self, is_training: bool) -> str:
        """The rule in words."""
        return f"a custom rule, {type(self).__name__}"


COUNTED = "It says how many rows are flagged, not how many of them are outliers: the ranking says which come first."

OF_OTHERS = (
    "That holds for the training rows only. Any share of other rows, such as these, can be flagged: many flagged rows "
    "mean that these data differ from the training data."
)
