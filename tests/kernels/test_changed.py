"""Rows whose indices another process overwrites while a kernel reads them: an error, and in no case a crash."""

import pytest

from support.own_process import run

pytestmark = pytest.mark.slow

PREPARE = """
import sys, threading, time
import numpy as np
from ramodo.kernels import _native

path, wide, d, kinds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
n, each = 400, 20
rng = np.random.default_rng(0)
columns = np.sort(rng.integers(0, d // each, (n, each)) + np.arange(each) * (d // each), axis=1).ravel()
np.save(path, columns.astype(np.int64 if wide else np.int32))
indices, written = np.load(path, mmap_mode="r"), np.load(path, mmap_mode="r+")
good = written.copy()
indptr, data = np.arange(n + 1, dtype=np.int64) * each, rng.random(n * each, dtype=np.float32)
sparse, rows = (indptr, indices, data), np.arange(n)
options = _native.TrainingOptions(
    **dict(width=4, n_queries=1, k=1, average=False, margin=1000.0, slope=0.0, scale=1.0, seed=0, limit=0.1),
    **dict(learning_rate=1.0, rho=0.95, epsilon=1e-6, n_threads=2),
)
trainer = _native.SparseTrainer(*sparse, d, None, rows, options)
triplets = rng.integers(0, n, (1000, 3))
weights = np.ones((d if d < 10**6 else 1000, 4), dtype=np.float32)
projection = _native.Projection(np.arange(len(weights)), weights, d, 0, 0.1, 0.0)
seen = np.unique(good).astype(np.int64)
few = indptr[:101], good[:2000].astype(np.int64), data[:2000].astype(np.float64)
references = _native.SparseReferences(*few, d, 10, 1, False)
explainer = _native.Explainer(seen, d)
explainer.add_part(projection, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
view = ([np.ones((n, 4))], [np.ones(n)], [np.empty((n, 0), np.int64)], [np.empty((n, 0))], 5)
calls = {
    "run": lambda: trainer.run(triplets, 250, np.empty(4)),
    "select": lambda: _native.SparseTrainer(*sparse, d, None, rows, options),
    "project": lambda: projection.sparse(*sparse, None, np.empty((n, 4), np.float32), 2),
    "scan": lambda: _native.scan(*sparse, d, 10.0, _native.FeatureSet(d, n * each), 2),
    "moments": lambda: _native.moments(*sparse, d, None),
    "score": lambda: references.score(*sparse, d, None, np.empty(n), 2),
    "explain": lambda: explainer.explain(*sparse, *view),
    "sums": lambda: _native.FeatureSums().add(indices, np.ones(n * each)),
}
for call in calls.values():
    call()
"""

AT_ONCE = """
for kind in kinds:
    for bad in (-1, np.iinfo(good.dtype).max, d, np.iinfo(good.dtype).min):
        written[n * each // 2:] = bad
        try:
            calls[kind]()
        except ValueError as error:
            print(error)
        written[:] = good
"""

MEANWHILE = """
over = threading.Event()

def spoil():
    wild = np.random.default_rng(1).integers(-(2**31), 2**31 - 1, n * each).astype(good.dtype)
    while not over.is_set():
        written[::3] = wild[::3]
        written[:] = good[::-1]
        written[:] = good

writer = threading.Thread(target=spoil)
writer.start()
for kind, call in calls.items():
    print(kind, flush=True)
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        try:
            call()
        except ValueError:
            pass
over.set()
writer.join()
"""

KINDS = ["run", "select", "project", "scan", "moments", "score", "explain", "sums"]
WIDTHS = {
    "indices of 4 bytes, all features known": (0, 400),
    "indices of 8 bytes, all features known": (1, 400),
    "a bitmap of features": (0, 10**6),
    "a hash table of features": (1, 2**40),
}
"""Whether indices are wide, and how many features there are: each finds the places of features in another way."""


@pytest.mark.parametrize("width", WIDTHS)
def test_indices_that_change_meanwhile_crash_nothing(width, tmp_path):
    """Where it ends early, the last that is printed is what crashed."""
    assert run(PREPARE + MEANWHILE, tmp_path / "indices.npy", *WIDTHS[width]).split() == KINDS


@pytest.mark.parametrize(
    ("width", "kinds"),
    [
        ("indices of 4 bytes, all features known", ["run", "project"]),
        ("a bitmap of features", ["select"]),
        ("a hash table of features", ["select"]),
    ],
)
def test_indices_outside_are_refused(width, kinds, tmp_path):
    """Where an index is a place in memory; whatever it is."""
    said = run(PREPARE + AT_ONCE, tmp_path / "indices.npy", *WIDTHS[width], *kinds).splitlines()
    assert len(said) == 4 * len(kinds)
    assert all(line.startswith("the data changed while in use: ") for line in said)
