"""Rows considered normal that look like a given row, to compare it with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.rows import Rows
from .opinions import INLIER, OUTLIER, Labels
from .ranking import Ranking

_SAMPLE = 2000
"""How many rows below the cut-off are candidates."""

_TABLE = 0.5
"""Rows with a larger share of non-zero values are treated as a table of measurements."""


class Inliers:
    """The labelled inliers and a sample of the rows below the cut-off."""

    def __init__(self, rows: Rows, ranking: Ranking, labels: Labels, seed: int = 0) -> None:
        below = ranking.order[ranking.n_above :]
        below = below[labels[below] != OUTLIER]
        drawn = np.random.default_rng(seed).permutation(below)[:_SAMPLE]
        self.numbers: npt.NDArray[np.int64] = np.unique(np.concatenate([np.flatnonzero(labels == INLIER), drawn]))
        self._rows = rows
        self._matrix = rows.take(self.numbers).without_factors().to_matrix()
        n_values = self._matrix.nnz if sp.issparse(self._matrix) else np.count_nonzero(self._matrix)
        self._is_table = n_values > _TABLE * self._matrix.shape[0] * self._matrix.shape[1]
        if self._is_table:
            self._matrix = _dense(self._matrix)
            spread = self._matrix.std(axis=0)
            self._unit = np.where(spread > 0, spread, 1.0)
        else:
            self._matrix = sp.csr_array(self._matrix)
            self._lengths = np.sqrt(np.asarray(self._matrix.multiply(self._matrix).sum(axis=1)).ravel())

    def to(self, row: int, n: int = 2) -> list[int]:
        """Return the `n` nearest inliers: by angle, or for tables by distance in standard deviations of the columns."""
        own = self._rows.take(np.array([row])).without_factors().to_matrix()
        if self._is_table:
            distances = (((self._matrix - _dense(own)) / self._unit) ** 2).sum(axis=1)
        else:
            common = np.asarray((self._matrix @ sp.csr_array(own).T).toarray()).ravel()
            distances = -common / np.where(self._lengths > 0, self._lengths, 1.0)
        order = np.argsort(distances, kind="stable")[: n + 1]
        return [int(self.numbers[i]) for i in order if self.numbers[i] != row][:n]


def _dense(matrix: Any) -> npt.NDArray[np.float64]:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
