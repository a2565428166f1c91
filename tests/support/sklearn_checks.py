"""scikit-learn's checks of estimators as a decorator for a test of `estimator` and `check`."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def with_checks_of(estimators, refused=None):
    """All checks of each; those of `refused`, a reason by name, must fail.

    scikit-learn 1.6's own decorator hands pytest a generator, of which today's pytest warns.
    """
    cases = [
        case
        for estimator in estimators
        for case in estimator_checks_generator(estimator, expected_failed_checks=refused or {}, mark="xfail")
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases, ids=_name_of)


def _name_of(value):
    """Of an estimator, or of a check with its arguments bound."""
    return value.func.__name__ if hasattr(value, "func") else " ".join(repr(value).split())
