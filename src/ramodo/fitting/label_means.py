"""Means of the labelled outliers and of the others, feature by feature, each in its own unit.

Rows that are mostly zeros are scaled to length 1 first: their length says how much there is, not what it is.
A feature's unit is then the geometric mean of its root mean square and that of all features, so that features with
large values do not drown out the others, and rare ones are not blown up. If most values are not zero, rows are tables
of measurements, whose length means nothing: they are not scaled, and a feature's unit is its standard deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.blocks import Block
from ..model.label_direction import Axes

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_TABLE = 0.5
"""Rows with more than this share of non-zero values are a table of measurements."""

_FINE = 40
"""Number of known inliers that count as much as all other rows."""

_VARIES = 1e-10
"""A variance below this share of the mean square is a rounding error, since weights are in single precision."""


@dataclass(frozen=True, kw_only=True)
class Means:
    """Means over the features that occur, and the rows behind them. `scale` is 1 / unit², up to a common factor."""

    background: Block
    rows: Block
    """The labelled outliers."""
    fine: Block | None
    """The known inliers."""
    columns: Integers
    centre: Doubles
    """Of the background."""
    outliers: Doubles
    others: Doubles
    """Means of the background and, with weight `fine_share`, of the known inliers."""
    scale: Doubles
    unit_rows: bool

    @classmethod
    def of(cls, background: Block, outliers: Block, inliers: Block | None, n_threads: int) -> Means:
        unit_rows = not _is_table(background)
        blocks = [
            block.normalized("l2", n_threads) if unit_rows else block.without_factors()
            for block in (background, outliers, inliers)
            if block is not None
        ]
        fine = None if inliers is None else blocks[2]
        columns, means, squares = _moments(blocks)
        others, share = means[0], fine_share(fine)
        if fine is not None:
            others = (1 - share) * others + share * means[2]
        scale = _against_rare(squares[0]) if unit_rows else _variances(blocks[:2], means, squares)
        return cls(
            background=blocks[0],
            rows=blocks[1],
            fine=fine,
            columns=columns,
            centre=means[0],
            outliers=means[1],
            others=others,
            scale=scale,
            unit_rows=unit_rows,
        )

    @property
    def difference(self) -> Doubles:
        """The difference of means, as weights of features."""
        return (self.outliers - self.others) * self.scale

    def axes(self, weights: Doubles, n_features: int) -> Axes:
        """Return directions with these weights of the features that occur."""
        return Axes(self.columns, np.ascontiguousarray(weights, dtype=np.float32), n_features, self.unit_rows)

    def left_out(self) -> Doubles:
        """d·(x - centre) of each outlier x, with the difference d computed without it; there are two or more."""
        n = self.rows.n_rows
        without_any = self.scale * (self.outliers * n / (n - 1) - self.others)
        middle, shift = float(self.centre @ without_any), self.scale * self.centre / (n - 1)
        found = np.empty(n)
        for i in range(n):
            places, values = self._row(i)
            own = values @ (self.scale[places] * values) / (n - 1)
            found[i] = values @ (without_any[places] + shift[places]) - own - middle
        return found

    def _row(self, i: int) -> tuple[Any, Doubles]:
        columns, values = self.rows.row(i)
        return slice(None) if columns is None else np.searchsorted(self.columns, columns), values

    def matrix(self, block: Block) -> Any:
        """Return rows over the features that occur, in their units: sparse, or centred where they are a table."""
        units = np.sqrt(self.scale)
        if not self.unit_rows:
            values = block.to_matrix()
            dense = values[:, self.columns].toarray() if sp.issparse(values) else values
            return (dense - self.centre) * units
        rows = block.as_sparse()
        matrix = rows.to_csr()
        places = _places(self.columns, matrix.indices, matrix.shape[1])
        assert block.factors is not None
        values = matrix.data * np.repeat(block.factors, np.diff(matrix.indptr)) * units[places]
        begins = matrix.indptr.astype(np.int32)  # fewer than 2^31 non-zeros: there are some thousand rows
        return sp.csr_array((values, places, begins), shape=(block.n_rows, len(self.columns)))


def _places(columns: Integers, wanted: Any, n_features: int) -> npt.NDArray[np.int32]:
    """Return the positions of `wanted` in the sorted columns, by a lookup table if it is no larger than the rows."""
    if n_features > len(wanted):
        return np.searchsorted(columns, wanted).astype(np.int32)
    table = np.empty(n_features, dtype=np.int32)
    table[columns] = np.arange(len(columns), dtype=np.int32)
    return table[wanted]


def fine_share(inliers: Block | None) -> float:
    """Return the weight of known inliers among the others."""
    return 0.0 if inliers is None else inliers.n_rows / (inliers.n_rows + _FINE)


def _is_table(rows: Block) -> bool:
    return bool(rows.lengths().sum() > _TABLE * rows.n_rows * rows.n_features)


def _moments(blocks: list[Block]) -> tuple[Integers, list[Doubles], list[Doubles]]:
    """Return the features that occur in any block, and their means and mean squares in each block."""
    parts = [block.moments() for block in blocks]
    columns = np.sort(np.concatenate([own for own, _, _ in parts]), kind="stable")  # stable: merges sorted runs
    columns = columns[np.concatenate([[True], columns[1:] > columns[:-1]])[: len(columns)]]
    means, squares = np.zeros((2, len(parts), len(columns)))
    for i, (own, mean, square) in enumerate(parts):
        places = np.searchsorted(columns, own)
        means[i, places], squares[i, places] = mean, square
    return columns, list(means), list(squares)


def _against_rare(squares: Doubles) -> Doubles:
    typical = np.sqrt(squares[squares > 0].mean()) if squares.any() else 1.0
    return 1 / (np.sqrt(squares) + typical)


def _variances(blocks: list[Block], means: list[Doubles], squares: list[Doubles]) -> Doubles:
    """Return one over the variance of each feature over the rows of all blocks, or 0 if it does not vary.

    The result is scaled so that weights stay within single precision whatever the unit of X is.
    """
    n_rows = [block.n_rows for block in blocks]
    mean, square = (np.average(values[: len(blocks)], axis=0, weights=n_rows) for values in (means, squares))
    variances = square - mean**2
    varies = variances > _VARIES * square
    typical = np.sqrt(variances[varies].mean()) if varies.any() else 1.0
    return np.where(varies, typical / np.where(varies, variances, 1.0), 0.0)
