"""scikit-learn's own checks of the scorers as detectors.

They fail some, for reasons that are written here. So that these hide nothing else, the checks run a second time on
scorers that ignore y; of those all but the check of object matrices must pass.
"""

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from ramodo import AverageNN, KthNN, Sp
from reasons import OBJECTS, REASONS

# Some checks fit five rows, fewer than a subsample has.
pytestmark = pytest.mark.filterwarnings("ignore:subsample_size")

SCORERS = [Sp(5, random_state=0), KthNN(2, 5, random_state=0), AverageNN(2, 5, random_state=0)]


class _IgnoringLabels:
    """For a world in which y means something else."""

    def fit(self, X, y=None):
        return super().fit(X)


class SpIgnoringLabels(_IgnoringLabels, Sp):
    pass


class KthNNIgnoringLabels(_IgnoringLabels, KthNN):
    pass


class AverageNNIgnoringLabels(_IgnoringLabels, AverageNN):
    pass


IGNORING = [
    SpIgnoringLabels(5, random_state=0),
    KthNNIgnoringLabels(2, 5, random_state=0),
    AverageNNIgnoringLabels(2, 5, random_state=0),
]


def _expected_failures(estimator):
    return {"check_dtype_object": OBJECTS} if isinstance(estimator, _IgnoringLabels) else REASONS


@parametrize_with_checks([*SCORERS, *IGNORING], expected_failed_checks=_expected_failures)
def test_scorer_contract(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
@pytest.mark.parametrize("scorer", SCORERS, ids=lambda s: type(s).__name__)
def test_no_reason_outlives_its_failure(scorer):
    """A check that passes must leave the list, so that it is noticed when it fails again."""
    results = check_estimator(scorer, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(REASONS) & {result["check_name"] for result in results}
