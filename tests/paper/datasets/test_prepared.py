"""Prepared sets, in the folder that RAMODO_DATA names."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.paper.datasets import data_folder, load_prepared


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
    with pytest.raises(FileNotFoundError, match=r" has no set 'two'; it has: one"):
        load_prepared("two")


def test_no_folder_is_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "nowhere"))
    assert data_folder() is None
    with pytest.raises(FileNotFoundError, match="RAMODO_DATA"):
        load_prepared("any")
