"""The distance to references in the original features, for a detector without a representation.

It splits exactly: if x is at distance d from a reference s, feature j adds (x_j - s_j)² / d, and these sum to d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .. import kernels
from ..data.blocks import Block, SparseRows
from ..data.distinct_numbers import distinct_numbers
from ..kernels import Phi
from .parts import Doubles, Integers, Part, View
from .references import Origin, nearest
from .saved import ModelFileError, Saved
from .terms import Scores, Tensors, Term

_CANCELLED = 1e-6
"""Below this share of |x|² + |s|², a squared distance has lost too many digits and is computed again, directly."""

_NOTHING = 2.0**-80
"""Below this share, a squared distance is nothing but rounding errors: it counts as 0, and no feature adds to it."""


@dataclass(frozen=True)
class OriginalDistance(Term):
    """φ of a row, averaged over subsamples of `size` consecutive references."""

    references: Origin
    size: int
    phi: Phi
    kind: ClassVar[str] = "original distance"

    @cached_property
    def _kernels(self) -> dict[str | None, Any]:
        """Scoring functions by normalisation, created on first use."""
        return {}

    def __reduce__(self) -> Any:
        return OriginalDistance, (self.references, self.size, self.phi)

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        references = self.references.rows
        if normalize not in self._kernels:
            self._kernels[normalize] = kernels.references(references.normalized(normalize), self.size, self.phi)
        return np.asarray(self._kernels[normalize](references.matching(block), n_threads))

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return [OriginalPart(self, weight, normalize)]

    def compared_with(self) -> Origin:
        return self.references

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
        if origin is None or len(origin.numbers) == 0 or len(origin.numbers) % size:
            raise ModelFileError(f"the references of an original distance are not subsamples of {size} rows")
        return cls(origin, size, phi)


class OriginalPart(Part):
    """A sum of squares, given which references are nearest; p and q are weights, one number each."""

    projection = None

    def __init__(self, term: OriginalDistance, weight: float, normalize: str | None) -> None:
        self._size, self._phi, self._weight, self._normalize = term.size, term.phi, weight, normalize
        self.as_given, self.numbers = term.references.rows, term.references.numbers
        self.references = self.as_given.normalized(normalize).in_doubles().multiplied()
        self._sparse = self.references.as_sparse()
        self._columns = self._sparse.features()
        self._transposed = _among(self._columns, self._sparse).T.tocsr()
        self._squares = self.references.squared_norms()

    def view(self, block: Block) -> View:
        seen = block.normalized(self._normalize)
        factors = np.ones(block.n_rows) if seen.factors is None else seen.factors
        squared = self._squared(seen.in_doubles().multiplied())
        near = nearest(squared, self._size, self._phi)
        distances = np.sqrt(np.take_along_axis(squared, near, axis=1))
        q = np.where(distances > 0, self._weight / near.shape[1] / np.where(distances > 0, distances, 1.0), 0.0)
        return View(q.sum(axis=1, keepdims=True), factors, near, q, distances)

    def _squared(self, rows: Block) -> Doubles:
        """Return the squared distances of rows to all references."""
        sparse, sizes = rows.as_sparse(), rows.squared_norms()[:, None] + self._squares[None]
        products = (_among(self._columns, sparse) @ self._transposed).toarray()
        squared: Doubles = np.maximum(sizes - 2 * products, 0.0)
        lost = squared < _CANCELLED * sizes
        for i in np.flatnonzero(lost.any(axis=1)):
            near = np.flatnonzero(lost[i])
            pair = self._sparse.take(near), sparse.take(np.full(len(near), i))
            columns = distinct_numbers(np.concatenate([one.indices for one in pair]))
            difference = _among(columns, pair[0]) - _among(columns, pair[1])
            squared[i, near] = difference.multiply(difference).sum(axis=1)
        return np.where(squared < _NOTHING * sizes, 0.0, squared)


def _among(columns: Integers, rows: SparseRows) -> sp.csr_array:
    """Return rows with only some columns, renumbered, so that memory does not depend on the number of all columns."""
    indices = rows.indices[rows.indptr[0] : rows.indptr[-1]]
    places = np.searchsorted(columns, indices)
    there = np.append(columns, -1)[places] == indices
    kept = rows.selected(there)
    return sp.csr_array((kept.data, places[there], kept.indptr), shape=(rows.n_rows, len(columns)))
