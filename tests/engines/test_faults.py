"""Workers that die change nothing, and stay under their limit; tests of `--cluster` have a scheduler that dies."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask import delayed
from pieces import QUICK, DeadlySp, blocks, deadly, parts

from ramodo import RAMODO, REPEN, Consensus, open_dataset
from ramodo.engines.dask_runner import ClusterError
from ramodo.formats import Table, folder
from support.examples import with_outliers
from support.loopback_cluster import cluster_of


def _pids(client):
    return set(client.run(os.getpid).values())


def test_a_worker_killed_while_it_ranks_changes_nothing(client, tmp_path):
    X, _ = with_outliers()
    options = {"n_epochs": 3, "random_state": 0, "ranker": DeadlySp(None)}
    here = RAMODO(**options).fit(X)
    before, flag = _pids(client), str(tmp_path / "dead")
    there = RAMODO(**{**options, "ranker": DeadlySp(flag)}).fit(blocks(X, 6))
    assert Path(flag).exists()
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()
    assert there.initial_scores_.tobytes() == here.initial_scores_.tobytes()
    client.wait_for_workers(2, timeout=60)
    assert _pids(client) != before


def test_a_worker_killed_while_it_scores_changes_nothing(client, tmp_path):
    X, _ = with_outliers()
    detector, flag = REPEN(**QUICK).fit(X), str(tmp_path / "dead")
    found = dask.compute(*detector.outlier_score([delayed(deadly)(part, flag) for part in parts(X, 6)]))
    assert Path(flag).exists()
    assert np.concatenate(found).tobytes() == detector.outlier_scores_.tobytes()
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_all_workers_killed_at_once_change_nothing(n_workers):
    """Their nannies start new ones, with other addresses."""
    X = np.random.default_rng(0).normal(size=(6000, 20))
    here = Consensus(random_state=0).fit(X)
    with cluster_of(n_workers) as own, ThreadPoolExecutor(1) as threads:
        try:
            fit = threads.submit(_fit_on, own, da.from_array(X, chunks=(1100, 20)))
            time.sleep(0.8)
            for process in _processes(own):
                process.kill()
            assert not fit.done()
            there = fit.result(timeout=90)
        finally:
            own.close()  # which also ends a fit that waits forever
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()


def _fit_on(client, data):
    with client.as_current():
        return Consensus(random_state=0).fit(data)


def _processes(client):
    return [nanny.process.process for nanny in client.cluster.workers.values()]


def test_a_partition_that_kills_every_worker_is_an_error(client, tmp_path, monkeypatch):
    X, _ = with_outliers()
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(ClusterError, match=r"workers died again and again.*smaller partitions"):
        REPEN(**QUICK).fit([delayed(deadly)(X, str(tmp_path / "dead")), *blocks(X, 1)])
    client.wait_for_workers(2, timeout=60)


def test_workers_stay_under_their_limit(client, tmp_path):
    """Shards of more than a worker may hold are read one by one; a nanny would kill a worker that kept them."""
    rng = np.random.default_rng(0)
    n, length, width = 20_000, 100, 50_000
    indices = rng.integers(0, width // length, (n, length)) + np.arange(0, width, width // length)
    values, starts = np.ones(n * length, dtype=np.float32), np.arange(0, n * length + 1, length)
    matrix = sp.csr_array((values, indices.ravel().astype(np.int32), starts), shape=(n, width))
    folder.write(tmp_path / "00.rows", Table(matrix))  # 16 MB
    for number in range(1, 10):
        (tmp_path / f"{number:02}.rows").symlink_to(tmp_path / "00.rows")
    limit = max(client.run(_peak).values()) + 100_000_000
    with cluster_of(1, memory_limit=limit) as limited, limited.as_current():
        before = _pids(limited)
        rows = open_dataset(str(tmp_path / "*.rows"))
        REPEN(n_epochs=1, samples_per_epoch=500, random_state=0).fit(rows)
        assert rows.n_bytes > 150_000_000
        assert _pids(limited) == before
        (peak,) = limited.run(_peak).values()
        assert peak < limit


def _peak():
    """Most bytes that this process has had in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise AssertionError
