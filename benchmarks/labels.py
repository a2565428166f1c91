"""AUC of REPEN with labelled outliers from the pool, half of the negatives of a batch (the paper's section 4.6).

python -m benchmarks.labels [--draws 5] [--labels 80]
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.datasets import load_prepared

from .table import print_table, reached

SETS = {"News20": 0.74, "URL_iscx": 0.98}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--labels", type=int, default=80)
    arguments = parser.parse_args()
    rows = []
    for name, target in SETS.items():
        data = load_prepared(name)
        assert data.pool is not None
        aucs = []
        for seed in range(arguments.draws):
            drawn = np.random.default_rng(seed).choice(data.pool.shape[0], arguments.labels, replace=False)
            fit = REPEN(random_state=seed).fit(data.X, labeled_outliers=data.pool[drawn])
            aucs.append(roc_auc_score(data.y, fit.outlier_scores_))
        rows.append(
            [name, arguments.draws, f"{np.mean(aucs):.3f} ± {np.std(aucs):.3f}", reached(float(np.mean(aucs)), target)]
        )
    print_table(
        f"AUC with {arguments.labels} labelled outliers (mean ± standard deviation)",
        ["set", "draws", "REPEN", "reached"],
        rows,
    )


if __name__ == "__main__":
    main()
