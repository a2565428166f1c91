"""Sets of a few rows under the names of real ones."""

import numpy as np
import scipy.sparse as sp


def _write(path, X, y, pool=None):
    arrays = {}
    for prefix, rows in (("", X), ("pool_", pool)):
        if rows is not None:
            arrays |= {f"{prefix}{name}": getattr(rows, name) for name in ("data", "indices", "indptr", "shape")}
    np.savez(path, **arrays, y=np.asarray(y, dtype=np.int8))


def _sparse(rng, n, outlying):
    X = rng.random((n, 60)) * (rng.random((n, 60)) < 0.15)
    X[outlying, 40:] += rng.random((len(outlying), 20)) * 2
    return sp.csr_array(X.astype(np.float32))


def write_sets(folder, names=("R8", "LC", "News20")):
    """R8 sparse, LC dense, News20 sparse with a pool of 12."""
    rng = np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    y = np.arange(80) >= 74
    dense = rng.random((40, 15)).astype(np.float32) + 2 * (np.arange(40) >= 37)[:, None].astype(np.float32)
    made = {
        "R8": (_sparse(rng, 80, np.flatnonzero(y)), y),
        "LC": (sp.csr_array(dense), np.arange(40) >= 37),
        "News20": (_sparse(rng, 80, np.flatnonzero(y)), y, _sparse(rng, 12, np.arange(12))),
    }
    for name in names:
        _write(folder / f"{name}.npz", *made[name])
