"""Large arrays are sent once, stay with all workers for as long as they are needed, and go when they are not."""

import gc
import time
from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from pieces import QUICK, array, blocks

from examples import with_outliers
from ramodo import REPEN
from ramodo.engines import carried
from ramodo.engines.opening import rows_of


def test_a_model_is_sent_once(client):
    """Its large arrays, at least: a second model is sent whole, and one that is changed is sent again."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 30_000), density=0.01, format="csr", rng=rng)
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
    """Two partitions, and a detector the weights of which are a large array."""
    X = sp.random_array((300, 30_000), density=0.01, format="csr", rng=np.random.default_rng(0))
    detector = REPEN(n_components=20, n_epochs=2, n_subsamples=2, random_state=0).fit(X)
    return X, detector


def test_a_model_stays_on_all_workers_until_it_is_forgotten_here(client):
    X, detector = _large_model()
    before, expected = _arrays_of(client), detector.outlier_scores_.tobytes()
    assert np.asarray(detector.outlier_score(array(X, 2))).tobytes() == expected
    client.amm.run_once()  # drops copies of results that no task waits for
    first, second = (there - old for there, old in zip(_arrays_of(client), before, strict=True))
    assert first == second
    assert len(first) == 1
    for _ in range(2):  # the last lazy collections keep what they need
        small = REPEN(**QUICK).fit(with_outliers()[0])
        small.outlier_score(array(with_outliers()[0], 2))
    del detector
    _eventually(lambda: not any(first & there for there in _arrays_of(client)))


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


def _forgotten(detector):
    """A copy of it that nothing else refers to."""
    copy = deepcopy(detector)
    copy.model_ = _copied(copy.model_)
    return copy


def _arrays_of(client):
    """The large arrays that each worker has."""
    return list(client.run(lambda: set(carried._HERE)).values())


def _eventually(is_so):
    for _ in range(200):
        gc.collect()
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError


def test_large_arrays_are_those_of_the_moment(client):
    """Whatever was sent before: the same function with one of its arrays changed, or with the two in turn."""
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
