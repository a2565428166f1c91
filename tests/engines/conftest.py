"""Clusters of worker processes on loopback, with a real scheduler, each started once."""

import socket
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
def clients():
    """A client of one worker process, and one of two."""
    with _cluster(1) as one, _cluster(2) as two:
        yield {1: one, 2: two}


@pytest.fixture
def client(clients):
    with clients[2].as_current():
        yield clients[2]


@pytest.fixture
def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
