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
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from . import model_file
from .options import OptionError, check
from .progress import Bar, Progress
from .ranking import NearestQueryHinge
from .representation import ReluLayer, initial_limit
from .rows import DataError, Facts, Rows, like, map_blocks, open_rows, stack
from .scoring import Sp
from .thresholding import Candidates, Cantelli, TopFraction, read_labels
from .training import Adadelta, train
from .triplets import Pools, TripletSampler

_FEWEST_ROWS = 3
"""A query, a positive and a negative."""


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
class Labeled:
    """What is known of some rows: labels of the rows of X, and rows that are not in X."""

    labels: npt.NDArray[np.int8]
    outliers: Rows | None
    inliers: Rows | None
    inlier_scores: npt.NDArray[np.float64]

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
        stages, progress = self._stages(), Progress(self.verbose)
        n_threads = self._n_threads()
        children = np.random.SeedSequence(_entropy(self.random_state)).spawn(4)
        rng = [np.random.default_rng(child) for child in children]

        with progress.stage("check"):
            rows, facts = open_rows(X, n_threads=n_threads)
            if rows.n_rows < _FEWEST_ROWS:
                raise DataError(
                    f"X has n_samples = {rows.n_rows}; at least {_FEWEST_ROWS} are needed: a query, a "
                    "positive and a negative."
                )
            labels = read_labels(y, rows.n_rows)
            eligible = np.flatnonzero(labels != 1)
            if len(eligible) == 0:
                raise OptionError("no inlier candidates are left: y says that every row of X is a known outlier (1).")
            known_outliers, known_inliers, largest = _open_extra(rows, facts, labeled_outliers, labeled_inliers)

        with progress.stage("ranking") as bar:
            drawn = stages.scorer.draw(eligible, rng[0])
            score = stages.scorer.against(rows.take(drawn.ravel()), drawn.shape[1], n_threads)
            initial = map_blocks(rows, score, bar.show)
            _warn_if_flat(initial)
            inlier_scores = map_blocks(known_inliers, score) if known_inliers is not None else np.empty(0)
            labeled = Labeled(labels, known_outliers, known_inliers, inlier_scores)

        with progress.stage("sampling"):
            candidates = stages.thresholder.split(initial, labels)
            pools = _pools(candidates, initial, labeled)
            stages.sampler.check(pools)
            per_epoch = min(rows.n_rows, 5000) if self.samples_per_epoch == "auto" else int(self.samples_per_epoch)
            epochs = stages.sampler.draw(pools, self.n_epochs, per_epoch, self.batch_size, rng[1])

        with progress.stage("training") as bar:
            layer, curve = self._train(stages, rows, labeled, epochs, facts.n_seen, largest, children[2], bar)

        with progress.stage("transform") as bar:
            mapped = map_blocks(rows, lambda block: layer.transform(block, n_threads), bar.show)

        with progress.stage("scoring"):
            drawn = stages.scorer.draw(eligible, rng[3])
            references = np.ascontiguousarray(mapped[drawn.ravel()])
            scores = stages.scorer.in_representation(references, drawn.shape[1]).score(mapped, n_threads)
            threshold = stages.cutoff.cutoff(scores)

        self._keep(X, layer, references, drawn.shape[1])
        self.initial_scores_ = initial
        self.candidate_outliers_ = candidates.outliers
        self.fallback_used_ = candidates.fallback
        self.loss_curve_ = curve
        self.outlier_scores_ = scores
        self.threshold_ = threshold
        self.offset_ = _offset(threshold)
        self.false_positive_bound_ = stages.cutoff.bound()
        self.stage_seconds_ = progress.seconds
        return self

    def _train(
        self,
        stages: Stages,
        rows: Rows,
        labeled: Labeled,
        epochs: npt.NDArray[np.int64],
        n_seen: int,
        largest: float,
        seed: np.random.SeedSequence,
        bar: Bar,
    ) -> tuple[ReluLayer, npt.NDArray[np.float64]]:
        weight_seed = int(seed.generate_state(1, np.uint64)[0])
        limit = initial_limit(n_seen, self.n_components)
        training_rows, training_epochs = _with_extra(rows, labeled.extra(), epochs)
        trained = train(
            training_rows,
            training_epochs,
            self.batch_size,
            width=self.n_components,
            margin=stages.loss.margin,
            n_queries=stages.loss.n_queries,
            seed=weight_seed,
            limit=limit,
            largest=largest,
            adadelta=stages.optimizer,
            n_threads=self._n_threads(),
            show=bar.show,
        )
        return ReluLayer(trained.columns, trained.weights, rows.n_features, weight_seed, limit), trained.loss_curve

    def _keep(self, X: Any, layer: ReluLayer, references: npt.NDArray[np.float32], subsample_size: int) -> None:
        """Set what scoring needs; nothing is set before this, so an interrupted fit leaves the estimator as it was."""
        _check_feature_names(self, X, reset=True)
        self.n_features_in_ = layer.n_features
        self.feature_indices_, self.feature_weights_ = layer.columns, layer.weights
        self.weight_seed_, self.weight_limit_ = layer.seed, layer.limit
        self.references_, self.reference_size_ = references, subsample_size
        self._prepare()

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


def _offset(threshold: float) -> float:
    """scikit-learn flags scores below the offset, the paper those at or above the threshold: one step apart."""
    return float(np.nextafter(-threshold, np.inf))


def _open_extra(rows: Rows, facts: Facts, outliers: Any, inliers: Any) -> tuple[Rows | None, Rows | None, float]:
    """The extra labelled rows, in the kind of `rows`, and the largest absolute value of all."""
    opened: list[Rows | None] = []
    largest = facts.largest
    for name, given in (("labeled_outliers", outliers), ("labeled_inliers", inliers)):
        if given is None or (hasattr(given, "shape") and len(given.shape) == 2 and given.shape[0] == 0):
            opened.append(None)
            continue
        extra, extra_facts = open_rows(given, name=name)
        if extra.n_features != rows.n_features:
            raise DataError(f"{name} has {extra.n_features} features; allowed: the {rows.n_features} of X.")
        largest = max(largest, extra_facts.largest)
        opened.append(like(rows, extra))
    return opened[0], opened[1], largest


def _warn_if_flat(scores: npt.NDArray[np.float64]) -> None:
    if np.ptp(scores) <= 1e-12 * abs(scores.max()):
        warnings.warn(
            "All rows have the same initial score: they are equal, or equally far apart. No row stands out.",
            stacklevel=3,
        )


def _pools(candidates: Candidates, scores: npt.NDArray[np.float64], labeled: Labeled) -> Pools:
    """What triplets are drawn from. Extra rows are numbered after those of X: outliers first, then inliers."""
    n = len(scores)
    n_outliers = labeled.outliers.n_rows if labeled.outliers is not None else 0
    n_inliers = labeled.inliers.n_rows if labeled.inliers is not None else 0
    return Pools(
        inliers=np.concatenate([candidates.inliers, n + n_outliers + np.arange(n_inliers)]),
        inlier_scores=np.concatenate([scores[candidates.inliers], labeled.inlier_scores]),
        outliers=candidates.outliers,
        outlier_scores=scores[candidates.outliers],
        labeled_outliers=np.concatenate([np.flatnonzero(labeled.labels == 1), n + np.arange(n_outliers)]),
    )


def _with_extra(rows: Rows, extra: list[Rows], epochs: npt.NDArray[np.int64]) -> tuple[Rows, npt.NDArray[np.int64]]:
    """The rows that triplets name: X itself, or where there are extra rows a copy of what was drawn and those."""
    if not extra:
        return rows, epochs
    drawn = np.unique(epochs)
    own = drawn[drawn < rows.n_rows]
    renumbered = np.where(epochs < rows.n_rows, np.searchsorted(own, epochs), epochs - rows.n_rows + len(own))
    return stack([rows.take(own), *extra]), renumbered


__all__ = ["OptionError", "RandomDistanceDetector", "Stages"]
