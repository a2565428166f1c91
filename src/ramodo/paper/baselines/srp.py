"""SRP: very sparse random projections (Li, Hastie, Church 2006), as scikit-learn has them."""

from __future__ import annotations

from typing import Any

from sklearn.random_projection import SparseRandomProjection


class SRP(SparseRandomProjection):
    """scikit-learn's `SparseRandomProjection` to `n_components` dense columns, at its own density of 1/√D."""

    def __init__(self, n_components: int = 20, *, random_state: Any = None) -> None:
        super().__init__(n_components, dense_output=True, random_state=random_state)
