"""scikit-learn's face of a detector: what follows once rows have scores and there is a line between them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, _get_feature_names, check_is_fitted

from .model import offset_of
from .options import check
from .rows import DataError, Rows, open_rows
from .thresholding import Cantelli

Scores = npt.NDArray[np.float64]


class Detector(ABC, OutlierMixin, BaseEstimator):
    """Needs `fit` and `outlier_score` of its subclass."""

    random_state: Any
    n_jobs: int | None

    @abstractmethod
    def outlier_score(self, X: Any) -> Scores:
        """How outlying each row is: higher is more outlying."""

    def score_samples(self, X: Any) -> Scores:
        """The negative of `outlier_score`, as scikit-learn has it: lower is more outlying."""
        return -self.outlier_score(X)

    def decision_function(self, X: Any) -> Scores:
        """`score_samples` less `offset_`: negative for the rows that `predict` flags."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """-1 for rows whose score is at or above `threshold_`, 1 for all others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Any, y: Any = None, **labeled: Any) -> npt.NDArray[np.int64]:
        """`fit`, then `predict` of the same rows."""
        self.fit(X, y, **labeled)
        return np.where(self.outlier_scores_ >= self.threshold_, -1, 1)

    def _keep_face(self, X: Any, n_features: int, scores: Scores) -> None:
        threshold = Cantelli().cutoff(scores)
        self.n_features_in_ = n_features
        names = _get_feature_names(X)
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        self.outlier_scores_ = scores
        self.threshold_ = threshold
        self.offset_ = offset_of(threshold)

    def _open(self, X: Any) -> Rows:
        """X for scoring: checked, and with the columns that `fit` saw."""
        check_is_fitted(self, "outlier_scores_")
        check({"n_jobs": self.n_jobs})
        rows, _ = open_rows(X, n_threads=self._n_threads())
        _check_feature_names(self, X, reset=False)
        if rows.n_features != self.n_features_in_:
            _check_n_features(self, X, reset=False)
            raise DataError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows

    def _n_threads(self) -> int:
        if self.n_jobs is None or self.n_jobs == -1:
            return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return int(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def seed_of(random_state: Any) -> int | None:
    """One seed, drawn from a generator where one was given."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return None if random_state is None else int(random_state)
