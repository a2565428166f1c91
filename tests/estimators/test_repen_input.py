"""Data that REPEN must refuse, leaving no trace, and odd data that it must take, leaving it as it was."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ramodo import REPEN
from ramodo.data.validation import DataError
from support.examples import unordered

either = pytest.mark.parametrize("make", [sp.csr_array, np.asarray], ids=["sparse", "dense"])


def _learned(detector):
    return [name for name in vars(detector) if name not in detector.get_params()]


def _with(value, row=3, column=2):
    dense = np.random.default_rng(0).random((20, 5))
    dense[row, column] = value
    return dense


# ---- refused -------------------------------------------------------------------------------------------------------


@either
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (_with(np.nan), r"of X must be finite and at most 1e\+30 in absolute value, got NaN, first at row 3, column 2"),
        (_with(np.inf), r"of X must be .* got infinity, first at row 3, column 2"),
        (_with(-np.inf), r"of X must be .* got infinity, first at row 3, column 2"),
        (_with(1.1e30), r"of X must be .* got 1\.1e\+30, first at row 3, column 2"),
        (np.ones((0, 5)), r"0 sample\(s\) \(shape=\(0, 5\)\) while a minimum of 1 is required"),
        (np.ones((1, 5)), r"n_samples = 1; at least 3 are needed"),
        (np.ones((2, 5)), r"n_samples = 2; at least 3 are needed"),
        (np.ones((20, 0)), r"0 feature\(s\) \(shape=\(20, 0\)\) while a minimum of 1 is required"),
    ],
)
def test_fit_refuses_and_stays_unfitted(quick, make, X, message):
    detector = quick()
    with pytest.raises(DataError, match=message):
        detector.fit(make(X))
    assert not _learned(detector)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(5), "Expected 2D array, got 1D array"),
        (np.ones((5, 5), dtype=object), "floats, integers or booleans, got dtype object"),
        (np.full((5, 5), "a"), "floats, integers or booleans, got dtype <U1"),
        (None, r"text or objects \(NoneType"),
        ("mail.svm", r"a matrix of numbers, got text or objects \(str, "),
        (["a document", "another"], "Turn text into numbers first"),
        (np.ma.masked_less(np.ones((5, 5)), 2), "masked array"),
    ],
    ids=["1-D", "object", "strings", "None", "path", "documents", "masked"],
)
def test_fit_refuses_what_is_no_matrix_of_numbers(quick, X, message):
    detector = quick()
    with pytest.raises(DataError, match=message):
        detector.fit(X)
    assert not _learned(detector)


@either
@pytest.mark.parametrize("use", ["outlier_score", "predict", "transform", "score_samples", "decision_function"])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 4)), "X has 4 features, but REPEN is expecting 5 features as input"),
        (np.ones((3, 6)), "X has 6 features, but REPEN is expecting 5 features as input"),
        (_with(np.nan), r"of X must be .* got NaN, first at row 3, column 2"),
        (np.ones((0, 5)), r"0 sample\(s\)"),
    ],
)
def test_scoring_refuses_what_does_not_fit(quick, make, use, X, message):
    detector = quick().fit(make(_with(0.0)))
    with pytest.raises(ValueError, match=message):
        getattr(detector, use)(make(X))


def test_a_failed_fit_keeps_the_model_of_the_last_one(quick, data):
    detector = quick().fit(data[0])
    before = detector.outlier_score(data[0])
    with pytest.raises(DataError):
        detector.fit(_with(np.nan))
    assert np.array_equal(detector.outlier_score(data[0]), before)


# ---- taken ---------------------------------------------------------------------------------------------------------


def _arrays(X):
    if sp.issparse(X):
        return [getattr(X, name) for name in ("data", "indices", "indptr", "row", "col") if hasattr(X, name)]
    return [np.asarray(X)]


def _odd_matrices():
    dense = np.random.default_rng(0).random((20, 4)) * (np.random.default_rng(1).random((20, 4)) < 0.6)
    dense[4] = 0.0
    disordered = sp.vstack([sp.csr_array(dense), unordered()[0]], format="csr")
    zeros = sp.csr_array(dense)
    zeros.data[::3] = 0.0
    frozen = dense.copy()
    frozen.flags.writeable = False
    yield pytest.param(disordered, id="unsorted and repeated entries")
    yield pytest.param(zeros, id="explicit zeros")
    yield pytest.param(sp.csr_array(dense), id="empty rows")
    yield pytest.param(frozen, id="read-only")
    yield pytest.param(np.asfortranarray(dense), id="columns first")
    yield pytest.param(dense[::-1, ::-1], id="reversed view")
    for form in ("csc", "coo", "bsr", "lil", "dok"):
        yield pytest.param(sp.csr_array(dense).asformat(form), id=form)
    for dtype in (np.float16, np.float32, np.int8, np.int64, np.bool_):
        yield pytest.param((3 * dense).astype(dtype), id=np.dtype(dtype).name)
    yield pytest.param(pd.DataFrame(dense), id="pandas")
    yield pytest.param(pl.DataFrame(dense), id="polars")
    yield pytest.param(dense.astype(">f8"), id="big-endian")


@pytest.mark.parametrize("X", list(_odd_matrices()))
def test_odd_matrices_work_and_are_not_changed(quick, X):
    """They score as the plain matrix of the same numbers does, and come back bit for bit as they went in."""
    before = copy.deepcopy(X)
    detector = quick().fit(X)
    scores = detector.outlier_score(X)
    plain = X.toarray() if sp.issparse(X) else np.asarray(X).astype(np.float64)
    if sp.issparse(X):
        np.testing.assert_array_equal(scores, quick().fit(sp.csr_array(plain)).outlier_scores_)
    np.testing.assert_allclose(scores, quick().fit(plain).outlier_scores_, rtol=1e-4)
    for now, then in zip(_arrays(X), _arrays(before), strict=True):
        assert now.dtype == then.dtype
        assert np.array_equal(now, then)


def test_read_only_memory_maps(quick, data, tmp_path):
    X, _ = data
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name))
    parts = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr")]
    mapped = sp.csr_array(tuple(parts), shape=X.shape)
    assert np.array_equal(quick().fit(mapped).outlier_scores_, quick().fit(X).outlier_scores_)
    np.save(tmp_path / "dense.npy", X.toarray())
    dense = np.load(tmp_path / "dense.npy", mmap_mode="r")
    assert np.array_equal(quick().fit(dense).outlier_scores_, quick().fit(X.toarray()).outlier_scores_)


@either
@pytest.mark.parametrize("n_rows", [3, 5, 8])
def test_fewer_rows_than_a_subsample_shrink_it_with_a_warning(make, n_rows):
    X = np.random.default_rng(0).random((n_rows, 6))
    with pytest.warns(UserWarning, match=f"subsample_size=8 leaves no row out .* {n_rows} rows") as told:
        detector = REPEN(random_state=0).fit(make(X))
    assert len(told) == 1
    assert np.ptp(detector.initial_scores_) > 0
    assert np.isfinite(detector.outlier_scores_).all()
    assert np.array_equal(detector.outlier_score(make(X)), detector.outlier_scores_)


@either
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e15])
def test_equal_rows_score_zero_with_a_warning(quick, make, value):
    X = np.full((30, 6), value)
    with pytest.warns(UserWarning, match="All rows have the same initial score"):
        detector = quick().fit(make(X))
    assert detector.outlier_scores_.tolist() == [0.0] * 30
    assert detector.predict(make(X)).tolist() == [1] * 30


@either
@pytest.mark.parametrize("size", [1e-30, 1e-10, 1e10, 1e30])
def test_values_of_any_size(quick, make, size):
    """Nothing overflows, and rows that are far away at size 1 are far away at any size."""
    X = np.random.default_rng(0).random((60, 8)) * 0.1
    X[:3] += 0.8
    detector = quick(n_epochs=10, batch_size=16).fit(make(X / X.max() * size))
    assert np.isfinite(detector.outlier_scores_).all()
    assert set(np.argsort(-detector.initial_scores_, kind="stable")[:3]) == {0, 1, 2}
    assert set(np.argsort(-detector.outlier_scores_, kind="stable")[:3]) == {0, 1, 2}


@either
def test_training_on_huge_values_is_training_in_another_unit(quick, make):
    """Both sizes are brought to the same one by a power of two; rows at random leave triplets to be learned from."""
    X = np.random.default_rng(0).random((60, 8))
    huge, larger = (
        quick(n_epochs=10, batch_size=16, margin=1e3 * unit**2).fit(make(X * unit)) for unit in (2.0**40, 2.0**90)
    )
    assert np.all(huge.loss_curve_ > 0)
    assert np.ptp(huge.feature_weights_) > 1.01 * 2 * huge.model_.learned[0].representation.first.limit
    assert np.array_equal(larger.feature_weights_, huge.feature_weights_)
    assert np.array_equal(larger.outlier_scores_, huge.outlier_scores_ * 2.0**50)


@either
def test_one_column_is_enough(quick, make):
    X = np.r_[np.random.default_rng(0).random(40), 50.0][:, None]
    detector = quick(n_components=20).fit(make(X))
    assert np.argmax(detector.outlier_scores_) == 40
