"""Rows whose blocks live in worker processes: what an engine of a cluster has to write, and no more."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from ramodo.data.rows import Rows
from ramodo.data.validation import open_block

_HELD = {}
"""In a worker: its blocks."""

_START = get_context("forkserver")  # one process imports what all workers need
_START.set_forkserver_preload([__name__])


def _hold(number, X):
    _HELD[number] = open_block(X)


def _apply(function, number):
    return function(_HELD[number])


def _taken(number, places):
    return _HELD[number].take(places)


class ProcessRows(Rows):
    """Consecutive parts of a matrix, each in a process of its own."""

    def __init__(self, parts):
        self._width, self._sizes = parts[0].shape[1], [part.shape[0] for part in parts]
        self._workers = [ProcessPoolExecutor(1, _START) for _ in parts]
        for number, (worker, part) in enumerate(zip(self._workers, parts, strict=True)):
            worker.submit(_hold, number, part).result()

    n_rows = property(lambda self: sum(self._sizes))
    n_features = property(lambda self: self._width)

    def _ask(self, call, arguments):
        pairs = enumerate(zip(self._workers, arguments, strict=True))
        waiting = [worker.submit(call, *one(number)) for number, (worker, one) in pairs]
        return [future.result() for future in waiting]

    def map(self, function, show=None):
        return self._ask(_apply, [lambda number: (function, number)] * len(self._workers))

    def take(self, numbers):
        starts = np.cumsum([0, *self._sizes])
        owner = np.searchsorted(starts, numbers, "right") - 1
        places = [np.asarray(numbers)[owner == part] - starts[part] for part in range(len(self._sizes))]
        first, *others = self._ask(_taken, [lambda n, p=p: (n, p) for p in places])
        return first.stacked(others).take(np.argsort(np.argsort(owner, kind="stable"), kind="stable"))

    def close(self):
        for worker in self._workers:
            worker.shutdown()
