"""warm_start: a further fit begins with the weights it has, and trains fewer epochs."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import RAMODO, REPEN, Layers, RankingHinge, load
from ramodo.data.validation import open_rows
from ramodo.fitting.training import Start, train
from ramodo.framework import _WARM
from ramodo.kernels import Phi
from ramodo.options import OptionError
from ramodo.stages.adadelta import Adadelta
from ramodo.stages.ranking_loss import BoundHinge
from reference import initial_weights
from support.examples import random_triplets, with_outliers

OPTIONS = {"n_components": 6, "batch_size": 32, "n_subsamples": 10, "margin": 1e6, "n_epochs": 30, "random_state": 0}

SHAPES = {(6,): (1e6, 30), (6, 4): (300.0, 11)}
"""Margins and epochs that leave something to learn."""

either = pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
LAYERS = pytest.mark.parametrize("widths", [(6,), (6, 4)], ids=str)


def _warm(widths=(6,), n_epochs=None, **options):
    margin, enough = SHAPES[widths]
    return RAMODO(
        representation=Layers(widths),
        loss=RankingHinge(margin),
        n_epochs=n_epochs or enough,
        warm_start=True,
        **{"batch_size": 32, "random_state": 0, **options},
    )


@either
@LAYERS
def test_a_second_fit_starts_from_the_weights_it_has(data, make, widths):
    """The loss of its first epoch is near that of the last one, not near that of a cold start's first."""
    X = make(data[0])
    detector = _warm(widths).fit(X)
    cold = detector.loss_curve_
    detector.fit(X, labels=data[1])
    untrained = _warm(widths, n_epochs=1).fit(X, labels=data[1]).loss_curve_[0]
    assert 0 < cold[-1] < 0.9 * cold[0]
    assert detector.loss_curve_[0] < untrained
    assert detector.loss_curve_[0] < (cold[0] + 2 * cold[-1]) / 3


@LAYERS
@pytest.mark.parametrize(("n_epochs", "expected"), [(_WARM * 3, 3), (_WARM * 2 + 1, 2), (_WARM, 1), (2, 1)])
def test_it_trains_a_part_of_the_epochs(data, widths, n_epochs, expected):
    detector = _warm(widths, n_epochs).fit(data[0])
    assert len(detector.loss_curve_) == n_epochs
    for _ in range(2):
        assert len(detector.fit(data[0]).loss_curve_) == expected


@either
@LAYERS
def test_the_second_fit_is_deterministic(data, make, widths):
    X, truth = make(data[0]), data[1]
    one, two = (_warm(widths).fit(X).fit(X, labels=truth) for _ in range(2))
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
    assert np.array_equal(one.feature_weights_, two.feature_weights_)
    other = _warm(widths, n_jobs=2).fit(X).fit(X, labels=truth)
    assert np.array_equal(one.outlier_scores_, other.outlier_scores_)
    assert np.array_equal(one.outlier_score(X), one.outlier_scores_)


@either
def test_a_warm_fit_is_training_from_those_weights(data, make):
    """Not from the seed's: triplets and references are those of the seed, as in any fit."""
    X = make(data[0])
    detector = _warm().fit(X)
    weights = detector.feature_weights_.copy()
    moved = detector.fit(X).feature_weights_
    seed_weights = _warm(n_epochs=1).fit(X).feature_weights_
    assert 0 < np.abs(moved - weights).max() < 0.5 * np.abs(moved - seed_weights).max()


@LAYERS
def test_without_it_a_second_fit_starts_anew(data, widths):
    detector = _warm(widths).set_params(warm_start=False).fit(data[0])
    first = detector.outlier_scores_
    assert np.array_equal(detector.fit(data[0]).outlier_scores_, first)
    assert len(detector.loss_curve_) == SHAPES[widths][1]


def test_the_first_fit_is_a_cold_one(data):
    warm, cold = (REPEN(warm_start=on, **OPTIONS).fit(data[0]) for on in (True, False))
    assert np.array_equal(warm.outlier_scores_, cold.outlier_scores_)


@pytest.mark.parametrize("n_features", [40, 10**6])
def test_features_that_the_second_fit_does_not_meet_keep_their_weights(n_features):
    """The second X lacks features 0 to 9: their weights stay those of the first fit, bit for bit."""
    X = with_outliers()[0].tolil()
    X.resize(120, n_features)
    X = X.tocsr()
    without = X.tolil()
    without[:, :10] = 0
    without = sp.csr_array(without)
    detector = REPEN(warm_start=True, **OPTIONS).fit(sp.csr_array(X))
    before = dict(zip(detector.feature_indices_.tolist(), detector.feature_weights_, strict=True))
    detector.fit(without)
    after = dict(zip(detector.feature_indices_.tolist(), detector.feature_weights_, strict=True))
    assert set(range(40)) <= set(before) <= set(after)
    assert all(np.array_equal(before[j], after[j]) for j in range(10))
    assert all(not np.array_equal(before[j], after[j]) for j in range(10, 40))
    assert list(after) == sorted(after)


def test_features_that_are_new_start_from_the_seed():
    """Features 0 to 9 occur in the second X alone; no step on them is lost, and none comes from nowhere."""
    X = with_outliers()[0]
    without = X.tolil()
    without[:, :10] = 0
    detector = REPEN(warm_start=True, **OPTIONS).fit(sp.csr_array(without))
    first = detector.model_.learned[0].representation.first
    detector.fit(X)
    second = detector.model_.learned[0].representation.first
    assert (first.seed, first.limit) == (second.seed, second.limit)
    assert set(range(40)) <= set(second.columns)
    start = initial_weights(first.seed, range(10), 6, first.limit)
    moved = np.abs(second.weights[:10] - start).max()
    assert 0 < moved < 0.5 * np.abs(start).max()


@pytest.mark.parametrize("make", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_training_resumes_where_it_is_told_to(make):
    """Two halves of an epoch, the second from the weights of the first: the loss goes on from there."""
    dense = with_outliers()[0].toarray()
    rows = open_rows(make(dense))
    options = {
        "width": 5,
        "slope": 0.0,
        "loss": BoundHinge(1000.0, Phi()),
        "head": None,
        "scale": 1.0,
        "adadelta": Adadelta(),
        "n_threads": 1,
        "show": lambda *_: None,
    }
    epochs = random_triplets(0, 200, 120)[None]

    def trained(epochs, start):
        return train(rows.training_rows(epochs, []), len(epochs), 200, start=start, **options)

    first = trained(epochs, Start(3, 0.3))
    again = trained(epochs, Start(3, 0.3, first.columns, first.weights))
    after = trained(np.concatenate([epochs, epochs]), Start(3, 0.3))
    assert again.loss_curve[0] == after.loss_curve[1]
    assert after.loss_curve[1] < first.loss_curve[0]


def test_several_models_start_each_from_its_own_weights(data):
    detector = _warm(n_estimators=2).fit(data[0])
    cold = detector.loss_curve_
    seeds = [m.representation.first.seed for m in detector.model_.learned]
    detector.fit(data[0], labels=data[1])
    assert [m.representation.first.seed for m in detector.model_.learned] == seeds
    assert detector.loss_curve_[0] < 0.9 * cold[0]
    assert len(detector.loss_curve_) == 30 // _WARM


@LAYERS
def test_a_loaded_model_goes_on_from_its_weights(data, tmp_path, widths):
    detector = _warm(widths).fit(data[0])
    back = load(detector.save(tmp_path / "model"))
    one, two = (given.fit(data[0], labels=data[1]) for given in (back, detector))
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)


def test_more_labels_are_learned(data):
    """Six planted outliers, labelled only now, rank above the other rows."""
    X, truth = data
    detector = _warm().fit(X)
    detector.fit(X, labels=truth)
    assert detector.candidate_outliers_.tolist() == list(range(114, 120))
    assert detector.outlier_scores_[114:].min() > np.median(detector.outlier_scores_[:114])


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"representation": Layers((7,))},
        {"representation": Layers((6, 4))},
        {"representation": Layers((6,), "linear")},
        {"normalize": "l2"},
        {"n_estimators": 2},
    ],
    ids=str,
)
def test_other_shapes_are_refused(data, changes):
    detector = _warm(n_epochs=2).fit(data[0])
    before = detector.outlier_scores_
    detector.set_params(**changes)
    with pytest.raises(OptionError, match=r"warm_start=True needs the features of the last fit"):
        detector.fit(data[0])
    assert detector.outlier_scores_ is before
    detector.set_params(warm_start=False).fit(data[0])


def test_other_features_are_refused(data):
    detector = _warm(n_epochs=2).fit(data[0])
    with pytest.raises(OptionError, match="warm_start=True needs the features of the last fit"):
        detector.fit(data[0][:, :39])
    assert detector.n_features_in_ == 40


def test_other_options_may_change(data):
    detector = _warm(n_epochs=2).fit(data[0])
    detector.set_params(n_epochs=_WARM * 4, batch_size=16, random_state=5).fit(data[0][:100])
    assert len(detector.loss_curve_) == 4


def test_widths_given_otherwise_are_the_same_widths(data):
    """A list, a tuple, a number: what counts is what they mean."""
    detector = _warm(n_epochs=2).fit(data[0])
    for widths in ([6], 6, np.array([6])):
        detector.set_params(representation=Layers(widths)).fit(data[0])
