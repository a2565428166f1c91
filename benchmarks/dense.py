"""Dense rows: our projection and training step against the same products by BLAS, in one run.

python -m benchmarks.dense
"""

from __future__ import annotations

import numpy as np

from ramodo.data.blocks import DenseRows
from ramodo.kernels import Projection, Trainer

from .sizes import sized
from .table import print_table, seconds

M, THREADS = 20, 2
SHAPES = sized([(145, 3_312), (200, 50_000), (16_772, 5_408)], [(40, 50)])


def compare(n: int, d: int, rng: np.random.Generator) -> list[list[str]]:
    X = rng.random((n, d), dtype=np.float32)
    W = rng.standard_normal((d, M), dtype=np.float32)
    rows = DenseRows(X)
    project = Projection(np.arange(d), W, d, 1, 0.0)
    triplets = rng.integers(n, size=(256, 3))
    drawn = np.unique(triplets)
    deltas = rng.standard_normal((len(drawn), M), dtype=np.float32)
    trainer = Trainer(
        rows,
        np.arange(n),
        width=M,
        n_queries=1,
        k=1,
        average=False,
        margin=1e9,
        slope=0.0,
        scale=1.0,
        seed=1,
        limit=1e-2,
        learning_rate=1.0,
        rho=0.95,
        epsilon=1e-7,
        n_threads=THREADS,
    )
    batch = X[drawn]
    blas = seconds(lambda: X @ W, 5), seconds(lambda: (batch @ W, batch.T @ deltas), 5)
    ours = seconds(lambda: project(rows, THREADS), 5), seconds(lambda: trainer.run(triplets, 256), 5)
    return [
        [f"{n:,} x {d:,}", name, f"{theirs * 1e3:.2f}", f"{own * 1e3:.2f}", f"{theirs / own:.2f} x"]
        for name, theirs, own in zip(("transform", "training step"), blas, ours, strict=True)
    ]


def main() -> None:
    rng = np.random.default_rng(0)
    print_table(
        "Dense rows; BLAS does the step's two products only, ours the loss and ADADELTA too",
        ["shape", "kernel", "BLAS ms", "ours ms", "ratio"],
        [row for n, d in SHAPES for row in compare(n, d, rng)],
    )


if __name__ == "__main__":
    main()
