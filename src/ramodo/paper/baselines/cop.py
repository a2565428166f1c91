"""CoP: coherence pursuit (Rahmani and Atia 2017), a robust principal component analysis.

Rows are scaled to length 1. A row's coherence is the ℓ2 norm of its inner products with all other rows: inliers lie in
a low-dimensional subspace and agree with each other, outliers agree with nothing. The most coherent rows that are
linearly independent span the subspace; a row's representation is its coordinates in an orthonormal basis of it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from ...options import check
from .limits import DEFAULT_MEMORY, ConstraintError, refuse_beyond

_DEPENDENT = 1e-6
"""Squared length of what a row of length 1 adds to a span, at or below which it adds nothing."""

_BLOCK_PRODUCTS = 4_000_000
_BYTES_PER_PRODUCT = 24  # index, value and workspace of a sparse product


class CoP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Coordinates in the span of the `n_components` most coherent rows that are linearly independent.

    Products of rows are taken a block at a time; rows stay sparse. If the rows do not span `n_components`
    dimensions there are as many columns as it has.
    """

    def __init__(self, n_components: int = 20, *, memory_limit: float = DEFAULT_MEMORY) -> None:
        self.n_components = n_components
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the basis."""
        check({"n_components": self.n_components})
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        rows = normalize(X)
        self.coherence_ = self._coherence(rows)
        self.basis_rows_, self._triangle = _independent(rows, np.argsort(-self.coherence_, kind="stable"), self)
        self._basis = rows[self.basis_rows_]
        self._n_features_out = len(self.basis_rows_)
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Coordinates of rows in the basis."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return solve_triangular(self._triangle, _products(X, self._basis).T, lower=True).T.astype(X.dtype, copy=False)

    def _coherence(self, rows: Any) -> npt.NDArray[np.float64]:
        n_rows = rows.shape[0]
        size = max(1, min(n_rows, _BLOCK_PRODUCTS // n_rows))
        refuse_beyond(self.memory_limit, float(size) * n_rows * _BYTES_PER_PRODUCT, "CoP: products of rows")
        other = sp.csr_array(rows.T) if sp.issparse(rows) else rows.T
        squares = np.empty(n_rows)
        for begin in range(0, n_rows, size):
            block = rows[begin : begin + size]
            products = block @ other
            own = block.multiply(block).sum(axis=1) if sp.issparse(block) else (block * block).sum(axis=1)
            taken = products.multiply(products) if sp.issparse(products) else products * products
            squares[begin : begin + size] = np.ravel(taken.sum(axis=1)) - np.ravel(own) ** 2
        return np.sqrt(np.maximum(squares, 0.0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _products(first: Any, second: Any) -> npt.NDArray[Any]:
    found = first @ second.T
    return found.toarray() if sp.issparse(found) else np.asarray(found)


def _independent(rows: Any, order: Any, cop: CoP) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the row numbers of a basis in the given order, and the Cholesky factor of their inner products."""
    chosen: list[int] = []
    triangle = np.zeros((cop.n_components, cop.n_components))
    for row in order:
        if len(chosen) == cop.n_components:
            break
        n = len(chosen)
        row_products = _products(rows[[row]], rows[[*chosen, row]]).ravel().astype(np.float64)
        shared = solve_triangular(triangle[:n, :n], row_products[:n], lower=True) if n else np.empty(0)
        rest = row_products[n] - shared @ shared
        if rest > _DEPENDENT:
            triangle[n, :n], triangle[n, n] = shared, np.sqrt(rest)
            chosen.append(int(row))
    if not chosen:
        raise ConstraintError("X must have a row that is not zero, to span a subspace, got only zeros.")
    return np.array(chosen), triangle[: len(chosen), : len(chosen)]
