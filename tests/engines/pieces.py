"""Partitions for tests. Workers import what runs on them from here."""

import os
import signal
from itertools import pairwise

import dask.array as da
import numpy as np
from dask import delayed

from ramodo import Sp

QUICK = {"n_components": 5, "n_epochs": 3, "n_subsamples": 10, "random_state": 0}


def edges(n_rows, n_parts):
    return np.linspace(0, n_rows, n_parts + 1).astype(int)


def parts(X, n_parts):
    """Consecutive rows in `n_parts` parts."""
    cuts = edges(X.shape[0], n_parts)
    return [X[a:b] for a, b in pairwise(cuts)]


def blocks(X, n_parts):
    return [delayed(part) for part in parts(X, n_parts)]


def array(X, n_parts):
    """A Dask array with sparse or dense blocks, as X is."""
    arrays = [da.from_delayed(delayed(part), part.shape, dtype=part.dtype, meta=part[:0]) for part in parts(X, n_parts)]
    return da.concatenate(arrays, axis=0)


def die_once(flag):
    """Kill this process, unless the flag exists: one was killed before."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def deadly(block, flag):
    die_once(flag)
    return block


class DeadlySp(Sp):
    """Sp that kills the first worker that ranks with it."""

    def __init__(self, flag=None, n_subsamples=10, subsample_size=8, *, random_state=None, n_jobs=None):
        super().__init__(n_subsamples, subsample_size, random_state=random_state, n_jobs=n_jobs)
        self.flag = flag

    def ranking(self, rows, eligible, rng, n_threads):
        return _Deadly(super().ranking(rows, eligible, rng, n_threads), self.flag)


class _Deadly:
    def __init__(self, score, flag):
        self.score, self.flag = score, flag

    def __call__(self, block):
        if self.flag is not None:
            die_once(self.flag)
        return self.score(block)
