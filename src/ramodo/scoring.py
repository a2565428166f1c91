"""φ: how far a row is from randomly drawn references (equation 1).

A scorer draws subsamples of the rows and averages, over them, a row's distance to the nearest member (`Sp`: Sugiyama
and Borgwardt 2013, bagged as in the paper's section 4.1), to the k-th nearest (`KthNN`) or to the k nearest
(`AverageNN`). References are drawn once and kept: a row's score depends on them and on nothing else.

Each scorer is a stage of RAMODO (it ranks rows, and detects in the representation; the loss uses its `phi`) and a
detector of its own.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from . import kernels
from .detector import Detector, seed_of
from .kernels import Phi
from .labels import read_labels
from .options import OptionError, check
from .rows import DenseRows, Rows, SparseRows, map_blocks, open_rows

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_CANCELLED = 1e-6
"""Below this share of |x|² + |s|² a squared distance has lost too many digits and is taken again, directly."""


class RandomDistance(Detector):
    """What scorers have in common; a subclass names its φ."""

    n_subsamples: int
    subsample_size: int

    @property
    def phi(self) -> Phi:
        """Which of the distances to a subsample count."""
        return Phi()

    # ---- a stage -------------------------------------------------------------------------------------------------

    def draw(self, eligible: Integers, rng: np.random.Generator) -> Integers:
        """Row numbers of the references, one subsample a row; without repeats within a subsample.

        Subsamples of all rows would give every row the distance 0 to itself, so where there are no more eligible rows
        than `subsample_size`, half of them form each subsample.
        """
        self.check_stage()
        size = self.subsample_size if len(eligible) > self.subsample_size else max(1, len(eligible) // 2)
        if size < self.phi.k:
            raise OptionError(
                f"k={self.phi.k} was given; allowed: at most {size}, the size of a subsample of the {len(eligible)} "
                "rows to draw from."
            )
        return np.stack([eligible[rng.choice(len(eligible), size, replace=False)] for _ in range(self.n_subsamples)])

    def against(self, references: Rows, subsample_size: int, n_threads: int) -> SparseReferences | DenseReferences:
        """What scores blocks of rows against `references`, consecutive rows of which form the subsamples."""
        if isinstance(references, SparseRows):
            return SparseReferences(references, subsample_size, self.phi, n_threads)
        return DenseReferences(references, subsample_size, self.phi)

    def in_representation(self, references: npt.NDArray[np.float32], subsample_size: int) -> kernels.SmallSp:
        """The same for rows of the learned representation."""
        return kernels.SmallSp(references, subsample_size, self.phi)

    def ranking(
        self, rows: Rows, eligible: Integers, rng: np.random.Generator, n_threads: int
    ) -> SparseReferences | DenseReferences:
        """What scores blocks of rows, against references drawn from the eligible ones."""
        drawn = self.draw(eligible, rng)
        if drawn.shape[1] < self.subsample_size:
            warnings.warn(
                f"subsample_size={self.subsample_size} leaves no row out of a subsample of the {len(eligible)} rows "
                f"to draw from; subsamples of {drawn.shape[1]} are used.",
                stacklevel=4,
            )
        return self.against(rows.take(drawn.ravel()), drawn.shape[1], n_threads)

    def check_stage(self) -> None:
        """Raise where an option is not allowed, or `k` has too few references to choose from."""
        check(self.get_params(deep=False))
        if self.phi.k > self.subsample_size:
            raise OptionError(
                f"k={self.phi.k} was given; allowed: 1 to subsample_size={self.subsample_size}, the references that "
                "there are to choose from."
            )

    # ---- a detector ----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw references from the rows of `X`. Known outliers (1 in `y`) are not drawn."""
        self.check_stage()
        rows, _ = open_rows(X, n_threads=self._n_threads())
        labels = read_labels(y, rows.n_rows)
        eligible = np.flatnonzero(labels != 1)
        if len(eligible) < 2:
            raise OptionError(
                f"X has n_samples = {rows.n_rows}, of which {len(eligible)} are not known outliers; allowed: at least "
                "2, to draw references from."
            )
        score = self.ranking(rows, eligible, np.random.default_rng(seed_of(self.random_state)), self._n_threads())
        scores = map_blocks(rows, score)
        self._keep_face(X, rows.n_features, scores)
        self._score = score
        return self

    def outlier_score(self, X: Any) -> Scores:
        """How outlying each row is: higher is more outlying."""
        rows = self._open(X)
        return map_blocks(rows, self._score)


class Sp(RandomDistance):
    """The distance to the nearest of `subsample_size` random rows, averaged over `n_subsamples` draws of them.

    `n_subsamples=1` is the single Sp of 2013, 50 the paper's ensemble.
    """

    def __init__(
        self,
        n_subsamples: int = 50,
        subsample_size: int = 8,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_subsamples = n_subsamples
        self.subsample_size = subsample_size
        self.random_state = random_state
        self.n_jobs = n_jobs


class KthNN(RandomDistance):
    """The distance to the k-th nearest of `subsample_size` random rows, averaged over `n_subsamples` draws."""

    def __init__(
        self,
        k: int = 3,
        n_subsamples: int = 50,
        subsample_size: int = 8,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.n_subsamples = n_subsamples
        self.subsample_size = subsample_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def phi(self) -> Phi:
        return Phi(self.k)


class AverageNN(KthNN):
    """The mean distance to the k nearest of `subsample_size` random rows, averaged over `n_subsamples` draws."""

    @property
    def phi(self) -> Phi:
        return Phi(self.k, average=True)


class SparseReferences:
    """Scores of sparse rows: a native pass over their non-zeros."""

    def __init__(self, references: SparseRows, subsample_size: int, phi: Phi, n_threads: int) -> None:
        self._given = references, subsample_size, phi, n_threads
        self._sp, self._n_threads = kernels.SparseSp(references, subsample_size, phi), n_threads

    def __reduce__(self) -> Any:
        return SparseReferences, self._given

    def __call__(self, block: Rows) -> Scores:
        assert isinstance(block, SparseRows)
        return self._sp.score(block, self._n_threads)


class DenseReferences:
    """Scores of dense rows: a matrix product, in double precision, and direct differences where norms cancel."""

    _ROWS_AT_ONCE = 512
    _VALUES_AT_ONCE = 1 << 22

    def __init__(self, references: DenseRows, subsample_size: int, phi: Phi) -> None:
        self._references = _doubles(references)
        self._norms = np.einsum("ij,ij->i", self._references, self._references)
        self._size, self._phi = subsample_size, phi

    def __call__(self, block: Rows) -> Scores:
        assert isinstance(block, DenseRows)
        pieces = range(0, block.n_rows, self._ROWS_AT_ONCE)
        return np.concatenate([self._score(block.part(i, i + self._ROWS_AT_ONCE)) for i in pieces])

    def _score(self, piece: DenseRows) -> Scores:
        x = _doubles(piece)
        both = np.einsum("ij,ij->i", x, x)[:, None] + self._norms
        squared = both - 2 * (x @ self._references.T)
        rows, references = np.nonzero(squared < _CANCELLED * both)
        at_once = max(1, self._VALUES_AT_ONCE // x.shape[1])
        for i in range(0, len(rows), at_once):
            pair = rows[i : i + at_once], references[i : i + at_once]
            difference = x[pair[0]] - self._references[pair[1]]
            squared[pair] = np.einsum("ij,ij->i", difference, difference)
        return self._of_squares(np.maximum(squared, 0).reshape(len(x), -1, self._size)).mean(axis=1)

    def _of_squares(self, squared: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """φ of each row and subsample."""
        if self._phi.k == 1:
            return np.sqrt(squared.min(axis=2))
        nearest = np.sort(squared, axis=2)[:, :, : self._phi.k]
        return np.sqrt(nearest).mean(axis=2) if self._phi.average else np.sqrt(nearest[:, :, -1])


def _doubles(rows: DenseRows) -> npt.NDArray[np.float64]:
    values = rows.values.astype(np.float64)
    return values if rows.factors is None else values * rows.factors[:, None]
