"""The matrix of a table: what SciPy's hstack gives, to the bits and the types."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.formats.assembling import _matrix


@pytest.mark.parametrize("seed", range(20))
def test_parts_side_by_side(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 9))
    dense = [rng.integers(-1, 2, (n, k)).astype(np.float64) for k in (1, 3)]
    sparse = [sp.random_array((n, k), density=0.4, format="csr", random_state=rng) for k in (2, 4)]
    parts = [dense[0], sparse[0], sp.csr_array((n, 2)), dense[1], sparse[1]]
    given, wanted = _matrix(parts), sp.hstack([sp.csr_array(part) for part in parts], format="csr")
    assert given.shape == wanted.shape
    for one, other in zip(
        (given.data, given.indices, given.indptr), (wanted.data, wanted.indices, wanted.indptr), strict=True
    ):
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
    assert np.array_equal(_matrix(dense), np.hstack(dense))
