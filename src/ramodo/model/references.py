"""Reference rows, to which distances are measured: in a representation, and in the original features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block, DenseRows
from ..kernels import Phi

Scores = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class References:
    """Reference rows in the representation; `size` consecutive ones form a subsample."""

    rows: Floats
    size: int
    phi: Phi
    _small: kernels.SmallSp = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_small", kernels.SmallSp(self.rows, self.size, self.phi))

    @property
    def references(self) -> References | None:
        """These references; a user-defined scorer has None here."""
        return self

    def __reduce__(self) -> Any:
        return References, (self.rows, self.size, self.phi)

    def score(self, rows: Floats, n_threads: int) -> Scores:
        """Return φ of each row, averaged over the subsamples."""
        return self._small.score(rows, n_threads)


@dataclass(frozen=True)
class Fitted:
    """A user-defined scorer, fitted to the representation."""

    scorer: Any
    references: ClassVar[None] = None

    def score(self, rows: Floats, n_threads: int) -> Scores:
        """Return its scores; higher is more outlying."""
        return np.asarray(self.scorer(DenseRows(rows)), dtype=np.float64)


@dataclass(frozen=True)
class Origin:
    """The references in the original features, before normalisation, and their numbers among the training rows."""

    rows: Block
    numbers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Block, numbers: npt.NDArray[np.int64]) -> Origin:
        """Return the origin of some rows, without their factors, which can be computed again."""
        return cls(rows.without_factors().with_wide_indices(), numbers)


def nearest(squared: npt.NDArray[np.float64], size: int, phi: Phi) -> npt.NDArray[np.int64]:
    """Return the references that each row's score depends on, given the squared distances to all of them.

    These are the k-th nearest, or the k nearest, in each subsample of `size` consecutive references.
    """
    n = len(squared)
    by_subsample = squared.reshape(n, -1, size)
    if phi.k == 1:
        order = by_subsample.argmin(axis=2)[:, :, None]
    else:
        order = np.argsort(by_subsample, axis=2, kind="stable")[:, :, slice(phi.k) if phi.average else [phi.k - 1]]
    return (order + size * np.arange(by_subsample.shape[1])[None, :, None]).reshape(n, -1)
