"""The wiring of RAMODO's stages into an estimator (figure 1 of the paper). No maths lives here.

    rows -> initial ranking -> candidates -> triplets -> training -> representation -> references -> scores

`RandomDistanceDetector` is the estimator; a subclass names its stages.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, OutlierMixin, TransformerMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, _get_feature_names, check_is_fitted

from . import model_file
from .options import OptionError, check
from .progress import Bar, Progress
from .ranking import NearestQueryHinge
from .representation import ReluLayer, initial_limit
from .rows import DataError, Rows, like, map_blocks, open_rows, stack
from .scoring import Sp
from .thresholding import Candidates, Cantelli, TopFraction, read_labels
from .training import Adadelta, train
from .triplets import Pools, TripletSampler

_FEWEST_ROWS = 3
"""A query, a positive and a negative."""

_ENOUGH_ROWS = 50
"""Fewer tell too little of a representation to call it collapsed."""


@dataclass(frozen=True)
class Stages:
    """The replaceable components."""

    scorer: Sp
    thresholder: Cantelli
    sampler: TripletSampler
    loss: NearestQueryHinge
    optimizer: Adadelta
    cutoff: Cantelli | TopFraction


@dataclass(frozen=True)
class TrainingData:
    """The rows of X and what is known of them, and labelled rows that are not in X."""

    rows: Rows
    labels: npt.NDArray[np.int8]
    outliers: Rows | None
    inliers: Rows | None
    names: npt.NDArray[np.object_] | None
    n_seen: int
    largest: float

    @property
    def eligible(self) -> npt.NDArray[np.int64]:
        """Rows that may be references: a row close to a known outlier must not look normal."""
        return np.flatnonzero(self.labels != 1)

    def extra(self) -> list[Rows]:
        return [rows for rows in (self.outliers, self.inliers) if rows is not None]


class RandomDistanceDetector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OutlierMixin, BaseEstimator):
    """Learns a representation for a random-distance detector, then detects in it."""

    n_components: int
    n_epochs: int
    samples_per_epoch: int | str
    batch_size: int
    random_state: Any
    n_jobs: int | None
    verbose: int

    def _stages(self) -> Stages:
        raise TypeError(f"{type(self).__name__} names no stages; use REPEN.")

    # ---- fitting -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, labeled_outliers: Any = None, labeled_inliers: Any = None) -> Self:
        """Learn from the rows of `X`.

        Parameters
        ----------
        X : matrix or table of numbers, sparse or dense, one row per object
        y : one label per row, optional: 1 known outlier, -1 known inlier, 0 unknown
        labeled_outliers, labeled_inliers : matrices of further rows, not part of X, whose nature is known
        """
        check(self.get_params(deep=False))
        stages, progress, n_threads = self._stages(), Progress(self.verbose), self._n_threads()
        seeds = np.random.SeedSequence(_entropy(self.random_state)).spawn(4)

        with progress.stage("check"):
            data = _open_training_data(X, y, labeled_outliers, labeled_inliers, n_threads)
        with progress.stage("ranking") as bar:
            initial, extra_initial = _rank(stages.scorer, data, seeds[0], n_threads, bar)
        with progress.stage("sampling"):
            candidates = stages.thresholder.split(initial, data.labels)
            pools = _pools(candidates, initial, extra_initial, data)
            stages.sampler.check(pools)
            epochs = self._draw(stages.sampler, pools, data.rows.n_rows, seeds[1])
        with progress.stage("training") as bar:
            layer, curve = self._train(stages, data, epochs, seeds[2], bar)
        with progress.stage("transform") as bar:
            mapped = map_blocks(data.rows, lambda block: layer.transform(block, n_threads), bar.show)
        with progress.stage("scoring"):
            drawn = stages.scorer.draw(data.eligible, np.random.default_rng(seeds[3]))
            references = np.ascontiguousarray(mapped[drawn.ravel()])
            small = stages.scorer.in_representation(references, drawn.shape[1])
            scores = small.score(mapped, n_threads)
            threshold = stages.cutoff.cutoff(scores)

        _warn_if_collapsed(mapped)
        fitted = {
            "n_features_in_": data.rows.n_features,
            "feature_indices_": layer.columns,
            "feature_weights_": layer.weights,
            "weight_seed_": layer.seed,
            "weight_limit_": layer.limit,
            "references_": references,
            "reference_size_": drawn.shape[1],
            "initial_scores_": initial,
            "candidate_outliers_": candidates.outliers,
            "fallback_used_": candidates.fallback,
            "loss_curve_": curve,
            "outlier_scores_": scores,
            "threshold_": threshold,
            "offset_": offset_of(threshold),
            "false_positive_bound_": stages.cutoff.bound(),
            "stage_seconds_": progress.seconds,
            "_layer": layer,
            "_small": small,
        }
        if data.names is not None:
            fitted["feature_names_in_"] = data.names
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(fitted)  # in one go: an interrupted fit leaves the estimator as it was
        return self

    def _draw(
        self, sampler: TripletSampler, pools: Pools, n_rows: int, seed: np.random.SeedSequence
    ) -> npt.NDArray[np.int64]:
        per_epoch = min(n_rows, 5000) if self.samples_per_epoch == "auto" else int(self.samples_per_epoch)
        return sampler.draw(pools, self.n_epochs, per_epoch, self.batch_size, np.random.default_rng(seed))

    def _train(
        self, stages: Stages, data: TrainingData, epochs: npt.NDArray[np.int64], seed: np.random.SeedSequence, bar: Bar
    ) -> tuple[ReluLayer, npt.NDArray[np.float64]]:
        weight_seed = int(seed.generate_state(1, np.uint64)[0])
        limit = initial_limit(data.n_seen, self.n_components)
        rows, renumbered = _with_extra(data.rows, data.extra(), epochs)
        trained = train(
            rows,
            renumbered,
            self.batch_size,
            width=self.n_components,
            margin=stages.loss.margin,
            n_queries=stages.loss.n_queries,
            seed=weight_seed,
            limit=limit,
            largest=data.largest,
            adadelta=stages.optimizer,
            n_threads=self._n_threads(),
            show=bar.show,
        )
        layer = ReluLayer(trained.columns, trained.weights, data.rows.n_features, weight_seed, limit)
        return layer, trained.loss_curve

    def _prepare(self) -> None:
        self._layer = ReluLayer(
            self.feature_indices_, self.feature_weights_, self.n_features_in_, self.weight_seed_, self.weight_limit_
        )
        self._small = self._stages().scorer.in_representation(self.references_, self.reference_size_)

    # ---- using ---------------------------------------------------------------------------------------------------

    def outlier_score(self, X: Any) -> npt.NDArray[np.float64]:
        """How outlying each row is: higher is more outlying. Depends on the row alone, not on its neighbours in X."""
        rows, n_threads = self._open(X), self._n_threads()
        return map_blocks(rows, lambda block: self._small.score(self._layer.transform(block, n_threads), n_threads))

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """The negative of `outlier_score`, as scikit-learn has it: lower is more outlying."""
        return -self.outlier_score(X)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """`score_samples` less `offset_`: negative for the rows that `predict` flags."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """-1 for rows whose score is at or above `threshold_`, 1 for all others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Any, y: Any = None, **labeled: Any) -> npt.NDArray[np.int64]:
        """`fit`, then `predict` of the same rows."""
        self.fit(X, y, **labeled)
        return np.where(self.outlier_scores_ >= self.threshold_, -1, 1)

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """The representation: one row of `n_components` non-negative numbers per row of X."""
        rows, n_threads = self._open(X), self._n_threads()
        return map_blocks(rows, lambda block: self._layer.transform(block, n_threads))

    @property
    def components_(self) -> sp.coo_array:
        """Weights of the features that training changed, n_components x n_features.

        A feature without an entry is not at zero: it keeps the weights that the seed gave it.
        """
        check_is_fitted(self, "feature_weights_")
        n, m = self.feature_weights_.shape
        coordinates = np.tile(np.arange(m), n), np.repeat(self.feature_indices_, m)
        return sp.coo_array((self.feature_weights_.ravel(), coordinates), shape=(m, self.n_features_in_))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model to one file (safetensors); `ramodo.load` reads it back."""
        check_is_fitted(self)
        return model_file.save(self, Path(path))

    def _open(self, X: Any) -> Rows:
        check_is_fitted(self)
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

    # ---- scikit-learn's contract ---------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return int(self.feature_weights_.shape[1])

    def _n_threads(self) -> int:
        if self.n_jobs is None or self.n_jobs == -1:
            return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return int(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        return {key: value for key, value in state.items() if key not in ("_layer", "_small")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "feature_weights_"):
            self._prepare()


def _entropy(random_state: Any) -> int | None:
    """One seed, drawn from a generator where one was given."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return None if random_state is None else int(random_state)


def offset_of(threshold: float) -> float:
    """scikit-learn flags scores below the offset, the paper those at or above the threshold: one step apart."""
    return float(np.nextafter(-threshold, np.inf))


def _open_training_data(X: Any, y: Any, outliers: Any, inliers: Any, n_threads: int) -> TrainingData:
    names = _get_feature_names(X)
    rows, facts = open_rows(X, n_threads=n_threads)
    if rows.n_rows < _FEWEST_ROWS:
        raise DataError(
            f"X has n_samples = {rows.n_rows}; at least {_FEWEST_ROWS} are needed: a query, a positive and a negative."
        )
    labels = read_labels(y, rows.n_rows)
    if (labels == 1).all():
        raise OptionError("no inlier candidates are left: y says that every row of X is a known outlier (1).")
    known_outliers, largest_outlier = _open_extra(rows, names, "labeled_outliers", outliers)
    known_inliers, largest_inlier = _open_extra(rows, names, "labeled_inliers", inliers)
    largest = max(facts.largest, largest_outlier, largest_inlier)
    return TrainingData(rows, labels, known_outliers, known_inliers, names, facts.n_seen, largest)


def _open_extra(rows: Rows, names: npt.NDArray[np.object_] | None, name: str, given: Any) -> tuple[Rows | None, float]:
    """Labelled rows that are not in X, in the kind of `rows`, and their largest absolute value."""
    if given is None or (given.shape[0] if hasattr(given, "shape") and given.shape else len(given)) == 0:
        return None, 0.0
    extra, facts = open_rows(given, name=name)
    if extra.n_features != rows.n_features:
        raise DataError(f"{name} has {extra.n_features} features; allowed: the {rows.n_features} of X.")
    own = _get_feature_names(given)
    if names is not None and own is not None and not np.array_equal(names, own):
        first = int(np.flatnonzero(names != own)[0])
        raise DataError(
            f"column {first} of {name} is {own[first]!r}; allowed: the columns of X in their order, there "
            f"{names[first]!r}."
        )
    return like(rows, extra), facts.largest


def _rank(
    scorer: Sp, data: TrainingData, seed: np.random.SeedSequence, n_threads: int, bar: Bar
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Scores of the rows of X, and of the extra inliers, against references drawn from X."""
    drawn = scorer.draw(data.eligible, np.random.default_rng(seed))
    if drawn.shape[1] < scorer.subsample_size:
        warnings.warn(
            f"subsample_size={scorer.subsample_size} leaves no row out of a subsample of the {len(data.eligible)} rows "
            f"to draw from; subsamples of {drawn.shape[1]} are used.",
            stacklevel=3,
        )
    score = scorer.against(data.rows.take(drawn.ravel()), drawn.shape[1], n_threads)
    initial = map_blocks(data.rows, score, bar.show)
    _warn_if_flat(initial)
    return initial, map_blocks(data.inliers, score) if data.inliers is not None else np.empty(0)


def _warn_if_flat(scores: npt.NDArray[np.float64]) -> None:
    if np.ptp(scores) <= 1e-12 * abs(scores.max()):
        warnings.warn(
            "All rows have the same initial score: they are equal, or equally far apart. No row stands out.",
            stacklevel=4,
        )


def _warn_if_collapsed(mapped: npt.NDArray[np.float32]) -> None:
    """Most units dead and most rows at zero: the scores that are left tell little."""
    alive = (mapped > 0).any(axis=0).sum()
    empty = (mapped == 0).all(axis=1).mean()
    if len(mapped) >= _ENOUGH_ROWS and 2 * alive <= mapped.shape[1] and empty > 0.9:
        warnings.warn(
            f"The representation has collapsed: {alive} of {mapped.shape[1]} units respond to any row, {empty:.0%} of "
            "the rows are mapped to zero. Features on very different scales do this: take logarithms or scale them, "
            "and look at initial_scores_, the ranking without a representation.",
            stacklevel=3,
        )


def _pools(
    candidates: Candidates,
    scores: npt.NDArray[np.float64],
    extra_scores: npt.NDArray[np.float64],
    data: TrainingData,
) -> Pools:
    """What triplets are drawn from. Extra rows are numbered after those of X: outliers first, then inliers."""
    n = len(scores)
    n_outliers = data.outliers.n_rows if data.outliers is not None else 0
    return Pools(
        inliers=np.concatenate([candidates.inliers, n + n_outliers + np.arange(len(extra_scores))]),
        inlier_scores=np.concatenate([scores[candidates.inliers], extra_scores]),
        outliers=candidates.outliers,
        outlier_scores=scores[candidates.outliers],
        labeled_outliers=np.concatenate([np.flatnonzero(data.labels == 1), n + np.arange(n_outliers)]),
    )


def _with_extra(rows: Rows, extra: list[Rows], epochs: npt.NDArray[np.int64]) -> tuple[Rows, npt.NDArray[np.int64]]:
    """The rows that triplets name: X itself, or where there are extra rows a copy of what was drawn and those."""
    if not extra:
        return rows, epochs
    drawn = np.unique(epochs)
    own = drawn[drawn < rows.n_rows]
    renumbered = np.where(epochs < rows.n_rows, np.searchsorted(own, epochs), epochs - rows.n_rows + len(own))
    return stack([rows.take(own), *extra]), renumbered
