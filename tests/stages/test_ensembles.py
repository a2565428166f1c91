"""Several detectors as one: by rank and by score, as the ranker of RAMODO and as a detector."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from ramodo import RAMODO, Ensemble, KthNN, Sp, load
from ramodo.options import OptionError

both_ways = pytest.mark.parametrize("combine", ["rank", "score"])
either = pytest.mark.parametrize("kind_of", [sp.csr_array, np.asarray], ids=["sparse", "dense"])


class Fixed:
    """Scores by a function of the row; needs no seed, so that the ensemble can be computed by hand."""

    def __init__(self, function):
        self.function = function

    def fit(self, X):
        return self

    def score_samples(self, X):
        return -self.function(X)


def _sum(X):
    return np.asarray(X.sum(axis=1)).ravel()


def _first(X):
    return np.asarray(X[:, [0]].todense() if sp.issparse(X) else X[:, [0]]).ravel()


def _forest():
    return IsolationForest(n_estimators=20)


def _by_rank(scores, known):
    """The share of known scores below, those that are equal counting half."""
    return np.array([np.mean([1.0 if k < s else 0.5 if k == s else 0.0 for k in known]) for s in scores])


def _by_score(scores, known):
    return (scores - np.mean(known)) / np.std(known)


# ---- by hand -------------------------------------------------------------------------------------------------------


@both_ways
@either
def test_an_ensemble_is_the_mean_of_its_detectors_views(data, combine, kind_of):
    """Of the training rows, and of new rows relative to those."""
    X, news = kind_of(data[0][:100].toarray()), kind_of(data[0][100:].toarray())
    detector = Ensemble([Fixed(_sum), Fixed(_first)], combine).fit(X)
    view = _by_rank if combine == "rank" else _by_score
    for rows, found in ((X, detector.outlier_scores_), (news, detector.outlier_score(news))):
        expected = (view(_sum(rows), _sum(X)) + view(_first(rows), _first(X))) / 2
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_ranks_of_the_training_rows_are_mean_ranks(data):
    X = data[0]
    expected = (rankdata(_sum(X)) - 0.5) / 120
    np.testing.assert_allclose(Ensemble([Fixed(_sum)]).fit(X).outlier_scores_, expected, rtol=1e-12)


@both_ways
def test_detectors_are_those_that_their_seeds_give(data, combine):
    """Sp draws first, then the forest takes its seed."""
    X, rng = data[0], np.random.default_rng(4)
    distances = Sp().ranking(*_opened(X), rng, 1)(_opened(X)[0])
    forest = _forest().set_params(random_state=int(rng.integers(2**31))).fit(sp.csr_matrix(X))
    view = _by_rank if combine == "rank" else _by_score
    scores = -forest.score_samples(sp.csr_matrix(X))
    expected = (view(distances, distances) + view(scores, scores)) / 2
    found = Ensemble([Sp(), _forest()], combine, random_state=4).fit(X)
    np.testing.assert_allclose(found.outlier_scores_, expected, rtol=1e-10, atol=1e-12)


def _opened(X):
    from ramodo.data.validation import open_rows

    return open_rows(X), np.arange(X.shape[0])


@both_ways
def test_a_detector_without_spread_does_no_harm(data, combine):
    X = data[0]
    found = Ensemble([Fixed(_sum), Fixed(lambda X: np.zeros(X.shape[0]))], combine).fit(X).outlier_scores_
    alone = Ensemble([Fixed(_sum)], combine).fit(X).outlier_scores_
    assert np.array_equal(np.argsort(found, kind="stable"), np.argsort(alone, kind="stable"))


# ---- a detector ----------------------------------------------------------------------------------------------------


@both_ways
@either
def test_an_ensemble_detects(data, combine, kind_of):
    X, truth = kind_of(data[0].toarray()), data[1]
    detector = Ensemble([Sp(), _forest()], combine, random_state=0).fit(X)
    assert roc_auc_score(truth, detector.outlier_scores_) > 0.9
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)
    assert np.array_equal(detector.predict(X), np.where(detector.outlier_scores_ >= detector.threshold_, -1, 1))
    assert np.array_equal(detector.fit_predict(X), detector.predict(X))
    assert combine == "rank" or (detector.predict(X)[truth == 1] == -1).mean() > 0.8


@both_ways
def test_a_row_alone_scores_as_it_does_among_others(data, combine):
    X = data[0]
    detector = Ensemble([Sp(), _forest()], combine, random_state=0).fit(X)
    alone = np.concatenate([detector.outlier_score(X[i : i + 1]) for i in range(0, 120, 4)])
    assert np.array_equal(alone, detector.outlier_scores_[::4])


@both_ways
def test_the_same_seed_gives_the_same_bits(data, combine):
    X = data[0]
    one, two, other = (
        Ensemble([Sp(), _forest()], combine, random_state=seed, n_jobs=n).fit(X).outlier_scores_
        for seed, n in ((1, 1), (1, 2), (2, 1))
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_its_detectors_are_cloned_before_they_are_fitted(data):
    given = [Sp(), _forest()]
    Ensemble(given, random_state=0).fit(data[0])
    assert not [name for detector in given for name in vars(detector) if name.endswith("_")]
    assert given[1].random_state is None


def test_known_outliers_are_not_fitted(data):
    """Detectors see the rows that are not known outliers; ranks are still among all rows."""
    seen = []

    class Seeing(Fixed):
        def fit(self, X):
            seen.append(X.shape[0])
            return self

    X, truth = data
    Ensemble([Seeing(_sum)]).fit(X, labels=truth)
    assert seen == [114]


def test_a_pickled_ensemble_scores_the_same(data):
    detector = Ensemble([Sp(), _forest()], random_state=0).fit(data[0])
    assert np.array_equal(pickle.loads(pickle.dumps(detector)).outlier_score(data[0]), detector.outlier_scores_)


def test_a_clone_fits_the_same(data):
    detector = Ensemble([Sp(), KthNN(2)], "score", random_state=0).fit(data[0])
    copy = clone(detector)
    assert not hasattr(copy, "outlier_scores_")
    assert np.array_equal(copy.fit(data[0]).outlier_scores_, detector.outlier_scores_)


# ---- a ranker ------------------------------------------------------------------------------------------------------


@both_ways
def test_an_ensemble_ranks_for_ramodo(data, combine):
    """The initial ranking is the ensemble's; the loss and the final scores are Sp's."""
    X, truth = data
    ranker = Ensemble([Sp(), _forest()], combine)
    detector = RAMODO(ranker=ranker, n_epochs=40, batch_size=32, random_state=0).fit(X)
    assert roc_auc_score(truth, detector.initial_scores_) > 0.9
    assert roc_auc_score(truth, detector.outlier_scores_) > 0.9
    if combine == "rank":
        assert 0 < detector.initial_scores_.min() < detector.initial_scores_.max() < 1
        assert detector.initial_scores_.mean() == pytest.approx(0.5)
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)
    plain = RAMODO(n_epochs=40, batch_size=32, random_state=0).fit(X)
    assert not np.array_equal(plain.loss_curve_, detector.loss_curve_)


def test_labelled_rows_beside_x_are_ranked_too(data):
    X = data[0]
    detector = RAMODO(ranker=Ensemble([Sp(), _forest()]), n_epochs=2, random_state=0)
    detector.fit(X[:110], labeled_outliers=X[114:], labeled_inliers=X[110:114])
    assert np.isfinite(detector.outlier_scores_).all()


def test_an_ensemble_of_own_stages_is_saved(data, tmp_path):
    detector = RAMODO(ranker=Ensemble([Sp(10), KthNN(2)], "score"), n_epochs=2, random_state=0).fit(data[0])
    back = load(detector.save(tmp_path / "model"))
    assert np.array_equal(back.outlier_score(data[0]), detector.outlier_scores_)
    assert [type(detector) for detector in back.ranker.detectors] == [Sp, KthNN]
    assert np.array_equal(back.fit(data[0]).outlier_scores_, detector.outlier_scores_)


def test_an_ensemble_in_the_representation(data):
    scorer = Ensemble([Sp(), LocalOutlierFactor(novelty=True)], "score")
    detector = RAMODO(scorer, n_epochs=40, batch_size=32, random_state=0).fit(data[0])
    assert roc_auc_score(data[1], detector.outlier_scores_) > 0.9
    with pytest.raises(AttributeError, match="has no references that ramodo knows"):
        _ = detector.references_


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"detectors": []}, r"detectors must be .*, got \[\]"),
        ({"detectors": None}, "detectors must be .*, got None"),
        ({"detectors": Sp()}, r"detectors must be .*, got Sp\(\)"),
        ({"detectors": ["Sp"]}, r"detectors must be .*, got 'Sp'"),
        ({"detectors": [Sp]}, r"detectors must be .*, got <class .*Sp'>"),
        ({"detectors": [KthNN(9)]}, "k must be at most subsample_size=8.*, got 9"),
        ({"detectors": [Sp()], "combine": "mean"}, "combine must be .*, got 'mean'"),
    ],
    ids=str,
)
def test_unusable_options_are_refused(data, options, message):
    for detector in (Ensemble(**options), RAMODO(ranker=Ensemble(**options), n_epochs=1)):
        with pytest.raises(OptionError, match=message):
            detector.fit(data[0])
        assert not [name for name in vars(detector) if name.endswith("_")]


@pytest.mark.parametrize("n_jobs", [0, "2"])
def test_unusable_threads_are_refused(data, n_jobs):
    with pytest.raises(OptionError, match=r"n_jobs must be .*, got "):
        Ensemble([Sp()], n_jobs=n_jobs).fit(data[0])


@pytest.mark.parametrize(
    "function",
    [lambda X: np.full(X.shape[0], np.nan), lambda X: np.zeros(1), lambda X: np.zeros((X.shape[0], 2))],
    ids=["nan", "short", "wide"],
)
def test_a_detector_that_gives_no_scores_is_named(data, function):
    with pytest.raises(
        OptionError, match=r"the detector Fixed of an Ensemble must return 120 finite numbers, got scores"
    ):
        Ensemble([Sp(), Fixed(function)]).fit(data[0])


def test_rows_to_learn_from_are_needed(data):
    with pytest.raises(OptionError, match=r"at least 2 rows that are not .*, got n_samples = 3 with 1"):
        Ensemble([Sp()]).fit(data[0][:3], labels=[0, 1, 1])
