"""The scikit-learn interface that all detectors share: everything that follows from scores and a threshold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, _get_feature_names, check_is_fitted

from . import bounds, threads
from .data.blocks import Block
from .data.dask_inputs import OfBlock, is_dask, map_lazily, map_values, rows_of_dask
from .data.labels import read_labels
from .data.one_row import Places
from .data.rows import Rows
from .data.validation import DataError, open_rows
from .formats import Table, frames
from .formats.values import named_values
from .model.terms import offset_of
from .model.ties import settled
from .options import OptionError, check

Scores = npt.NDArray[np.float64]


class Detector(ABC, OutlierMixin, BaseEstimator):
    """A detector; a subclass must implement `fit` and `_of_block`."""

    random_state: Any
    n_jobs: int | None

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Refuse `contamination`, other libraries' name for the share of rows to flag, and say what to use instead."""
        if "contamination" in options and "contamination" not in cls._get_param_names():
            share = f"cutoff={options['contamination']!r}, the share of training rows to flag"
            advice = f"give {share}" if "cutoff" in cls._get_param_names() else f"Consensus and REPEN take {share}"
            raise TypeError(f"{cls.__name__} has no contamination: {advice}.")
        return super().__new__(cls)

    @abstractmethod
    def _of_block(self) -> OfBlock:
        """Return a function that scores blocks of rows, once the detector is fitted."""

    def outlier_score(self, X: Any) -> Scores:
        """Return how outlying each row is; higher is more outlying. A score does not depend on the other rows of X."""
        check_is_fitted(self, "outlier_scores_")
        return self._of_rows(self._of_block(), X)

    def score_one(self, x: Mapping[Any, float]) -> float:
        """Return `outlier_score` of one row of a stream, bit for bit; the row is a dict of features and values.

        Features have the names of the training data or, if it had none, column numbers from 0. Features that are not in
        the dict are zero. Names that the training data did not have are skipped; a row with only such names is refused.
        """
        check_is_fitted(self, "outlier_scores_")
        of_fit = self.n_features_in_, getattr(self, "feature_names_in_", None)
        places = self.__dict__.get("_places")
        if places is None or not places.are_of(*of_fit):  # a dict of all names is made once for each fit
            places = self._places = Places(*of_fit)
        rows = open_rows(places.row(x), name="x")
        return float(self._of_block()(rows.in_memory())[0])

    def score_samples(self, X: Any) -> Scores:
        """Return the negative of `outlier_score`, as is usual in scikit-learn: lower is more outlying."""
        return map_values(np.negative, self.outlier_score(X))

    def decision_function(self, X: Any) -> Scores:
        """Return `score_samples` minus `offset_`, which is negative for the rows that `predict` flags."""
        scores = self.score_samples(X)  # first: it raises if nothing has been fitted
        return map_values(partial(_above, offset=self.offset_), scores)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Return -1 for rows whose score is at or above `threshold_`, 1 for all others."""
        return map_values(_flags, self.decision_function(X))

    def fit_predict(self, X: Any, y: Any = None, **known: Any) -> npt.NDArray[np.int64]:
        """Call `fit`, then `predict` for the same rows. `y` is ignored; `known` is passed to `fit` by name."""
        self.fit(X, **known)
        return np.where(self.outlier_scores_ >= self.threshold_, -1, 1)

    def rows_of(self, X: Any) -> Rows:
        """Check X and return it as rows with the columns of the training data."""
        check_is_fitted(self, "outlier_scores_")
        check({"n_jobs": self.n_jobs})
        if is_dask(X):
            return rows_of_dask(X, self)
        table = self._table_of(X)
        if table is not None:
            return self._open_table(table)
        _check_feature_names(self, X, reset=False)  # first: the values of other columns do not matter
        rows = open_rows(X, n_threads=self._n_threads())
        if rows.n_features != self.n_features_in_:
            _check_n_features(self, X, reset=False)
            raise DataError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows

    def _table_of(self, X: Any) -> Table | None:
        """Read a frame like the training data; return None if X is a matrix or a frame of numbers."""
        check_is_fitted(self, "outlier_scores_")
        schema, frequencies = self.schema_, self.document_frequencies_
        return frames.to_score(X, schema, frequencies, self._n_threads())

    def _open_table(self, table: Table) -> Rows:
        """Return the rows of a table, which must have the features of the training data."""
        with named_values(frames.PLACE, table):
            rows = open_rows(table.X, n_threads=self._n_threads())
        own, names = table.names, getattr(self, "feature_names_in_", None)
        if rows.n_features != self.n_features_in_ or not (own is None or names is None or own == list(names)):
            raise DataError(
                f"X must have the {self.n_features_in_:,} features that {type(self).__name__} was fitted to, in their "
                f"order, got {rows.n_features:,}{' others' * (rows.n_features == self.n_features_in_)}."
            )
        return rows

    def _of_rows(self, of_block: OfBlock, X: Any, n_columns: int | None = None) -> Any:
        """Return a function's result for each row of X; for a Dask collection, as a collection computed on demand.

        `n_columns` is set if a row's result is that many numbers in single precision, not one in double precision.
        """
        if not is_dask(X):
            return self.rows_of(X).gather(of_block)
        check_is_fitted(self, "outlier_scores_")
        check({"n_jobs": self.n_jobs})
        like = np.empty(0) if n_columns is None else np.empty((0, n_columns), dtype=np.float32)
        return map_lazily(X, of_block, like, self)

    def _n_threads(self) -> int:
        return threads.n_threads(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class RankingDetector(Detector):
    """A detector that is also a stage: its `ranking` learns from the eligible rows and scores others."""

    @abstractmethod
    def ranking(
        self, rows: Rows, eligible: npt.NDArray[np.int64], rng: np.random.Generator, n_threads: int
    ) -> Callable[[Block], Scores]:
        """Return a function that scores blocks of rows."""

    @abstractmethod
    def check_stage(self) -> None:
        """Raise `OptionError` for an invalid option."""

    def fit(self, X: Any, y: Any = None, *, labels: Any = None) -> Self:
        """Learn from the rows of `X` that are not known outliers (1 in `labels`); `y` is ignored."""
        self.check_stage()
        table = frames.to_fit(X, self._n_threads())
        names = _get_feature_names(X) if table is None else None
        rows = open_rows(X if table is None else table.X, n_threads=self._n_threads())
        eligible = np.flatnonzero(read_labels(labels, rows.n_rows) != 1)
        if len(eligible) < 2:
            raise OptionError(
                "X must have at least 2 rows that are not known outliers, to draw references from, got n_samples = "
                f"{rows.n_rows} with {len(eligible)} of them."
            )
        score = self.ranking(rows, eligible, np.random.default_rng(seed_of(self.random_state)), self._n_threads())
        scores = rows.gather(score)
        threshold = settled(bounds.cantelli_cutoff(scores), scores)
        fitted = {
            "n_features_in_": rows.n_features,
            "outlier_scores_": scores,
            "threshold_": threshold,
            "offset_": offset_of(threshold),
            "_score": score,
            "schema_": None,
            "document_frequencies_": None,
            **rows.learned_attributes(),
            **({} if table is None else table.learned_attributes()),
        }
        if names is not None:
            fitted["feature_names_in_"] = names
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(fitted)  # all at once: an interrupted fit leaves the detector unchanged
        return self

    def _of_block(self) -> OfBlock:
        return self._score


def _above(scores: Scores, offset: float) -> Scores:
    return scores - offset


def _flags(decisions: Scores) -> npt.NDArray[np.int64]:
    return np.where(decisions < 0, -1, 1)


def seed_of(random_state: Any) -> int | None:
    """Return the seed, drawn from `random_state` if that is a generator."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return None if random_state is None else int(random_state)
