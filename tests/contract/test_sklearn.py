"""scikit-learn's own checks of an estimator.

REPEN fails some, for reasons that are written here. So that these hide nothing else, the checks run a second time on a
detector that ignores y, as most unsupervised estimators do; of that one all but the check of object matrices must pass.
"""

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from ramodo import REPEN
from reasons import OBJECTS, REASONS

# Some checks fit five rows, fewer than a subsample has.
pytestmark = [
    pytest.mark.filterwarnings("ignore:subsample_size"),
    pytest.mark.filterwarnings("ignore:All rows have the same initial score"),
]

QUICK = {"n_components": 3, "n_epochs": 2, "n_subsamples": 5, "random_state": 0}


class IgnoringLabels(REPEN):
    """REPEN for a world in which y means something else."""

    def fit(self, X, y=None):
        return super().fit(X)


def _expected_failures(estimator):
    return REASONS if type(estimator) is REPEN else {"check_dtype_object": OBJECTS}


@parametrize_with_checks([REPEN(**QUICK), IgnoringLabels(**QUICK)], expected_failed_checks=_expected_failures)
def test_estimator_contract(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
def test_no_reason_outlives_its_failure():
    """A check that passes must leave the list, so that it is noticed when it fails again."""
    results = check_estimator(REPEN(**QUICK), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(REASONS) & {result["check_name"] for result in results}
