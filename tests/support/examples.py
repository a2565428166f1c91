"""Small inputs that several tests share."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.data.blocks import SparseRows
from ramodo.data.validation import open_rows


@dataclass(frozen=True)
class Kind:
    """One of the ways in which a sparse matrix can arrive."""

    dtype: type
    index: type
    container: type

    def __str__(self):
        return f"{self.container.__name__}-{np.dtype(self.dtype).name}-{np.dtype(self.index).name}"

    def matrix(self, dense, n_features=None, columns=None):
        """`dense` in this kind; its column j is feature `columns[j]` of `n_features` where those are given."""
        compact = sp.csr_array(np.asarray(dense))
        places = compact.indices if columns is None else np.asarray(columns)[compact.indices]
        shape = (compact.shape[0], n_features or compact.shape[1])
        made = self.container(shape, dtype=self.dtype)
        # Assigned afterwards: scipy's constructors narrow int64 indices where the values allow it.
        made.data = compact.data.astype(self.dtype)
        made.indices, made.indptr = places.astype(self.index), compact.indptr.astype(self.index)
        return made

    def rows(self, dense, n_features=None, columns=None) -> SparseRows:
        """The same, past the door for data, with its dtype and index width intact."""
        rows = open_rows(self.matrix(dense, n_features, columns))
        assert rows.data.dtype == self.dtype
        assert rows.indices.dtype == self.index
        return rows


KINDS = [
    Kind(np.float32, np.int32, sp.csr_matrix),
    Kind(np.float32, np.int64, sp.csr_array),
    Kind(np.float64, np.int32, sp.csr_array),
    Kind(np.float64, np.int64, sp.csr_matrix),
]
"""Every dtype with every width of indices; both containers, which open alike (test_rows.py)."""

PLAIN = Kind(np.float64, np.int32, sp.csr_array)


def single(values):
    """The nearest values that float32 holds, so that both dtypes carry the same matrix."""
    return np.asarray(values).astype(np.float32).astype(np.float64)


def scattered(seed, shape, density=0.3):
    """A dense float64 array of `single` values, mostly zeros, with an empty row."""
    rng = np.random.default_rng(seed)
    values = single(rng.normal(size=shape))
    values[rng.random(shape) > density] = 0.0
    values[shape[0] // 2] = 0.0
    return values


def with_outliers(seed=0, n_rows=120, n_features=40, n_outliers=6):
    """Sparse non-negative rows, the last `n_outliers` of which have larger values on features of their own."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.25)
    dense[:, -5:] = 0.0
    dense[-n_outliers:, -5:] = 1.0 + rng.random((n_outliers, 5))
    truth = np.zeros(n_rows, dtype=int)
    truth[-n_outliers:] = 1
    return sp.csr_array(dense), truth


def random_triplets(seed, n, n_rows, n_queries=1):
    """Triplets whose negatives come from the last third of the rows and all else from the others.

    The rows are few, so that they recur within a batch, and the same ones are always told apart, so that the weights
    move.
    """
    rng = np.random.default_rng(seed)
    cut = n_rows - n_rows // 3
    inliers = np.stack([rng.choice(cut, n_queries + 1, replace=False) for _ in range(n)])
    return np.column_stack([inliers, rng.integers(cut, n_rows, size=n)]).astype(np.int64)


def unordered():
    """CSR arrays with indices out of order and one entry given twice (1.5 + 2.5); the same, dense."""
    matrix = sp.csr_array((3, 4))
    matrix.data = np.array([1.0, 2.0, 1.5, 2.5, 5.0])
    matrix.indices, matrix.indptr = np.array([3, 0, 2, 2, 1], dtype=np.int32), np.array([0, 2, 4, 5], dtype=np.int32)
    return matrix, np.array([[2.0, 0, 0, 1.0], [0, 0, 4.0, 0], [0, 5.0, 0, 0]])


LEARNED = (
    "outlier_scores_",
    "initial_scores_",
    "candidate_outliers_",
    "loss_curve_",
    "feature_weights_",
    "references_",
)


def same_bits(left, right):
    """Whether two fits learned the same."""
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in LEARNED)


either = pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
"""A sparse matrix as it is, and made dense."""
