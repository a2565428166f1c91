"""Labelled outliers in the final score: the direction in which they differ from everything else."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler, normalize

from ramodo import RAMODO, REPEN, TripletSampler, load
from ramodo.data.validation import open_rows
from ramodo.fitting import label_direction as direction
from ramodo.fitting import label_regression as regression
from ramodo.fitting import repen
from ramodo.model.saved import ModelFileError
from ramodo.options import OptionError
from support.examples import either
from support.tampering import rewrite

pytestmark = pytest.mark.slow

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


def _unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def _strength(known, scores, prior=1.0):
    shares = [((scores < s).sum() + (scores <= s).sum() + 1) / (2 * len(scores) + 2) for s in known]
    return max(0, (norm.ppf(shares).sum() + 4 * prior) / (len(known) + 4)), np.array(shares)


def _weights(one, other, alike):
    return max(0, one - alike * other), max(0, other - alike * one)


def _regress(outliers, others, inliers, table):
    """Coefficients of scikit-learn's regression: both sides weigh alike, known inliers as 40 of them were half.

    Of sparse rows the constant is a feature among the others, and kept small as their weights are.
    """
    share = len(inliers) / (len(inliers) + 40)
    n = len(outliers) + len(others) + len(inliers)
    each = [1 / len(outliers), (1 - share) / len(others), share / max(1, len(inliers))]
    weights = np.repeat(each, [len(outliers), len(others), len(inliers)]) * n / 2
    target = np.arange(n) < len(outliers)
    rows = np.vstack([outliers, others, inliers])
    if table:
        return LogisticRegression(max_iter=300).fit(rows, target, weights).coef_[0]
    rows = np.column_stack([rows, np.ones(n)])
    return LogisticRegression(tol=1e-8, max_iter=3000, fit_intercept=False).fit(rows, target, weights).coef_[0, :-1]


def _plain(X, y, extra_outliers, extra_inliers, initial, extra_initial, detector, folds):
    """The formulas of fitting/label_*.py, one after the other, on dense rows. The final scores."""
    rest = y != 1
    outliers, inliers = np.vstack([X[y == 1], extra_outliers]), np.vstack([X[y == -1], extra_inliers])
    table = (X[rest] != 0).mean() > 0.5
    if table:
        together = np.vstack([X[rest], outliers])
        units, centre = together.std(axis=0), X[rest].mean(axis=0)
        rows, outliers, inliers = ((part - centre) / units for part in (X, outliers, inliers))
    else:
        squares = (_unit(X[rest]) ** 2).mean(axis=0)
        units = np.sqrt(np.sqrt(squares) + np.sqrt(squares[squares > 0].mean()))
        rows, outliers, inliers = (_unit(part) / units for part in (X, outliers, inliers))
    length = np.sqrt((rows[rest] ** 2).sum(axis=1).mean())
    rows, outliers, inliers = rows / length, outliers / length, inliers / length
    others, n = rows[rest], len(outliers)
    middle = others.mean(axis=0)
    share = len(inliers) / (len(inliers) + 40)
    others_mean = (1 - share) * middle + (share * inliers.mean(axis=0) if len(inliers) else 0)

    d = outliers.mean(axis=0) - others_mean
    along, left_out = rows @ d, np.empty(0)
    if n > 1:
        w = _regress(outliers, others, inliers, table)
        both = (rows - middle) @ np.column_stack([d, w])
        spreads = both[rest].std(axis=0)
        lefts = np.empty((n, 2))
        for i in range(n):
            without = np.delete(outliers, i, axis=0).mean(axis=0) - others_mean
            lefts[i, 0] = (outliers[i] - middle) @ without / spreads[0]
        for fold in set(folds):
            hidden = outliers[folds == fold]
            by_fold = _regress(outliers[folds != fold], np.vstack([others, hidden]), inliers, table)
            lefts[folds == fold, 1] = ((hidden - middle) @ by_fold) / (others @ by_fold).std()
        both /= spreads
        strengths = [_strength(lefts[:, i], both[rest, i])[0] for i in (0, 1)]
        shares = np.array(_weights(*strengths, np.corrcoef(both[rest].T)[0, 1]))
        along, left_out = both @ shares, lefts @ shares
    by_detector, below = _strength([*initial[y == 1], *extra_initial], initial[rest])
    prior = 2 * below.mean()
    if prior > 1:
        highest = along[rest][np.argsort(-initial[rest], kind="stable")[: max(5, round(0.05 * rest.sum()))]]
        agreed = norm.ppf(_strength(highest, along[rest])[1]).mean()
        prior = (2 - prior) + (prior - 1) * np.clip(agreed, 0, 1)
    by_direction, _ = _strength(left_out, along[rest], prior)
    alike = n / (n + 4) * np.corrcoef(initial[rest], along[rest])[0, 1]
    a, b = _weights(by_detector, by_direction, alike)
    total = a * detector / detector[rest].std() + b * along / along[rest].std()
    return total / (a + b)


TABLE = (FAINT[0].toarray() * 3 + np.random.default_rng(5).normal(7.0, 1.0, (400, 300))).astype(np.float32)


@pytest.mark.parametrize("make", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("table", [False, True], ids=["unit rows", "table"])
@pytest.mark.parametrize("case", ["one", "two", "few", "many", "inliers", "beside", "both"])
def test_scores_equal_the_formula(make, table, case, record):
    """`along` in single precision, all else in double. A constant does not matter."""
    X, y = TABLE if table else FAINT[0].toarray(), _known({"one": 1, "two": 2, "many": 20}.get(case, 5))
    outliers = inliers = np.empty((0, 300))
    if case in ("inliers", "both"):
        y[:12] = -1
    if case in ("beside", "both"):
        news = _with_faint_outliers(seed=2)[0].toarray() * (3 if table else 1) + (7.0 if table else 0.0)
        outliers, inliers = news[390:], news[:5]
    ranked, folds = record(repen, "_rank"), record(regression, "_folds")
    found = REPEN(**OPTIONS).fit(make(X), labels=y, labeled_outliers=outliers, labeled_inliers=inliers)
    detector = found.model_.learned[0].score(open_rows(make(X)), 1)
    initial, extra = ranked[0].initial, ranked[0].extra
    expected = _plain(
        X.astype(float), y, outliers, inliers, initial, extra["outliers"], detector, folds[0] if folds else None
    )
    difference = found.outlier_scores_ - expected
    np.testing.assert_allclose(difference - difference.mean(), 0, atol=2e-3 * expected.std())
    assert np.array_equal(found.outlier_score(make(X)), found.outlier_scores_)
    assert found.model_.terms[1].axis.unit_rows != table


def test_components_that_do_not_vary_or_mislead_count_nothing():
    varied, flat = np.arange(10.0), np.ones(10)
    assert direction._factors(1.0, 3.0, flat, varied) == (1 / varied.std(), 0.0)
    assert direction._factors(1.0, 3.0, varied, flat) == (0.0, 1 / varied.std())
    assert direction._factors(1.0, 3.0, flat, flat) == (0.0, 1.0)
    assert direction._factors(0.0, 3.0, varied, varied) == (1 / varied.std(), 0.0)
    assert direction.Measured(varied, np.full(50, -9.0)).strength == 0.0


def test_strength_by_hand():
    """Of 99 others, an outlier above all and one in their middle: 0.995 and 0.5 of a normal distribution."""
    found = direction.Measured(np.arange(99.0), np.array([500.0, 49.0]))
    np.testing.assert_allclose(found.below, [0.995, 0.5])
    assert found.strength == pytest.approx((norm.ppf(0.995) + 0 + 4 * 1.0) / (2 + 4))
    assert direction.Measured(np.arange(99.0), np.empty(0), 0.3).strength == pytest.approx(0.3)


def test_a_label_that_looks_normal_counts_less():
    """Two kinds of outliers; the ranking without labels takes one of them for the most normal of all rows."""
    X, y = FAINT[0].toarray(), np.zeros(400)
    X[399] *= 0.01
    shares = []
    for row in (398, 399):
        labels = y.copy()
        labels[row] = 1
        weights = REPEN(**OPTIONS).fit(X, labels=labels).model_
        rows = open_rows(X)
        spreads = [np.std(term.score(rows, 1)) for term in weights.terms]
        shares.append(weights.weights[1] * spreads[1] / (weights.weights[0] * spreads[0]))
    assert shares[1] < 0.3 * shares[0]


# ---- better than without, and than a classifier --------------------------------------------------------------------


def _kinds(seed, table):
    """Inliers of three kinds, 40 outliers of four; a table of measurements, or rows of counts."""
    rng = np.random.default_rng(seed)
    n_features = 30 if table else 400
    kinds = rng.gamma(0.3, 1.0, (7, n_features))
    of = np.concatenate([rng.integers(0, 3, 400), np.repeat([3, 4, 5, 6], 10)])
    if table:
        X = (rng.normal(kinds[of], 1.0) + 5) * 10 ** rng.uniform(-1, 1, n_features)
    else:
        X = sp.csr_array(rng.poisson(12 * kinds[of] / kinds[of].sum(axis=1, keepdims=True) + 0.01).astype(float))
    return X, (of > 2).astype(int)


def _scattered(seed, table):
    """40 outliers, each far from everything in a way of its own: what one of them is like says little of the others."""
    rng = np.random.default_rng(seed)
    if table:
        X = rng.normal(0.0, np.repeat([1.0, 1.6], [400, 40])[:, None], (440, 30)) + 5
    else:
        lengths = np.repeat([12, 18], [400, 40])
        columns = [rng.integers(0, 60 if length == 12 else 400, length) for length in lengths]
        entries = np.ones(lengths.sum()), (np.repeat(np.arange(440), lengths), np.concatenate(columns))
        X = sp.csr_array(entries, shape=(440, 400))
    return X, np.repeat([0, 1], [400, 40])


@pytest.mark.parametrize(("make", "least"), [(_kinds, -0.01), (_scattered, -0.02)])
@pytest.mark.parametrize("table", [False, True], ids=["unit rows", "table"])
def test_a_single_label_does_not_mislead(make, least, table):
    """In the mean of many draws; hardly where the detector finds all outliers and a direction can find none."""
    gains = []
    for seed in range(4):
        X, truth = make(seed, table)
        untold = REPEN(**OPTIONS).fit(X).outlier_scores_
        for row in np.random.default_rng(seed).choice(np.flatnonzero(truth), 8, replace=False):
            y = np.zeros(len(truth))
            y[row] = 1
            told = REPEN(**OPTIONS).fit(X, labels=y).outlier_scores_
            gains.append(roc_auc_score(truth[y == 0], told[y == 0]) - roc_auc_score(truth[y == 0], untold[y == 0]))
    assert np.mean(gains) > least


@pytest.mark.parametrize("n", [12, 28])
@pytest.mark.parametrize("table", [False, True], ids=["unit rows", "table"])
def test_labels_are_read_at_least_as_well_as_by_a_regression(table, n):
    """Of standardised features for tables, of rows of length 1 otherwise; classes balanced.

    Without labels these outliers are ranked no better than by chance, and some trust in that ranking is left.
    """
    ours, theirs = [], []
    for seed in range(4):
        X, truth = _kinds(seed, table)
        y = np.zeros(len(truth))
        y[np.random.default_rng(seed).choice(np.flatnonzero(truth), n, replace=False)] = 1
        found = REPEN(**OPTIONS).fit(X, labels=y).outlier_scores_
        rows = StandardScaler().fit_transform(X) if table else normalize(X)
        peer = LogisticRegression(class_weight="balanced", max_iter=1000).fit(rows, y).decision_function(rows)
        ours.append(roc_auc_score(truth[y == 0], found[y == 0]))
        theirs.append(roc_auc_score(truth[y == 0], peer[y == 0]))
    assert np.mean(ours) > np.mean(theirs) - 0.02


# ---- tables of measurements ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_unit_of_a_table_does_not_matter_to_its_direction(unit):
    X = TABLE.astype(np.float64)
    terms = [REPEN(**OPTIONS).fit(rows, labels=_known(8)).model_.terms[1] for rows in (X, X * unit)]
    along = [term.score(open_rows(rows), 1) for term, rows in zip(terms, (X, X * unit), strict=True)]
    assert np.corrcoef(*along)[0, 1] > 0.999


def test_what_rows_of_a_table_add_up_to_is_the_score():
    detector = REPEN(**OPTIONS).fit(TABLE, labels=_known(8))
    scores = detector.outlier_score(TABLE)
    explained = detector.explain(TABLE, top=300)
    sums = [sum(reason.contribution for reason in row.reasons) + row.lacks.contribution for row in explained]
    expected = scores[[row.row for row in explained]]
    np.testing.assert_allclose(sums, expected, atol=4e-6 * np.abs(scores).max())


def test_constant_features_and_those_that_only_labels_have():
    X = np.hstack([TABLE, np.full((400, 1), 3.0), np.zeros((400, 1))])
    y = _known(8)
    X[y == 1, 301] = 1.0
    detector = REPEN(**OPTIONS).fit(X, labels=y)
    weights = detector.model_.terms[1].axis.weights[:, 0]
    assert weights[300] == 0
    assert weights[301] > 0
    assert np.isfinite(detector.outlier_scores_).all()


def test_the_file_says_whether_rows_are_of_length_one(tmp_path):
    for X in (TABLE, FAINT[0]):
        detector = REPEN(**OPTIONS).fit(X, labels=_known(8))
        path = detector.save(tmp_path / "model")
        back = load(path)
        assert back.model_.terms[1].axis.unit_rows == detector.model_.terms[1].axis.unit_rows
        assert np.array_equal(back.outlier_score(X), detector.outlier_scores_)


@pytest.mark.parametrize("value", [..., None, 1, "yes", [], {}])
def test_files_that_say_it_wrongly_are_refused(tmp_path, value):
    path = REPEN(**OPTIONS).fit(FAINT[0], labels=_known(3)).save(tmp_path / "model")
    rewrite(path, term={"unit_rows": value}, kind="label direction")
    with pytest.raises(ModelFileError, match="unit_rows is"):
        load(path)


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
        rows = open_rows(X)
        learned = told.model_.terms[0].score(rows, 1)
        assert np.array_equal(trained.outlier_scores_, learned)  # training is the same
        assert not np.array_equal(told.outlier_scores_, learned)
        assert np.array_equal(told.outlier_scores_, told.model_.total([learned, told.model_.terms[1].score(rows, 1)]))


@pytest.mark.parametrize("value", [1, 0, "auto", None, "yes"])
def test_the_option_is_yes_or_no(value):
    with pytest.raises(OptionError, match=r"labels_in_score must be .*, got "):
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
