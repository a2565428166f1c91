"""What a fit leaves behind: one or several representations with references in each, and from them a row's score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.rows import DataError, DenseRows, Rows, SparseRows, map_blocks, normalized
from ..fitting.direction import LabelDirection
from ..kernels import Phi
from .representation import Representation

Scores = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class References:
    """Rows of the representation that scores are distances to; `size` consecutive ones form a subsample."""

    rows: Floats
    size: int
    phi: Phi
    _small: kernels.SmallSp = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_small", kernels.SmallSp(self.rows, self.size, self.phi))

    def __reduce__(self) -> Any:
        return References, (self.rows, self.size, self.phi)

    def score(self, rows: Floats, n_threads: int) -> Scores:
        """φ of each row, averaged over the subsamples."""
        return self._small.score(rows, n_threads)


@dataclass(frozen=True)
class Origin:
    """The references as rows of the original features, as they came, and their numbers among the training rows."""

    rows: Rows
    numbers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, numbers: npt.NDArray[np.int64]) -> Origin:
        """Rows perhaps with factors, which follow from the rows."""
        if isinstance(rows, SparseRows):
            rows = replace(rows, indices=rows.indices.astype(np.int64))
        return cls(replace(rows, factors=None), numbers)


@dataclass(frozen=True)
class Fitted:
    """A scorer of the user's, fitted to the representation."""

    scorer: Any

    def score(self, rows: Floats, n_threads: int) -> Scores:
        """Its scores, higher being more outlying."""
        return np.asarray(self.scorer(DenseRows(rows)), dtype=np.float64)


@dataclass(frozen=True)
class Member:
    """One representation and the detector in it."""

    representation: Representation
    detection: References | Fitted
    deviation: float
    """Standard deviation of its scores of the training rows."""
    origin: Origin | None = None
    """For explanations."""

    def score(self, block: Rows, n_threads: int) -> Scores:
        """One score per row."""
        return self.detection.score(self.representation.transform(block, n_threads), n_threads)


@dataclass(frozen=True)
class Model:
    """All members, and the direction of labelled outliers where there is one."""

    members: tuple[Member, ...]
    normalize: str | None
    direction: LabelDirection | None = None

    def score(self, rows: Rows, n_threads: int, show: Callable[[int, int], None] | None = None) -> Scores:
        """One score per row; depends on that row alone."""

        def of_block(block: Rows) -> Scores:
            seen = normalized(block, self.normalize, n_threads)
            scores = self.average([member.score(seen, n_threads) for member in self.members])
            if self.direction is not None:
                scores = self.direction.combine(scores, self.direction.along(block, n_threads))
            if not np.isfinite(scores).all():
                raise DataError(
                    "scores are not finite: the weights of this model are damaged, or X is beyond its reach."
                )
            return scores

        return map_blocks(rows, of_block, show)

    def average(self, scores: list[Scores]) -> Scores:
        """Of the members' scores, each in its own standard deviations; a single member's as they are."""
        if len(scores) == 1:
            return scores[0]
        return np.mean([s / (m.deviation or 1.0) for s, m in zip(scores, self.members, strict=True)], axis=0)

    def transform(self, rows: Rows, n_threads: int) -> Floats:
        """The representations of all members, side by side."""

        def of_block(block: Rows) -> Floats:
            seen = normalized(block, self.normalize, n_threads)
            parts = [member.representation.transform(seen, n_threads) for member in self.members]
            return parts[0] if len(parts) == 1 else np.hstack(parts)

        return map_blocks(rows, of_block)


def offset_of(threshold: float) -> float:
    """scikit-learn flags scores below the offset, the paper those at or above the threshold: one step apart."""
    return float(np.nextafter(-threshold, np.inf))
