"""How labelled outliers enter the final score: the direction in which they differ from everything else.

Training turns labels into a representation, but a representation of a few columns, read by distances, keeps little of
what single features tell about the labelled outliers. The difference of two means keeps it: with rows of length 1,

    d_j = (mean_j of the labelled outliers - mean_j of the others) / (s_j + s),

s_j the root mean square of feature j and s that of all features, so that features that are large everywhere do not
drown the others. Few labels are read as they are, w = d. Many labels are read by vote, w = tanh(a·d): each feature that
tells the two apart counts, none decides alone. Between them the weights are a blend, by the number of labels.

The score becomes a sum of the detector's score and c(x) = w·x/|x|, each in its own standard deviations, by Fisher's
rule: weighted by how far each sets the labelled outliers apart, less what both say alike. For the detector that is
measured on the initial ranking, which never saw the labels; for c by leaving each labelled outlier out of its own
direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.labels import Labels
from ..data.rows import DenseRows, Rows, map_blocks, normalized, stack

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_BACKGROUND = 20_000
"""Rows that the means of the others are taken over."""

_MANY = 40
"""Labels at which both readings of them, and known inliers and the rest, count the same."""

_VOTERS = 8
"""Labels at which a feature's vote is full where the means differ by about its root mean square."""

_TRUST = 4
"""What is assumed of a component before labels speak counts as this many labels."""

_DETECTOR, _DIRECTION = 0.5, 3.0
"""Standard deviations by which each is assumed to set outliers apart."""


@dataclass(frozen=True)
class Axes:
    """Directions for rows of length 1; `weights` has a row for each of the features `columns`, a column for each."""

    columns: Integers
    weights: npt.NDArray[np.float32]
    n_features: int

    @cached_property
    def projection(self) -> kernels.Projection:
        """Its kernel, made when first used."""
        return kernels.Projection(self.columns, self.weights, self.n_features, seed=0, limit=0.0, slope=1.0)

    def __reduce__(self) -> Any:
        return Axes, (self.columns, self.weights, self.n_features)

    def along(self, rows: Rows, n_threads: int) -> Doubles:
        """w·x/|x| of each row and axis."""
        project = self.projection
        return map_blocks(rows, lambda block: project(normalized(block, "l2", n_threads), n_threads)).astype(np.float64)


@dataclass(frozen=True)
class LabelDirection:
    """c(x), and the factors that make one score of it and the detector's."""

    axis: Axes
    factor: float
    detector_factor: float

    def along(self, rows: Rows, n_threads: int) -> Doubles:
        """c of each row."""
        return self.axis.along(rows, n_threads)[:, 0]

    def combine(self, detector_scores: Doubles, along: Doubles) -> Doubles:
        """The final score."""
        return self.detector_factor * detector_scores + self.factor * along


@dataclass(frozen=True)
class Known:
    """The labelled rows, and the initial scores of the outliers among them."""

    outliers: Rows
    inliers: Rows | None
    outlier_scores: Doubles


def known_rows(
    rows: Rows, labels: Labels, outliers: Rows | None, inliers: Rows | None, initial: Doubles, extra: Doubles
) -> Known:
    """Labelled rows of X and those that came beside it; at least one of them an outlier."""
    own = np.flatnonzero(labels == 1)
    known, fine = _both(rows, own, outliers), _both(rows, np.flatnonzero(labels == -1), inliers)
    assert known is not None
    return Known(known, fine, np.concatenate([initial[own], extra]))


def _both(rows: Rows, own: Integers, extra: Rows | None) -> Rows | None:
    parts = [part for part in (rows.take(own) if len(own) else None, extra) if part is not None]
    return stack(parts) if parts else None


def learn_direction(
    rows: Rows,
    others: Integers,
    known: Known,
    initial: Doubles,
    detector_scores: Doubles,
    rng: np.random.Generator,
    n_threads: int,
) -> tuple[LabelDirection, Doubles]:
    """The direction from `others`, rows that are no known outliers, to those that are; the final scores of `rows`."""
    outliers = normalized(known.outliers, "l2", n_threads)
    inliers = None if known.inliers is None else normalized(known.inliers, "l2", n_threads)
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
    factors = _factors(*_fisher(*strengths, initial, both[:, 0]), detector_scores, along)
    direction = LabelDirection(axis, *factors)
    return direction, direction.combine(detector_scores, along)


def _axes(means: _Means, weights: Doubles, n_features: int) -> Axes:
    return Axes(means.columns, np.ascontiguousarray(weights, dtype=np.float32), n_features)


def _spread(scores: Doubles) -> float:
    return float(np.std(scores)) or 1.0


def _background(rows: Rows, others: Integers, rng: np.random.Generator, n_threads: int) -> Rows:
    if len(others) > _BACKGROUND:
        others = np.sort(rng.choice(others, _BACKGROUND, replace=False))
    return normalized(rows if len(others) == rows.n_rows else rows.take(others), "l2", n_threads)


def _strength(outliers: Doubles, others: Doubles, assumed: float) -> float:
    """Standard deviations by which outliers lie above the others, drawn towards what is assumed where they are few."""
    above = float(((outliers - np.mean(others)) / _spread(others)).sum())
    return max(0.0, (above + assumed * _TRUST) / (len(outliers) + _TRUST))


def _fisher(detector: float, direction: float, initial: Doubles, plain: Doubles) -> tuple[float, float]:
    """Weights of two components from their strengths and their correlation; none is negative."""
    alike = 0.0 if initial.std() == 0 or plain.std() == 0 else float(np.corrcoef(initial, plain)[0, 1])
    return max(0.0, detector - alike * direction), max(0.0, direction - alike * detector)


def _factors(detector: float, direction: float, detector_scores: Doubles, along: Doubles) -> tuple[float, float]:
    """What c and the detector's score are multiplied by; a component that does not vary, or misleads, by 0."""
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
    def of(cls, background: Rows, outliers: Rows, inliers: Rows | None) -> _Means:
        parts = [_moments(rows) for rows in (background, outliers, inliers) if rows is not None]
        columns = np.sort(np.concatenate([own for own, _, _ in parts]), kind="stable")  # of sorted runs: a merge
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

    def left_out(self, outliers: Rows) -> Doubles:
        """d·x of each outlier, d without it; nothing where there is only one."""
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

    def _row(self, rows: Rows, i: int) -> tuple[Any, Doubles]:
        factor = 1.0 if rows.factors is None else rows.factors[i]
        if isinstance(rows, DenseRows):
            return slice(None), rows.values[i] * factor
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        return np.searchsorted(self.columns, rows.indices[entries]), rows.data[entries] * factor


def _moments(rows: Rows) -> tuple[Integers, Doubles, Doubles]:
    """Features, and the mean and mean square of each."""
    if isinstance(rows, DenseRows):
        sums, squares = np.zeros(rows.n_features), np.zeros(rows.n_features)
        for block in rows.blocks():
            values = block.values if block.factors is None else block.values * block.factors[:, None]
            sums += values.sum(axis=0, dtype=np.float64)
            squares += np.einsum("ij,ij->j", values, values, dtype=np.float64)
        return np.arange(rows.n_features), sums / rows.n_rows, squares / rows.n_rows
    columns, sums, squares = kernels.moments(rows)
    return columns, sums / rows.n_rows, squares / rows.n_rows
