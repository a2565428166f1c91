"""f: from sparse rows to a few columns (equation 5).

The first layer, f(x) = ψ(x W) without bias, is native and sparse: only features that training changed have stored
weights. The weights of all other features follow from the seed and the feature's index. So memory depends on the
features seen in training, and rows with other features can be scored. Further layers, if any, are small and dense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block, DenseRows

Floats = npt.NDArray[np.float32]


def initial_limit(n_inputs: int, n_outputs: int) -> float:
    """Return the bound of the uniform initial weights (Glorot and Bengio 2010); inputs are features that occur."""
    return float(np.float32(math.sqrt(6 / (n_inputs + n_outputs))))


@dataclass(frozen=True, kw_only=True)
class SparseLayer:
    """A fitted first layer: `weights[i]` are those of feature `columns[i]`, in increasing order."""

    columns: npt.NDArray[np.int64]
    weights: Floats
    n_features: int
    seed: int
    limit: float
    slope: float = 0.0

    def __post_init__(self) -> None:
        """Freeze the arrays: workers cache copies of them."""
        for array in (self.columns, self.weights):
            array.flags.writeable = False

    @cached_property
    def projection(self) -> kernels.Projection:
        """The kernel, created on first use."""
        return kernels.Projection(self.columns, self.weights, self.n_features, self.seed, self.limit, self.slope)

    def __reduce__(self) -> Any:
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return partial(SparseLayer, **own), ()

    def transform(self, block: Block, n_threads: int) -> Floats:
        """Return ψ(x W) of each row."""
        return self.projection(block, n_threads)


@dataclass(frozen=True)
class DenseLayer:
    """A fitted small layer. A row's result does not depend on the other rows."""

    weights: Floats
    slope: float
    _project: kernels.Projection = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        n_inputs = len(self.weights)
        weights = np.ascontiguousarray(self.weights, dtype=np.float32)
        project = kernels.Projection(np.arange(n_inputs), weights, n_inputs, 0, 1.0, self.slope)
        object.__setattr__(self, "_project", project)

    def __reduce__(self) -> Any:
        return DenseLayer, (self.weights, self.slope)

    def transform(self, rows: Floats, n_threads: int) -> Floats:
        """ψ(rows W)."""
        return self._project(DenseRows(rows), n_threads)


@dataclass(frozen=True)
class Representation:
    """A fitted f: the first layer, with small layers or a user-defined head above it."""

    first: SparseLayer
    upper: tuple[DenseLayer, ...] = ()
    head: Any = None

    def transform(self, block: Block, n_threads: int) -> Floats:
        """Return f of each row."""
        rows = self.first.transform(block, n_threads)
        for layer in self.upper:
            rows = layer.transform(rows, n_threads)
        return rows if self.head is None else np.ascontiguousarray(self.head.forward(rows), dtype=np.float32)

    @property
    def width(self) -> int:
        """Number of columns of the representation, if known before its first use."""
        return int((self.upper[-1] if self.upper else self.first).weights.shape[1])
