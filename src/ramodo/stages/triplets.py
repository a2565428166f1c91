"""Draw meta-triplets (<queries>, positive, negative) from candidate sets: equations 3 and 4, labels by section 4.6.

- queries come from the inlier candidates, with probability proportional to Z - r, where r is a row's score and Z the
  sum of all their scores: the lower the score, the likelier;
- the positive is a uniform draw from the inlier candidates other than the queries;
- the negative comes from the outlier candidates with probability proportional to r, or, for `labeled_fraction` of a
  batch, uniformly from the labelled outliers.

All draws are with replacement. A user-defined sampler needs `n_queries` and `draw`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..options import OptionError, check
from .protocols import Pools
from .result_checks import refuse_few_inliers

Integers = npt.NDArray[np.int64]


ENOUGH_LABELS = 20
"""With this many labelled outliers, half of the negatives are labelled; with more labels, a larger share."""

FEW_LABELS = 4
"""With fewer labelled outliers than this, less than half of the negatives are labelled."""


class TripletSampler(BaseEstimator):
    """Draws triplets as rows of `n_queries` queries, the positive, the negative.

    Examples
    --------
    >>> from ramodo import RAMODO, TripletSampler
    >>> detector = RAMODO(sampler=TripletSampler(n_queries=4))
    >>> TripletSampler().share_labeled(4), TripletSampler(labeled_fraction=0.3).share_labeled(4)
    (0.5, 0.3)
    """

    def __init__(self, n_queries: int = 1, labeled_fraction: float | str = "auto") -> None:
        self.n_queries = n_queries
        self.labeled_fraction = labeled_fraction

    def share_labeled(self, n_labeled: int) -> float:
        """Return the share of the negatives that is drawn from labelled outliers.

        "auto" is the paper's half, and grows towards 1 with the number of labels, as they come to cover all kinds of
        outliers (section 4.6 leaves open when). One to three labels may be atypical, so they get less than half.
        """
        if not isinstance(self.labeled_fraction, str):
            return float(self.labeled_fraction)
        return max(min(0.5, n_labeled / (n_labeled + FEW_LABELS)), n_labeled / (n_labeled + ENOUGH_LABELS))

    def check(self, pools: Pools) -> None:
        """Raise `OptionError` if the pools cannot fill a triplet."""
        check(self.get_params(deep=False))
        refuse_few_inliers(pools, self.n_queries)
        if len(pools.outliers) == 0 and not self._only_labeled(pools):
            raise OptionError(
                "no outlier candidates are left: every row is a known inlier. Leave some rows unlabelled (0), or give "
                "labelled outliers and labeled_fraction=1.0."
            )

    def draw(self, pools: Pools, n_epochs: int, n: int, batch_size: int, rng: np.random.Generator) -> Integers:
        """Draw `n` triplets for each epoch and return row numbers of shape n_epochs x n x (n_queries + 2).

        Each batch of `batch_size` has its share of labelled negatives.
        """
        self.check(pools)
        queries = self._queries(pools, n_epochs * n, rng)
        positives = self._positives(pools, queries, rng)
        labeled = np.tile(self._labeled_places(pools, n, batch_size), n_epochs)
        negatives = self._negatives(pools, labeled, rng)
        triplets = np.column_stack([pools.inliers[queries], pools.inliers[positives], negatives])
        return triplets.reshape(n_epochs, n, -1)

    def _queries(self, pools: Pools, n: int, rng: np.random.Generator) -> Integers:
        weights = pools.inlier_scores.sum() - pools.inlier_scores
        return _weighted(weights, (n, self.n_queries), rng)

    def _positives(self, pools: Pools, queries: Integers, rng: np.random.Generator) -> Integers:
        positives = rng.integers(len(pools.inliers), size=len(queries))
        clash = np.flatnonzero((queries == positives[:, None]).any(axis=1))
        while len(clash):
            positives[clash] = rng.integers(len(pools.inliers), size=len(clash))
            clash = clash[(queries[clash] == positives[clash, None]).any(axis=1)]
        return positives

    def _negatives(self, pools: Pools, labeled: npt.NDArray[np.bool_], rng: np.random.Generator) -> Integers:
        negatives = np.empty(len(labeled), dtype=np.int64)
        if not labeled.all():
            negatives[~labeled] = pools.outliers[_weighted(pools.outlier_scores, (int((~labeled).sum()),), rng)]
        negatives[labeled] = rng.choice(pools.labeled_outliers, int(labeled.sum())) if labeled.any() else 0
        return negatives

    def _only_labeled(self, pools: Pools) -> bool:
        return self.labeled_fraction == 1.0 and len(pools.labeled_outliers) > 0

    def _labeled_places(self, pools: Pools, n: int, batch_size: int) -> npt.NDArray[np.bool_]:
        """Return a mask of the triplets that take a labelled negative, the last ones of each batch."""
        if len(pools.labeled_outliers) == 0:
            return np.zeros(n, dtype=bool)
        place = np.arange(n) % batch_size
        size = np.minimum(batch_size, n - (np.arange(n) - place))
        share = self.share_labeled(len(pools.labeled_outliers))
        return place >= size - np.rint(size * share).astype(np.int64)


def _weighted(weights: npt.NDArray[np.float64], shape: tuple[int, ...], rng: np.random.Generator) -> Integers:
    """Return positions drawn with probability proportional to `weights`; uniformly if all of them are zero."""
    highest = weights.max()
    if not highest > 0:
        return rng.integers(len(weights), size=shape)
    edges = np.cumsum(weights / highest)
    return np.minimum(np.searchsorted(edges, rng.random(shape) * edges[-1], side="right"), len(weights) - 1)
