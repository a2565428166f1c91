"""The framework: without arguments REPEN, and with stages of ramodo's or the user's in any place."""

import math
import pickle
import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from ramodo import (
    RAMODO,
    REPEN,
    AverageNeighborREPEN,
    AverageNN,
    Candidates,
    Cantelli,
    Conformal,
    Cutoff,
    Ensemble,
    GivenSet,
    KthNeighborREPEN,
    KthNN,
    Layers,
    RankingHinge,
    Sp,
    TopFraction,
    TopK,
    TripletSampler,
    load,
)
from ramodo.data.blocks import DenseRows
from ramodo.datasets import make_ultrahigh
from ramodo.fitting.training import Start, train
from ramodo.kernels import Phi
from ramodo.model.saved import ModelFileError
from ramodo.options import OptionError
from ramodo.stages.adadelta import Adadelta
from ramodo.stages.layers import UpperLayers
from ramodo.stages.ranking_loss import BoundHinge
from reference import Adadelta as PlainAdadelta
from reference import activate, derivative, initial_weights, rows_gradient, rows_loss
from support.examples import PLAIN, either, random_triplets, same_bits, scattered

pytestmark = pytest.mark.slow


def _without_addresses(value):
    return re.sub(r" at 0x\w+", "", str(value))


QUICK = {"n_epochs": 3, "batch_size": 32, "random_state": 0}
LONG = {"n_epochs": 40, "batch_size": 32, "random_state": 0}
"""Enough steps to tell planted outliers apart."""


def _same(left, right):
    assert left.threshold_ == right.threshold_
    assert left.false_positive_bound_ == right.false_positive_bound_
    return same_bits(left, right)


def _labels(data, kind):
    X, truth = data
    y = np.zeros(len(truth))
    y[-2:], y[:3] = 1, -1
    given = {"none": {}, "labels": {"labels": y}, "rows": {"labeled_outliers": X[-3:-1], "labeled_inliers": X[:2]}}
    return given[kind]


# ---- the same bits as its instances --------------------------------------------------------------------------------


@either
@pytest.mark.parametrize("labels", ["none", "labels", "rows"])
def test_ramodo_is_repen(data, make, labels):
    X, given = make(data[0]), _labels(data, labels)
    one, two = RAMODO(**QUICK).fit(X, **given), REPEN(**QUICK).fit(X, **given)
    assert _same(one, two)
    assert np.array_equal(one.outlier_score(X), two.outlier_score(X))
    assert np.array_equal(one.transform(X), two.transform(X))
    assert np.array_equal(one.predict(X), two.predict(X))


@either
@pytest.mark.parametrize("labels", ["none", "labels"])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("scorer", "named"), [(KthNN, KthNeighborREPEN), (AverageNN, AverageNeighborREPEN)])
def test_ramodo_with_a_scorer_is_the_detector_of_that_name(data, make, scorer, named, k, labels):
    X, given = make(data[0]), _labels(data, labels)
    queries = {"n_queries": 1} if k == 1 else {}
    assert _same(RAMODO(scorer=scorer(k), **QUICK).fit(X, **given), named(k, **queries, **QUICK).fit(X, **given))


def test_stages_named_one_by_one_are_repen_with_those_options(data):
    stages = RAMODO(
        Sp(20, 5),
        thresholder=Cantelli(1.2),
        sampler=TripletSampler(2, 0.3),
        representation=Layers((7,)),
        loss=RankingHinge(5.0),
        cutoff=TopFraction(0.1),
        **QUICK,
    )
    options = {"n_subsamples": 20, "subsample_size": 5, "alpha": 1.2, "n_queries": 2, "labeled_fraction": 0.3}
    named = REPEN(7, margin=5.0, cutoff=0.1, **options, **QUICK)
    names = ["outlier_scores_", "feature_weights_", "references_", "threshold_"]
    one, two = stages.fit(data[0], labels=data[1]), named.fit(data[0], labels=data[1])
    assert all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)


def test_a_cut_off_means_the_same_to_all_detectors(data):
    by_share = RAMODO(cutoff=0.1, **QUICK).fit(data[0])
    assert by_share.threshold_ == REPEN(cutoff=0.1, **QUICK).fit(data[0]).threshold_
    assert by_share.threshold_ == RAMODO(cutoff=TopFraction(0.1), **QUICK).fit(data[0]).threshold_


def test_k_and_average_make_a_difference(data):
    scores = [RAMODO(s, **QUICK).fit(data[0]).outlier_scores_ for s in (Sp(), KthNN(2), KthNN(3), AverageNN(3))]
    assert all(not np.isclose(a, b, rtol=1e-6).any() for i, a in enumerate(scores) for b in scores[:i])


@pytest.mark.parametrize("scorer", [KthNN(3), AverageNN(3)], ids=lambda s: type(s).__name__)
def test_other_distances_detect(data, scorer):
    assert roc_auc_score(data[1], RAMODO(scorer, **LONG).fit(data[0]).outlier_scores_) > 0.95


# ---- parameters of stages ------------------------------------------------------------------------------------------


def test_parameters_of_stages_are_parameters(data):
    detector = RAMODO(KthNN(3), representation=Layers((6,)), **QUICK)
    assert detector.get_params()["scorer__k"] == 3
    assert detector.get_params()["representation__widths"] == (6,)
    detector.set_params(scorer__k=2, representation__activation="linear", n_epochs=2)
    assert (detector.scorer.k, detector.representation.activation, detector.n_epochs) == (2, "linear", 2)
    expected = RAMODO(KthNN(2), representation=Layers((6,), "linear"), **{**QUICK, "n_epochs": 2})
    assert _same(detector.fit(data[0]), expected.fit(data[0]))
    with pytest.raises(ValueError, match="Invalid parameter 'q'"):
        detector.set_params(scorer__q=1)


def test_a_clone_has_stages_of_its_own(data):
    detector = RAMODO(AverageNN(2), cutoff=TopK(4), **QUICK).fit(data[0])
    copy = clone(detector)
    assert copy.scorer is not detector.scorer
    assert not [name for name in vars(copy) if name.endswith("_")]
    assert _nothing_nan(copy.fit(data[0])) == _nothing_nan(detector)
    copy.set_params(scorer__k=5)
    assert detector.scorer.k == 2


def _nothing_nan(detector):
    return detector.outlier_scores_.tolist(), detector.threshold_


def test_fitting_changes_no_stage(data):
    detector = RAMODO(KthNN(2), ranker=Sp(), thresholder=TopK(5), **QUICK)
    before = detector.get_params()
    detector.fit(data[0])
    assert detector.get_params() == before
    assert not vars(detector.scorer).keys() - {"k", "n_subsamples", "subsample_size", "random_state", "n_jobs"}


# ---- thresholders and cut-offs -------------------------------------------------------------------------------------


def test_given_rows_are_the_candidates(data, record):
    drawn = record(TripletSampler, "draw")
    detector = RAMODO(thresholder=GivenSet([3, 50, 119]), **QUICK).fit(data[0])
    assert detector.candidate_outliers_.tolist() == [3, 50, 119]
    assert set(drawn[0][..., -1].ravel()) == {3, 50, 119}
    assert not detector.fallback_used_


def test_labels_come_before_given_rows(data):
    y = np.zeros(120)
    y[3], y[4] = -1, 1
    detector = RAMODO(thresholder=GivenSet(np.array([3, 50])), **QUICK).fit(data[0], labels=y)
    assert detector.candidate_outliers_.tolist() == [4, 50]


@pytest.mark.parametrize(("stage", "count"), [(TopK(7), 7), (TopFraction(0.1), 12), (TopK(1), 1)], ids=str)
def test_the_highest_are_the_candidates(data, stage, count):
    detector = RAMODO(thresholder=stage, cutoff=stage, **QUICK).fit(data[0])
    highest = np.argsort(-detector.initial_scores_)[:count]
    assert set(detector.candidate_outliers_) == set(highest)
    assert (detector.predict(data[0]) == -1).sum() == count
    assert detector.threshold_ == pytest.approx(np.sort(detector.outlier_scores_)[-count], rel=1e-5)
    assert math.isnan(detector.false_positive_bound_)


def test_a_share_of_false_positives_stands_for_alpha(data):
    share, alpha = Cantelli(false_positives=0.25), Cantelli(math.sqrt(3))
    scores = np.random.default_rng(0).gamma(1.0, size=1000)
    assert share.cutoff(scores) == pytest.approx(alpha.cutoff(scores), rel=1e-12)
    one, two = (RAMODO(thresholder=s, cutoff=s, **QUICK).fit(data[0]) for s in (share, alpha))
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
    assert one.threshold_ == pytest.approx(two.threshold_, rel=1e-12)
    assert one.false_positive_bound_ == pytest.approx(0.25)
    assert Cantelli(false_positives=0.5).cutoff(scores) < share.cutoff(scores)


# ---- model files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stages",
    [
        {},
        {"scorer": Sp(7, 4)},
        {"scorer": KthNN(3)},
        {"scorer": AverageNN(2)},
        {"ranker": Ensemble([Sp(), AverageNN(2)], "score")},
        {"ranker": KthNN(2)},
        {"thresholder": Cantelli(1.0)},
        {"thresholder": Cantelli(false_positives=0.1)},
        {"thresholder": TopK(5)},
        {"thresholder": TopFraction(0.1)},
        {"thresholder": GivenSet(np.array([1, 2, 3]))},
        {"cutoff": Conformal(0.3)},
        {"cutoff": TopK(5)},
        {"cutoff": TopFraction(0.2)},
        {"sampler": TripletSampler(3, 0.5)},
        {"representation": Layers(6, "leaky_relu")},
        {"representation": Layers([6, 3])},
        {"representation": Layers(np.array([6, 4, 3]), "linear")},
        {"loss": RankingHinge(7.0)},
        {"normalize": "l2", "n_estimators": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("labeled", [False, True])
def test_a_saved_ramodo_scores_the_same(data, tmp_path, stages, labeled):
    X, truth = data
    detector = RAMODO(**stages, **QUICK).fit(X, labels=truth if labeled else None)
    back = load(detector.save(tmp_path / "model"))
    assert type(back) is RAMODO
    for use in ("outlier_score", "transform", "predict"):
        assert np.array_equal(getattr(back, use)(X), getattr(detector, use)(X))
    again = clone(back).fit(X, labels=truth if labeled else None)
    assert np.array_equal(again.outlier_scores_, detector.outlier_scores_)
    assert np.array_equal(load(back.save(tmp_path / "again")).outlier_score(X), detector.outlier_scores_)


@pytest.mark.parametrize("make", [KthNeighborREPEN, AverageNeighborREPEN])
def test_detectors_of_neighbours_are_saved(data, tmp_path, make):
    detector = make(2, **QUICK).fit(data[0])
    back = load(detector.save(tmp_path / "model"))
    assert type(back) is make
    assert np.array_equal(back.outlier_score(data[0]), detector.outlier_scores_)


# ---- several layers ------------------------------------------------------------------------------------------------


@either
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "linear"])
@pytest.mark.parametrize("widths", [(9, 5), (12, 8, 4)], ids=str)
def test_several_layers_train(data, make, widths, activation):
    X = make(data[0])
    detector = RAMODO(representation=Layers(widths, activation), **LONG).fit(X)
    assert detector.loss_curve_[-1] < 0.999 * detector.loss_curve_[0]
    mapped = detector.transform(X)
    assert mapped.shape == (120, widths[-1])
    assert (activation == "relu") == (mapped.min() == 0)
    assert len(detector.get_feature_names_out()) == widths[-1]
    assert detector.references_.shape[1] == widths[-1]
    assert detector.components_.shape == (widths[0], 40)
    assert roc_auc_score(data[1], detector.outlier_scores_) > 0.8
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)


@either
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "linear"])
def test_a_row_alone_passes_layers_as_it_does_among_others(data, make, activation):
    X = make(data[0])
    detector = RAMODO(representation=Layers((9, 5), activation), **QUICK).fit(X)
    together = detector.transform(X)
    for i in range(0, 120, 7):
        assert np.array_equal(detector.transform(X[i : i + 1]), together[i : i + 1])
        assert np.array_equal(detector.outlier_score(X[i : i + 1]), detector.outlier_scores_[i : i + 1])


@either
@pytest.mark.parametrize("widths", [(6,), (6, 4)], ids=str)
def test_threads_do_not_change_a_bit_of_layers(make, widths):
    """Batches above the 50,000 non-zeros from which on threads are used."""
    X = make(make_ultrahigh(400, 3000, row_length=300, random_state=0)[0])
    options = {"n_epochs": 2, "random_state": 0, "representation": Layers(widths, "leaky_relu")}
    one, two = (RAMODO(n_jobs=n, **options).fit(X) for n in (1, 2))
    assert _same(one, two)
    assert np.array_equal(one.transform(X), two.transform(X))


def test_activations_of_a_single_layer_differ(data):
    made = {a: RAMODO(representation=Layers((6,), a), **QUICK).fit(data[0]) for a in ("relu", "leaky_relu", "linear")}
    mapped = {name: detector.transform(data[0]) for name, detector in made.items()}
    assert mapped["relu"].min() == 0
    assert mapped["linear"].min() < 20 * mapped["leaky_relu"].min() < 0


@pytest.mark.parametrize("slope", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("widths", [(4, 3), (5, 4, 3), (4,)], ids=str)
def test_gradients_of_upper_layers_equal_finite_differences(widths, slope):
    """With respect to what comes in, and to every weight; the loss is a weighted sum of what goes out."""
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=pair) for pair in pairwise(widths)]
    hidden, wanted = rng.normal(size=(7, widths[0])), rng.normal(size=(7, widths[-1]))

    def loss(hidden, weights):
        rows = hidden
        for w in weights:
            rows = activate(rows, np.float32(slope)) @ w
        return float((activate(rows, np.float32(slope)) * wanted).sum())

    head, seen = UpperLayers([w.copy() for w in weights], slope), {}
    head.optimize_with(_Recorder(seen))
    assert float((head.forward(hidden) * wanted).sum()) == pytest.approx(loss(hidden, weights))
    found = head.backward(wanted)
    np.testing.assert_allclose(found, _numeric(lambda h: loss(h, weights), hidden), atol=1e-6)
    assert np.abs(found).max() > 1e-3
    for i, w in enumerate(weights):

        def of_weights(changed, i=i):
            return loss(hidden, [*weights[:i], changed, *weights[i + 1 :]])

        np.testing.assert_allclose(seen[w.shape], _numeric(of_weights, w), atol=1e-6)


class _Recorder:
    """An optimizer that keeps the gradients and changes nothing."""

    def __init__(self, seen):
        self.seen = seen

    def dense(self, shape):
        def step(weights, gradient):
            self.seen[shape] = gradient
            return weights

        return step


def _numeric(function, at, step=1e-6):
    gradient = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (function(up) - function(down)) / (2 * step)
    return gradient


def _plain_training(X, epochs, batch_size, layers, margin, phi, slope):
    """Two layers or more in NumPy: forward, loss, back through all layers, one step of ADADELTA for each."""
    optimizers, losses = [PlainAdadelta(w.shape) for w in layers], []
    for batch in [e[i : i + batch_size].tolist() for e in epochs for i in range(0, len(e), batch_size)]:
        values, sums = [X], []
        for w in layers:
            sums.append(values[-1] @ w)
            values.append(activate(sums[-1], slope))
        losses.append(rows_loss(values[-1], batch, margin, *phi))
        back = rows_gradient(values[-1], batch, margin, *phi)
        gradients = []
        for w, value, total in zip(layers[::-1], values[-2::-1], sums[::-1], strict=True):
            back = back * derivative(total, slope)
            gradients.insert(0, value.T @ back)
            back = back @ w.T
        layers = [o.step(w, g) for o, w, g in zip(optimizers, layers, gradients, strict=True)]
    return layers, losses


@pytest.mark.parametrize("rows", [PLAIN.rows, DenseRows], ids=["sparse", "dense"])
@pytest.mark.parametrize("slope", [0.0, 0.01, 1.0])
@pytest.mark.parametrize(
    ("widths", "phi"), [((6, 4), Phi()), ((6, 4), Phi(2)), ((7, 5, 3), Phi(3, True)), ((6,), Phi(2))]
)
def test_training_of_layers_equals_a_plain_one(rows, slope, widths, phi):
    """Batch by batch, its first layer native, all of it against NumPy in double precision."""
    X, seed, limit = scattered(1, (24, 30)), 11, 0.3
    epochs = np.stack([random_triplets(n, 20, 24, 3) for n in range(8)])
    head = Layers(widths, {0.0: "relu", 0.01: "leaky_relu", 1.0: "linear"}[slope]).head(np.random.default_rng(0))
    start = [initial_weights(seed, range(30), widths[0], limit), *[w.astype(np.float64) for w in head.weights]]
    expected, losses = _plain_training(X, epochs, 8, start, 2.0, phi, slope)
    head.optimize_with(Adadelta())
    trained = train(
        rows(X).training_rows(epochs, []),
        len(epochs),
        8,
        width=widths[0],
        slope=slope,
        loss=BoundHinge(2.0, phi),
        head=head,
        start=Start(seed, limit),
        scale=1.0,
        adadelta=Adadelta(),
        n_threads=1,
        show=lambda *_: None,
    )
    per_epoch = np.reshape(losses, (8, 3)) @ [8 / 20, 8 / 20, 4 / 20]
    np.testing.assert_allclose(trained.loss_curve, per_epoch, rtol=1e-4)
    np.testing.assert_allclose(trained.weights, expected[0][trained.columns], atol=1e-4)
    for found, upper in zip(head.weights, expected[1:], strict=True):
        np.testing.assert_allclose(found, upper, atol=1e-4)
    assert all(np.abs(now - was).max() > 0.01 for now, was in zip(expected, start, strict=True))


def test_huge_values_pass_layers(data):
    """Powers of two change no digit: X times 2^60 trains as X times 2^18, the margins likewise."""
    huge, large = (
        RAMODO(representation=Layers((6, 4)), loss=RankingHinge(2.0 ** (2 * power)), **QUICK).fit(data[0] * 2.0**power)
        for power in (60, 18)
    )
    assert np.array_equal(huge.feature_weights_, large.feature_weights_)
    assert np.array_equal(huge.outlier_scores_ / 2.0**42, large.outlier_scores_)
    assert RAMODO(representation=Layers((6, 4)), **QUICK).fit(data[0] * 1e29).loss_curve_[-1] > 0


# ---- stages of one's own -------------------------------------------------------------------------------------------


class MedianLine(Cutoff):
    """Median and median deviation: a line needs its cut-off only."""

    def __init__(self, times=5.0):
        self.times = times

    def cutoff(self, scores):
        middle = np.median(scores)
        return middle + self.times * np.median(np.abs(scores - middle))


class EveryTenth:
    """A thresholder without a line."""

    def split(self, scores, labels):
        return Candidates.of(np.arange(len(scores)) % 10 == 0, labels)


class UniformSampler(BaseEstimator):
    """Queries, positives and negatives, all uniform."""

    n_queries = 2

    def draw(self, pools, n_epochs, n, batch_size, rng):
        inliers = np.stack([rng.choice(pools.inliers, 3, replace=False) for _ in range(n_epochs * n)])
        negatives = rng.choice(pools.outliers, n_epochs * n)
        return np.column_stack([inliers, negatives]).reshape(n_epochs, n, 4)


def _logistic(rows, triplets):
    """log(1 + exp(d(positive) - d(negative))) over one query, and its gradient."""
    query, positive, negative = rows[triplets].transpose(1, 0, 2).astype(np.float64)
    difference = ((positive - query) ** 2).sum(axis=1) - ((negative - query) ** 2).sum(axis=1)
    slope = (2 / (1 + np.exp(-difference)) / len(triplets))[:, None]
    gradient = np.zeros(rows.shape)
    np.add.at(gradient, triplets[:, 1], slope * (positive - query))
    np.add.at(gradient, triplets[:, 2], -slope * (negative - query))
    np.add.at(gradient, triplets[:, 0], slope * (negative - positive))
    return np.logaddexp(0, difference).mean(), gradient


class OwnHinge:
    """The built-in loss again, for the nearest of any number of queries."""

    def __init__(self, margin):
        self.margin = margin

    def __call__(self, rows, triplets):
        return rows_loss(rows, triplets.tolist(), self.margin), rows_gradient(rows, triplets.tolist(), self.margin)


class Tanh:
    """A head without parameters."""

    def __init__(self, first_width=6):
        self.first_width = first_width

    def head(self, rng):
        return _TanhHead()


class _TanhHead:
    def forward(self, hidden):
        self._last = np.tanh(hidden)
        return 10 * self._last

    def backward(self, gradient):
        return 10 * gradient * (1 - self._last**2)


@either
def test_an_own_thresholder(data, make):
    X = make(data[0])
    line = RAMODO(thresholder=MedianLine(), cutoff=MedianLine(3.0), **LONG).fit(X)
    initial = line.initial_scores_
    assert np.array_equal(line.candidate_outliers_, np.flatnonzero(initial >= MedianLine().cutoff(initial)))
    assert 0 < len(line.candidate_outliers_) < 20
    assert line.threshold_ == MedianLine(3.0).cutoff(line.outlier_scores_)
    assert roc_auc_score(data[1], line.outlier_scores_) > 0.9
    every = RAMODO(thresholder=EveryTenth(), **QUICK).fit(X)
    assert every.candidate_outliers_.tolist() == list(range(0, 120, 10))
    assert line.get_params()["thresholder__times"] == 5.0


@either
def test_an_own_sampler(data, make):
    X = make(data[0])
    one, two = (RAMODO(sampler=UniformSampler(), **LONG).fit(X) for _ in range(2))
    assert roc_auc_score(data[1], one.outlier_scores_) > 0.9
    assert _same(one, two)


@either
def test_an_own_loss(data, make):
    X = make(data[0])
    detector = RAMODO(loss=_logistic, **LONG).fit(X)
    assert roc_auc_score(data[1], detector.outlier_scores_) > 0.9
    assert detector.loss_curve_[-1] < 0.5 * detector.loss_curve_[0]
    assert np.array_equal(detector.outlier_score(X[3:4]), detector.outlier_scores_[3:4])


@either
@pytest.mark.parametrize(("n_queries", "margin"), [(1, 1000.0), (3, 1.0)])
def test_an_own_loss_that_repeats_the_hinge_gives_nearly_the_same_scores(data, make, n_queries, margin):
    X, sampler = make(data[0]), TripletSampler(n_queries)
    own = RAMODO(loss=OwnHinge(margin), sampler=sampler, **QUICK).fit(X)
    native = RAMODO(loss=RankingHinge(margin), sampler=sampler, **QUICK).fit(X)
    np.testing.assert_allclose(own.loss_curve_, native.loss_curve_, rtol=1e-5)
    np.testing.assert_allclose(own.outlier_scores_, native.outlier_scores_, rtol=1e-3)


@either
def test_an_own_representation(data, make):
    X = make(data[0])
    detector = RAMODO(representation=Tanh(), **LONG).fit(X)
    mapped = detector.transform(X)
    assert mapped.shape == (120, 6)
    assert mapped.dtype == np.float32
    assert np.abs(mapped).max() <= 10
    weights = initial_weights(detector.model_.learned[0].representation.first.seed, range(40), 6, 1.0)
    weights[detector.feature_indices_] = detector.feature_weights_
    np.testing.assert_allclose(mapped, 10 * np.tanh(data[0].toarray() @ weights), atol=1e-4)
    assert detector.loss_curve_[-1] < 0.99 * detector.loss_curve_[0]
    assert roc_auc_score(data[1], detector.outlier_scores_) > 0.9
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)


@either
@pytest.mark.parametrize(
    "scorer", [IsolationForest(n_estimators=20), LocalOutlierFactor(novelty=True)], ids=lambda s: type(s).__name__
)
def test_another_library_s_scorer(data, make, scorer):
    """It ranks the rows, and detects in the representation; what was given stays unfitted."""
    X = make(data[0])
    one, two = (RAMODO(scorer, **LONG).fit(X) for _ in range(2))
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
    assert np.array_equal(one.outlier_score(X), one.outlier_scores_)
    assert roc_auc_score(data[1], one.outlier_scores_) > 0.9
    assert not [name for name in vars(scorer) if name.endswith("_")]
    fitted = clone(scorer).set_params(**({"random_state": 0} if "random_state" in scorer.get_params() else {}))
    expected = -fitted.fit(one.transform(X)).score_samples(one.transform(X))
    if isinstance(scorer, LocalOutlierFactor):
        np.testing.assert_allclose(one.outlier_scores_, expected, rtol=1e-9)
    with pytest.raises(AttributeError, match="references_: a user-defined scorer has no references"):
        _ = one.references_


def test_another_library_s_scorer_does_not_see_known_outliers(data):
    seen = []

    class Seeing(LocalOutlierFactor):
        def fit(self, X, y=None):
            seen.append(X.shape)
            return super().fit(X)

    RAMODO(Seeing(novelty=True), representation=Layers((5,)), **QUICK).fit(data[0], labels=data[1])
    assert seen == [(114, 40), (114, 5)]


@pytest.mark.parametrize(
    "stages",
    [
        {"scorer": IsolationForest(n_estimators=5)},
        {"representation": Tanh()},
        {"thresholder": MedianLine(), "sampler": UniformSampler(), "loss": OwnHinge(5.0), "cutoff": MedianLine()},
        {"representation": Layers((5, 3)), "n_estimators": 2},
    ],
    ids=["scorer", "representation", "others", "layers"],
)
def test_detectors_of_any_stages_are_pickled(data, stages):
    detector = RAMODO(**stages, **QUICK).fit(data[0])
    back = pickle.loads(pickle.dumps(detector))
    assert np.array_equal(back.outlier_score(data[0]), detector.outlier_scores_)


@pytest.mark.parametrize(
    "stages",
    [
        {"scorer": IsolationForest(n_estimators=5)},
        {"ranker": IsolationForest(n_estimators=5)},
        {"ranker": Ensemble([Sp(), IsolationForest(n_estimators=5)])},
        {"scorer": Ensemble([Sp()])},
        {"thresholder": MedianLine()},
        {"thresholder": EveryTenth()},
        {"sampler": UniformSampler()},
        {"representation": Tanh()},
        {"loss": _logistic},
        {"cutoff": MedianLine()},
    ],
    ids=_without_addresses,
)
def test_own_stages_are_not_saved(data, tmp_path, stages):
    detector = RAMODO(**stages, **QUICK).fit(data[0])
    with pytest.raises((ModelFileError, OptionError), match="since a file holds no code"):
        detector.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_subclass_of_a_stage_is_not_saved_as_the_stage(data, tmp_path):
    """It would come back as something else."""

    class Sp(KthNN):
        pass

    detector = RAMODO(Sp(2), **QUICK).fit(data[0])
    with pytest.raises(OptionError, match="a stage to save must be one of ramodo's"):
        detector.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_own_cutoff_of_repen_is_not_saved(data, tmp_path):
    detector = REPEN(cutoff=MedianLine(), **QUICK).fit(data[0])
    with pytest.raises(OptionError, match="a stage to save must be one of ramodo's"):
        detector.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
