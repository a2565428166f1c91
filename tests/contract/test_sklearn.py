"""scikit-learn's own checks of every detector; one is refused, and why is written here."""

import pytest
from sklearn.ensemble import IsolationForest

from ramodo import RAMODO, REPEN, AverageNeighborREPEN, AverageNN, Consensus, Ensemble, KthNeighborREPEN, KthNN, Sp
from support.sklearn_checks import with_checks_of

# Some checks fit a few rows, no more than a subsample has, or equal ones.
pytestmark = [
    pytest.mark.filterwarnings("ignore:subsample_size"),
    pytest.mark.filterwarnings("ignore:All rows have the same initial score"),
]

REFUSED = {
    "check_dtype_object": "fits a matrix of dtype object; such a matrix is refused, since only its owner knows how its "
    "entries become numbers"
}

QUICK = {"n_epochs": 2, "random_state": 0}
DETECTORS = [
    Consensus(cutoff="cantelli", random_state=0),  # three checks demand flags in blobs without outliers
    REPEN(**QUICK),
    KthNeighborREPEN(**QUICK),
    AverageNeighborREPEN(**QUICK),
    RAMODO(**QUICK),
    RAMODO(KthNN(), n_estimators=2, **QUICK),
    Sp(random_state=0),
    KthNN(k=3, random_state=0),
    AverageNN(k=3, random_state=0),
    Ensemble([Sp(), KthNN()], random_state=0),
    Ensemble([Sp(), IsolationForest(n_estimators=5)], "score", random_state=0),
]


@with_checks_of(DETECTORS, REFUSED)
def test_estimator_contract(estimator, check):
    """What is refused must fail (tests that pass unexpectedly are failures here), and nothing else may."""
    check(estimator)
