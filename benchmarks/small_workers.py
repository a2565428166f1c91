"""Fits and scores shards of four times the memory that each process may take, and says how much each took.

python -m benchmarks.small_workers FOLDER BYTES
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import dask
import numpy as np
from distributed import Client, LocalCluster

from ramodo import REPEN, open_dataset

from .sizes import IS_TINY


def peak() -> int:
    """Most bytes that this process has had in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0


def main() -> None:
    place, n_bytes = sys.argv[1], int(sys.argv[2])
    limit = 1 << 30 if IS_TINY else n_bytes // 4  # tiny shards are smaller than the libraries' own memory
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    dask.config.set({"ramodo.training-memory": "32 MiB"})
    n_workers = 1 if IS_TINY else 2
    with LocalCluster(n_workers=n_workers, memory_limit=limit, **options) as cluster, Client(cluster) as client:
        workers = client.run(peak)
        started = time.perf_counter()
        rows = open_dataset(f"{place}/*.rows")
        detector = REPEN(random_state=0).fit(rows)
        scores = np.asarray(detector.outlier_score(rows))
        took = time.perf_counter() - started
        assert np.array_equal(scores, detector.outlier_scores_)
        peaks = client.run(peak)
        assert peaks.keys() == workers.keys()  # none was ended and replaced
    highest, own = max(peaks.values()), peak()
    assert max(highest, own) <= limit, (highest, own, limit)
    print(f"{took:.0f} s|{n_bytes / 1e6:.0f} MB|{limit / 1e6:.0f} MB|{highest / 1e6:.0f} MB|{own / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
