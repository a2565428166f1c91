"""Cantelli's threshold, the candidate sets and the labels that move rows between them (equation 2, section 5.2)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramodo.data.labels import read_labels
from ramodo.options import OptionError
from ramodo.stages.thresholding import Cantelli, TopFraction
from reference import cantelli_line

SQRT3 = math.sqrt(3)


def _split(scores, alpha=SQRT3, labels=None):
    scores = np.asarray(scores, dtype=np.float64)
    return Cantelli(alpha).split(scores, read_labels(labels, len(scores)))


def _with_peaks(n, n_peaks):
    """Scores of which only the first `n_peaks`, at 1000, reach the line; the others rise slowly below 1."""
    scores = np.linspace(0, 1, n)
    scores[:n_peaks] = 1000.0
    return scores


# ---- the line ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.5, SQRT3, 7.0])
def test_line_equals_reference(alpha):
    scores = np.random.default_rng(0).gamma(2.0, size=500)
    assert Cantelli(alpha).cutoff(scores) == pytest.approx(cantelli_line(scores, alpha), rel=1e-12)


def test_candidates_by_hand():
    """0 twenty times and 9, 10 once: mean 0.864, deviation 2.723, line 5.58."""
    found = _split([0.0] * 10 + [9.0] + [0.0] * 10 + [10.0])
    assert found.outliers.tolist() == [10, 21]
    assert found.inliers.tolist() == [*range(10), *range(11, 21)]
    assert not found.fallback


def test_a_score_at_the_line_is_a_candidate():
    """Mean 1, deviation 1: with alpha 1 the line is 2, exactly."""
    found = _split([0.0] * 50 + [2.0] * 50, alpha=1.0)
    assert found.outliers.tolist() == list(range(50, 100))
    assert not found.fallback


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.floats(0, 20))
def test_no_scores_break_the_bound(scores, alpha):
    scores = np.array(scores, dtype=np.float64)
    flagged = np.mean(scores >= Cantelli(alpha).cutoff(scores))
    assert flagged <= Cantelli(alpha).bound() + 1e-9


@given(st.integers(2, 300), st.data())
def test_two_point_scores_reach_the_bound_and_no_more(n, data):
    """The extremal case of the inequality: k of n scores at 1, the others at 0."""
    k = data.draw(st.integers(1, n - 1))
    scores = np.array([1.0] * k + [0.0] * (n - k))
    alpha = math.sqrt((n - k) / k)
    assert Cantelli(alpha).bound() == pytest.approx(k / n)
    assert np.sum(scores >= Cantelli(alpha * (1 - 1e-9)).cutoff(scores)) == k
    assert np.sum(scores >= Cantelli(alpha * (1 + 1e-9)).cutoff(scores)) == 0


def test_the_paper_s_alpha_allows_a_quarter():
    assert Cantelli(1.732).bound() == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e30])
def test_equal_scores_are_all_below_the_line(value):
    """Rounding of the mean must not put the line at or below scores that do not differ."""
    scores = np.full(1001, value)
    assert np.all(scores < Cantelli(0.0).cutoff(scores))


# ---- too few above the line ----------------------------------------------------------------------------------------


def test_ten_highest_where_no_score_reaches_the_line():
    """Half at 1, half at 2: nothing lies √3 deviations above the mean. Ties go to the first rows."""
    found = _split([1.0] * 50 + [2.0] * 49 + [2.1])
    assert found.fallback
    assert found.outliers.tolist() == [*range(50, 59), 99]
    assert len(found.inliers) == 90


@pytest.mark.parametrize(("n", "expected"), [(3, 1), (6, 3), (19, 9), (20, 10), (1999, 10), (2200, 11), (4000, 20)])
def test_size_of_the_fallback(n, expected):
    """Never more than half of the rows, at least ten, half a percent of many."""
    found = _split(np.arange(n) % 2)
    assert (len(found.outliers), found.fallback) == (expected, True)


def test_half_a_percent_where_a_few_of_many_reach_the_line():
    found = _split(_with_peaks(10_000, 3))
    assert found.fallback
    assert sorted(found.outliers) == [0, 1, 2, *range(10_000 - 47, 10_000)]


@pytest.mark.parametrize(("n", "n_peaks"), [(10_000, 50), (10_000, 51), (150, 1), (399, 1)])
def test_enough_above_the_line_need_no_fallback(n, n_peaks):
    found = _split(_with_peaks(n, n_peaks))
    assert (found.outliers.tolist(), found.fallback) == (list(range(n_peaks)), False)


# ---- labels --------------------------------------------------------------------------------------------------------


def test_labels_move_rows_between_the_sets():
    scores, labels = _with_peaks(100, 2), np.zeros(100)
    labels[0], labels[50] = -1, 1
    found = _split(scores, labels=labels)
    assert found.outliers.tolist() == [1, 50]
    assert 0 in found.inliers
    assert not found.fallback


def test_the_line_does_not_move_with_labels():
    """Rows known to be outliers still count in mean and deviation: the share of the bound is that of all rows."""
    scores, labels = np.array([0.0] * 96 + [10.0, 10.0, 10.0, 100.0]), np.zeros(100)
    labels[99] = 1
    assert _split(scores).outliers.tolist() == [99]
    assert _split(scores, labels=labels).outliers.tolist() == [99]


def test_the_fallback_passes_over_known_inliers():
    scores, labels = np.arange(30, dtype=float), np.zeros(30)
    scores[15:] = 29.0
    labels[20:] = -1
    found = _split(scores, labels=labels)
    assert found.fallback
    assert found.outliers.tolist() == [*range(10, 20)]


@pytest.mark.parametrize(
    "given_labels",
    [[1, 0, -1], (1, 0, -1), np.array([1, 0, -1]), np.array([1.0, 0.0, -1.0]), np.array([[1], [0], [-1]])],
)
def test_labels_are_read_from_any_numbers(given_labels):
    read = read_labels(given_labels, 3)
    assert read.dtype == np.int8
    assert read.tolist() == [1, 0, -1]


def test_no_labels_are_unknown_labels():
    assert read_labels(None, 4).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 0], r"labels must be .*, got an array of shape \(2,\)"),
        (1, r"labels must be .*, got an array of shape \(\)"),
        ([[1, 0, 0]], r"labels must be .*, got an array of shape \(1, 3\)"),
        ([1, 0, 2], r"labels\[2\] must be .*, got .*2.*"),
        ([0, 0.5, 0], r"labels\[1\] must be .*, got .*0\.5"),
        ([0, float("nan"), 0], r"labels\[1\] must be .*, got .*nan"),
        (["a", "b", "c"], r"labels\[0\] must be .*, got .*a"),
        (np.array([None, 1, 0], dtype=object), r"labels\[0\] must be .*, got None"),
    ],
)
def test_other_labels_are_refused(labels, message):
    with pytest.raises(OptionError, match=message):
        read_labels(labels, 3)


# ---- a fixed share -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fraction", "expected"), [(0.1, 20), (0.5, 100), (0.005, 1), (0.0001, 1)])
def test_top_fraction_flags_its_share(fraction, expected):
    scores = np.random.default_rng(0).permutation(200).astype(float)
    assert np.sum(scores >= TopFraction(fraction).cutoff(scores)) == expected


def test_outliers_known_beside_the_data_count_towards_the_smallest_share():
    """2,000 bounded scores of which none reaches the line: ten candidates, less those that are known anyway."""
    scores, labels = np.linspace(0, 1, 2000), np.zeros(2000, dtype=np.int8)
    line = Cantelli(1.75)
    assert (scores < line.cutoff(scores)).all()
    sizes = [len(line.split(scores, labels, n_elsewhere=n).outliers) for n in (0, 4, 10, 50)]
    assert sizes == [10, 10, 10, 10]  # with none above the line there are always ten
    scores[-1] = 2.0
    sizes = [len(line.split(scores, labels, n_elsewhere=n).outliers) for n in (0, 4, 10, 50)]
    assert sizes == [10, 6, 1, 1]
