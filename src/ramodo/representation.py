"""f: one layer of rectified linear units without bias, f(x) = ReLU(x W) (equation 5).

Only features that training changed have stored weights. Every other feature's weights follow from the seed and its
index, so memory follows the features seen, and rows with features that training never met can be scored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from . import kernels
from .rows import Rows


def initial_limit(n_seen: int, n_components: int) -> float:
    """Bound of the uniform initial weights (Glorot and Bengio 2010), over the features that occur."""
    return float(np.float32(math.sqrt(6 / (n_seen + n_components))))


@dataclass(frozen=True)
class ReluLayer:
    """Weights of one layer: `weights[i]` are those of feature `columns[i]`, in increasing order."""

    columns: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    n_features: int
    seed: int
    limit: float
    _project: kernels.Projection = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        project = kernels.Projection(self.columns, self.weights, self.n_features, self.seed, self.limit)
        object.__setattr__(self, "_project", project)

    def transform(self, block: Rows, n_threads: int) -> npt.NDArray[np.float32]:
        """f of each row."""
        return self._project(block, n_threads)
