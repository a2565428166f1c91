"""Rows divided by their length or their largest value, as they are read: as a normalised copy, without the copy."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize as scaled_by

from ramodo import RAMODO, REPEN, AverageNN, Layers, load
from ramodo.data.validation import open_rows
from ramodo.options import OptionError
from support.examples import Kind, either, with_outliers

OPTIONS = {"n_components": 6, "n_epochs": 4, "batch_size": 32, "n_subsamples": 10, "random_state": 0}

hows = pytest.mark.parametrize("how", ["l2", "max"])


def _uneven(seed=0, n_rows=120):
    """Rows of very different lengths, some values negative, one row of zeros."""
    X, truth = with_outliers(seed, n_rows)
    rng = np.random.default_rng(seed)
    dense = X.toarray() * np.exp(rng.normal(size=(n_rows, 1))) * rng.choice([1, 1, -1], size=(1, 40))
    dense[7] = 0.0
    return sp.csr_array(dense), truth


def _copy(X, how):
    """The normalised copy, by formula."""
    dense = X.toarray() if sp.issparse(X) else X
    sizes = [np.sqrt((row**2).sum()) if how == "l2" else np.abs(row).max() for row in dense]
    return np.array([row / size if size > 0 else row for row, size in zip(dense, sizes, strict=True)])


def test_the_formula_is_scikit_learn_s():
    X = _uneven()[0]
    for how in ("l2", "max"):
        np.testing.assert_allclose(
            _copy(X, how), np.abs(scaled_by(X, how).toarray()) * np.sign(X.toarray()), rtol=1e-12
        )


@hows
@either
@pytest.mark.parametrize(
    "detector",
    [
        REPEN(**OPTIONS),
        RAMODO(
            AverageNN(2, 10), representation=Layers((6, 4), "leaky_relu"), n_epochs=4, batch_size=32, random_state=0
        ),
    ],
    ids=["one layer", "two layers"],
)
def test_a_fit_is_that_of_a_normalised_copy(make, how, detector):
    X, _ = _uneven()
    rows, copied = make(X), make(sp.csr_array(_copy(X, how)))
    one = detector.set_params(normalize=how).fit(rows)
    scores, initial, mapped = one.outlier_scores_, one.initial_scores_, one.transform(rows)
    assert np.array_equal(one.outlier_score(rows), scores)
    two = detector.set_params(normalize=None).fit(copied)
    np.testing.assert_allclose(initial, two.initial_scores_, rtol=1e-6)
    np.testing.assert_allclose(mapped, two.transform(copied), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(scores, two.outlier_scores_, rtol=1e-3)
    plain = detector.fit(rows).outlier_scores_
    assert np.abs(plain / scores - 1).max() > 0.1


@hows
@either
def test_labels_and_the_direction_see_normalised_rows(make, how):
    X, truth = _uneven()
    rows, copied = make(X), make(sp.csr_array(_copy(X, how)))
    y = np.where(truth == 1, np.arange(120) % 2, 0)
    one, two = REPEN(normalize=how, **OPTIONS).fit(rows, labels=y), REPEN(**OPTIONS).fit(copied, labels=y)
    np.testing.assert_allclose(one.outlier_scores_, two.outlier_scores_, rtol=1e-3, atol=1e-3)
    assert np.array_equal(one.outlier_score(rows), one.outlier_scores_)


@hows
@either
def test_extra_labelled_rows_are_normalised_too(make, how):
    """Rows a thousand times longer beside X are as those of ordinary length."""
    X, _ = _uneven()
    rows = make(X[:100])
    long, short = (
        REPEN(normalize=how, labeled_fraction=0.5, labels_in_score=False, **OPTIONS)
        .fit(rows, labeled_outliers=make(X[114:] * size), labeled_inliers=make(X[100:110] * size))
        .outlier_scores_
        for size in (1024.0, 1.0)
    )
    np.testing.assert_allclose(long, short, rtol=1e-6)
    copies = [make(sp.csr_array(_copy(part, how))) for part in (X[:100], X[114:], X[100:110])]
    by_copies = REPEN(labeled_fraction=0.5, labels_in_score=False, **OPTIONS)
    by_copies.fit(copies[0], labeled_outliers=copies[1], labeled_inliers=copies[2])
    np.testing.assert_allclose(by_copies.outlier_scores_, short, rtol=1e-3)
    as_sparse = REPEN(normalize=how, labeled_fraction=0.5, labels_in_score=False, **OPTIONS)
    as_sparse.fit(rows, labeled_outliers=X[114:], labeled_inliers=X[100:110].toarray())
    np.testing.assert_allclose(as_sparse.outlier_scores_, short, rtol=1e-6)


@hows
@either
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_x_is_not_changed(make, how, dtype):
    X = make(_uneven()[0]).astype(dtype)
    before = X.copy()
    detector = REPEN(normalize=how, **OPTIONS).fit(X)
    detector.outlier_score(X)
    detector.transform(X)
    if sp.issparse(X):
        for part in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(X, part), getattr(before, part))
    else:
        assert np.array_equal(X, before)


@hows
def test_kinds_of_matrix_score_alike(kind, how):
    X = _uneven()[0].astype(np.float32)
    expected = REPEN(normalize=how, **OPTIONS).fit(X.astype(np.float64))
    found = REPEN(normalize=how, **OPTIONS).fit(kind.matrix(X.toarray().astype(np.float64)))
    np.testing.assert_allclose(found.outlier_scores_, expected.outlier_scores_, rtol=1e-6)


@hows
def test_sparse_and_dense_rows_score_alike(how):
    X = _uneven()[0].astype(np.float32)
    sparse, dense = (REPEN(normalize=how, **OPTIONS).fit(kind) for kind in (X, X.toarray()))
    np.testing.assert_allclose(sparse.outlier_scores_, dense.outlier_scores_, rtol=1e-3)
    np.testing.assert_allclose(sparse.outlier_score(X.toarray()), dense.outlier_score(X), rtol=1e-3)


@hows
@either
def test_a_row_alone_scores_as_it_does_among_others(make, how):
    X, truth = _uneven()
    X = make(X)
    for y in (None, truth):
        detector = REPEN(normalize=how, **OPTIONS).fit(X, labels=y)
        alone = np.concatenate([detector.outlier_score(X[i : i + 1]) for i in range(120)])
        assert np.array_equal(alone, detector.outlier_scores_)


@hows
@either
def test_the_length_of_a_row_does_not_matter(make, how):
    """A power of two changes no digit, so no bit of the score."""
    X = make(_uneven()[0])
    detector = REPEN(normalize=how, **OPTIONS).fit(X)
    for size in (2.0**-20, 2.0, 2.0**60):
        np.testing.assert_allclose(detector.outlier_score(X * size), detector.outlier_scores_, rtol=1e-5)
    assert not np.allclose(REPEN(**OPTIONS).fit(X).outlier_score(X * 2.0), detector.outlier_scores_, rtol=1e-3)


@hows
@either
@pytest.mark.parametrize("size", [1e-26, 1e-15, 1e20, 1e29])
def test_huge_and_tiny_rows_are_as_any_others(make, how, size):
    """All rows, or every other, of that size: what is left of them is their direction."""
    X, _ = _uneven()
    expected = REPEN(normalize=how, **OPTIONS).fit(make(X)).outlier_scores_
    sizes = np.where(np.arange(120) % 2, size, 1.0)
    for factors in (sizes, np.full(120, size)):
        detector = REPEN(normalize=how, **OPTIONS).fit(make(sp.csr_array(X.toarray() * factors[:, None])))
        np.testing.assert_allclose(detector.outlier_scores_, expected, rtol=2e-2)


@hows
@either
def test_rows_of_zeros_stay_zeros(make, how):
    X = make(_uneven()[0])
    rows = open_rows(X).normalized(how, 1)
    assert rows.factors[7] == 1.0
    assert np.isfinite(rows.factors).all()
    detector = REPEN(normalize=how, **OPTIONS).fit(X)
    assert not detector.transform(X)[7].any()
    nothing = make(sp.csr_array((3, 40)))
    assert np.array_equal(detector.outlier_score(nothing), np.repeat(detector.outlier_scores_[7], 3))


@hows
@either
@pytest.mark.parametrize("size", [1e-33, 1e-39, 1e-45, 1e-160, 1e-300])
def test_rows_too_small_for_the_kernels_count_as_zeros(make, how, size):
    X = _uneven()[0].toarray()
    X[[3, 119]] *= size
    detector = REPEN(normalize=how, **OPTIONS).fit(make(sp.csr_array(X)))
    np.testing.assert_allclose(detector.outlier_scores_[[3, 119]], detector.outlier_scores_[7], rtol=1e-6)


@hows
@either
def test_threads_do_not_change_a_bit(make, how):
    X = make(_uneven(n_rows=800)[0])
    one, two = (REPEN(normalize=how, n_jobs=n, **OPTIONS).fit(X) for n in (1, 2))
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
    assert np.array_equal(one.feature_weights_, two.feature_weights_)


@hows
@either
def test_a_saved_model_normalises(tmp_path, make, how):
    X, truth = _uneven()
    X = make(X)
    for y in (None, truth):
        detector = REPEN(normalize=how, **OPTIONS).fit(X, labels=y)
        back = load(detector.save(tmp_path / "model"))
        assert back.normalize == how
        assert np.array_equal(back.outlier_score(X), detector.outlier_scores_)
        assert np.array_equal(back.transform(X), detector.transform(X))


def test_a_model_keeps_the_normalisation_it_was_fitted_with():
    """Setting the option afterwards changes the next fit, not this one."""
    X = _uneven()[0]
    detector = REPEN(normalize="l2", **OPTIONS).fit(X)
    detector.set_params(normalize=None)
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)


def test_foreign_scorers_see_normalised_rows():
    seen = []

    class Seeing:
        def fit(self, X):
            seen.append(np.asarray(X.todense() if sp.issparse(X) else X))
            return self

        def score_samples(self, X):
            return -np.arange(X.shape[0], dtype=float)

    X = _uneven()[0]
    for rows in (X, X.toarray()):
        RAMODO(ranker=Seeing(), normalize="l2", n_epochs=1, random_state=0).fit(rows)
        np.testing.assert_allclose(seen[-1], _copy(X, "l2"), rtol=1e-6)


@pytest.mark.parametrize("how", ["l1", "L2", True, 2])
def test_other_normalisations_are_refused(how):
    with pytest.raises(OptionError, match=r"normalize=.* was given; allowed: None or 'l2' or 'max'"):
        REPEN(normalize=how).fit(_uneven()[0])


def test_index_widths_share_a_fit():
    """int32 and int64 indices of the same rows: the same bits."""
    dense = _uneven()[0].toarray()
    one, two = (
        REPEN(normalize="l2", **OPTIONS).fit(Kind(np.float64, index, sp.csr_array).matrix(dense)).outlier_scores_
        for index in (np.int32, np.int64)
    )
    assert np.array_equal(one, two)
