"""Worker processes on loopback, with a real scheduler."""

import warnings
from contextlib import contextmanager


@contextmanager
def cluster_of(n_workers, **options):
    """A client of a new cluster of so many processes of one thread each."""
    import dask
    from distributed import Client, LocalCluster

    dask.config.set({"distributed.admin.tick.limit": "1 hour"})  # a busy machine is no reason for a warning,
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})  # or to give a killed worker up
    given = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # sockets and files of theirs
        with LocalCluster(n_workers=n_workers, **given) as cluster, Client(cluster, set_as_default=False) as client:
            yield client
