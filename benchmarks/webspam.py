"""The whole fit and score at Webspam's shape against one SciPy product `X @ W` with the same matrix.

Then `Consensus` on the same rows, against REPEN.

    python -m benchmarks.webspam [--rows 215001] [--topics 0] [--skew 0]

Needs about 16 GB of memory and several minutes, most of them to generate the matrix.
"""

from __future__ import annotations

import argparse
import gc
import resource
import time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ramodo import REPEN, Consensus
from ramodo.datasets import make_ultrahigh

from .sizes import sized
from .table import print_table, reached

D, ROW_LENGTH, M = sized(16_609_143, 20_000), sized(3_600, 200), 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=sized(215_001, 300))
    parser.add_argument("--topics", type=float, default=0.0)
    parser.add_argument("--skew", type=float, default=0.0)
    arguments = parser.parse_args()
    X, y = make_ultrahigh(
        arguments.rows,
        D,
        row_length=ROW_LENGTH,
        marks_per_outlier=100,
        topic_size=arguments.topics,
        skew=arguments.skew,
        random_state=0,
    )
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e9
    W = np.random.default_rng(0).standard_normal((D, M), dtype=np.float32)
    started = time.perf_counter()
    X @ W
    scipys = time.perf_counter() - started
    del W
    gc.collect()
    detector, ours, peak = _fitted(REPEN, X)
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in detector.stage_seconds_.items())
    aucs = [roc_auc_score(y, scores) for scores in (detector.initial_scores_, detector.outlier_scores_)]
    print_table(
        f"Webspam's shape: {X.shape[0]:,} x {D:,}, {X.nnz / X.shape[0]:,.0f} non-zeros a row, {size:.1f} GB, "
        f"topics {arguments.topics:g}, skew {arguments.skew:g}",
        [
            "SciPy X @ W s",
            "fit + score s",
            "ratio",
            "reached",
            "peak GB",
            "reached",
            "stages s",
            "AUC Sp / REPEN",
            "loss, first / last epoch",
        ],
        [
            [
                f"{scipys:.1f}",
                f"{ours:.1f}",
                f"{ours / scipys:.2f} x",
                reached(ours / scipys, 1.5, at_most=True),
                f"{peak:.1f}",
                reached(peak, 16, at_most=True),
                stages,
                f"{aucs[0]:.3f} / {aucs[1]:.3f}",
                f"{detector.loss_curve_[0]:.0f} / {detector.loss_curve_[-1]:.1f}",
            ]
        ],
    )
    del detector
    gc.collect()
    consensus, longer, peak = _fitted(Consensus, X)
    print_table(
        "Consensus at that shape",
        ["fit + score s", "against REPEN", "reached", "peak GB", "reached", "AUC"],
        [
            [
                f"{longer:.1f}",
                f"{longer / ours:.2f} x",
                reached(longer / ours, 2, at_most=True),
                f"{peak:.1f}",
                reached(peak, 16, at_most=True),
                f"{roc_auc_score(y, consensus.outlier_scores_):.3f}",
            ]
        ],
    )


def _fitted(make: Any, X: Any) -> tuple[Any, float, float]:
    """A detector, the seconds of its fit, and the largest memory so far, in GB."""
    started = time.perf_counter()
    detector = make(random_state=0, n_jobs=-1).fit(X)
    return detector, time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
