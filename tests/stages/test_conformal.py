"""Conformal p-values, Benjamini and Hochberg's rule, and the false-discovery rate of what a detector flags."""

import numpy as np
import pytest

from ramodo import RAMODO, REPEN, Conformal, TripletSampler, load
from ramodo.fitting import label_direction as direction
from ramodo.options import OptionError
from ramodo.stages.benjamini_hochberg import benjamini_hochberg
from ramodo.stages.conformal import p_values
from ramodo.stages.scoring import RandomDistance

# ---- the two formulas ----------------------------------------------------------------------------------------------


def test_p_values_equal_a_loop():
    rng = np.random.default_rng(0)
    scores, calibration = rng.integers(30, size=200).astype(float), rng.integers(30, size=77).astype(float)
    expected = [(1 + sum(c >= s for c in calibration)) / 78 for s in scores]
    np.testing.assert_array_equal(p_values(scores, calibration), expected)


def test_p_values_by_hand():
    """Above all of three calibration scores, at one, below all."""
    assert p_values(np.array([9.0, 2.0, 0.0]), np.array([3.0, 1.0, 2.0])).tolist() == [0.25, 0.75, 1.0]


def _step_up(p, fdr):
    ordered = sorted(p)
    passing = [i for i, value in enumerate(ordered, start=1) if value <= fdr * i / len(p)]
    return [value <= ordered[passing[-1] - 1] if passing else False for value in p]


@pytest.mark.parametrize("fdr", [0.05, 0.2, 0.9])
@pytest.mark.parametrize("seed", range(10))
def test_benjamini_hochberg_equals_a_loop(seed, fdr):
    p = np.random.default_rng(seed).beta(0.3, 1.0, size=seed * 7)
    assert benjamini_hochberg(p, fdr).tolist() == _step_up(p, fdr)


def test_benjamini_hochberg_by_hand():
    """At a rate of 0.1 the lines are 0.025, 0.05, 0.075, 0.1: the third pulls the second up with it."""
    assert benjamini_hochberg(np.array([0.9, 0.07, 0.06, 0.01]), 0.1).tolist() == [False, True, True, True]
    assert not benjamini_hochberg(np.array([0.9, 0.08, 0.06, 0.03]), 0.1).any()


# ---- held-out rows -------------------------------------------------------------------------------------------------


@pytest.fixture
def spied(record):
    """What one fit held out, drew as triplets and drew as references."""
    return record(Conformal, "hold_out"), record(TripletSampler, "draw"), record(RandomDistance, "draw")


@pytest.mark.parametrize("labeled", [False, True])
def test_held_out_rows_are_in_no_triplet_and_no_reference(quick, data, spied, labeled):
    X, truth = data
    y = np.where(truth == 1, np.arange(120) % 2, np.where(np.arange(120) % 3 == 0, -1, 0)) if labeled else None
    detector = quick(cutoff=Conformal(held_out=0.4)).fit(X, labels=y)
    held_out, triplets, references = spied
    assert len(held_out[0]) == round(0.4 * (120 if y is None else (y == 0).sum()))
    assert y is None or not y[held_out[0]].any()
    assert len(triplets) == 1
    assert len(references) == 2
    for drawn in (*triplets, *references, detector.candidate_outliers_):
        assert not np.isin(drawn, held_out[0]).any()
    assert np.array_equal(detector.calibration_scores_, detector.outlier_scores_[held_out[0]])


def test_held_out_rows_are_no_background_of_labelled_outliers(quick, data, spied, record):
    backgrounds = record(direction, "_background")
    X, truth = data
    y = np.where(truth == 1, np.arange(120) % 2, 0)
    quick(cutoff=Conformal(held_out=0.2)).fit(X, labels=y)
    assert backgrounds[0].n_rows == 120 - y.sum() - len(spied[0][0])


def test_other_seeds_hold_out_other_rows(quick, data, spied):
    for seed in (1, 1, 2):
        quick(cutoff=Conformal(held_out=0.2), random_state=seed).fit(data[0])
    first, same, other = spied[0]
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    assert len(set(first)) == 24


def test_a_fit_does_without_its_only_outlier(quick, monkeypatch):
    """The one row far from all others is held out: the highest of those left are the candidates."""
    X = np.vstack([np.random.default_rng(0).random((100, 5)), np.full((1, 5), 50.0)])
    monkeypatch.setattr(Conformal, "hold_out", lambda *_: np.array([3, 7, 100]))
    detector = quick(cutoff=Conformal(held_out=0.2)).fit(X)
    assert detector.fallback_used_
    assert len(detector.candidate_outliers_) == 10
    assert not np.isin([3, 7, 100], detector.candidate_outliers_).any()
    assert detector.calibration_scores_.argmax() == 2


# ---- the rate ------------------------------------------------------------------------------------------------------

FDR = 0.2


def _inliers(rng, n):
    return rng.normal(size=(n, 10))


def _batch(rng):
    """40 inliers and 10 outliers, one of them hard to see."""
    shifts = np.array([0.0] * 40 + [1.0] + [4.0] * 9)
    return _inliers(rng, 50) + shifts[:, None], shifts > 0


@pytest.mark.parametrize("contamination", [0.0, 0.03])
def test_the_false_discovery_rate_holds(contamination):
    """Over ten fits and twenty batches of each.

    The standard error of the mean has two parts. Between batches the proportion deviates by about 0.14, 0.010 for 200
    of them. Between fits, some 20 of 500 held-out rows decide, a fifth more or less: 0.035 for one fit, 0.011 for ten.
    Together 0.015; three of them are the slack.
    """
    rng, proportions, found = np.random.default_rng(0), [], []
    for seed in range(10):
        X = _inliers(rng, 1000)
        X[: round(1000 * contamination)] += 4.0
        options = {"n_components": 6, "n_epochs": 2, "n_subsamples": 20, "samples_per_epoch": 256}
        detector = REPEN(cutoff=Conformal(FDR, held_out=0.5), random_state=seed, **options).fit(X)
        for _ in range(20):
            rows, truth = _batch(rng)
            flagged = detector.discoveries(rows, FDR)
            proportions.append((flagged & ~truth).sum() / max(1, flagged.sum()))
            found.append(flagged[truth].mean())
    assert np.mean(proportions) <= FDR + 0.045
    assert np.mean(proportions) > (0.25 * FDR if contamination == 0 else 0)
    assert np.mean(found) > 0.3


# ---- the detector's methods ----------------------------------------------------------------------------------------


@pytest.fixture
def conformal(quick, data):
    """Fitted with all outliers known, so that none of them is held out."""
    return quick(cutoff=Conformal(fdr=0.7, held_out=0.3)).fit(data[0], labels=data[1])


def test_p_values_and_discoveries_of_a_batch(conformal, data):
    X = data[0]
    p = conformal.p_values(X)
    assert len(conformal.calibration_scores_) == 34
    expected = [(1 + (conformal.calibration_scores_ >= s).sum()) / 35 for s in conformal.outlier_scores_]
    np.testing.assert_array_equal(p, expected)
    assert conformal.discoveries(X, 0.7).tolist() == _step_up(p, 0.7)
    assert conformal.discoveries(X, 0.7).sum() > conformal.discoveries(X, 0.05).sum() == 0


def test_predict_flags_the_discoveries_among_the_training_rows(conformal, data):
    found = conformal.discoveries(data[0], 0.7)
    assert 0 < found.sum() < 20
    assert np.array_equal(conformal.predict(data[0]) == -1, found)
    assert conformal.threshold_ == pytest.approx(conformal.outlier_scores_[found].min(), rel=1e-5)
    assert np.isnan(conformal.false_positive_bound_)


def test_without_discoveries_the_line_is_above_all_scores(quick, data):
    detector = quick(cutoff=Conformal(fdr=0.001)).fit(data[0])
    assert detector.threshold_ > detector.outlier_scores_.max()
    assert (detector.predict(data[0]) == 1).all()


def test_a_loaded_model_has_the_same_p_values(conformal, data, tmp_path):
    back = load(conformal.save(tmp_path / "model"))
    assert np.array_equal(back.p_values(data[0]), conformal.p_values(data[0]))
    assert back.cutoff.get_params() == {"fdr": 0.7, "held_out": 0.3}


def test_ramodo_takes_it_as_cutoff(data):
    stages = {"n_epochs": 2, "random_state": 0}
    one = RAMODO(cutoff=Conformal(), **stages).fit(data[0])
    two = REPEN(cutoff=Conformal(), **stages).fit(data[0])
    assert np.array_equal(one.p_values(data[0]), two.p_values(data[0]))
    assert one.threshold_ == two.threshold_


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["p_values", "discoveries"])
def test_p_values_need_held_out_rows(fitted, data, method):
    with pytest.raises(OptionError, match=r"this detector has none; fit it with cutoff=Conformal\(\)"):
        getattr(fitted, method)(data[0])


@pytest.mark.parametrize("fdr", [0.0, -0.1, 1.1, float("nan"), "0.1"])
def test_a_rate_that_is_no_share_is_refused(conformal, quick, data, fdr):
    with pytest.raises(OptionError, match=r"fdr must be .*, got "):
        conformal.discoveries(data[0], fdr)
    with pytest.raises(OptionError, match=r"fdr must be .*, got "):
        quick(cutoff=Conformal(fdr)).fit(data[0])


@pytest.mark.parametrize("share", [0.0, 0.6, 1])
def test_an_unusable_share_to_hold_out_is_refused(quick, data, share):
    with pytest.raises(OptionError, match=r"held_out must be .*, got "):
        quick(cutoff=Conformal(held_out=share)).fit(data[0])


@pytest.mark.parametrize("share", [None, 0.2])
def test_rows_to_hold_out_are_needed(quick, data, share):
    with pytest.raises(OptionError, match="needs unlabelled rows"):
        quick(cutoff=Conformal(held_out=share)).fit(data[0], labels=2 * data[1] - 1)


def test_it_is_no_thresholder(data):
    with pytest.raises(ValueError, match="a cut-off for final scores only"):
        RAMODO(thresholder=Conformal(), n_epochs=1).fit(data[0])
    with pytest.raises(ValueError, match="needs the scores of held-out rows"):
        Conformal().cutoff_from(np.arange(5.0), np.empty(0))
