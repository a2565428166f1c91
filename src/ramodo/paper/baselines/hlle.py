"""HLLE: Hessian locally linear embedding (Donoho and Grimes 2003), by scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.utils.validation import check_is_fitted, validate_data

from ...options import check
from .limits import DEFAULT_MEMORY, ConstraintError, dense, refuse_beyond


class HLLE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """scikit-learn's `LocallyLinearEmbedding(method="hessian")` with the paper's K = 250 neighbours.

    It asks for K > M(M+3)/2 and for more than K rows. scikit-learn takes dense rows only, so sparse ones are made dense
    where `memory_limit` allows it. Its dense solver is used: the sparse one gives the same and takes 2.6 times as long.
    """

    def __init__(self, n_components: int = 20, *, n_neighbors: int = 250, memory_limit: float = DEFAULT_MEMORY) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X."""
        check({"n_components": self.n_components})
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self._refuse_unless_possible(X.shape[0])
        rows = dense(X, self.memory_limit, np.float64, "HLLE")
        refuse_beyond(self.memory_limit, rows.nbytes + 3 * 8 * float(len(rows)) ** 2, "HLLE: X and three N x N arrays")
        self._embedding = LocallyLinearEmbedding(
            n_neighbors=self.n_neighbors, n_components=self.n_components, method="hessian", eigen_solver="dense"
        ).fit(rows)
        self.embedding_ = self._embedding.embedding_
        self._n_features_out = self.n_components
        return self

    def fit_transform(self, X: Any, y: Any = None) -> npt.NDArray[np.float64]:
        """Return the embedding of the rows of X; `transform` would place each as if it were new."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return rows placed among their nearest neighbours of the embedding."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self._embedding.transform(dense(X, self.memory_limit, np.float64, "HLLE"))

    def _refuse_unless_possible(self, n_rows: int) -> None:
        M, K = self.n_components, self.n_neighbors
        if M * (M + 3) // 2 >= K:
            raise ConstraintError(f"n_neighbors must be above M(M+3)/2 = {M * (M + 3) // 2} for M = {M}, got {K}.")
        if n_rows <= K:
            raise ConstraintError(f"n_samples must be above n_neighbors={K}, got {n_rows}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
