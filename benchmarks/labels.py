"""AUC with labelled outliers from the pool: the paper's way, ours, and a logistic regression on the same labels.

The peer is scikit-learn's LogisticRegression of the labelled outliers against all rows of X, classes balanced.

python -m benchmarks.labels [--draws 5] [--labels 1,5,10,20,40,80] [--sets News20,URL_iscx]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.datasets import LabeledData
from ramodo.experiments.measures import draw_known

from .sizes import load, sized
from .table import print_table, reached

PAPERS_WAY = {"News20": 0.74, "URL_iscx": 0.985}
"""AUC to reach with 80 labels, half of the negatives labelled."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=sized(5, 1))
    parser.add_argument("--labels", default=sized("1,5,10,20,40,80", "5,80"))
    parser.add_argument("--sets", default=",".join(PAPERS_WAY))
    arguments = parser.parse_args()
    rows = []
    for name in arguments.sets.split(","):
        data = load(name)
        for n in map(int, arguments.labels.split(",")):
            rows.append([name, n, arguments.draws, *_row(name, data, n, arguments.draws)])
    print_table(
        "AUC with labelled outliers (mean ± standard deviation over draws of labels)",
        ["set", "labels", "draws", "REPEN", "the paper's way", "logistic regression", "reached"],
        rows,
    )


def _row(name: str, data: LabeledData, n: int, draws: int) -> list[str]:
    aucs: dict[str, list[float]] = {"ours": [], "paper": [], "regression": []}
    for seed in range(draws):
        known = draw_known(data, n, seed)
        ours = REPEN(random_state=seed, n_jobs=-1).fit(data.X, labeled_outliers=known)
        paper = REPEN(labeled_fraction=0.5, labels_in_score=False, random_state=seed, n_jobs=-1).fit(
            data.X, labeled_outliers=known
        )
        aucs["ours"].append(float(roc_auc_score(data.y, ours.outlier_scores_)))
        aucs["paper"].append(float(roc_auc_score(data.y, paper.outlier_scores_)))
        aucs["regression"].append(float(roc_auc_score(data.y, _regression(data.X, known))))
    means = {way: float(np.mean(values)) for way, values in aucs.items()}
    targets = [f"ours {reached(means['ours'], round(means['regression'], 4))}"]
    if n == 80:
        targets.append(f"the paper's way {reached(means['paper'], PAPERS_WAY[name])}")
    return [*[f"{np.mean(values):.4f} ± {np.std(values):.4f}" for values in aucs.values()], "; ".join(targets)]


def _regression(X: Any, known: Any) -> Any:
    rows = sp.vstack([X, known]).tocsr()
    target = np.repeat([0, 1], [X.shape[0], known.shape[0]])
    model = LogisticRegression(class_weight="balanced", max_iter=1000).fit(rows, target)
    return model.decision_function(X)


if __name__ == "__main__":
    main()
