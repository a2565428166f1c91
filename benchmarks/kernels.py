"""The kernels at Webspam's width against SciPy's products of the same matrices, in one run.

python -m benchmarks.kernels [--rows 10000] [--skew 0] [--topics 0]
"""

from __future__ import annotations

import argparse

import numpy as np

from ramodo.data.blocks import SparseRows
from ramodo.data.validation import open_rows
from ramodo.datasets import make_ultrahigh
from ramodo.kernels import Phi, Projection, SparseSp, Trainer

from .sizes import sized
from .table import print_table, reached, side_by_side

D, ROW_LENGTH, M = sized(16_609_143, 20_000), sized(3_600, 200), 20
THREADS = 2


def transform(rows: SparseRows, weights: np.ndarray) -> tuple[float, float, float]:
    project = Projection(np.arange(D), weights, D, 1, 0.0)
    X = rows.to_csr()
    np.testing.assert_allclose(project(rows, THREADS)[:50], np.maximum(X[:50] @ weights, 0), rtol=1e-3, atol=1e-3)
    return side_by_side(lambda: X @ weights, lambda: project(rows, THREADS))


def ranking(rows: SparseRows, rng: np.random.Generator) -> tuple[float, float, float]:
    references = rows.take(np.concatenate([rng.choice(rows.n_rows, 8, replace=False) for _ in range(50)]))
    X, S = rows.to_csr(), references.to_csr().T.tocsr()
    norms = X.multiply(X).sum(axis=1), references.to_csr().multiply(references.to_csr()).sum(axis=1)

    def scipys() -> np.ndarray:
        squared = norms[0][:, None] + norms[1][None, :] - 2 * (X @ S).toarray()
        return np.sqrt(np.maximum(squared.reshape(len(squared), 50, 8).min(axis=2), 0)).mean(axis=1)

    ours = SparseSp(references, 8, Phi())
    other = np.flatnonzero(~np.isin(np.arange(rows.n_rows), rng.choice(rows.n_rows, 1)))[:200]
    np.testing.assert_allclose(ours.score(rows, THREADS)[other], scipys()[other], rtol=0.05)
    return side_by_side(scipys, lambda: ours.score(rows, THREADS))


def step(rows: SparseRows, weights: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float]:
    """One step on 256 triplets, all of them active, against SciPy's product of the same 768 rows with W.

    As in a fit, negatives come from a few per cent of the rows, so some occur twice; we compute those once.
    """
    candidates = rng.choice(rows.n_rows, rows.n_rows // 25, replace=False)
    triplets = np.column_stack([rng.integers(rows.n_rows, size=(256, 2)), rng.choice(candidates, 256)])
    trainer = Trainer(
        rows, np.arange(rows.n_rows), width=M, n_queries=1, k=1, average=False, margin=1e9, slope=0.0, scale=1.0,
        seed=1, limit=6e-4, learning_rate=1.0, rho=0.95, epsilon=1e-7, n_threads=THREADS,
    )  # fmt: skip
    X = rows.to_csr()[triplets.ravel()]
    return side_by_side(lambda: X @ weights, lambda: trainer.run(triplets, 256))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=sized(10_000, 300))
    parser.add_argument("--skew", type=float, default=0.0)
    parser.add_argument("--topics", type=float, default=0.0, help="topic size in row lengths; 0: features are uniform")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X, _ = make_ultrahigh(
        arguments.rows, D, row_length=ROW_LENGTH, topic_size=arguments.topics, skew=arguments.skew, random_state=0
    )
    rows = open_rows(X)
    assert isinstance(rows, SparseRows)
    weights = rng.standard_normal((D, M), dtype=np.float32)
    table = []
    for name, (scipys, ours, times), target, at_most in (
        ("transform", transform(rows, weights), 5, False),
        ("initial ranking", ranking(rows, rng), 5, False),
        ("training step", step(rows, weights, rng), 0.7, True),
    ):
        ratio = 1 / times if at_most else times
        table.append([name, f"{scipys:.3f}", f"{ours:.3f}", f"{ratio:.2f} x", reached(ratio, target, at_most=at_most)])
    title = (
        f"Kernels, {X.shape[0]:,} x {D:,}, {X.nnz / X.shape[0]:,.0f} non-zeros a row, "
        f"topics {arguments.topics:g}, skew {arguments.skew:g}, {THREADS} threads"
    )
    print_table(title, ["kernel", "SciPy s", "ours s", "ratio", "reached"], table)


if __name__ == "__main__":
    main()
