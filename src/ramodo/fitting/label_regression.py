"""A logistic regression of the labelled outliers against the others, by scikit-learn.

Both sides weigh the same (`class_weight="balanced"`), and C = 1 for rows whose mean square length is 1. As C falls to
0, the weights approach the difference of the means, which the regression refines if there are many labels.

For sparse rows liblinear solves the dual, where a pass takes time proportional to the non-zeros, not the features. With
a million features this is many times faster than L-BFGS, for the same ranking. Its constant is one more feature.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .label_means import Means, fine_share

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_FOLDS = 5

_OF_SPARSE: dict[str, Any] = {"solver": "liblinear", "dual": True, "tol": 1e-2, "random_state": 0}
"""A tolerance of 1e-4 takes twice as long and ranks the same; the seed orders the rows of each pass."""


@dataclass(frozen=True)
class Regression:
    """Weights of the features that occur, and where the labelled outliers lie out of sample.

    `left_out` is in standard deviations of the background above its mean.
    """

    weights: Doubles
    left_out: Doubles

    @classmethod
    def of(cls, means: Means, rng: np.random.Generator) -> Regression:
        """Fit the regression to at least two labelled outliers.

        Hidden outliers among the others are trained on as inliers, and a regression of many features can memorise
        them. So the outliers that a fold leaves out are put among the others, like hidden ones, and must come out on
        top.
        """
        outliers, background = means.matrix(means.rows), means.matrix(means.background)
        fine = None if means.fine is None else means.matrix(means.fine)
        length = np.sqrt(_squared(background).sum() / background.shape[0]) or 1.0
        sides = _Sides(background / length, None if fine is None else fine / length, fine_share(means.fine))
        outliers = outliers / length
        folds = _folds(outliers.shape[0], rng)
        left_out = np.empty(len(folds))
        for fold in np.unique(folds):
            out = folds == fold
            weights = sides.regress(outliers[~out], hidden=outliers[out])
            along = sides.background @ weights
            left_out[out] = (outliers[out] @ weights - along.mean()) / (float(along.std()) or 1.0)
        weights = sides.regress(outliers, hidden=outliers[:0])
        return cls(weights * np.sqrt(means.scale) / length, left_out)


def _folds(n: int, rng: np.random.Generator) -> Integers:
    """Return the fold of each labelled outlier."""
    return rng.permutation(n) % min(_FOLDS, n)


@dataclass(frozen=True)
class _Sides:
    """The others: the background, and the known inliers with their share of the weight."""

    background: Any
    fine: Any | None
    share: float

    def regress(self, outliers: Any, hidden: Any) -> Doubles:
        """Return weights of features; `hidden` rows are part of the background."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        groups = [outliers, self.background, hidden, *([] if self.fine is None else [self.fine])]
        sizes = [group.shape[0] for group in groups]
        n_background = self.background.shape[0] + hidden.shape[0]
        each = [1 / sizes[0], *[(1 - self.share) / n_background] * 2, *[self.share / size for size in sizes[3:]]]
        stacked, solver = (_stacked(groups), _OF_SPARSE) if sp.issparse(outliers) else (np.vstack(groups), {})
        model = LogisticRegression(C=1.0, max_iter=300, **solver)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # its strength is measured in any case
            model.fit(stacked, np.arange(sum(sizes)) < sizes[0], np.repeat(each, sizes) * sum(sizes) / 2)
        return np.asarray(model.coef_[0], dtype=np.float64)


def _stacked(groups: list[Any]) -> Any:
    """Stack rows with the narrow indices that liblinear needs; 20,000 rows do not have 2^31 non-zeros."""
    rows = sp.vstack(groups, format="csr")
    return sp.csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)


def _squared(rows: Any) -> Any:
    return rows.multiply(rows) if sp.issparse(rows) else rows * rows
