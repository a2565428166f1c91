"""scikit-learn's own checks, and what the four have in common."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ramodo.options import OptionError
from ramodo.paper.baselines import AE, HLLE, SRP, ConstraintError, CoP, MemoryLimitError
from support.sklearn_checks import with_checks_of

# scikit-learn's checks project two features to more.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataDimensionalityWarning")


@with_checks_of([AE(2, n_epochs=2, random_state=0), CoP(2), SRP(2, random_state=0)])
def test_estimator_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.random((60, 30)) * (rng.random((60, 30)) < 0.4)
    X[:, 0] = 1.0
    return X


BASELINES = [AE(4, n_epochs=3, random_state=0), CoP(4), SRP(4, random_state=0), HLLE(3, n_neighbors=12)]
by_name = pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: type(b).__name__)


@by_name
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_equals_dense(baseline, container, rows):
    dense, sparse = clone(baseline).fit(rows), clone(baseline).fit(container(rows))
    for given in (rows, container(rows)):
        found = sparse.transform(given)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, dense.transform(rows), atol=1e-8)


@by_name
def test_the_same_seed_gives_the_same_columns(baseline, rows):
    first, again = (clone(baseline).fit_transform(rows) for _ in range(2))
    assert first.shape == (60, baseline.n_components)
    assert np.array_equal(first, again)


@pytest.mark.parametrize("kind", [AE, SRP])
def test_another_seed_gives_others(kind, rows):
    first, other = (kind(4, random_state=seed).fit_transform(rows) for seed in (0, 1))
    assert not np.allclose(first, other)


@pytest.mark.parametrize("baseline", [AE(4), CoP(4), HLLE(3, n_neighbors=12)], ids=lambda b: type(b).__name__)
def test_memory_beyond_the_limit_is_refused_beforehand(baseline, rows):
    with pytest.raises(MemoryLimitError, match=rf"{type(baseline).__name__}: .* GB, more than memory_limit="):
        clone(baseline).set_params(memory_limit=100).fit(sp.csr_array(rows))
    with pytest.raises(OptionError, match=r"memory_limit must be .*, got -1"):
        clone(baseline).set_params(memory_limit=-1).fit(rows)


@pytest.mark.parametrize("kind", [AE, CoP, HLLE])
def test_an_option_that_is_not_allowed(kind, rows):
    with pytest.raises(OptionError, match=r"n_components must be .*, got 0"):
        kind(0).fit(rows)


def test_hlle_says_which_condition_is_broken(rows):
    with pytest.raises(ConstraintError, match=r"n_neighbors must be above M\(M\+3\)/2 = 9 for M = 3, got 9"):
        HLLE(3, n_neighbors=9).fit(rows)
    with pytest.raises(ConstraintError, match="n_samples must be above n_neighbors=60, got 60"):
        HLLE(3, n_neighbors=60).fit(rows)
    assert HLLE().n_neighbors > 20 * 23 // 2  # the paper's own
