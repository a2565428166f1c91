"""Explaining many rows: what is alive at a time follows the threads and the result, not the rows."""

import gc
import threading
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.model import learned, parts
from ramodo.thread_map import thread_map

pytestmark = pytest.mark.slow


@pytest.fixture
def alive(monkeypatch):
    """The most views of blocks that were alive at a time."""
    live, most = weakref.WeakSet(), [0]

    class Counted(parts.View):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            live.add(self)
            most[0] = max(most[0], len(live))

        __hash__ = object.__hash__
        __eq__ = object.__eq__

    monkeypatch.setattr(learned, "View", Counted)
    return most


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
def test_parts_of_blocks_are_let_go(quick, data, alive, n_jobs, dense):
    X = sp.vstack([data[0]] * 20).tocsr()  # 2,400 rows: 38 blocks
    detector = quick(n_jobs=n_jobs).fit(data[0])
    gc.disable()
    try:
        assert len(detector.explain(X.toarray() if dense else X, top=2)) == X.shape[0]
    finally:
        gc.enable()
    assert 1 <= alive[0] <= 4 * n_jobs + 4


def test_blocks_change_nothing(quick, data):
    """Drivers of several blocks on several threads are those of one thread, to the bit."""
    X = sp.vstack([data[0]] * 3).tocsr()
    one, two = (quick(n_jobs=n_jobs).fit(data[0]).explain(X, top=3) for n_jobs in (1, 4))
    assert one.to_dict() == two.to_dict()
    assert one.drivers == two.drivers


@pytest.mark.parametrize("n_started", [0, 1, 2, 100])
def test_thread_map_where_threads_are_refused(monkeypatch, n_started):
    start, started = threading.Thread.start, []

    def refused(thread):
        if len(started) == n_started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert list(thread_map(lambda i: i * i, range(50), 4)) == [i * i for i in range(50)]


@pytest.mark.parametrize("n_threads", [0, 1, 3, 100])
def test_thread_map_keeps_the_order(n_threads):
    assert list(thread_map(np.sqrt, range(20), n_threads)) == list(np.sqrt(range(20)))
    assert list(thread_map(np.sqrt, [], n_threads)) == []


@pytest.mark.parametrize("n_threads", [1, 3])
def test_thread_map_raises_what_the_work_raises(n_threads):
    def work(i):
        return 1 / (5 - i)

    found = thread_map(work, range(50), n_threads)
    assert [next(found) for _ in range(5)] == [work(i) for i in range(5)]
    with pytest.raises(ZeroDivisionError):
        next(found)
