"""What is packed comes out as it went in, whatever it is, and narrow where that is cheap."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.data.validation import open_block
from ramodo.engines.serialization import packed, unpacked

RNG = np.random.default_rng(0)
ARRAYS = [
    np.arange(3000.0),
    np.arange(3000.0)[::-1],
    np.zeros((600, 7), order="F"),
    RNG.random((500, 3), dtype=np.float32),
    RNG.integers(-(2**62), 2**62, 1000),
    np.sort(RNG.integers(0, 2**31 - 1, 1000)).astype(np.int32),
    np.arange(2000, dtype=np.uint64)[::3],
    RNG.random(5000) < 0.1,
    np.zeros((0, 5)),
    np.array([np.nan, np.inf, -0.0] * 500),
    np.array(["a", "bc"]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}-{a.shape}")
def test_arrays_come_out_as_they_went_in(array):
    found = unpacked(packed(array))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()
    if found.size:
        found[0] = found[-1]  # may be written to


def test_other_values_come_out_as_they_went_in():
    value = {"a": (1, "b", None), "c": [np.arange(2000), np.float64(3)]}
    found = unpacked(packed(value))
    assert found["a"] == value["a"]
    assert (found["c"][0] == value["c"][0]).all()


def test_functions_that_pickle_does_not_know():
    offset = 3
    assert unpacked(packed(lambda x: x + offset))(1) == 4


@pytest.mark.parametrize("values", ["ones", "random"])
def test_sparse_rows_are_narrow(values):
    n, length = 2000, 100
    indices = np.sort(RNG.integers(0, 10**6, (n, length)), axis=1).astype(np.int32)
    data = np.ones(indices.size, np.float32) if values == "ones" else RNG.random(indices.size, dtype=np.float32)
    X = sp.csr_array((data, indices.ravel(), np.arange(0, indices.size + 1, length)), shape=(n, 10**6))
    X.sum_duplicates()
    block = open_block(X)
    sent = packed(block)
    assert len(sent) < (0.3 if values == "ones" else 0.75) * (X.data.nbytes + X.indices.nbytes)
    found = unpacked(sent)
    assert found.content() == block.content()
