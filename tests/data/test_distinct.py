"""Equal rows are found, and scored once; what each row gets is the same as without that."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import REPEN, Consensus, kernels
from ramodo.data.validation import open_rows
from ramodo.stages.scoring import Sp


def repeated(n=300, of=40, width=30, seed=0):
    """Rows that are drawn from a few, one of them empty."""
    rng = np.random.default_rng(seed)
    few = rng.normal(size=(of, width)) * (rng.random((of, width)) < 0.3)
    few[0] = 0
    return few[rng.integers(0, of, n)]


def first_equal(X):
    """The first row that equals each, by comparing all pairs."""
    return (X[:, None, :] == X[None, :, :]).all(axis=2).argmax(axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda X: sp.csr_array(sp.csr_matrix(X), dtype=X.dtype)])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_equal_rows_are_those_of_all_pairs(dtype, make, n_threads):
    X = repeated().astype(dtype)
    np.testing.assert_array_equal(kernels.first_equal(open_rows(make(X)).in_memory(), n_threads), first_equal(X))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_either_width_of_indices_and_rows_that_begin_in_the_middle(index):
    X = sp.csr_array(repeated())
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    rows = open_rows(X).in_memory().part(7, 200)
    np.testing.assert_array_equal(kernels.first_equal(rows, 1), first_equal(X.toarray()[7:200]))


def test_rows_that_differ_where_nothing_is_looked_at_are_different():
    """Long rows that share all words of which the hash is made, and differ in one of the others."""
    X = np.ones((50, 4096), dtype=np.float32)
    X[np.arange(50), 1001 + 2 * np.arange(50)] = 2
    np.testing.assert_array_equal(kernels.first_equal(open_rows(X).in_memory(), 1), np.arange(50))


def test_rows_are_taken_apart_and_put_together_again():
    X = sp.csr_array(repeated())
    distinct = open_rows(X).in_memory().distinct(1)
    assert distinct.rows.n_rows == 40
    np.testing.assert_array_equal(distinct.each(distinct.rows.to_csr().toarray()), X.toarray())


def test_rows_that_hardly_repeat_are_left_as_they_are():
    rows = open_rows(np.random.default_rng(0).normal(size=(50, 3))).in_memory()
    assert rows.distinct(1).rows is rows


def test_equal_rows_with_other_factors_are_different():
    rows = open_rows(sp.csr_array(np.ones((4, 3)))).in_memory()
    distinct = type(rows)(rows.indptr, rows.indices, rows.data, rows.width, np.array([1.0, 2, 1, 1])).distinct(1)
    assert distinct.places.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("detector", [Sp(random_state=0), REPEN(random_state=0), Consensus(random_state=0)])
def test_the_scores_are_those_of_each_row_by_itself(make, detector):
    X = make(repeated())
    detector.fit(X)
    scores = detector.outlier_score(X)
    np.testing.assert_array_equal(scores, detector.outlier_scores_)
    np.testing.assert_array_equal(scores, [detector.outlier_score(X[[i]])[0] for i in range(X.shape[0])])
