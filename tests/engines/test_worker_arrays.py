"""Large arrays are sent once, and stay with all workers for as long as they are needed."""

import gc
import time
import weakref
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pickle import PickleBuffer

import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster, wait
from pieces import array, blocks

from ramodo import REPEN
from ramodo.engines import worker_arrays
from ramodo.engines.dask_collections import rows_of


def test_a_model_is_sent_once(client):
    """An equal model is not sent again; a different one is."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 30_000), density=0.01, format="csr", random_state=rng)
    data, rows = array(X, 2), rows_of(array(X, 2))
    detector = REPEN(n_components=20, n_epochs=2, n_subsamples=2, random_state=0).fit(data)
    assert detector.feature_weights_.nbytes > 2**20
    sent = []
    for model in (detector.model_, detector.model_, _copied(detector.model_)):
        before = rows.moved.functions
        scores = rows.gather(partial(model.score_block, n_threads=1))
        sent.append(rows.moved.functions - before)
        assert scores.tobytes() == detector.outlier_scores_.tobytes()
    assert max(sent) < 100_000
    other = _copied(detector.model_, 2)
    assert (rows.gather(partial(other.score_block, n_threads=1)) != detector.outlier_scores_).any()
    assert rows.moved.functions > 2**20
    with pytest.raises(ValueError, match="read-only"):
        detector.feature_weights_[0] = 0


def _large_model():
    """Rows, and a detector whose weights are a large array."""
    X = sp.random_array((300, 30_000), density=0.01, format="csr", random_state=np.random.default_rng(0))
    detector = REPEN(n_components=20, n_epochs=2, n_subsamples=2, random_state=0).fit(X)
    return X, detector


def test_an_array_stays_on_all_workers_until_it_is_forgotten_here(client):
    values = _values()
    part, n_sent = worker_arrays.share(client, PickleBuffer(values))
    assert n_sent > 0.7 * values.nbytes
    assert _totals(client, part) == [values.sum()] * 2
    client.amm.run_once()  # drops copies that no task waits for
    assert all(part.name in there for there in _names(client))
    again, n_sent = worker_arrays.share(client, PickleBuffer(values))
    assert (again.name, n_sent) == (part.name, 0)
    name = part.name
    del part, again, values
    _eventually(lambda: not any(name in there for there in _names(client)))


def test_a_worker_that_lacks_an_array_is_sent_it(client):
    values = _values()
    part, _ = worker_arrays.share(client, PickleBuffer(values))
    part._sent = None  # workers that have not used the array lose it
    _eventually(lambda: not any(client.run(_was_sent, part.name).values()))
    assert _totals(client, part) == [values.sum()] * 2


@pytest.mark.parametrize("is_changed", [False, True])
def test_an_array_that_nobody_has_is_an_error(client, is_changed):
    values = _values(is_changed)
    part, _ = worker_arrays.share(client, PickleBuffer(values))
    unknown = worker_arrays.WorkerArray(part.name if is_changed else "ramodo-0")
    if is_changed:
        part._sent = None
        _eventually(lambda: not any(client.run(_was_sent, part.name).values()))
        values[0] += 1
    client.run(_be_patient, 0.3)
    try:
        with pytest.raises(RuntimeError, match="keep the detector until the scores are computed"):
            _totals(client, unknown)
    finally:
        client.run(_be_patient, 60.0)


def test_values_with_an_array_go_with_the_array(client):
    """Another array in the same value stays, as models with the same features have one in common."""
    rows = rows_of(blocks(np.ones((4, 2)), 4))
    common, first, second = _values(), _values() + 1, _values() + 2
    first.flags.writeable = second.flags.writeable = False
    of_first, of_second = (_used_by(client, rows, common, own) for own in (first, second))
    assert len(of_first) == len(of_second) == 2
    gone = of_first - of_second
    assert len(gone) == 1
    del first
    _eventually(lambda: not any(gone & there for there in _names(client)))
    for held in (worker_arrays.parcels_of(client), *client.run(_opened).values()):
        assert not any(one.names & gone for one in held.values())
    assert _used_by(client, rows, common, second) == of_second


def _used_by(client, rows, a, b):
    """The names of the arrays in a function, once its results are right."""
    assert np.allclose(rows.gather(_Sums(a, b)), a.sum() - b.sum())
    return set(list(worker_arrays.parcels_of(client).values())[-1].names)


def _opened():
    return {content: worker_arrays.ArrayUser(one.names, None) for content, one in worker_arrays._OPENED.items()}


def test_workers_in_this_process_do_not_keep_arrays_alive():
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as own:
        values = _values()
        part, _ = worker_arrays.share(own, PickleBuffer(values))
        assert _totals(own, part) == [values.sum()]
        gone, name = weakref.ref(values), part.name
        del values, part
        _eventually(lambda: gone() is None and name not in worker_arrays._HERE)


def _values(writeable=False):
    values = np.random.default_rng(0).random(200_000)
    values.flags.writeable = writeable
    return values


def _total(part):
    return np.frombuffer(part.array(), dtype=np.float64).sum()


def _totals(client, part):
    """The sum of an array, on each worker."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    futures = [client.submit(_total, part, workers=[one], pure=False) for one in workers]
    with client.as_current():
        wait(futures)
    return client.gather(futures)


def _was_sent(name, dask_worker):
    return name in dask_worker.data


def _be_patient(seconds):
    worker_arrays._PATIENCE = seconds


def test_scores_that_are_under_way_do_not_need_the_detector(client):
    X, detector = _large_model()
    expected = detector.outlier_scores_.tobytes()
    scores = client.persist(_forgotten(detector).outlier_score(array(X, 6)))
    gc.collect()
    assert np.asarray(scores).tobytes() == expected


def test_a_worker_that_starts_later_has_the_model(client):
    X, detector = _large_model()
    scores = detector.outlier_score(array(X, 6))
    expected = np.asarray(scores).tobytes()
    client.restart_workers(list(client.scheduler_info()["workers"])[:1])
    client.wait_for_workers(2, timeout=60)
    assert np.asarray(scores).tobytes() == expected == detector.outlier_scores_.tobytes()


def test_a_model_is_sent_again_where_all_workers_were_restarted():
    X, detector = _large_model()
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as own, own.as_current():
        for _ in range(2):
            assert np.asarray(detector.outlier_score(array(X, 2))).tobytes() == detector.outlier_scores_.tobytes()
            own.restart()


def _forgotten(detector):
    """A copy of a detector that nothing else refers to."""
    copy = deepcopy(detector)
    copy.model_ = _copied(copy.model_)
    return copy


def _names(client):
    """The names of the large arrays on each worker."""
    return list(client.run(lambda: set(worker_arrays._HERE)).values())


def _eventually(is_so):
    for _ in range(200):
        gc.collect()
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError


def test_changed_arrays_are_sent_again(client):
    """The same function with its two arrays exchanged, and with one of them changed."""
    rows = rows_of(blocks(np.ones((4, 2)), 2))
    first, second = np.zeros(200_000), np.ones(200_000)
    for a, b in ((first, second), (second, first), (first, first), (first, second)):
        assert (rows.gather(_Sums(a, b)) == a.sum() - b.sum()).all()
    first[:] = 5
    assert (rows.gather(_Sums(first, second)) == 4 * 200_000).all()


class _Sums:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, block):
        return np.full(block.n_rows, self.a.sum() - self.b.sum())


def _copied(model, factor=1):
    (term,) = model.terms
    first = replace(term.representation.first, weights=term.representation.first.weights * np.float32(factor))
    return replace(model, terms=(replace(term, representation=replace(term.representation, first=first)),))
