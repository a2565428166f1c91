"""What each stage must provide, and what stages pass to one another.

A user-defined stage needs only the methods of its protocol. Built-in stages have more, such as a native form, rows to
hold out or the guarantee of a cut-off. The fit looks these up by name, never by type, and `custom_stages.py` has
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

    A scorer by distances to drawn references also has `phi`, `subsample_size` and `draw(eligible, rng)`, which returns
    the row numbers of the references, one subsample per row.
    """

    def ranking(
        self, rows: Rows, eligible: Integers, rng: np.random.Generator, n_threads: int
    ) -> Callable[[Block], Scores]:
        """Fit to the eligible rows; return a function that scores blocks of rows, higher being more outlying."""


class Thresholder(Protocol):
    """Splits the rows into outlier and inlier candidates.

    A `split` that takes `n_elsewhere` receives the number of known outliers outside X.
    """

    def split(self, scores: Scores, labels: Labels) -> Candidates:
        """Return candidates by score; `labels` are 1 for known outliers, -1 for known inliers, 0 for all others."""


class Sampler(Protocol):
    """Draws meta-triplets from the candidates."""

    n_queries: int

    def draw(self, pools: Pools, n_epochs: int, n: int, batch_size: int, rng: np.random.Generator) -> Integers:
        """Return row numbers of shape epochs x n x (queries, positive, negative)."""


class Head(Protocol):
    """The part of f that follows the sums x W of the first layer."""

    def forward(self, hidden: Floats) -> Floats:
        """Return rows of the representation."""

    def backward(self, gradient: Floats) -> Floats:
        """Return the gradient with respect to the last `hidden`. It may take a step of its own parameters."""


class RepresentationStage(Protocol):
    """The shape of f."""

    first_width: int

    def head(self, rng: np.random.Generator) -> Head:
        """Return the head, which follows the first layer."""


class Loss(Protocol):
    """What training minimises."""

    def __call__(self, rows: Floats, triplets: npt.NDArray[np.int32]) -> tuple[float, npt.NDArray[Any]]:
        """Return the mean loss of triplets, given as positions in `rows`, and its gradient with respect to the rows."""


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
        """Return chosen rows as outliers and the others as inliers; known rows (1, -1) go where they are labelled."""
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
    """A statement about the rows at or above a threshold, and its limits."""

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
    """Whether the rule flags a fixed number or share of the rows, whatever their scores."""

    by_evidence = False
    """Whether the rule uses the evidence of views instead of scores."""

    needs_held_out = False
    """Whether it compares with rows that training did without."""

    @abstractmethod
    def cutoff(self, scores: Scores) -> float:
        """Return the threshold for these scores."""

    def bound(self) -> float:
        """Return the largest possible share of scores at or above the threshold, or NaN if unknown."""
        return math.nan

    def split(self, scores: Scores, labels: Labels) -> Candidates:
        """Return candidates by score, but known outliers (1) and known inliers (-1) by label.

        The threshold is computed from all scores.
        """
        return Candidates.of(scores >= self.cutoff(scores), labels)

    def hold_out(self, candidates: Integers, rng: np.random.Generator) -> Integers:
        """Return the rows to keep out of training, for `cutoff_from` to use; none by default."""
        return np.empty(0, dtype=np.int64)

    def cutoff_from(self, scores: Scores, held_out: Scores) -> float:
        """Return the threshold for the final scores, given those of the held-out rows."""
        return self.cutoff(scores)

    def n_folds(self) -> int:
        """Return the number of models of a fit, usually 1. If more, each scores the fold that it was not trained on."""
        return 1

    def cutoff_of_folds(self, folds: Sequence[Scores]) -> float:
        """Return the threshold, given the scores of each fold by the model that did not see it."""
        return self.cutoff(np.concatenate(folds))

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        """Return what holds for flagged rows, in the training data or in other data.

        `finds_nothing`: no training row is flagged.
        """
        return Guarantee(self.meaning(is_training), COUNTED if is_training else OF_OTHERS)

    def flags_of_noise(self, n_rows: int) -> int | None:
        """Return about how many of `n_rows` rows without outliers would be flagged, or None if unknown."""
        return None

    def meaning(self, is_training: bool) -> str:
        """Return the rule in words."""
        return f"a custom rule, {type(self).__name__}"


COUNTED = "It says how many rows are flagged, not how many of them are outliers: the ranking says which come first."

OF_OTHERS = (
    "This holds for the training rows only. Any share of other rows, such as these, can be flagged: many flagged rows "
    "mean that these data differ from the training data."
)
