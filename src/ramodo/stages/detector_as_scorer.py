"""Detectors of other libraries as scorers: anything with `fit(X)` and `score_samples(X)`.

Each is cloned before it is fitted, gets a seed if it takes one, and is given a scipy or numpy matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from ..data.blocks import Block, DenseRows
from ..data.rows import Rows
from ..options import option_error

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class DetectorAsScorer(BaseEstimator):
    """Another library's detector, used as a scorer."""

    def __init__(self, detector: Any) -> None:
        self.detector = detector

    @property
    def adapted(self) -> Any:
        """The object that the user passed in."""
        return self.detector

    def ranking(
        self, rows: Rows, eligible: Integers, rng: np.random.Generator, n_threads: int
    ) -> FittedDetectorAsScorer:
        """Fit a clone of the detector to the eligible rows and return it as a function of blocks."""
        return FittedDetectorAsScorer(self.detector, rows.take(eligible), rng)


class FittedDetectorAsScorer:
    """Score rows by a fitted detector; higher is more outlying."""

    def __init__(self, detector: Any, rows: Block, rng: np.random.Generator) -> None:
        self._detector = clone(detector, safe=False)
        if hasattr(detector, "get_params") and detector.get_params(deep=False).get("random_state", 0) is None:
            self._detector.set_params(random_state=int(rng.integers(2**31)))
        self._detector.fit(rows.to_matrix())

    def __call__(self, block: Block) -> Scores:
        return -np.asarray(self._detector.score_samples(block.to_matrix()))

    def score(self, rows: npt.NDArray[np.float32], n_threads: int) -> Scores:
        """The same for rows of the representation."""
        return self(DenseRows(rows))


def as_scorer(given: Any, name: str) -> Any:
    """Return `given` if it is a scorer, or wrap it if it is a detector. Raise `OptionError` for anything else."""
    if hasattr(given, "check_stage") and not isinstance(given, type):
        given.check_stage()
    is_object = not isinstance(given, type)
    if is_object and hasattr(given, "ranking"):
        return given
    if is_object and hasattr(given, "fit") and hasattr(given, "score_samples"):
        return DetectorAsScorer(given)
    kinds = "Sp, KthNN, AverageNN, Ensemble, or any object with fit and score_samples"
    raise option_error(name, kinds, repr(given))
