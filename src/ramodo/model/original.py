"""The distance to references in the original features: what a detector without a representation sees.

It splits exactly: with d the distance of x to a reference s, feature j adds (x_j - s_j)² / d, and all of them sum to d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from ..data.blocks import Block
from ..kernels import Phi
from .parts import Doubles, Part, View
from .references import Origin, nearest
from .saved import Saved, require
from .terms import Scores, Tensors, Term


@dataclass(frozen=True)
class OriginalDistance(Term):
    """φ of a row, averaged over subsamples of `size` consecutive references."""

    references: Origin
    size: int
    phi: Phi
    kind: ClassVar[str] = "original distance"

    @cached_property
    def _kernel(self) -> Any:
        return kernels.references(self.references.rows, self.size, self.phi)

    def __reduce__(self) -> Any:
        return OriginalDistance, (self.references, self.size, self.phi)

    def score(self, block: Block, n_threads: int) -> Scores:
        return np.asarray(self._kernel(block, n_threads))

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return [OriginalPart(self, weight, normalize)]

    def facts(self) -> dict[str, Any]:
        return {"size": self.size, "k": self.phi.k, "average": self.phi.average}

    def tensors(self) -> Tensors:
        arrays = self.references.rows.arrays()
        return {"origin.numbers": self.references.numbers, **{f"origin.{name}": a for name, a in arrays.items()}}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> OriginalDistance:
        size = saved.integer("size", 1, 2**31)
        phi = Phi(saved.integer("k", 1, size), saved.flag("average"))
        origin = saved.origin(None)
        require(origin is not None and len(origin.numbers) % size == 0, "its references are not subsamples")
        assert origin is not None
        return cls(origin, size, phi)


class OriginalPart(Part):
    """A sum of squares once it is known which references are nearest; p and q are their weights, one column each."""

    projection = None

    def __init__(self, term: OriginalDistance, weight: float, normalize: str | None) -> None:
        self._size, self._phi, self._weight, self._normalize = term.size, term.phi, weight, normalize
        self.as_given, self.numbers = term.references.rows, term.references.numbers
        self.references = self.as_given.normalized(normalize).multiplied()
        self._matrix = self.references.as_sparse().to_csr().astype(np.float64)
        self._squares = self.references.squared_norms()

    def view(self, block: Block) -> View:
        seen = block.normalized(self._normalize)
        factors = np.ones(block.n_rows) if seen.factors is None else seen.factors
        products: Doubles = (seen.as_sparse().to_csr().astype(np.float64) @ self._matrix.T).toarray() * factors[:, None]
        own = seen.without_factors().squared_norms() * factors**2
        squared = np.maximum(own[:, None] - 2 * products + self._squares[None], 0.0)
        near = nearest(squared, self._size, self._phi)
        distances = np.sqrt(np.take_along_axis(squared, near, axis=1))
        q = np.where(distances > 0, self._weight / near.shape[1] / np.where(distances > 0, distances, 1.0), 0.0)
        return View(q.sum(axis=1, keepdims=True), factors, near, q, distances)
