"""Native functions let other Python threads run while they work."""

import sys
import threading
from functools import partial

import numpy as np
import pytest

from ramodo.kernels import _native

N = 60_000
"""Numbers in an array: enough for a millisecond or so."""
EACH = 20
"""Non-zeros of a row."""

indptr = np.arange(0, N + 1, EACH, dtype=np.int64)
n_rows = N // EACH
wide = np.arange(N, dtype=np.int64)
values = np.linspace(1.0, 2.0, N)
sparse = (indptr, wide % EACH, values)
dense = values.reshape(10, -1)
weights = np.ones((N, 4), dtype=np.float32)
triplets = wide[: 3 * 2000].reshape(-1, 3) % n_rows
text = np.frombuffer(b"one two three " * (N // 14), dtype=np.uint8)
lines = np.frombuffer(b"1 3:4\n" * N, dtype=np.uint8)
options = _native.TrainingOptions(
    **dict(width=4, n_queries=1, k=1, average=False, margin=1.0, slope=0.0, scale=1.0, seed=0, limit=0.1),
    **dict(learning_rate=1.0, rho=0.95, epsilon=1e-6, n_threads=1),
)
make_sparse = partial(_native.SparseTrainer, *sparse, EACH, None, wide[:n_rows], options)
make_dense = partial(_native.DenseTrainer, dense, None, wide[:10], options)
make_projection = partial(_native.Projection, wide, weights, N, 0, 0.1, 0.0)


def so_far():
    return make_sparse().so_far()


def finished():
    return make_sparse().finish()


def half_a_step(trainer):
    trainer.end(np.zeros_like(trainer.begin(triplets)[0]))


def explained_part(part):
    _native.Explainer(wide[:0], N).add_part(part[0], part[1] * 0, part[2][:0], part[3])


def explained_squares(part):
    _native.Explainer(wide[:EACH], N).add_squares(part[1], part[2] % EACH, part[3])


def out(*shape):
    return np.empty(shape, dtype=np.float32)


def calls():
    """By name, each with all that it needs."""
    projection, few = make_projection(), _native.Projection(wide[:EACH], weights[:EACH], EACH, 0, 0.1, 0.0)
    sums, explainer, trainer = _native.FeatureSums(), _native.Explainer(wide, N), make_dense()
    sums.add(wide, values)
    part = (projection, np.array([0, N]), wide.astype(np.int32), values)
    explainer.add_part(*part)
    view = ([np.ones((1, 4))], [np.ones(1)], [np.zeros((1, 1), dtype=np.int64)], [np.ones((1, 4))], 5)
    return {
        "scan": partial(_native.scan, *sparse, EACH, 10.0, _native.FeatureSet(EACH, N), 1),
        "FeatureSet": partial(_native.FeatureSet, 1000 * N, 20 * N),
        "FeatureSet.count": _native.FeatureSet(1000 * N, 20 * N).count,
        "first_equal": partial(_native.first_equal, *sparse, np.empty(n_rows, dtype=np.int64), 1),
        "squared_norms": partial(_native.squared_norms, *sparse, np.empty(n_rows), 1),
        "largest": partial(_native.largest, *sparse, np.empty(n_rows), 1),
        "moments": partial(_native.moments, *sparse, EACH, None),
        "hinge": partial(_native.hinge, weights, triplets.astype(np.int32), 1, False, 1.0, out(N, 4)),
        "SparseReferences": partial(_native.SparseReferences, *sparse, EACH, n_rows, 1, False),
        "SparseReferences.score": partial(
            _native.SparseReferences(indptr[:3], wide[: 2 * EACH] % EACH, values[: 2 * EACH], EACH, 2, 1, False).score,
            *(*sparse, EACH, None, np.empty(n_rows), 1),
        ),
        "DenseReferences": partial(_native.DenseReferences, dense, 10, 1, False),
        "DenseReferences.score": partial(
            _native.DenseReferences(dense, 10, 1, False).score, dense, None, np.empty(10), 1
        ),
        "SmallReferences": partial(_native.SmallReferences, weights, N, 1, False),
        "SmallReferences.score": partial(
            _native.SmallReferences(weights[:50], 50, 1, False).score, weights, np.empty(N), 1
        ),
        "Projection": make_projection,
        "Projection.sparse": partial(few.sparse, *sparse, None, out(n_rows, 4), 1),
        "Projection.dense": partial(projection.dense, values[None], None, out(1, 4), 1),
        "SparseTrainer": make_sparse,
        "SparseTrainer.run": partial(make_sparse().run, triplets, 2000, np.empty(1)),
        "SparseTrainer.begin, end": partial(half_a_step, make_sparse()),
        "SparseTrainer.so_far": so_far,
        "SparseTrainer.finish": finished,
        "DenseTrainer": make_dense,
        "DenseTrainer.start_from": partial(trainer.start_from, wide[: N // 10], weights[: N // 10]),
        "DenseTrainer.weights": partial(trainer.weights, out(N // 10, 4)),
        "FeatureSums.add": partial(sums.add, wide, values),
        "FeatureSums.top": partial(sums.top, N),
        "Explainer": partial(_native.Explainer, wide, N),
        "Explainer.add_part": partial(explained_part, part),
        "Explainer.add_squares": partial(explained_squares, part),
        "Explainer.explain": partial(explainer.explain, np.array([0, N]), wide, values, *view),
        "count_text": partial(_native.count_text, text, np.array([0, len(text)]), (1, 2), (0, 0), 20, 1),
        "text_spans": partial(_native.text_spans, text, (1, 1), (0, 0), 20),
        "count_features": partial(_native.count_features, *sparse, EACH, 1),
        "FeatureWeights": partial(_native.FeatureWeights, wide, weights[:, 0].copy(), N, 1.0),
        "FeatureWeights.sums": partial(
            _native.FeatureWeights(wide[:EACH], np.ones(EACH, dtype=np.float32), EACH, 1.0).sums,
            *(*sparse, np.empty(n_rows), 1),
        ),
        "document_frequencies": partial(_native.document_frequencies, wide, N),
        "TokenWeights": partial(_native.TokenWeights, wide, wide.astype(np.int32) * 0 + 1, 1, N),
        "TokenWeights.weigh": partial(
            _native.TokenWeights(wide[:EACH], np.ones(EACH, dtype=np.int32), 1, N).weigh,
            *(wide, np.full(N, 2, dtype=np.float32), 1),
        ),
        "read_svmlight": partial(_native.read_svmlight, lines, 1),
    }


CALLS = calls()


@pytest.fixture
def unswitched():
    """A thread gets its turn only where another lets go by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("name", CALLS)
def test_another_thread_runs_meanwhile(name, unswitched):
    gate, ran = threading.Lock(), []
    gate.acquire()

    def other():
        gate.acquire()
        ran.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    gate.release()
    for _ in range(1000):
        CALLS[name]()
        if ran:
            break
    found = bool(ran)
    thread.join()
    assert found


def test_every_native_function_is_here():
    """But those that look at no array."""
    named = {part.strip().split(".")[-1] for name in CALLS for part in name.split(",")}
    known = named | {"instructions", "compiler", "TrainingOptions", "Trainer", "FeatureSums", "go_on", "add_presence"}
    functions = {name for name in dir(_native) if not name.startswith("_")}
    methods = {
        method
        for name in functions
        if isinstance(getattr(_native, name), type)
        for method in dir(getattr(_native, name))
        if not method.startswith("_")
    }
    assert functions | methods == known
