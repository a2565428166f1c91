"""n_estimators: independent representations, whose scores are averaged in their own standard deviations."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import RAMODO, REPEN, Cantelli, Layers, load
from ramodo.data.validation import open_rows
from ramodo.fitting import repen as fitting
from ramodo.model.combining import Mean
from ramodo.options import OptionError

OPTIONS = {"n_components": 5, "n_epochs": 3, "batch_size": 64, "n_subsamples": 10, "random_state": 0}

either = pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])


def _three(**options):
    return REPEN(n_estimators=3, **{**OPTIONS, **options})


@either
def test_scores_are_the_mean_of_the_models_in_their_deviations(data, make):
    X = make(data[0])
    detector = _three().fit(X)
    rows = open_rows(X)
    models = detector.model_.learned
    assert len(models) == 3
    each = [model.score(rows, 1) for model in models]
    (mean,) = detector.model_.terms
    assert type(mean) is Mean
    assert mean.units == pytest.approx([np.std(scores) for scores in each], rel=1e-12)
    expected = sum(scores / np.std(scores) for scores in each) / 3
    np.testing.assert_allclose(detector.outlier_scores_, expected, rtol=1e-12)
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)
    assert detector.threshold_ == Cantelli().cutoff(detector.outlier_scores_)


def test_new_rows_are_scored_in_the_training_rows_deviations(data):
    X = data[0]
    detector = _three().fit(X[:100])
    rows = open_rows(X[100:])
    (mean,) = detector.model_.terms
    expected = np.mean([one.score(rows, 1) / unit for one, unit in zip(mean.terms, mean.units, strict=True)], axis=0)
    np.testing.assert_allclose(detector.outlier_score(X[100:]), expected, rtol=1e-12)


@either
def test_the_first_model_is_the_single_model_of_the_seed(data, make):
    X = make(data[0])
    one, three = REPEN(**OPTIONS).fit(X), _three().fit(X)
    assert np.array_equal(three.feature_weights_, one.feature_weights_)
    assert np.array_equal(three.feature_indices_, one.feature_indices_)
    assert np.array_equal(three.references_, one.references_)
    assert np.array_equal(three.transform(X)[:, :5], one.transform(X))


def test_models_are_independent(data):
    """Other references, triplets and weights."""
    models = _three().fit(data[0]).model_.learned
    for i, left in enumerate(models):
        for right in models[:i]:
            assert left.representation.first.seed != right.representation.first.seed
            assert not np.isclose(
                left.representation.first.weights, right.representation.first.weights, rtol=1e-6
            ).any()
            assert not np.array_equal(left.detection.rows, right.detection.rows)


def test_more_models_keep_the_first_ones(data):
    three, five = (REPEN(n_estimators=n, **OPTIONS).fit(data[0]).model_.learned for n in (3, 5))
    for left, right in zip(three, five[:3], strict=True):
        assert np.array_equal(left.representation.first.weights, right.representation.first.weights)


@either
@pytest.mark.parametrize("labeled", [False, True])
def test_threads_do_not_change_a_bit(data, make, labeled):
    X, truth = data
    one, *more = (_three(n_jobs=n).fit(make(X), labels=truth if labeled else None) for n in (1, 2, 3, 4))
    for other in more:
        assert np.array_equal(one.outlier_scores_, other.outlier_scores_)
        assert one.threshold_ == other.threshold_
        assert np.array_equal(one.loss_curve_, other.loss_curve_)
        assert np.array_equal(one.transform(X), other.transform(X))


@either
@pytest.mark.parametrize("labeled", [False, True])
def test_a_row_alone_scores_as_it_does_among_others(data, make, labeled):
    X, truth = make(data[0]), data[1]
    detector = _three().fit(X, labels=truth if labeled else None)
    alone = np.concatenate([detector.outlier_score(X[i : i + 1]) for i in range(120)])
    assert np.array_equal(alone, detector.outlier_scores_)


def test_what_several_models_leave_behind(data):
    X = data[0]
    detector = _three().fit(X)
    singles = [f.representation for f in detector.model_.learned]
    assert detector.transform(X).shape == (120, 15)
    rows = open_rows(X)
    assert np.array_equal(detector.transform(X), np.hstack([r.transform(rows, 1) for r in singles]))
    assert detector.components_.shape == (15, 40)
    components = detector.components_.toarray()
    for i, representation in enumerate(singles):
        block = components[5 * i : 5 * (i + 1)]
        assert np.array_equal(block[:, representation.first.columns], representation.first.weights.T)
    assert len(detector.get_feature_names_out()) == 15
    assert len(detector.loss_curve_) == 3
    assert "models" in detector.stage_seconds_


def test_means_of_what_models_found(data, record):
    """Initial scores and losses are averaged; candidates are those of any model."""
    fits = record(fitting, "_fit_one")
    detector = _three(n_jobs=1, alpha=0.5).fit(data[0])
    assert len(fits) == 3
    assert len({tuple(f.candidates.outliers) for f in fits}) == 3
    np.testing.assert_allclose(detector.initial_scores_, sum(f.initial for f in fits) / 3, rtol=1e-12)
    np.testing.assert_allclose(detector.loss_curve_, sum(f.loss_curve for f in fits) / 3, rtol=1e-12)
    assert set(detector.candidate_outliers_) == {row for f in fits for row in f.candidates.outliers}
    assert np.array_equal(fits[0].initial, REPEN(alpha=0.5, **OPTIONS).fit(data[0]).initial_scores_)


@pytest.mark.parametrize("labeled", [False, True])
def test_a_saved_model_scores_the_same(data, tmp_path, labeled):
    X, truth = data
    detector = _three(normalize="l2").fit(X, labels=truth if labeled else None)
    back = load(detector.save(tmp_path / "model"))
    assert len(back.model_.learned) == 3
    for use in ("outlier_score", "transform", "predict"):
        assert np.array_equal(getattr(back, use)(X), getattr(detector, use)(X))
    assert np.array_equal(back.components_.toarray(), detector.components_.toarray())
    assert np.array_equal(pickle.loads(pickle.dumps(detector)).outlier_score(X), detector.outlier_scores_)


def test_models_of_several_layers(data, tmp_path):
    detector = RAMODO(representation=Layers((6, 4)), n_estimators=2, n_epochs=3, random_state=0).fit(data[0])
    assert detector.transform(data[0]).shape == (120, 8)
    assert detector.components_.shape == (12, 40)
    assert np.array_equal(load(detector.save(tmp_path / "model")).outlier_score(data[0]), detector.outlier_scores_)


# ---- a model that fails -------------------------------------------------------------------------------------------


class FailsOnce(Cantelli):
    """A thresholder that raises for the second model that asks."""

    def __init__(self, error=RuntimeError):
        super().__init__()
        self.error = error
        self._asked, self._lock = 0, threading.Lock()

    def __deepcopy__(self, memo):
        """All models have the same one, so that it can count them."""
        return self

    def split(self, scores, labels):
        with self._lock:
            self._asked += 1
            second = self._asked == 2
        if second:
            raise self.error("the second model fails")
        return super().split(scores, labels)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failing_model_leaves_the_estimator_as_it_was(data, n_jobs, error):
    detector = RAMODO(n_estimators=3, n_epochs=2, random_state=0, n_jobs=n_jobs)
    detector.set_params(thresholder=FailsOnce(error))
    with pytest.raises(error, match="the second model fails"):
        detector.fit(data[0])
    assert not [name for name in vars(detector) if name.endswith("_")]
    fitted = detector.set_params(thresholder=None).fit(data[0]).outlier_scores_
    before = {name: value for name, value in vars(detector).items() if name.endswith("_")}
    detector.set_params(thresholder=FailsOnce(error))
    with pytest.raises(error, match="the second model fails"):
        detector.fit(data[0])
    after = {name: value for name, value in vars(detector).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert np.array_equal(detector.outlier_score(data[0]), fitted)


@pytest.mark.parametrize("n", [0, -1, 2.0, "3", True, 1001])
def test_an_unusable_number_of_models_is_refused(data, n):
    with pytest.raises(OptionError, match=r"n_estimators must be .*, got "):
        REPEN(n_estimators=n).fit(data[0])


def test_a_row_scores_alone_as_in_a_batch_however_many_models(data):
    """NumPy sums nine numbers of one row in another order than nine rows of numbers."""
    fitted = REPEN(n_estimators=17, n_components=3, n_epochs=1, n_subsamples=3, random_state=0).fit(data[0])
    alone = np.concatenate([fitted.outlier_score(data[0][[i]]) for i in range(60)])
    assert alone.tobytes() == fitted.outlier_scores_[:60].tobytes()
