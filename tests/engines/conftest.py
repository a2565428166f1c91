"""A cluster of worker processes on loopback, with a real scheduler, started once."""

import warnings
from contextlib import contextmanager

import dask
import pytest

dask.config.set({"distributed.admin.tick.limit": "1 hour"})  # a busy machine is no reason for a warning


@contextmanager
def _cluster(n_workers, **options):
    from distributed import Client, LocalCluster

    given = {
        "threads_per_worker": 1,
        "processes": True,
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
        **options,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # sockets and files of theirs
        with LocalCluster(n_workers=n_workers, **given) as cluster, Client(cluster, set_as_default=False) as client:
            yield client


@pytest.fixture(scope="session")
def cluster_of():
    """Makes a client of a new cluster, as a context."""
    return _cluster


@pytest.fixture(scope="session")
def _two_workers():
    with _cluster(2) as client:
        yield client


@pytest.fixture
def client(_two_workers):
    """A client of two worker processes; the tests of `--cluster` have one."""
    with _two_workers.as_current():
        yield _two_workers
