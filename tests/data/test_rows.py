"""The door for data: what is let in, in which form, and what is refused with which words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ramodo.data import blocks as rows_module
from ramodo.data.blocks import DenseRows, SparseRows
from ramodo.data.validation import DataError, open_rows, open_with_facts
from support.examples import scattered, unordered

DENSE = scattered(1, (9, 7), density=0.4)


def _values(rows):
    return rows.to_csr().toarray() if isinstance(rows, SparseRows) else rows.values


def _sparse(dense):
    """CSR of any dtype; scipy makes none of float16 by itself, but takes the array."""
    matrix = sp.csr_array(dense.astype(np.float64))
    matrix.data = dense[dense != 0].astype(dense.dtype)
    return matrix


# ---- let in --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_every_sparse_format_means_the_same(form, container):
    rows, facts = open_with_facts(container(DENSE).asformat(form))
    assert isinstance(rows, SparseRows)
    assert np.array_equal(_values(rows), DENSE)
    assert (facts.n_seen, facts.largest) == (np.count_nonzero(DENSE.any(axis=0)), np.abs(DENSE).max())


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [
        (np.float16, 65504),
        (np.float32, 1e30),
        (np.float64, 1e30),
        (np.longdouble, 1e30),
        (np.int8, -128),
        (np.uint16, 65535),
        (np.int32, 2**31 - 1),
        (np.int64, 2**53),
        (np.uint64, 2**53),
        (np.bool_, True),
    ],
)
@pytest.mark.parametrize("make", [_sparse, np.asarray], ids=["sparse", "dense"])
def test_every_kind_of_number_keeps_its_value(dtype, largest, make):
    dense = np.array([[0, 1, 0], [1, 0, largest]]).astype(dtype)
    rows = open_rows(make(dense))
    assert _values(rows).dtype in (np.float32, np.float64)
    assert np.array_equal(_values(rows), dense.astype(np.float64))


def test_large_integers_are_not_rounded_to_single_precision():
    assert _values(open_rows(np.array([[2**24 + 1], [0]])))[0, 0] == 2**24 + 1


def test_unordered_and_repeated_entries_are_put_right_in_a_copy():
    matrix, dense = unordered()
    before = matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()
    rows, facts = open_with_facts(matrix)
    assert np.array_equal(_values(rows), dense)
    assert all(np.all(np.diff(rows.indices[a:b]) > 0) for a, b in zip(rows.indptr, rows.indptr[1:], strict=False))
    assert facts.n_seen == 4
    for given, kept in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
        assert np.array_equal(given, kept)


def test_repeated_entries_that_add_up_beyond_the_range_are_refused():
    matrix, _ = unordered()
    matrix.data[2:4] = 9e29
    with pytest.raises(DataError, match=r"got 1\.8e\+30, first at row 1, column 2"):
        open_rows(matrix)


def test_explicit_zeros_are_no_features():
    matrix = sp.csr_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 2]))), shape=(2, 4))
    assert matrix.nnz == 2
    rows, facts = open_with_facts(matrix)
    assert facts.n_seen == 1
    assert np.array_equal(_values(rows), matrix.toarray())


def test_usable_arrays_are_shared_not_copied():
    matrix = sp.csr_array(DENSE)
    rows = open_rows(matrix)
    assert np.shares_memory(rows.data, matrix.data)
    assert np.shares_memory(rows.indices, matrix.indices)
    assert np.shares_memory(open_rows(DENSE).values, DENSE)


@pytest.mark.parametrize("order", ["C", "F"])
def test_read_only_memory_maps_and_either_order(tmp_path, order):
    np.save(tmp_path / "x.npy", np.asarray(DENSE, order=order))
    rows = open_rows(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert np.array_equal(rows.values, DENSE)
    frozen = sp.csr_array(DENSE)
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    assert np.array_equal(_values(open_rows(frozen)), DENSE)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(DENSE),
        pd.DataFrame(DENSE).astype("float32"),
        pd.DataFrame(DENSE).astype(pd.SparseDtype("float64", 0.0)),
        pd.DataFrame(DENSE).astype("Float64"),
        pl.DataFrame(DENSE),
        pl.DataFrame(DENSE.astype(np.float32)),
    ],
    ids=["pandas", "pandas-float32", "pandas-sparse", "pandas-nullable", "polars", "polars-float32"],
)
def test_frames_of_numbers(frame):
    assert np.array_equal(_values(open_rows(frame)), DENSE)


def test_frames_of_mixed_numbers():
    columns = {"a": [1, 2, 3], "b": [0.5, 0.0, 1.5], "c": [True, False, True]}
    expected = [[1, 0.5, 1], [2, 0, 0], [3, 1.5, 1]]
    assert open_rows(pd.DataFrame(columns)).values.tolist() == expected
    assert open_rows(pl.DataFrame(columns)).values.tolist() == expected


def test_nested_lists():
    assert open_rows([[1, 2], [3, 4]]).values.tolist() == [[1, 2], [3, 4]]


# ---- blocks and rows taken -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("entries", [1, 5, 20, 10**6])
def test_blocks_are_all_rows_in_order(monkeypatch, make, entries):
    monkeypatch.setattr(rows_module, "_BLOCK_ENTRIES", entries)
    rows, facts = open_with_facts(make(DENSE))
    assert facts.n_seen == np.count_nonzero(DENSE.any(axis=0))
    blocks = list(rows.blocks())
    assert len(blocks) > 1 or entries == 10**6
    assert np.array_equal(np.vstack([_values(block) for block in blocks]), DENSE)
    seen = []
    sums = rows.gather(lambda block: _values(block).sum(axis=1), lambda *share: seen.append(share))
    assert np.array_equal(sums, DENSE.sum(axis=1))
    assert seen[-1] == (9, 9)


@pytest.mark.parametrize("make", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_bad_values_are_named_by_their_row_in_all_blocks(monkeypatch, make):
    monkeypatch.setattr(rows_module, "_BLOCK_ENTRIES", 5)
    dense = DENSE.copy()
    dense[8, 1] = np.inf
    with pytest.raises(DataError, match="row 8, column 1"):
        open_rows(make(dense))


@pytest.mark.parametrize("make", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_take_gives_rows_in_the_order_asked_for(make):
    wanted = np.array([8, 0, 4, 4, 3])
    assert np.array_equal(_values(open_rows(make(DENSE)).take(wanted)), DENSE[wanted])


@pytest.mark.parametrize("first", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("second", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_like_and_stack_join_either_kind(first, second):
    one, two = open_rows(first(DENSE)), open_rows(second(DENSE[:3].astype(np.float32)))
    joined = one.stacked([one.matching(two)])
    assert type(joined) is type(one)
    assert isinstance(joined, SparseRows | DenseRows)
    assert np.array_equal(_values(joined), np.vstack([DENSE, DENSE[:3]]))


@pytest.mark.parametrize("first", [sp.csr_array, np.asarray], ids=["sparse first", "dense first"])
@pytest.mark.parametrize("second", [sp.csr_array, np.asarray], ids=["sparse second", "dense second"])
@pytest.mark.parametrize("how", [(None, None), ("l2", "l2"), (None, "l2"), ("max", None)], ids=str)
def test_stacking_loses_no_row_and_no_factor(first, second, how):
    one = open_rows(first(DENSE)).normalized(how[0])
    two = open_rows(second(DENSE[:3])).normalized(how[1])
    joined = one.stacked([two])
    assert type(joined) is type(one)
    expected = np.vstack([np.asarray(sp.csr_array(part.to_matrix()).toarray()) for part in (one, two)])
    np.testing.assert_allclose(sp.csr_array(joined.to_matrix()).toarray(), expected)
