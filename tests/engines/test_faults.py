"""Workers that die change nothing, a scheduler that dies is an error that says so, and memory has its limit."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import numpy as np
import pytest
import scipy.sparse as sp
from dask import delayed
from pieces import QUICK, DeadlySp, blocks, deadly, parts, wait_for

from examples import with_outliers
from ramodo import RAMODO, REPEN, open_dataset
from ramodo.engines.running import ClusterError
from ramodo.formats import Table, folder

CLUSTER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0")
    print(cluster.scheduler_address, flush=True)
    time.sleep(600)
"""


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


def test_a_partition_that_kills_every_worker_is_an_error(client, tmp_path, monkeypatch):
    X, _ = with_outliers()
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(ClusterError, match=r"workers died again and again.*smaller partitions"):
        REPEN(**QUICK).fit([delayed(deadly)(X, str(tmp_path / "dead")), *blocks(X, 1)])
    client.wait_for_workers(2, timeout=60)


@pytest.fixture
def elsewhere(tmp_path):
    """The address of a cluster in a process of its own, which can be killed."""
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    with process:
        yield process, process.stdout.readline().strip()
        process.kill()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_lost_scheduler_is_a_clear_error(elsewhere, tmp_path):
    from distributed import Client

    process, address = elsewhere
    X, _ = with_outliers()
    started, until = tmp_path / "started", tmp_path / "until"
    waiting = [delayed(wait_for)(part, str(started), str(until)) for part in parts(X, 3)]

    def kill_once_started():
        while not started.exists():
            time.sleep(0.05)
        process.kill()

    detector = REPEN(**QUICK)
    with Client(address, timeout=60) as client, client.as_current():
        threading.Thread(target=kill_once_started).start()
        with pytest.raises(ClusterError, match=r"the Dask scheduler at tcp://.* was lost.*nothing was written"):
            detector.fit(waiting)
    until.touch()
    assert not hasattr(detector, "outlier_scores_")


def test_workers_stay_under_their_limit(client, cluster_of, tmp_path):
    """Shards of more than a worker may hold are read one by one; a nanny would kill a worker that kept them."""
    rng = np.random.default_rng(0)
    n, length, width = 20_000, 100, 50_000
    indices = rng.integers(0, width // length, (n, length)) + np.arange(0, width, width // length)
    values, starts = np.ones(n * length, dtype=np.float32), np.arange(0, n * length + 1, length)
    matrix = sp.csr_array((values, indices.ravel().astype(np.int32), starts), shape=(n, width))
    folder.write(tmp_path / "00.rows", Table(matrix))  # 16 MB
    for number in range(1, 12):
        (tmp_path / f"{number:02}.rows").symlink_to(tmp_path / "00.rows")
    limit = max(client.run(_peak).values()) + 100_000_000
    with cluster_of(1, memory_limit=limit) as client, client.as_current():
        before = _pids(client)
        rows = open_dataset(str(tmp_path / "*.rows"))
        REPEN(n_epochs=1, samples_per_epoch=500, random_state=0).fit(rows)
        assert rows.n_bytes > 180_000_000
        assert _pids(client) == before
        (peak,) = client.run(_peak).values()
        assert peak < limit


def _peak():
    """Most bytes that this process has had in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise AssertionError
