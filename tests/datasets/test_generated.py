"""Generated data with a known answer, and the loader of prepared sets."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from ramodo.datasets import data_folder, load_prepared, make_ultrahigh
from ramodo.datasets import generated as generated_module

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


# ---- prepared sets -------------------------------------------------------------------------------------------------


def _write(path, X, y, pool=None):
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "y": y}
    if pool is not None:
        arrays |= {f"pool_{name}": getattr(pool, name) for name in ("data", "indices", "indptr", "shape")}
    np.savez(path, **arrays)


def test_prepared_sets_are_read_with_and_without_pool(tmp_path, monkeypatch):
    X, pool, y = sp.csr_array(np.eye(3)), sp.csr_array(np.ones((2, 3))), np.array([0, 0, 1], dtype=np.int8)
    _write(tmp_path / "plain.npz", X, y)
    _write(tmp_path / "pooled.npz", X, y, pool)
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    plain, pooled = load_prepared("plain"), load_prepared("pooled")
    assert plain.pool is None
    assert np.array_equal(plain.X.toarray(), np.eye(3))
    assert np.array_equal(plain.y, y)
    assert np.array_equal(pooled.pool.toarray(), np.ones((2, 3)))


def test_an_unknown_set_names_those_there_are(tmp_path, monkeypatch):
    _write(tmp_path / "one.npz", sp.csr_array(np.eye(2)), np.zeros(2))
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"'two' was asked for; .* has: one"):
        load_prepared("two")


def test_no_folder_is_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "nowhere"))
    assert data_folder() is None
    with pytest.raises(FileNotFoundError, match="RAMODO_DATA"):
        load_prepared("any")
