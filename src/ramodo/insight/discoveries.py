"""p-values of new rows: the share of training rows of their fold that score at least as high."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block
from ..model.terms import Model
from ..stages import conformal

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector


@dataclass(frozen=True)
class PValues:
    """p-values of the rows of a block, each against the calibration scores of its fold."""

    model: Model
    folds: Sequence[npt.NDArray[np.float64]]
    n_threads: int

    @classmethod
    def of(cls, detector: FittedDetector, n_threads: int) -> Self:
        """Those that a detector gives; without calibration scores they say nothing."""
        counts, scores = detector.model_.n_calibration, detector.calibration_scores_
        return cls(detector.model_, np.split(scores, np.cumsum(counts)[:-1]) if counts else [scores], n_threads)

    def __call__(self, block: Block) -> npt.NDArray[np.float64]:
        each = [conformal.p_values(self.model.score_block(block, self.n_threads), fold) for fold in self.folds]
        return each[0] if len(each) == 1 else np.choose(block.folds(len(each)), each)
