"""φ: how far a row is from randomly drawn references (equation 1).

A scorer draws subsamples of the rows and averages, over them, a row's distance to the nearest reference (`Sp`: Sugiyama
and Borgwardt 2013, bagged as in the paper's section 4.1), to the k-th nearest (`KthNN`) or to the k nearest
(`AverageNN`). References are drawn once and kept: a row's score depends on them and on nothing else.

Each scorer is a stage of RAMODO (it ranks rows, and detects in the representation; the loss uses its `phi`) and a
detector in its own right.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block
from ..data.rows import Rows
from ..detector import RankingDetector
from ..kernels import Phi
from ..model.original import OriginalDistance
from ..model.references import Origin
from ..model.terms import Model
from ..options import check, option_error

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class RandomDistance(RankingDetector):
    """The common part of all scorers; a subclass defines φ."""

    n_subsamples: int
    subsample_size: int

    @property
    def phi(self) -> Phi:
        """Which of the distances to a subsample count."""
        return Phi()

    def phi_among(self, size: int) -> Phi:
        """Return φ for subsamples of `size` rows. If there are fewer than k, all of them count."""
        return self.phi._replace(k=min(self.phi.k, size))

    # ---- a stage -------------------------------------------------------------------------------------------------

    def draw(self, eligible: Integers, rng: np.random.Generator) -> Integers:
        """Draw the row numbers of references, one subsample per row, without repeats within a subsample.

        In a subsample of all rows, every row would be at distance 0 from itself. So if there are at most
        `subsample_size` eligible rows, each subsample is half of them.
        """
        self.check_stage()
        size = self.subsample_size if len(eligible) > self.subsample_size else max(1, len(eligible) // 2)
        return np.stack([eligible[rng.choice(len(eligible), size, replace=False)] for _ in range(self.n_subsamples)])

    def against(
        self, references: Block, subsample_size: int, n_threads: int, numbers: Integers | None = None
    ) -> FixedReferences:
        """Return a function that scores blocks against `references`, whose consecutive rows form the subsamples."""
        return FixedReferences(references, subsample_size, self.phi_among(subsample_size), n_threads, numbers)

    def ranking(self, rows: Rows, eligible: Integers, rng: np.random.Generator, n_threads: int) -> FixedReferences:
        """Return a function that scores blocks of rows against references drawn from the eligible ones."""
        drawn = self.draw(eligible, rng)
        size, k = drawn.shape[1], self.phi.k
        if size < self.subsample_size:
            nearest = f", and k={size} in place of k={k}" if size < k else ""
            warnings.warn(
                f"subsample_size={self.subsample_size} leaves no row out of a subsample of the {len(eligible)} rows "
                f"to draw from; subsamples of {size} are used{nearest}.",
                stacklevel=5,
            )
        return self.against(rows.take(drawn.ravel()), size, n_threads, drawn.ravel())

    def check_stage(self) -> None:
        """Raise `OptionError` for an invalid option, or if a subsample has fewer than `k` references."""
        check(self.get_params(deep=False))
        if self.phi.k > self.subsample_size:
            most = f"at most subsample_size={self.subsample_size}, the references to choose from"
            raise option_error("k", most, str(self.phi.k))

    # ---- a detector ----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, labels: Any = None) -> Self:
        """Draw references from the rows of `X`. Known outliers (1 in `labels`) are not drawn; `y` is ignored."""
        return super().fit(X, labels=labels)

    @property
    def model_(self) -> Model:
        """The model that explanations split into contributions."""
        return Model((self._score.term(),))


class Sp(RandomDistance):
    """The distance to the nearest of `subsample_size` random rows, averaged over `n_subsamples` draws of them.

    `n_subsamples=1` is the single Sp of 2013, 50 the paper's ensemble.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Sp
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = Sp(random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
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
    """The distance to the k-th nearest of `subsample_size` random rows, averaged over `n_subsamples` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import KthNN
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = KthNN(k=2, random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    """

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
    """The mean distance to the k nearest of `subsample_size` random rows, averaged over `n_subsamples` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import AverageNN
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = AverageNN(k=2, random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    """

    @property
    def phi(self) -> Phi:
        return Phi(self.k, average=True)


class FixedReferences:
    """Score rows against drawn references, sparse or dense, in native code; rows do not affect one another."""

    def __init__(
        self, references: Block, subsample_size: int, phi: Phi, n_threads: int, numbers: Integers | None = None
    ) -> None:
        self._given = references, subsample_size, phi, n_threads, numbers
        self._n_threads = n_threads
        self._score = kernels.references(references, subsample_size, phi)

    def __reduce__(self) -> Any:
        return FixedReferences, self._given

    def __call__(self, block: Block) -> Scores:
        distinct = self._given[0].matching(block).distinct(self._n_threads)
        return distinct.each(self._score(distinct.rows, self._n_threads))

    def term(self) -> OriginalDistance:
        """Return these scores as a term, which can be explained. The references' row numbers must be known."""
        references, size, phi, _, numbers = self._given
        assert numbers is not None
        return OriginalDistance(Origin.of(references, numbers), size, phi)
