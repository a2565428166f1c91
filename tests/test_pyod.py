"""`ramodo.pyod`: detectors behave as PyOD's do, and give the scores that they give without it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

pytest.importorskip("pyod", reason="PyOD is not installed: pip install pyod")

from pyod.models.base import BaseDetector
from pyod.utils.data import generate_data

from ramodo import REPEN, AverageNN, Consensus, Ensemble, KthNN, Sp
from ramodo.pyod import PyODDetector

pytestmark = pytest.mark.slow

DETECTORS = [
    REPEN(n_epochs=5, random_state=0),
    Consensus(random_state=0),
    Sp(random_state=0),
    KthNN(random_state=0),
    AverageNN(random_state=0),
    Ensemble([Sp(), KthNN()], random_state=0),
]


@pytest.fixture(scope="module")
def made():
    """PyOD's own example: 10 % of uniform rows beside a cloud. Training rows, other rows, and their truth."""
    return generate_data(n_train=200, n_test=100, contamination=0.1, random_state=42)


@pytest.fixture(scope="module", params=DETECTORS, ids=lambda d: type(d).__name__)
def fitted(request, made):
    return PyODDetector(request.param, contamination=0.1).fit(made[0])


def test_it_is_one_of_pyods(fitted):
    assert isinstance(fitted, BaseDetector)
    assert isinstance(clone(fitted), PyODDetector)
    assert clone(fitted).get_params(deep=False)["contamination"] == 0.1


def test_scores_are_those_of_the_detector(fitted, made):
    alone = clone(fitted.detector).fit(made[0])
    assert np.array_equal(fitted.decision_scores_, alone.outlier_scores_)
    assert np.array_equal(fitted.decision_function(made[1]), alone.outlier_score(made[1]))


def test_outliers_score_higher(fitted, made):
    assert roc_auc_score(made[2], fitted.decision_scores_) > 0.9
    assert roc_auc_score(made[3], fitted.decision_function(made[1])) > 0.9


def test_labels_follow_from_the_contamination(fitted, made):
    assert set(fitted.labels_) == {0, 1}
    assert np.array_equal(fitted.labels_, fitted.decision_scores_ > fitted.threshold_)
    assert fitted.labels_.sum() == 20
    flags = fitted.predict(made[1])
    assert np.array_equal(flags, fitted.decision_function(made[1]) > fitted.threshold_)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_probabilities(fitted, made, method):
    shares, confidence = fitted.predict_proba(made[1], method=method, return_confidence=True)
    assert shares.shape == (100, 2)
    assert np.allclose(shares.sum(axis=1), 1)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert ((confidence >= 0) & (confidence <= 1)).all()
    order = np.argsort(fitted.decision_function(made[1]))
    assert (np.diff(shares[order, 1]) >= 0).all()


def test_another_way_to_probabilities_is_refused(fitted, made):
    with pytest.raises(ValueError, match="something"):
        fitted.predict_proba(made[1], method="something")


def test_rejection(fitted, made):
    flags, (expected, bound, cost) = fitted.predict_with_rejection(made[1], return_stats=True, c_r=0.1)
    assert set(flags) <= {-2, 0, 1}
    assert 0 <= expected <= 1
    assert bound >= 0
    assert cost >= 0


def test_ranks(fitted, made):
    scores = fitted.decision_function(made[1])
    ranks = fitted._predict_rank(made[1])
    assert (np.abs(rankdata(ranks) - rankdata(scores)) <= 3).all()
    assert (fitted._predict_rank(made[1], normalized=True) <= 1).all()


def test_combined_with_others_of_pyod(made):
    from pyod.models.ecod import ECOD

    ours, theirs = PyODDetector(Sp(random_state=0)).fit(made[0]), ECOD().fit(made[0])
    both = np.mean([d.predict_proba(made[1])[:, 1] for d in (ours, theirs)], axis=0)
    assert roc_auc_score(made[3], both) > 0.8


def test_sparse_rows_stay_sparse(data):
    X = sp.csr_array(data[0])
    detector = PyODDetector(Sp(random_state=0), contamination=0.05).fit(X)
    assert np.array_equal(detector.decision_function(X), detector.decision_scores_)
    assert detector.labels_.sum() == 6
    assert roc_auc_score(data[1], detector.decision_scores_) == 1.0


def test_labels_reach_the_detector(data):
    detector = PyODDetector(REPEN(n_epochs=2, random_state=0)).fit(data[0], labels=data[1])
    alone = REPEN(n_epochs=2, random_state=0).fit(data[0], labels=data[1])
    assert np.array_equal(detector.decision_scores_, alone.outlier_scores_)


def test_without_a_detector_it_is_consensus(made):
    assert isinstance(PyODDetector().fit(made[0]).detector_, Consensus)


def test_options_of_the_detector_are_options_of_the_adapter():
    assert PyODDetector(Sp()).set_params(detector__n_subsamples=7).detector.n_subsamples == 7


@pytest.mark.parametrize("share", [0, 0.6, -1])
def test_shares_that_pyod_does_not_allow(share):
    with pytest.raises(ValueError, match="contamination must be in"):
        PyODDetector(contamination=share)


def test_what_is_no_detector_of_ours_is_refused(made):
    from pyod.models.ecod import ECOD

    with pytest.raises(ValueError, match=r"detector must be .*, got ECOD.*"):
        PyODDetector(ECOD()).fit(made[0])


def test_nothing_fitted_is_said(made):
    with pytest.raises(ValueError, match="not fitted yet"):
        PyODDetector().decision_function(made[1])


def test_without_pyod_the_error_says_what_to_install(python):
    program = (
        "import sys; sys.modules['pyod'] = None\n"
        "try: import ramodo.pyod\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    assert python(program).strip() == "ramodo.pyod needs the package pyod: pip install pyod."
