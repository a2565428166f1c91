"""The numbers behind pictures: nothing is lost, and nothing grows with the rows."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from ramodo.insight.figures import (
    FLAGGED,
    SAMPLED,
    curves,
    flat_map,
    percentiles,
    rows_of_map,
    score_histogram,
    truth_of,
)
from ramodo.options import OptionError


def some_scores(n=5000, seed=0):
    return np.random.default_rng(seed).gamma(2.0, size=n)


THRESHOLDS = {"within": 5.0, "below all": -3.0, "above all": 100.0, "a score": None}


@pytest.mark.parametrize("threshold", THRESHOLDS.values(), ids=THRESHOLDS.keys())
def test_bars_hold_all_rows_and_none_lies_on_both_sides_of_the_line(threshold):
    scores = some_scores()
    threshold = float(np.sort(scores)[-200]) if threshold is None else threshold
    bars = score_histogram(scores, threshold)
    assert bars.counts.sum() == len(scores)
    assert threshold in bars.edges
    assert (np.diff(bars.edges) > 0).all()
    assert bars.edges[0] <= scores.min()
    assert bars.counts[bars.edges[:-1] >= threshold].sum() == (scores >= threshold).sum()
    assert len(bars.counts) <= 220


@pytest.mark.parametrize("value", [0.0, 7.5, -2.0])
def test_scores_that_are_all_alike(value):
    scores = np.full(50, value)
    for threshold in (np.nextafter(value, np.inf), value):
        bars = score_histogram(scores, float(threshold))
        assert bars.counts.sum() == 50
        assert bars.counts[bars.edges[:-1] >= threshold].sum() == (50 if threshold == value else 0)
        assert (np.diff(bars.edges) > 0).all()


def test_a_giant_score_does_not_make_one_bar_of_all_others():
    scores = np.append(some_scores(), [1e6, 2e6])
    bars = score_histogram(scores, 5.0)
    assert bars.n_beyond == 2
    assert bars.counts.sum() == len(scores)
    assert bars.counts[-1] == 2
    assert (bars.counts > 0).sum() > 20


def test_a_map_shows_a_sample_and_the_highest_flagged_rows():
    scores = some_scores(50_000)
    threshold = float(np.sort(scores)[-3000])
    rows = rows_of_map(scores, threshold)
    assert np.isin(np.argsort(-scores)[:FLAGGED], rows).all()
    assert SAMPLED <= len(rows) <= SAMPLED + FLAGGED
    assert len(np.unique(rows)) == len(rows)
    assert np.array_equal(rows, rows_of_map(scores, threshold))
    usual = np.random.default_rng(0).choice(50_000, SAMPLED, replace=False)  # as outliers may have been planted
    assert np.isin(usual, rows).mean() < 0.2
    assert np.array_equal(rows_of_map(scores[:300], threshold), np.arange(300))


def test_a_map_is_that_of_principal_components():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 6)) * [9.0, 4.0, 0.1, 0.1, 0.1, 0.1]
    found = flat_map(values)
    assert not found.compressed
    for axis in (0, 1):
        assert abs(np.corrcoef(found.points[:, axis], values[:, axis])[0, 1]) > 0.99
    assert found.shares[0] > 0.7
    assert sum(found.shares) == pytest.approx(1, abs=0.01)
    assert np.array_equal(flat_map(values).points, found.points)


def test_one_giant_row_leaves_the_others_apart():
    values = np.random.default_rng(0).normal(size=(400, 5)) * [5.0, 3.0, 1.0, 1.0, 1.0]
    values[0] = [0, 0, 1e5, 0, 0]
    values[1] = [2e4, 0, 0, 0, 0]
    found = flat_map(values)
    assert found.compressed
    spread = np.ptp(found.points, axis=0)
    assert (np.quantile(found.points, 0.9, axis=0) - np.quantile(found.points, 0.1, axis=0) > 0.1 * spread).all()
    assert abs(np.corrcoef(np.argsort(np.argsort(found.points[2:, 0])), values[2:, 0])[0, 1]) > 0.9


@pytest.mark.parametrize("shape", [(5, 1), (3, 4), (20, 2)])
def test_maps_of_little(shape):
    for values in (np.zeros(shape), np.random.default_rng(0).normal(size=shape)):
        found = flat_map(values.astype(np.float32))
        assert found.points.shape == (shape[0], 2)
        assert np.isfinite(found.points).all()
        assert np.isfinite(found.shares).all()


def test_curves_are_those_of_scikit_learn():
    scores = some_scores(200)
    truth = np.random.default_rng(1).random(200) < scores / 20
    found = curves(truth, scores)
    x, y, _ = roc_curve(truth, scores)
    assert np.array_equal(found.false_positives, x)
    assert np.array_equal(found.true_positives, y)
    precision, recall, _ = precision_recall_curve(truth, scores)
    assert np.array_equal(found.recall, recall[::-1])
    assert np.array_equal(found.precision, precision[::-1])
    assert found.auc == roc_auc_score(truth, scores)
    assert found.average_precision == average_precision_score(truth, scores)


def test_long_curves_are_thinned_without_changing_their_look():
    scores = some_scores(40_000)
    truth = np.random.default_rng(1).random(40_000) < scores / 40
    found = curves(truth, scores)
    x, y, _ = roc_curve(truth, scores)
    assert len(x) > 3000
    assert len(found.false_positives) <= 500
    assert np.abs(np.interp(x, found.false_positives, found.true_positives) - y).max() < 0.01
    assert [found.false_positives[0], found.true_positives[0]] == [0, 0]
    assert [found.false_positives[-1], found.true_positives[-1]] == [1, 1]
    precision, recall, _ = precision_recall_curve(truth, scores)
    assert len(found.recall) <= 500
    middle = (recall > 0.02) & (recall < 1)
    assert np.abs(np.interp(recall, found.recall, found.precision) - precision)[middle].max() < 0.02


def test_percentiles_are_shares_of_lower_training_rows():
    assert percentiles(np.array([0.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [0, 25, 100]


def test_labels_must_tell_rows_apart():
    assert truth_of([1, 0, -1, 1], 4).tolist() == [True, False, False, True]
    for y in ([0, 0, -1], [1, 1, 1]):
        with pytest.raises(OptionError, match=r"y must label some rows, but not all, as outliers \(1\), got \d of 3"):
            truth_of(y, 3)
