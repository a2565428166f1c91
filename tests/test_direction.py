"""Labelled outliers in the final score: the direction in which they differ from everything else."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from examples import either
from ramodo import RAMODO, REPEN, TripletSampler, load
from ramodo.data.opening import open_rows
from ramodo.fitting import flow as fitting
from ramodo.fitting import label_direction as direction
from ramodo.options import OptionError

OPTIONS = {"n_components": 6, "n_epochs": 4, "batch_size": 64, "n_subsamples": 20, "random_state": 0}


def _with_faint_outliers(seed=0, n_rows=400, n_features=300, n_outliers=40):
    """The last rows are like all others but for three of ten marks; Sp hardly sees them."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.1)
    dense[:, :10] *= rng.random((n_rows, 10)) < 0.3
    for row in range(n_rows - n_outliers, n_rows):
        dense[row, rng.choice(10, 3, replace=False)] = 1.0
    truth = np.repeat([0, 1], [n_rows - n_outliers, n_outliers])
    return sp.csr_array(dense.astype(np.float32).astype(np.float64)), truth


FAINT = _with_faint_outliers()


def _known(n):
    """Labels of every other outlier, `n` of them."""
    y = np.zeros(400)
    y[360 : 360 + 2 * n : 2] = 1
    return y


# ---- what it is for ------------------------------------------------------------------------------------------------


@either
@pytest.mark.parametrize("n", [3, 15])
def test_labelled_outliers_lift_their_siblings(make, n):
    """Judged on rows that were not labelled."""
    X, truth = make(FAINT[0]), FAINT[1]
    y = _known(n)
    told, untold = (REPEN(**OPTIONS).fit(X, labels=labels).outlier_scores_[y == 0] for labels in (y, None))
    assert roc_auc_score(truth[y == 0], untold) < 0.7
    assert roc_auc_score(truth[y == 0], told) > roc_auc_score(truth[y == 0], untold) + 0.15


def test_labelled_rows_beside_x_lift_their_siblings():
    X, truth = FAINT
    y = _known(15)
    rest = y == 0
    told = REPEN(**OPTIONS).fit(X[rest], labeled_outliers=X[~rest])
    untold = REPEN(**OPTIONS).fit(X[rest])
    assert roc_auc_score(truth[rest], told.outlier_scores_) > roc_auc_score(truth[rest], untold.outlier_scores_) + 0.15


def test_new_siblings_are_found():
    """Rows that were not there when the detector was fitted."""
    news, truth = _with_faint_outliers(seed=1)
    told = REPEN(**OPTIONS).fit(FAINT[0], labels=_known(20))
    assert roc_auc_score(truth, told.outlier_score(news)) > 0.85


def test_known_inliers_pull_their_look_alikes_down():
    """Sixty rows have the marks of the outliers and a badge of their own; half of them are known to be fine."""
    X, _ = FAINT
    dense, rng = X.toarray(), np.random.default_rng(0)
    for row in range(60):
        dense[row, rng.choice(10, 3, replace=False)] = 1.0
        dense[row, 10:14] = 1.0
    y = _known(20)
    fine = y.copy()
    fine[:30] = -1
    places = [
        np.argsort(np.argsort(REPEN(**OPTIONS).fit(sp.csr_array(dense), labels=labels).outlier_scores_))[30:60].mean()
        for labels in (y, fine)
    ]
    assert places[1] < places[0] - 20


# ---- the formula ---------------------------------------------------------------------------------------------------


def _plain(X, y, extra_outliers, extra_inliers, initial, extra_initial, detector):
    """The module's formulas, one after the other, on dense rows. The final scores, and the leave-one-out numbers."""

    def unit(rows):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0, lengths, 1)

    outliers = unit(np.vstack([X[y == 1], extra_outliers]))
    others, inliers = unit(X[y != 1]), unit(np.vstack([X[y == -1], extra_inliers]))
    n = len(outliers)
    squares = (others**2).mean(axis=0)
    scale = 1 / (np.sqrt(squares) + np.sqrt(squares[squares > 0].mean()))
    middle = others.mean(axis=0)
    if len(inliers):
        share = len(inliers) / (len(inliers) + direction._MANY)
        middle = (1 - share) * middle + share * inliers.mean(axis=0)
    d = (outliers.mean(axis=0) - middle) * scale
    votes = np.tanh(n / direction._VOTERS * d)
    plain, voted = unit(X) @ d, unit(X) @ votes
    share = n / (n + direction._MANY)
    along = unit(X) @ ((1 - share) * d / plain.std() + share * votes / voted.std())

    left_out = []
    for i in range(n if n > 1 else 0):
        rest = np.delete(outliers, i, axis=0)
        left_out.append(outliers[i] @ ((rest.mean(axis=0) - middle) * scale))

    def strength(known, scores, assumed):
        above = sum((s - scores.mean()) / scores.std() for s in known)
        return max(0, (above + assumed * direction._TRUST) / (len(known) + direction._TRUST))

    by_detector = strength([*initial[y == 1], *extra_initial], initial, direction._DETECTOR)
    by_direction = strength(left_out, plain, direction._DIRECTION)
    alike = np.corrcoef(initial, plain)[0, 1]
    a, b = max(0, by_detector - alike * by_direction), max(0, by_direction - alike * by_detector)
    return (a * detector / detector.std() + b * along / along.std()) / (a + b), np.array(left_out)


@either
@pytest.mark.parametrize("case", ["one", "few", "many", "inliers", "beside", "both"])
def test_scores_equal_the_formula(make, case, record):
    """`along` in single precision, all else in double."""
    X, y = FAINT[0], _known({"one": 1, "many": 20}.get(case, 5))
    outliers = inliers = np.empty((0, 300))
    if case in ("inliers", "both"):
        y[:12] = -1
    if case in ("beside", "both"):
        news = _with_faint_outliers(seed=2)[0].toarray()
        outliers, inliers = news[390:], news[:5]
    ranked = record(fitting, "_rank")
    found = REPEN(**OPTIONS).fit(make(X), labels=y, labeled_outliers=outliers, labeled_inliers=inliers)
    detector = found.model_.learned[0].score(open_rows(make(X))[0], 1)
    initial, extra = ranked[0]
    expected, _ = _plain(X.toarray(), y, outliers, inliers, initial, extra["outliers"], detector)
    np.testing.assert_allclose(found.outlier_scores_, expected, rtol=1e-4, atol=1e-4 * expected.std())
    assert np.array_equal(found.outlier_score(make(X)), found.outlier_scores_)
    assert np.std(expected - detector) > 0.1


@either
@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_leave_one_out_numbers_equal_the_naive_ones(make, n):
    X, y = FAINT[0], _known(n)
    y[:6] = -1
    rows, _ = open_rows(make(X))
    parts = [rows.take(np.flatnonzero(chosen)).normalized("l2", 1) for chosen in (y != 1, y == 1, y == -1)]
    found = direction._Means.of(*parts).left_out(parts[1])
    nothing = np.empty((0, 300))
    _, expected = _plain(X.toarray(), y, nothing, nothing, np.arange(400.0), [], np.arange(400.0))
    assert len(found) == (n if n > 1 else 0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_components_that_do_not_vary_or_mislead_count_nothing():
    varied, flat = np.arange(10.0), np.ones(10)
    assert direction._factors(1.0, 3.0, flat, varied) == (1 / varied.std(), 0.0)
    assert direction._factors(1.0, 3.0, varied, flat) == (0.0, 1 / varied.std())
    assert direction._factors(1.0, 3.0, flat, flat) == (0.0, 1.0)
    assert direction._factors(0.0, 3.0, varied, varied) == (1 / varied.std(), 0.0)
    assert direction._strength(np.full(50, -9.0), varied, 3.0) == 0.0


def test_strength_by_hand():
    """Others at mean 0 and deviation 1; two outliers at 5 and 7, and what is assumed, as four labels at 3."""
    others = np.array([-1.0, 1.0])
    expected = (5 + 7 + 3.0 * direction._TRUST) / (2 + direction._TRUST)
    assert direction._strength(np.array([5.0, 7.0]), others, 3.0) == pytest.approx(expected)
    assert direction._strength(np.empty(0), others, 3.0) == 3.0


# ---- what does not change it ---------------------------------------------------------------------------------------


def test_sparse_and_dense_data_score_alike():
    y = _known(10)
    y[:5] = -1
    sparse, dense = (REPEN(**OPTIONS).fit(X, labels=y) for X in (FAINT[0], FAINT[0].toarray()))
    np.testing.assert_allclose(sparse.outlier_scores_, dense.outlier_scores_, atol=1e-3)
    np.testing.assert_allclose(sparse.outlier_score(FAINT[0].toarray()), dense.outlier_score(FAINT[0]), atol=1e-3)


@either
@pytest.mark.parametrize("beside", [False, True])
def test_a_row_alone_scores_as_it_does_among_others(make, beside):
    X = make(FAINT[0])
    given = {"labeled_outliers": X[390:], "labeled_inliers": X[:4]} if beside else {"labels": _known(10)}
    detector = REPEN(**OPTIONS).fit(X, **given)
    assert detector.model_.has_labels
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)
    alone = np.concatenate([detector.outlier_score(X[i : i + 1]) for i in range(0, 400, 9)])
    assert np.array_equal(alone, detector.outlier_scores_[::9])


@either
def test_threads_do_not_change_a_bit(make):
    one, two = (REPEN(n_jobs=n, **OPTIONS).fit(make(FAINT[0]), labels=_known(10)) for n in (1, 2))
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
    assert np.array_equal(one.outlier_score(FAINT[0]), two.outlier_score(FAINT[0]))


def test_the_kind_of_rows_beside_x_does_not_matter():
    X = FAINT[0][:390]
    extra = FAINT[0][390:]
    kinds = [extra, extra.toarray(), sp.csc_matrix(extra), extra.toarray().tolist()]
    first, *others = (REPEN(**OPTIONS).fit(X, labeled_outliers=kind).outlier_scores_ for kind in kinds)
    assert all(np.array_equal(first, other) for other in others)


def test_features_that_only_labelled_outliers_have(tmp_path):
    """A space of a billion features; marks that no row of X has, found in later rows."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(FAINT[0])
    X.resize(400, 10**9)
    marks = sp.csr_array((np.ones(12), (np.repeat(range(4), 3), np.tile([10**8, 5 * 10**8, 10**9 - 1], 4))), (4, 10**9))
    own = sp.csr_array(X[rng.choice(360, 4)]) + marks
    detector = REPEN(**OPTIONS).fit(X, labeled_outliers=own)
    plain, marked = X[:4], X[:4] + marks
    assert (detector.outlier_score(marked) > detector.outlier_score(plain) + 1).all()
    back = load(detector.save(tmp_path / "model"))
    assert np.array_equal(back.outlier_score(marked), detector.outlier_score(marked))


def test_stored_zeros_are_zeros():
    dense = np.hstack([FAINT[0].toarray(), np.ones((400, 3))])
    X = sp.csr_array(dense)
    X.data[X.indices >= 300] = 0.0
    y = _known(5)
    clean = X.copy()
    clean.eliminate_zeros()
    found, expected = (REPEN(**OPTIONS).fit(kind, labels=y).outlier_scores_ for kind in (X, clean))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_rows_of_zeros_have_scores():
    X = FAINT[0].toarray()
    X[[0, 399]] = 0.0
    y = _known(3)
    y[399] = 1
    for kind in (X, sp.csr_array(X)):
        detector = REPEN(**OPTIONS).fit(kind, labels=y)
        assert np.isfinite(detector.outlier_scores_).all()
        assert detector.outlier_scores_[0] == detector.outlier_scores_[399]


def test_many_rows_are_sampled_for_the_background(monkeypatch, record):
    monkeypatch.setattr(direction, "_BACKGROUND", 100)
    backgrounds = record(direction, "_background")
    one, two = (REPEN(**OPTIONS).fit(FAINT[0], labels=_known(5)).outlier_scores_ for _ in range(2))
    assert [background.n_rows for background in backgrounds] == [100, 100]
    assert np.array_equal(one, two)


# ---- where there is none -------------------------------------------------------------------------------------------


@either
@pytest.mark.parametrize("fraction", ["auto", 0.0, 0.5, 1.0])
def test_the_option_decides_and_not_the_share_of_labels_in_training(make, fraction):
    X = make(FAINT[0])
    for detector in (
        REPEN(labeled_fraction=fraction, **OPTIONS),
        RAMODO(sampler=TripletSampler(1, fraction), n_epochs=2, random_state=0),
    ):
        told = clone(detector).fit(X, labels=_known(10))
        assert told.model_.names() == ("learned distance", "label direction")
        trained = clone(detector).set_params(labels_in_score=False).fit(X, labels=_known(10))
        assert trained.model_.names() == ("learned distance",)
        assert not trained.model_.has_labels
        rows, _ = open_rows(X)
        learned = told.model_.terms[0].score(rows, 1)
        assert np.array_equal(trained.outlier_scores_, learned)  # training is the same
        assert not np.array_equal(told.outlier_scores_, learned)
        assert np.array_equal(told.outlier_scores_, told.model_.total([learned, told.model_.terms[1].score(rows, 1)]))


@pytest.mark.parametrize("value", [1, 0, "auto", None, "yes"])
def test_the_option_is_yes_or_no(value):
    with pytest.raises(OptionError, match=r"labels_in_score=.* was given; allowed: True or False"):
        REPEN(labels_in_score=value).fit(FAINT[0])


def test_without_known_outliers_there_is_no_direction():
    y = np.zeros(400)
    y[:50] = -1
    assert not REPEN(**OPTIONS).fit(FAINT[0], labels=y).model_.has_labels
    assert not REPEN(**OPTIONS).fit(FAINT[0], labeled_inliers=FAINT[0][:3]).model_.has_labels


@pytest.mark.parametrize("in_score", [False, True])
def test_an_own_sampler_has_no_say_in_it(in_score):
    class Own(TripletSampler):
        labeled_fraction = 0.5

        def __init__(self):
            self.n_queries = 1

    detector = RAMODO(sampler=Own(), n_epochs=2, random_state=0, labels_in_score=in_score)
    assert detector.fit(FAINT[0], labels=_known(5)).model_.has_labels == in_score
