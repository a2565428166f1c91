"""What holds for any data: columns in another order, columns of zeros, rows given twice, another unit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ramodo import REPEN, kernels
from ramodo.data.blocks import DenseRows
from ramodo.data.validation import open_with_facts
from ramodo.kernels import Phi
from ramodo.model.representation import SparseLayer
from ramodo.stages.scoring import Sp
from reference import batches, initial_weights, train
from support.examples import PLAIN, random_triplets, single
from support.side_by_side import LIMIT, MARGIN, SEED, WIDTH, run_kernel

N_ROWS, N_FEATURES = 12, 9

matrices = arrays(np.int8, (N_ROWS, N_FEATURES), elements=st.integers(-60, 60), fill=st.just(0)).map(
    lambda whole: single(whole / 7)
)
"""Mostly zeros, with values that are rounded in either precision."""

orders = st.permutations(range(N_FEATURES)).map(np.array)
kinds = pytest.mark.parametrize("rows", [PLAIN.rows, DenseRows], ids=["sparse", "dense"])


def _sp(rows, X, references=slice(0, 8), size=4):
    return Sp().against(rows(np.ascontiguousarray(X[references])), size, 1)(rows(np.ascontiguousarray(X)))


def _detector(**options):
    options = {"n_components": 4, "n_epochs": 2, "n_subsamples": 4, "subsample_size": 3, "random_state": 0, **options}
    return REPEN(**options)


# ---- the order of columns ------------------------------------------------------------------------------------------


@kinds
@given(X=matrices, order=orders)
def test_sp_does_not_depend_on_the_order_of_columns(rows, X, order):
    np.testing.assert_allclose(_sp(rows, X[:, order]), _sp(rows, X), rtol=1e-9, atol=1e-7)


@kinds
@given(X=matrices, order=orders, seed=st.integers(0, 1000))
def test_the_representation_does_not_depend_on_the_order_of_columns(rows, X, order, seed):
    """Weights are permuted with the columns."""
    weights = np.random.default_rng(seed).normal(size=(N_FEATURES, 5)).astype(np.float32)
    plain, permuted = (
        SparseLayer(columns=np.arange(N_FEATURES), weights=w, n_features=N_FEATURES, seed=0, limit=0.1)
        for w in (weights, weights[order])
    )
    found = permuted.transform(rows(np.ascontiguousarray(X[:, order])), 1)
    np.testing.assert_allclose(found, plain.transform(rows(X), 1), atol=1e-4)


@kinds
@settings(max_examples=30)
@given(X=matrices, order=orders, seed=st.integers(0, 1000))
def test_training_does_not_depend_on_the_order_of_columns(rows, X, order, seed):
    """Column j of the kernel's data is column order[j] of the reference's, which starts from the same weights there.

    A single step: later ones would carry the rounding of values that sit on a corner of the hinge or the ReLU.
    """
    triplets = random_triplets(seed, 6, N_ROWS)
    columns, weights, losses = run_kernel(rows(np.ascontiguousarray(X[:, order])), triplets, 6)
    start = np.empty((N_FEATURES, WIDTH))
    start[order] = initial_weights(SEED, range(N_FEATURES), WIDTH, LIMIT)
    expected, expected_losses = train(X, batches(triplets, 6), start, MARGIN)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-4)
    np.testing.assert_allclose(weights, expected[order][columns], atol=1e-4)


# ---- columns of zeros ----------------------------------------------------------------------------------------------


@kinds
@given(X=matrices, place=st.integers(0, N_FEATURES))
def test_sp_does_not_see_a_column_of_zeros(rows, X, place):
    np.testing.assert_allclose(_sp(rows, np.insert(X, place, 0.0, axis=1)), _sp(rows, X), rtol=1e-9, atol=1e-7)


@settings(max_examples=40)
@given(X=matrices, n_more=st.integers(1, 2000))
@pytest.mark.filterwarnings("ignore:All rows have the same initial score")
def test_a_fit_does_not_see_columns_of_zeros(X, n_more):
    """At the end, where they leave every other feature its index; many of them, so that tables change their kind."""
    narrow, wide = sp.csr_array(X), sp.csr_array((N_ROWS, N_FEATURES + n_more))
    wide.data, wide.indices, wide.indptr = narrow.data, narrow.indices, narrow.indptr
    one, two = _detector().fit(narrow), _detector().fit(wide)
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
    assert np.array_equal(one.transform(narrow), two.transform(wide))


@settings(max_examples=40)
@given(X=matrices, n_more=st.integers(1, 40))
def test_dense_training_does_not_see_columns_of_zeros(X, n_more):
    triplets = random_triplets(1, 12, N_ROWS)
    _, narrow, losses = run_kernel(DenseRows(X), triplets, 4)
    _, wide, wide_losses = run_kernel(DenseRows(np.hstack([X, np.zeros((N_ROWS, n_more))])), triplets, 4)
    assert np.array_equal(narrow, wide[:N_FEATURES])
    assert np.array_equal(losses, wide_losses)


@given(X=matrices)
@pytest.mark.filterwarnings("ignore:All rows have the same initial score")
def test_explicit_zeros_are_zeros(X):
    full = sp.csr_array(np.ones_like(X))
    full.data = X.ravel().copy()
    assert np.array_equal(_detector().fit(full).outlier_scores_, _detector().fit(sp.csr_array(X)).outlier_scores_)


# ---- rows and units ------------------------------------------------------------------------------------------------


@given(X=matrices)
@pytest.mark.filterwarnings("ignore:All rows have the same initial score")
def test_the_same_row_has_the_same_score(X):
    X = np.vstack([X, X])
    detector = _detector().fit(sp.csr_array(X))
    scores = detector.outlier_scores_
    assert np.all(scores >= 0)
    assert np.array_equal(scores[:N_ROWS], scores[N_ROWS:])
    assert np.array_equal(detector.initial_scores_[:N_ROWS], detector.initial_scores_[N_ROWS:])


@kinds
@given(X=matrices, power=st.integers(-40, 40))
def test_sp_follows_the_unit(rows, X, power):
    """A power of two changes no digit."""
    assert np.array_equal(_sp(rows, X * 2.0**power), _sp(rows, X) * 2.0**power)


@given(X=matrices, size=st.integers(1, 5), width=st.integers(1, 9))
def test_sp_in_the_representation_equals_sp_on_the_same_numbers(X, size, width):
    rows = np.ascontiguousarray(X[:, :width], dtype=np.float32)
    small = kernels.SmallSp(rows[: 2 * size], size, Phi()).score(rows, 1)
    np.testing.assert_allclose(small, _sp(PLAIN.rows, X[:, :width], slice(0, 2 * size), size), rtol=1e-6, atol=1e-7)


@given(X=matrices)
def test_what_comes_in_is_what_goes_out(X):
    for given_matrix in (X, sp.csr_array(X), sp.coo_matrix(X), X.tolist()):
        rows, facts = open_with_facts(given_matrix)
        taken = rows.take(np.arange(N_ROWS))
        dense = (
            taken.values
            if isinstance(taken, DenseRows)
            else sp.csr_array((taken.data, taken.indices, taken.indptr), shape=X.shape).toarray()
        )
        assert np.array_equal(dense, X)
        assert facts.largest == np.abs(X).max()
        assert facts.n_seen == np.count_nonzero(X.any(axis=0))
