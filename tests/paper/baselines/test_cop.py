"""Coherence pursuit against plain NumPy, and on data whose subspace is known."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.paper.baselines import ConstraintError, CoP
from ramodo.paper.baselines import cop as module


def plain_coherence(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    products = unit @ unit.T
    np.fill_diagonal(products, 0)
    return np.linalg.norm(products, axis=1)


@pytest.fixture
def planted():
    """45 rows in a plane of 12 dimensions, and 5 that lie anywhere."""
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(2, 12))
    return np.vstack([rng.normal(size=(45, 2)) @ plane, rng.normal(size=(5, 12))]), plane


@pytest.mark.parametrize("products", [60, 4_000_000])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_coherence_is_that_of_all_products(planted, container, products, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_PRODUCTS", products)
    X, _ = planted
    np.testing.assert_allclose(CoP(2).fit(container(X)).coherence_, plain_coherence(X), atol=1e-9)


def test_the_span_is_the_inliers_plane(planted):
    X, _ = planted
    cop = CoP(2).fit(X)
    assert set(cop.basis_rows_) <= set(range(45))
    Z = cop.transform(X)
    lengths = np.linalg.norm(Z, axis=1) / np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(lengths[:45], 1.0, atol=1e-7)
    assert lengths[45:].max() < 0.95


def test_columns_are_coordinates_in_an_orthonormal_basis(planted):
    X, _ = planted
    cop = CoP(5).fit(X)
    chosen = X[cop.basis_rows_]
    basis = np.linalg.qr(chosen.T)[0]
    Z = cop.transform(X)
    np.testing.assert_allclose(Z @ Z.T, (X @ basis) @ (X @ basis).T, atol=1e-8)


def test_the_most_coherent_come_first_and_repeats_add_nothing():
    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(6, 5)))
    X = np.vstack([rows, 2 * rows[[3, 3]]])
    cop = CoP(3).fit(X)
    order = [row for row in np.argsort(-cop.coherence_, kind="stable") if row < 6 or row == 6]
    seen, expected = set(), []
    for row in order:
        name = 3 if row >= 6 else row
        if name not in seen:
            seen.add(name)
            expected.append(row)
    assert {3 if r >= 6 else r for r in cop.basis_rows_} == {3 if r >= 6 else r for r in expected[:3]}
    assert np.linalg.matrix_rank(X[cop.basis_rows_]) == 3


def test_a_small_span_gives_fewer_columns(planted):
    X, _ = planted
    assert CoP(10).fit_transform(X[:45]).shape == (45, 2)


def test_rows_of_zeros_only_are_refused():
    with pytest.raises(ConstraintError, match="X must have a row that is not zero"):
        CoP(2).fit(np.zeros((4, 3)))
