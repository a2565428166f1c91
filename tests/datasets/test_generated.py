"""Generated data with a known answer."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ramodo.datasets import generated as generated_module
from ramodo.datasets import make_ultrahigh

SMALL = {"n_rows": 2000, "n_features": 50_000, "random_state": 0}


@pytest.fixture(scope="module")
def generated():
    return make_ultrahigh(**SMALL)


def test_generated_data_has_the_shape_asked_for(generated):
    X, y = generated
    assert (X.shape, X.dtype, X.indices.dtype) == ((2000, 50_000), np.float32, np.int32)
    assert (len(y), y.sum(), set(y)) == (2000, 40, {0, 1})
    assert np.diff(X.indptr)[y == 0].mean() == pytest.approx(100, rel=0.15)
    assert X.data.min() >= 0.5
    assert X.data.max() < 1.5


def test_generated_rows_are_sorted_without_repeats(generated):
    X, _ = generated
    for begin, end in zip(X.indptr, X.indptr[1:], strict=False):
        assert np.all(np.diff(X.indices[begin:end]) > 0)


def test_outliers_differ_on_a_few_dozen_features(generated):
    """The marks: features that are common among outliers and hardly occur elsewhere. No others set them apart."""
    X, y = generated
    shares = [np.asarray((X[y == kind] != 0).sum(axis=0)).ravel() / np.sum(y == kind) for kind in (0, 1)]
    marks = np.flatnonzero((shares[1] > 0.2) & (shares[0] < 0.02))
    assert len(marks) == 40
    assert roc_auc_score(y, np.asarray((X[:, marks] != 0).sum(axis=1)).ravel()) > 0.99


def test_generated_data_follows_the_seed(generated):
    again, y = make_ultrahigh(**SMALL)
    assert (abs(again - generated[0])).nnz == 0
    assert np.array_equal(y, generated[1])
    other, _ = make_ultrahigh(**{**SMALL, "random_state": 1})
    assert (abs(other - generated[0])).nnz > 0


def test_blocks_of_rows_leave_no_gap(monkeypatch):
    """Many rows are made a block at a time; every row has its non-zeros and the arrays end where the last row does."""
    monkeypatch.setattr(generated_module, "_BLOCK_ENTRIES", 1000)
    X, _ = make_ultrahigh(500, 10_000, random_state=0)
    X.check_format(full_check=True)
    assert X.indptr[-1] == len(X.indices) == len(X.data)
    assert np.diff(X.indptr).min() > 50


@pytest.mark.parametrize("n_features", [2**31, 10**12])
def test_features_beyond_the_reach_of_int32(n_features):
    X, _ = make_ultrahigh(200, n_features, random_state=0)
    assert X.indices.dtype == np.int64
    assert X.indices.max() > n_features // 2


def test_skew_prefers_low_numbers():
    """Without topics all features follow the skew: u⁴ < 0.1 for 56 % of uniform u."""
    plain, skewed = (make_ultrahigh(200, 10**6, topic_size=0, skew=skew, random_state=0)[0] for skew in (0.0, 3.0))
    assert np.mean(plain.indices < 10**5) == pytest.approx(0.1, abs=0.02)
    assert np.mean(skewed.indices < 10**5) == pytest.approx(0.56, abs=0.03)
