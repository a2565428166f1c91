"""Fit, rank and flag generated data whose outliers are known: `python -m ramodo.demo`."""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.metrics import roc_auc_score

from . import kernels
from .datasets import make_ultrahigh
from .repen import REPEN


def main(n_rows: int = 10_000, n_features: int = 1_000_000) -> None:
    """Generate, fit, rank, and print what was found."""
    started = time.perf_counter()
    X, y = make_ultrahigh(n_rows, n_features, random_state=0)
    print(
        f"generated {X.shape[0]:,} rows x {X.shape[1]:,} features, {X.nnz:,} non-zeros, {int(y.sum()):,} outliers, "
        f"in {time.perf_counter() - started:.2f} s"
    )

    shown = int(sys.stderr is not None and sys.stderr.isatty())
    detector = REPEN(random_state=0, n_jobs=-1, verbose=shown).fit(X)
    print(f"\nseconds per stage ({kernels.instructions()} kernels)")
    for stage, seconds in detector.stage_seconds_.items():
        print(f"  {stage:<10}{seconds:8.3f}")
    print(f"  {'all':<10}{sum(detector.stage_seconds_.values()):8.3f}")

    print("\nAUC (1 is perfect, 0.5 is chance)")
    print(f"  Sp on the {X.shape[1]:,} features  {roc_auc_score(y, detector.initial_scores_):.3f}")
    print(f"  REPEN, {detector.n_components} features{'':11}{roc_auc_score(y, detector.outlier_scores_):.3f}")

    flagged = detector.outlier_scores_ >= detector.threshold_
    print(
        f"\ncut-off {detector.threshold_:.2f}: {int(flagged.sum())} rows flagged, {int(y[flagged].sum())} of them "
        f"outliers (at most {detector.false_positive_bound_:.0%} of scores can reach it, whatever their distribution)"
    )
    print("\nthe ten top rows\n  rank      row     score  truly an outlier")
    for rank, row in enumerate(np.argsort(-detector.outlier_scores_, kind="stable")[:10], start=1):
        print(f"  {rank:>4}{row:>9}{detector.outlier_scores_[row]:>10.2f}  {'yes' if y[row] else 'no'}")


if __name__ == "__main__":
    main()
