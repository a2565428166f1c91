"""How labelled outliers enter the final score: the direction in which they differ from everything else.

Training lets labels shape the representation, but distances in a representation of a few columns keep little of what
single features say about the labelled outliers. The difference of two means keeps it: with rows of length 1,

    d_j = (mean_j of the labelled outliers - mean_j of the others) / (s_j + s),

s_j being the root mean square of feature j and s that of all features, so that features that are large everywhere do
not drown out the others. With few labels, w = d. With many labels each feature has a vote, w = tanh(a·d): every feature
that separates the two groups counts, and none decides alone. In between, w is a blend by the number of labels.

The score becomes a sum of the detector's score and c(x) = w·x/|x|, each in its own standard deviations, by Fisher's
rule: weighted by how far each sets the labelled outliers apart, less what they have in common. For the detector that
is measured on the initial ranking, which never saw the labels; for c by leaving each labelled outlier out of the
direction that scores it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block
from ..data.labels import Labels
from ..data.rows import Rows
from ..model.label_direction import Axes, LabelDirection
from ..model.terms import Model, Term

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_BACKGROUND = 20_000
"""Largest number of rows over which the means of the others are taken."""

_MANY = 40
"""Number of labels at which d and votes have equal weight, and known inliers as much as all other rows."""

_VOTERS = 8
"""Number of labels at which a feature has its full vote if the means differ by about its root mean square."""

_TRUST = 4
"""The prior strength of a component counts as much as this many labels."""

_DETECTOR, _DIRECTION = 0.5, 3.0
"""Prior strength of each: standard deviations by which it sets outliers apart."""


@dataclass(frozen=True)
class LabeledRows:
    """The labelled rows, and the initial scores of the outliers among them."""

    outliers: Block
    inliers: Block | None
    outlier_scores: Doubles


def known_rows(
    rows: Rows, labels: Labels, outliers: Block | None, inliers: Block | None, initial: Doubles, extra: Doubles
) -> LabeledRows:
    """Labelled rows of X and those outside X; at least one of them is an outlier."""
    own = np.flatnonzero(labels == 1)
    known, fine = _both(rows, own, outliers), _both(rows, np.flatnonzero(labels == -1), inliers)
    assert known is not None
    return LabeledRows(known, fine, np.concatenate([initial[own], extra]))


def _both(rows: Rows, own: Integers, extra: Block | None) -> Block | None:
    parts = [part for part in (rows.take(own) if len(own) else None, extra) if part is not None]
    return parts[0].stacked(parts[1:]) if parts else None


def learn_direction(
    rows: Rows,
    others: Integers,
    known: LabeledRows,
    initial: Doubles,
    detector: Term,
    detector_scores: Doubles,
    rng: np.random.Generator,
    n_threads: int,
) -> tuple[Model, Doubles]:
    """A model of the detector and the direction from `others`, rows not known to be outliers, to the known outliers.

    Also returns the final scores of `rows`.
    """
    outliers = known.outliers.normalized("l2", n_threads)
    inliers = None if known.inliers is None else known.inliers.normalized("l2", n_threads)
    means = _Means.of(_background(rows, others, rng, n_threads), outliers, inliers)

    votes = np.tanh(outliers.n_rows / _VOTERS * means.difference)
    both = _axes(means, np.column_stack([means.difference, votes]), rows.n_features).along(rows, n_threads)
    share = outliers.n_rows / (outliers.n_rows + _MANY)
    weights = (1 - share) * means.difference / _spread(both[:, 0]) + share * votes / _spread(both[:, 1])
    axis = _axes(means, weights[:, None], rows.n_features)
    along = axis.along(rows, n_threads)[:, 0]
    strengths = (
        _strength(known.outlier_scores, initial, _DETECTOR),
        _strength(means.left_out(outliers), both[:, 0], _DIRECTION),
    )
    factor, detector_factor = _factors(*_fisher(*strengths, initial, both[:, 0]), detector_scores, along)
    model = Model((detector, LabelDirection(axis)), (detector_factor, factor))
    return model, model.total([detector_scores, along])


def _axes(means: _Means, weights: Doubles, n_features: int) -> Axes:
    return Axes(means.columns, np.ascontiguousarray(weights, dtype=np.float32), n_features)


def _spread(scores: Doubles) -> float:
    return float(np.std(scores)) or 1.0


def _background(rows: Rows, others: Integers, rng: np.random.Generator, n_threads: int) -> Block:
    if len(others) > _BACKGROUND:
        others = np.sort(rng.choice(others, _BACKGROUND, replace=False))
    return rows.take(others).normalized("l2", n_threads)


def _strength(outliers: Doubles, others: Doubles, assumed: float) -> float:
    """Standard deviations by which outliers lie above the others, shrunk towards the prior if they are few."""
    above = float(((outliers - np.mean(others)) / _spread(others)).sum())
    return max(0.0, (above + assumed * _TRUST) / (len(outliers) + _TRUST))


def _fisher(detector: float, direction: float, initial: Doubles, along: Doubles) -> tuple[float, float]:
    """Weights of two components from their strengths and their correlation; neither is negative."""
    common = 0.0 if initial.std() == 0 or along.std() == 0 else float(np.corrcoef(initial, along)[0, 1])
    return max(0.0, detector - common * direction), max(0.0, direction - common * detector)


def _factors(detector: float, direction: float, detector_scores: Doubles, along: Doubles) -> tuple[float, float]:
    """Factors of c and of the detector's score; 0 for a component that does not vary or that misleads."""
    detector *= np.std(detector_scores) > 0
    direction *= np.std(along) > 0
    total = detector + direction
    if total == 0:
        return 0.0, 1.0
    return direction / total / _spread(along), detector / total / _spread(detector_scores)


@dataclass(frozen=True)
class _Means:
    """Means of the outliers and of the others over the features that occur, scaled by 1 / (s_j + s)."""

    columns: Integers
    outliers: Doubles
    others: Doubles
    scale: Doubles

    @classmethod
    def of(cls, background: Block, outliers: Block, inliers: Block | None) -> _Means:
        parts = [rows.moments() for rows in (background, outliers, inliers) if rows is not None]
        columns = np.sort(np.concatenate([own for own, _, _ in parts]), kind="stable")  # stable: merges sorted runs
        columns = columns[np.concatenate([[True], columns[1:] > columns[:-1]])]
        means = []
        for own, mean, _ in parts:
            spread = np.zeros(len(columns))
            spread[np.searchsorted(columns, own)] = mean
            means.append(spread)
        squares = np.zeros(len(columns))
        squares[np.searchsorted(columns, parts[0][0])] = parts[0][2]
        others = means[0]
        if inliers is not None:
            share = inliers.n_rows / (inliers.n_rows + _MANY)
            others = (1 - share) * others + share * means[2]
        typical = np.sqrt(squares[squares > 0].mean()) if squares.any() else 1.0
        return cls(columns, means[1], others, 1 / (np.sqrt(squares) + typical))

    @property
    def difference(self) -> Doubles:
        return (self.outliers - self.others) * self.scale

    def left_out(self, outliers: Block) -> Doubles:
        """d·x of each outlier, with d computed without it; empty if there is only one."""
        n = outliers.n_rows
        if n < 2:
            return np.empty(0)
        full, own = np.empty(n), np.empty(n)
        for i in range(n):
            places, values = self._row(outliers, i)
            scaled = values * self.scale[places]
            full[i] = scaled @ (self.outliers[places] * n / (n - 1) - self.others[places])
            own[i] = scaled @ values / (n - 1)
        return full - own

    def _row(self, rows: Block, i: int) -> tuple[Any, Doubles]:
        columns, values = rows.row(i)
        return slice(None) if columns is None else np.searchsorted(self.columns, columns), values
