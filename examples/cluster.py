"""On a cluster, the same scores.

Dask workers hold the rows; each stage asks them to map a function over their blocks, or to send some rows. Here two
processes of one machine stand in for a cluster. The scores have the same bits as without it.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster

from ramodo import Consensus
from ramodo.datasets import make_ultrahigh

if __name__ == "__main__":  # workers import this file
    tiny = "RAMODO_TINY" in os.environ
    n_rows, n_parts = (400, 3) if tiny else (4_000, 8)
    X, truth = make_ultrahigh(n_rows, 50_000, row_length=40, random_state=0)
    edges = np.linspace(0, n_rows, n_parts + 1).astype(int)
    parts = [X[a:b] for a, b in pairwise(edges)]
    data = da.concatenate([da.from_delayed(delayed(part), part.shape, meta=part[:0]) for part in parts], axis=0)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        detector = Consensus(random_state=0).fit(data)
        scores = detector.outlier_score(data).compute()
    here = Consensus(random_state=0).fit(X).outlier_score(X)
    assert (scores == here).all()
    print(f"{n_rows:,} rows in {n_parts} parts on 2 workers: the same bits as in one process")

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    bins = np.linspace(scores.min(), scores.max(), 50)
    for kind, color, name in ((0, "tab:gray", "inliers"), (1, "tab:red", "outliers")):
        axes.hist(scores[truth == kind], bins, color=color, label=name, log=True)
    axes.axvline(detector.threshold_, color="black", linestyle="--", linewidth=1)
    axes.set(xlabel="outlier score", ylabel="rows")
    axes.legend()
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "cluster.png", dpi=120)
