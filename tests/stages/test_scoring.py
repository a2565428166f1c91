"""Sp, in the original space and in the representation, against the reference (equation 1)."""

import numpy as np
import pytest
from scipy import stats

from ramodo import kernels
from ramodo.data.blocks import DenseRows
from ramodo.data.validation import open_rows
from ramodo.kernels import Phi
from ramodo.stages.scoring import KthNN, Sp
from reference import sp_scores
from support.examples import PLAIN, scattered, single

WIDE = 10**12


def _sparse_scores(kind, X, references, size, *, n_threads=1, **place):
    return kernels.SparseSp(kind.rows(references, **place), size, Phi()).score(kind.rows(X, **place), n_threads)


def _dense_scores(X, references, size):
    return Sp().against(DenseRows(references), size, 1)(DenseRows(X))


@pytest.mark.parametrize("n_features", [30, 10**6, WIDE])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_sparse_sp_equals_reference(kind, size, n_features):
    """Few features, a bitmap of features, a hash table of features; some in most references, some in one."""
    n_features = min(n_features, np.iinfo(kind.index).max)
    X = scattered(1, (50, 30), density=0.2)
    X[:, :3] = single(X[:, :3] + 1.0)
    references = single(X[np.random.default_rng(2).integers(50, size=4 * size)] * 1.5)
    columns = np.sort(np.random.default_rng(3).choice(n_features, 30, replace=False)) if n_features > 30 else None
    found = _sparse_scores(kind, X, references, size, n_features=n_features, columns=columns)
    np.testing.assert_allclose(found, sp_scores(X, references, size), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_dense_sp_equals_reference(size, dtype):
    X = scattered(4, (1100, 7), density=1.0)
    references = X[: 2 * size] + 0.25
    found = _dense_scores(X.astype(dtype), references.astype(dtype), size)
    np.testing.assert_allclose(found, sp_scores(X.astype(dtype), references.astype(dtype), size), rtol=1e-9)


@pytest.mark.parametrize("width", [1, 5, 20])
@pytest.mark.parametrize("size", [1, 3, 4, 8, 13])
def test_sp_in_the_representation_equals_reference(size, width):
    rng = np.random.default_rng(size)
    rows = rng.random((40, width), dtype=np.float32) * 10
    references = rng.random((3 * size, width), dtype=np.float32) * 10
    found = kernels.SmallSp(references, size, Phi()).score(rows, 1)
    np.testing.assert_allclose(found, sp_scores(rows, references, size), rtol=1e-12)


def test_scores_derived_by_hand():
    """Points 0, 3 and 10 on a line; subsamples {0, 3} and {10, 0}."""
    X, references = np.array([[0.0], [3.0], [10.0]]), np.array([[0.0], [3.0], [10.0], [0.0]])
    expected = [0.0, (0 + 3) / 2, (7 + 0) / 2]
    np.testing.assert_allclose(_sparse_scores(PLAIN, X, references, 2), expected, rtol=1e-15)
    np.testing.assert_allclose(_dense_scores(X, references, 2), expected, rtol=1e-15)
    small = kernels.SmallSp(references.astype(np.float32), 2, Phi()).score(X.astype(np.float32), 1)
    np.testing.assert_allclose(small, expected, rtol=1e-15)


def test_a_row_identical_to_a_reference_is_at_distance_zero(kind):
    """Values whose squares are rounded, so that norms less products would leave a residue."""
    row = single(1000 * scattered(5, (3, 400), density=0.9)[:1])
    assert _sparse_scores(kind, row, row, 1).tolist() == [0.0]
    assert _dense_scores(row.astype(kind.dtype), row.astype(kind.dtype), 1).tolist() == [0.0]
    small = row.astype(np.float32)
    assert kernels.SmallSp(small, 1, Phi()).score(small, 1).tolist() == [0.0]


def test_an_empty_row_is_at_distance_zero_from_an_empty_reference(kind):
    nothing = np.zeros((1, 4))
    assert _sparse_scores(kind, nothing, nothing, 1).tolist() == [0.0]


@pytest.mark.parametrize("difference", [1e-7, 1e-4, 1e-1, 10.0])
@pytest.mark.parametrize("scores", [lambda *a: _sparse_scores(PLAIN, *a), _dense_scores], ids=["sparse", "dense"])
def test_close_rows_keep_their_digits(scores, difference):
    """|x|² and |s|² are 1e6 and agree in up to twenty digits; double precision has sixteen."""
    row = np.zeros((1, 200))
    row[0, :100] = np.random.default_rng(6).random(100)
    row *= 1e3 / np.linalg.norm(row)
    reference = row.copy()
    reference[0, 7] += difference
    exact = abs(reference[0, 7] - row[0, 7])
    np.testing.assert_allclose(scores(row, reference, 1), [exact], rtol=1e-6)


def test_features_of_one_row_alone_count_in_close_rows():
    """The direct sum walks both rows to their ends: √(3² + 4² + 12²) = 13, whichever of them is the longer."""
    one, other = np.zeros((1, 7)), np.zeros((1, 7))
    one[0, 1:3], other[0, 1:3] = 1e3, 1e3
    one[0, 0], other[0, 4], other[0, 6] = 3e-3, 4e-3, 12e-3
    for row, reference in ((one, other), (other, one)):
        np.testing.assert_allclose(_sparse_scores(PLAIN, row, reference, 1), [13e-3], rtol=1e-12)


def test_sparse_scores_do_not_depend_on_threads_nor_neighbours():
    X = scattered(7, (1000, 60), density=0.4)
    references = X[:24]
    alone = np.concatenate([_sparse_scores(PLAIN, row[None], references, 8) for row in X[::50]])
    assert np.array_equal(_sparse_scores(PLAIN, X, references, 8)[::50], alone)
    assert np.array_equal(_sparse_scores(PLAIN, X, references, 8, n_threads=2)[::50], alone)


def test_small_scores_do_not_depend_on_threads_nor_neighbours():
    rows = np.random.default_rng(8).random((3000, 20), dtype=np.float32)
    scorer = kernels.SmallSp(rows[:40], 8, Phi())
    alone = np.concatenate([scorer.score(rows[i : i + 1], 1) for i in range(0, 3000, 100)])
    assert np.array_equal(scorer.score(rows, 1)[::100], alone)
    assert np.array_equal(scorer.score(rows, 2)[::100], alone)


# ---- drawing references --------------------------------------------------------------------------------------------


def test_references_are_uniform_over_the_eligible_rows():
    eligible = np.array([2, 3, 5, 7, 11, 13])
    drawn = Sp(n_subsamples=6000, subsample_size=2).draw(eligible, np.random.default_rng(0))
    assert drawn.shape == (6000, 2)
    counts = [int((drawn == row).sum()) for row in eligible]
    assert sum(counts) == drawn.size
    assert stats.chisquare(counts).pvalue > 1e-3


def test_a_subsample_repeats_no_row_but_the_ensemble_does():
    drawn = Sp(n_subsamples=50, subsample_size=8).draw(np.arange(10), np.random.default_rng(0))
    assert all(len(set(subsample)) == 8 for subsample in drawn.tolist())
    assert len({tuple(sorted(subsample)) for subsample in drawn.tolist()}) > 10


def test_subsamples_shrink_where_they_would_leave_no_row_out():
    drawn = Sp(n_subsamples=3).draw(np.arange(5), np.random.default_rng(0))
    assert all(len(set(subsample)) == len(subsample) for subsample in drawn.tolist())
    assert set(drawn.ravel()) <= set(range(5))
    assert drawn.shape == (3, 2)
    assert Sp(n_subsamples=3).draw(np.arange(8), np.random.default_rng(0)).shape == (3, 4)
    assert Sp(n_subsamples=3).draw(np.arange(9), np.random.default_rng(0)).shape == (3, 8)


@pytest.mark.parametrize("sparse", [True, False])
def test_against_takes_either_kind_of_rows(sparse):
    X = scattered(9, (20, 6))
    rows = open_rows(PLAIN.matrix(X) if sparse else X)
    found = Sp().against(rows.take(np.arange(8)), 4, 1)(rows)
    np.testing.assert_allclose(found, sp_scores(X, X[:8], 4), rtol=1e-7, atol=1e-12)


def test_rows_of_the_other_kind_are_scored_too(data):
    """A detector that was fitted to sparse rows takes dense ones, and the other way around."""
    X = data[0]
    for fitted_to in (X, X.toarray()):
        detector = KthNN(random_state=0).fit(fitted_to)
        assert np.allclose(detector.outlier_score(X), detector.outlier_scores_, rtol=1e-12)
        assert np.allclose(detector.outlier_score(X.toarray()), detector.outlier_scores_, rtol=1e-12)
