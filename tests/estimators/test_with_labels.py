"""A fitted detector with other labels: the same distances, another direction."""

import numpy as np
import pytest

from ramodo import Consensus, load
from ramodo.datasets import make_ultrahigh
from ramodo.framework import _mean_curve
from ramodo.options import OptionError
from ramodo.stages.conformal import Conformal

X, TRUTH = make_ultrahigh(300, 3000, row_length=20, outlier_fraction=0.1, random_state=0)


@pytest.fixture(scope="module")
def detector():
    return Consensus(random_state=0).fit(X)


def some_labels(n=8):
    labels = np.zeros(300, dtype=np.int8)
    labels[np.flatnonzero(TRUTH == 1)[:n]] = 1
    labels[np.flatnonzero(TRUTH == 0)[:n]] = -1
    return labels


def test_its_scores_are_those_of_its_model_and_can_be_saved(detector, tmp_path):
    found = detector.with_labels(X, some_labels())
    assert found.model_.has_labels
    assert not detector.model_.has_labels
    np.testing.assert_allclose(found.outlier_score(X), found.outlier_scores_)
    found.save(tmp_path / "model.ramodo")
    np.testing.assert_allclose(load(tmp_path / "model.ramodo").outlier_score(X), found.outlier_scores_)


def test_without_a_known_outlier_it_ranks_as_before(detector):
    found = detector.with_labels(X, np.where(TRUTH == 1, 0, -1))
    np.testing.assert_array_equal(found.outlier_scores_, detector.outlier_scores_)


def test_labels_of_labels_are_not_added_up(detector):
    twice = detector.with_labels(X, some_labels(2)).with_labels(X, some_labels())
    np.testing.assert_allclose(twice.outlier_scores_, detector.with_labels(X, some_labels()).outlier_scores_)


def test_other_rows_than_those_of_the_fit(detector):
    found = detector.with_labels(X[:200], some_labels()[:200])
    assert len(found.outlier_scores_) == len(found.row_lengths_) == 200


def test_a_false_discovery_rate_does_not_go_with_it():
    fitted = Consensus(cutoff=Conformal(0.2), random_state=0).fit(X)
    with pytest.raises(OptionError, match="false-discovery rate"):
        fitted.with_labels(X, some_labels())


def test_curves_of_different_lengths_have_a_mean():
    np.testing.assert_array_equal(_mean_curve([np.array([9.0]), np.array([1.0, 2.0]), np.array([3.0, 4.0])]), [2, 3])
