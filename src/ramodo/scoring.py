"""φ: how far a row is from randomly drawn references (equation 1).

Sp draws m subsamples and averages, over them, a row's distance to the nearest member (Sugiyama and Borgwardt 2013,
bagged as in the paper's section 4.1). References are drawn once and kept: a row's score depends on them and on
nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import kernels
from .rows import DenseRows, Rows, SparseRows

Scores = npt.NDArray[np.float64]

_CANCELLED = 1e-6
"""Below this share of |x|² + |s|² a squared distance has lost too many digits and is taken again, directly."""


@dataclass(frozen=True)
class Sp:
    """The random nearest-neighbour distance, averaged over `n_subsamples` subsamples of `subsample_size` rows."""

    n_subsamples: int = 50
    subsample_size: int = 8

    def draw(self, eligible: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Row numbers of the references, one subsample a row; without repeats within a subsample.

        Subsamples of all rows would give every row the distance 0 to itself, so where there are no more eligible rows
        than `subsample_size`, half of them form each subsample.
        """
        size = self.subsample_size if len(eligible) > self.subsample_size else max(1, len(eligible) // 2)
        return np.stack([eligible[rng.choice(len(eligible), size, replace=False)] for _ in range(self.n_subsamples)])

    def against(self, references: Rows, subsample_size: int, n_threads: int) -> SparseReferences | DenseReferences:
        """What scores blocks of rows against `references`, consecutive rows of which form the subsamples."""
        if isinstance(references, SparseRows):
            return SparseReferences(references, subsample_size, n_threads)
        return DenseReferences(references, subsample_size)

    def in_representation(self, references: npt.NDArray[np.float32], subsample_size: int) -> kernels.SmallSp:
        """The same for rows of the learned representation."""
        return kernels.SmallSp(references, subsample_size)


class SparseReferences:
    """Scores of sparse rows: a native pass over their non-zeros."""

    def __init__(self, references: SparseRows, subsample_size: int, n_threads: int) -> None:
        self._sp, self._n_threads = kernels.SparseSp(references, subsample_size), n_threads

    def __call__(self, block: Rows) -> Scores:
        assert isinstance(block, SparseRows)
        return self._sp.score(block, self._n_threads)


class DenseReferences:
    """Scores of dense rows: a matrix product, in double precision, and direct differences where norms cancel."""

    _ROWS_AT_ONCE = 512
    _VALUES_AT_ONCE = 1 << 22

    def __init__(self, references: DenseRows, subsample_size: int) -> None:
        self._references = references.values.astype(np.float64)
        self._norms = np.einsum("ij,ij->i", self._references, self._references)
        self._size = subsample_size

    def __call__(self, block: Rows) -> Scores:
        assert isinstance(block, DenseRows)
        pieces = range(0, block.n_rows, self._ROWS_AT_ONCE)
        return np.concatenate([self._score(block.values[i : i + self._ROWS_AT_ONCE]) for i in pieces])

    def _score(self, values: npt.NDArray[np.floating]) -> Scores:
        x = values.astype(np.float64)
        both = np.einsum("ij,ij->i", x, x)[:, None] + self._norms
        squared = both - 2 * (x @ self._references.T)
        rows, references = np.nonzero(squared < _CANCELLED * both)
        at_once = max(1, self._VALUES_AT_ONCE // x.shape[1])
        for i in range(0, len(rows), at_once):
            pair = rows[i : i + at_once], references[i : i + at_once]
            difference = x[pair[0]] - self._references[pair[1]]
            squared[pair] = np.einsum("ij,ij->i", difference, difference)
        nearest = squared.reshape(len(x), -1, self._size).min(axis=2)
        return np.sqrt(np.maximum(nearest, 0)).mean(axis=1)
