"""`y` is scikit-learn's: no estimator learns from it. What is known of rows comes as `labels`, by metadata routing."""

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ramodo import RAMODO, REPEN, AverageNeighborREPEN, AverageNN, Ensemble, KthNeighborREPEN, KthNN, Sp

QUICK = {"n_epochs": 2, "random_state": 0}
LEARNING = [REPEN(**QUICK), RAMODO(**QUICK), KthNeighborREPEN(**QUICK), AverageNeighborREPEN(**QUICK)]
RANKING = [Sp(random_state=0), KthNN(random_state=0), AverageNN(random_state=0), Ensemble([Sp(5)], random_state=0)]
FOLDS = StratifiedKFold(3)

every = pytest.mark.parametrize("detector", [*LEARNING, *RANKING], ids=lambda d: type(d).__name__)


@pytest.fixture
def truth(data):
    """As scikit-learn's scorers want it of outlier detectors: 1 inlier, -1 outlier."""
    return np.where(data[1] == 1, -1, 1)


@every
@pytest.mark.parametrize("kind", ["truth", "classes", "text", "nonsense"])
def test_fit_does_not_look_at_y(detector, kind, data):
    X, outliers = data
    y = {
        "truth": outliers,
        "classes": np.arange(len(outliers)) % 4,
        "text": np.where(outliers == 1, "spam", "ham"),
        "nonsense": object(),
    }[kind]
    expected = clone(detector).fit(X)
    assert np.array_equal(clone(detector).fit(X, y).outlier_scores_, expected.outlier_scores_)
    assert np.array_equal(clone(detector).fit_predict(X, y), expected.predict(X))


@every
def test_y_keeps_its_place_and_labels_are_named(detector):
    parameters = inspect.signature(detector.fit).parameters
    assert list(parameters)[:3] == ["X", "y", "labels"]
    assert parameters["y"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in list(parameters.values())[2:])


@every
def test_labels_are_learned_from(detector, data):
    X, outliers = data
    told, untold = clone(detector).fit(X, labels=outliers), clone(detector).fit(X)
    assert not np.array_equal(told.outlier_scores_, untold.outlier_scores_)
    assert np.array_equal(clone(detector).fit_predict(X, labels=outliers), told.predict(X))
    mixed = clone(detector).fit(X, np.zeros(len(outliers)), labels=outliers)
    assert np.array_equal(mixed.outlier_scores_, told.outlier_scores_)


@pytest.mark.parametrize("detector", LEARNING, ids=lambda d: type(d).__name__)
def test_the_representation_does_not_depend_on_y(detector, data):
    X, outliers = data
    assert np.array_equal(clone(detector).fit_transform(X, outliers), clone(detector).fit_transform(X))
    told = clone(detector).fit_transform(X, labels=outliers)
    assert np.array_equal(told, clone(detector).fit(X, labels=outliers).transform(X))


@every
def test_cross_validation_does_not_train_on_what_it_scores_by(detector, data, truth):
    """The detector that scikit-learn scores was fitted to the training rows alone: the same figures by hand."""
    X, by_hand = data[0], []
    for train, test in FOLDS.split(X, truth):
        scores = clone(detector).fit(X[train]).score_samples(X[test])
        inliers, outliers = scores[truth[test] == 1], scores[truth[test] == -1]
        pairs = inliers[:, None] - outliers
        by_hand.append(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    found = cross_val_score(detector, X, truth, scoring="roc_auc", cv=FOLDS, error_score="raise")
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)
    assert np.array_equal(found, cross_val_score(detector, X, truth > 0, scoring="roc_auc", cv=FOLDS))


def test_before_a_classifier_classes_are_the_classifiers_own(data):
    X, words = data[0], np.where(data[1] == 1, "spam", "ham")
    pipeline = make_pipeline(REPEN(**QUICK), LogisticRegression()).fit(X, words)
    assert set(pipeline.predict(X)) <= {"spam", "ham"}
    assert np.array_equal(pipeline[:-1].transform(X), REPEN(**QUICK).fit(X).transform(X))


# ---- metadata routing ----------------------------------------------------------------------------------------------


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@every
def test_a_pipeline_routes_labels(detector, data, routing):
    X, outliers = data
    pipeline = make_pipeline(MaxAbsScaler(), clone(detector).set_fit_request(labels=True))
    pipeline.fit(X, labels=outliers)
    expected = clone(detector).fit(MaxAbsScaler().fit_transform(X), labels=outliers)
    assert np.array_equal(pipeline[-1].outlier_scores_, expected.outlier_scores_)


def test_a_pipeline_routes_labelled_rows(data, routing):
    X, known = data[0][:110], {"labeled_outliers": data[0][115:], "labeled_inliers": data[0][110:113]}
    asking = REPEN(**QUICK).set_fit_request(labeled_outliers=True, labeled_inliers=True)
    pipeline = make_pipeline(asking, PCA(2)).fit(X, **known)
    assert np.array_equal(pipeline[0].outlier_scores_, REPEN(**QUICK).fit(X, **known).outlier_scores_)


def test_what_was_not_asked_for_is_refused_and_not_dropped(data, routing):
    with pytest.raises(ValueError, match=r"labels.* not explicitly set"):
        make_pipeline(MaxAbsScaler(), REPEN(**QUICK)).fit(data[0], labels=data[1])


ROUTES = {"plain": ("labels", True, "average_precision"), "alias": ("known", "known", "roc_auc")}
"""Some scorers, roc_auc among them, have an argument `labels` of their own: there labels travel under another name."""


@pytest.mark.parametrize(("name", "request_", "scoring"), ROUTES.values(), ids=ROUTES.keys())
def test_cross_validation_routes_the_labels_of_the_training_rows(data, truth, routing, name, request_, scoring):
    X, labels = data[0], np.where(np.arange(len(truth)) % 2 == 0, data[1], 0)
    detector, given = REPEN(**QUICK).set_fit_request(labels=request_), {name: labels}
    found = cross_validate(detector, X, truth, scoring=scoring, cv=FOLDS, params=given, return_estimator=True)
    assert np.isfinite(found["test_score"]).all()
    for fitted, (train, _) in zip(found["estimator"], FOLDS.split(X, truth), strict=True):
        expected = REPEN(**QUICK).fit(X[train], labels=labels[train])
        assert np.array_equal(fitted.outlier_scores_, expected.outlier_scores_)


@pytest.mark.parametrize(("name", "request_", "scoring"), ROUTES.values(), ids=ROUTES.keys())
def test_a_grid_search_routes_labels(data, truth, routing, name, request_, scoring):
    X, outliers = data
    detector, grid = REPEN(**QUICK).set_fit_request(labels=request_), {"normalize": [None, "l2"]}
    search = GridSearchCV(detector, grid, scoring=scoring, cv=FOLDS).fit(X, truth, **{name: outliers})
    expected = REPEN(**QUICK, **search.best_params_).fit(X, labels=outliers)
    assert np.array_equal(search.best_estimator_.outlier_scores_, expected.outlier_scores_)
