"""REPEN as its user sees it: what fit leaves behind, and how scores, signs and cut-offs belong together."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ramodo import REPEN
from ramodo.stages.scoring import Sp
from ramodo.stages.triplets import TripletSampler
from reference import batches, cantelli_line, forward, initial_weights, sp_scores, train

USES = ["outlier_score", "score_samples", "decision_function", "predict", "transform"]


# ---- the whole method ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("n_queries", [1, 2])
def test_the_whole_fit_equals_reference(record, make, n_queries):
    """Given the references and triplets that were drawn, every stage is recomputed from X."""
    references, triplets = record(Sp, "draw"), record(TripletSampler, "draw")
    X = np.random.default_rng(0).random((60, 12)) * (np.random.default_rng(1).random((60, 12)) < 0.4)
    X[-4:] *= 4
    X[:, 5] = 0.0
    detector = REPEN(5, n_epochs=4, batch_size=16, margin=30.0, n_queries=n_queries, n_subsamples=6, random_state=3)
    detector.fit(make(X))

    initial = sp_scores(X, X[references[0].ravel()], 8)
    np.testing.assert_allclose(detector.initial_scores_, initial, rtol=1e-9)
    candidates = np.flatnonzero(initial >= cantelli_line(initial, np.sqrt(3)))
    assert detector.candidate_outliers_.tolist() == candidates.tolist()
    epochs = triplets[0]
    assert epochs.shape == (4, 60, n_queries + 2)
    assert set(epochs[..., -1].ravel()) <= set(candidates)

    limit = np.sqrt(6 / (11 + 5))
    first = detector.model_.learned[0].representation.first
    assert first.limit == pytest.approx(limit, rel=1e-6)
    weights = initial_weights(first.seed, range(12), 5, limit)
    weights, losses = train(X, [batch for epoch in epochs for batch in batches(epoch, 16)], weights, 30.0)
    per_epoch = losses.reshape(4, 4) @ [16 / 60, 16 / 60, 16 / 60, 12 / 60]
    np.testing.assert_allclose(detector.loss_curve_, per_epoch, rtol=1e-5)
    mapped = forward(X, weights)
    np.testing.assert_allclose(detector.transform(make(X)), mapped, atol=1e-4)
    scores = sp_scores(mapped, mapped[references[1].ravel()], 8)
    np.testing.assert_allclose(detector.outlier_scores_, scores, rtol=1e-3, atol=1e-4)


def test_it_finds_the_outliers_it_was_shown(data):
    X, truth = data
    detector = REPEN(random_state=0).fit(X)
    assert roc_auc_score(truth, detector.outlier_scores_) > 0.99
    assert set(np.flatnonzero(truth)) <= set(np.flatnonzero(detector.predict(X) == -1))


# ---- what fit leaves behind ----------------------------------------------------------------------------------------


def test_fitted_attributes(fitted, data):
    X, _ = data
    n, d = X.shape
    assert fitted.outlier_scores_.shape == fitted.initial_scores_.shape == (n,)
    assert fitted.loss_curve_.shape == (3,)
    assert fitted.n_features_in_ == d
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.references_.shape == (10 * 8, 6)
    assert fitted.model_.learned[0].detection.size == 8
    assert np.array_equal(fitted.row_lengths_, np.count_nonzero(X.toarray(), axis=1))
    np.testing.assert_allclose(fitted.row_norms_, np.linalg.norm(X.toarray(), axis=1), rtol=1e-12)
    mapped = fitted.transform(X)
    assert len(fitted.samples_) == len(fitted.n_alive_) == 1
    assert np.array_equal(fitted.samples_[0], mapped)
    assert fitted.n_alive_[0] == np.count_nonzero((mapped > 0).any(axis=0))
    assert fitted.calibration_scores_.shape == (0,)
    assert 0 < len(fitted.candidate_outliers_) < n
    assert fitted.false_positive_bound_ == pytest.approx(0.25)
    assert set(fitted.stage_seconds_) == {"check", "ranking", "sampling", "training", "scoring", "cut-off", "profile"}


def test_the_loss_falls(quick, data):
    curve = quick(n_epochs=20, batch_size=16).fit(data[0]).loss_curve_
    assert curve[0] == pytest.approx(1000, rel=0.05)
    assert np.all(curve[10:] < curve[0] - 1)


def test_components_are_the_weights_of_the_layer(fitted, data):
    """Every feature of this small set was trained on, so the sparse components are all of W."""
    X, _ = data
    components = fitted.components_
    assert components.shape == (6, X.shape[1])
    np.testing.assert_allclose(fitted.transform(X), forward(X.toarray(), components.toarray().T), atol=1e-5)


def test_nothing_works_before_fit(data):
    for use in USES:
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(REPEN(), use)(data[0])
    with pytest.raises(NotFittedError):
        REPEN().save("never-written")
    assert not hasattr(REPEN(), "components_")


@pytest.mark.parametrize(("samples", "expected"), [("auto", 120), (7, 7), (300, 300)])
def test_triplets_per_epoch(record, quick, data, samples, expected):
    triplets = record(TripletSampler, "draw")
    quick(samples_per_epoch=samples).fit(data[0])
    assert triplets[0].shape == (3, expected, 3)


def test_triplets_per_epoch_stop_at_five_thousand(record, quick):
    triplets = record(TripletSampler, "draw")
    quick(n_epochs=1).fit(sp.random_array((6000, 50), density=0.1, random_state=np.random.default_rng(0), format="csr"))
    assert triplets[0].shape == (1, 5000, 3)


# ---- signs and cut-offs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cutoff", ["cantelli", 0.1])
def test_signs_and_cut_off_belong_together(quick, data, cutoff):
    X, _ = data
    detector = quick(cutoff=cutoff).fit(X)
    scores = detector.outlier_score(X)
    flags = np.where(scores >= detector.threshold_, -1, 1)
    assert set(flags) == {-1, 1}
    assert np.array_equal(detector.score_samples(X), -scores)
    assert np.array_equal(detector.decision_function(X), -scores - detector.offset_)
    assert np.array_equal(detector.predict(X), flags)
    assert np.array_equal(detector.decision_function(X) < 0, flags == -1)
    assert np.array_equal(clone(detector).fit_predict(X), flags)


def test_a_score_at_the_threshold_is_flagged(quick, data):
    """A share's threshold is the score of a row, less what rounding may take from it."""
    X, _ = data
    detector = quick(cutoff=0.05).fit(X)
    at = np.flatnonzero(np.isclose(detector.outlier_scores_, detector.threshold_, rtol=1e-5))
    assert len(at) == 1
    assert detector.predict(X)[at] == [-1]
    assert detector.outlier_scores_[at] > detector.threshold_ * (1 + 1e-6)


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.25, 0.5])
def test_a_share_flags_that_share(quick, data, fraction):
    X, _ = data
    detector = quick(cutoff=fraction).fit(X)
    assert np.sum(detector.predict(X) == -1) == max(1, round(fraction * X.shape[0]))
    assert np.isnan(detector.false_positive_bound_)


def test_cantelli_s_threshold_is_that_of_the_scores(quick, data):
    detector = quick(alpha=1.0).fit(data[0])
    assert detector.threshold_ == pytest.approx(cantelli_line(detector.outlier_scores_, 1.0), rel=1e-9)
    assert detector.false_positive_bound_ == 0.5


def test_the_fallback_is_reported(quick):
    """Rows at one distance from each other but for noise: no score lies five deviations above the mean."""
    X = np.eye(60) + 1e-3 * np.random.default_rng(0).random((60, 60))
    detector = quick(alpha=7.0).fit(X)
    assert detector.fallback_used_
    assert len(detector.candidate_outliers_) == 10


# ---- scikit-learn's world ------------------------------------------------------------------------------------------


def test_a_pipeline_gives_what_its_steps_give(quick, data):
    X, _ = data
    pipeline = make_pipeline(MaxAbsScaler(), quick()).fit(X)
    scaled = MaxAbsScaler().fit_transform(X)
    assert np.array_equal(pipeline.score_samples(X), quick().fit(scaled).score_samples(scaled))
    assert np.array_equal(pipeline.transform(X), quick().fit(scaled).transform(scaled))


def test_clone_copies_options_and_nothing_else(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]


def test_a_pickled_detector_scores_the_same(fitted, data):
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.outlier_score(data[0]), fitted.outlier_score(data[0]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_names_the_columns(quick, data, library):
    X = data[0].toarray()
    frame = quick().set_output(transform=library).fit_transform(X)
    assert type(frame).__module__.split(".")[0] == library
    assert list(frame.columns) == [f"repen{i}" for i in range(6)]
    assert np.array_equal(frame.to_numpy(), quick().fit(X).transform(X))


def test_feature_names_are_kept_and_asked_for_again(quick, data):
    names = [f"word{j}" for j in range(40)]
    frame = pd.DataFrame(data[0].toarray(), columns=names)
    detector = quick().fit(frame)
    assert detector.feature_names_in_.tolist() == names
    assert np.array_equal(detector.outlier_score(frame), detector.outlier_scores_)
    with pytest.raises(ValueError, match="feature names"):
        detector.outlier_score(frame.rename(columns={"word3": "other"}))
    detector.fit(data[0])
    assert not hasattr(detector, "feature_names_in_")


def test_verbose_reports_each_stage(quick, data, capsys):
    quick(verbose=1).fit(data[0])
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == [
        "check",
        "ranking",
        "sampling",
        "training",
        "scoring",
        "cut-off",
        "profile",
    ]
    quick().fit(data[0])
    assert capsys.readouterr() == ("", "")
