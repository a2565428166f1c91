"""Outliers found by a simulated analyst who answers with the truth, reading down a ranking that learns or does not.

The loop learns after every 5 labels by `with_labels`, as the labelling page does. Beside it: the ranking without
labels, read from the top, and the same loop with scikit-learn's logistic regression (labelled outliers against all
other rows of length 1, classes balanced) in place of our refit. All start from the same ranking. The lead is over the
regression and, on two sets, over twice the ranking's; the least of it is what counts.

python -m benchmarks.triage [--sets News20,...] [--rows 300] [--seeds 1]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from ramodo import Consensus

from .sizes import load, sized
from .table import print_table, reached

SETS = "AD_dedup,dorothea,SMSSpam,News20,URL_iscx"
TWICE = ("News20", "URL_iscx")
EVERY = 5

Refit = Callable[[Any], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=sized(SETS, "R8"))
    parser.add_argument("--rows", type=int, default=sized(300, 30))
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.sets.split(","):
        for seed in range(arguments.seeds):
            rows.append(_measured(name, seed, arguments.rows))
            print(*rows[-1], sep=" | ", flush=True)
    header = [
        "set",
        "seed",
        "outliers",
        "looked at",
        "loop",
        "ranking",
        "regression",
        "refit, s",
        "least lead",
        "reached",
    ]
    print_table("Outliers found by a simulated analyst", header, rows)


def _measured(name: str, seed: int, n_rows: int) -> list[Any]:
    data = load(name)
    X, truth = data.X, np.asarray(data.y) == 1
    detector = Consensus(random_state=seed, n_jobs=2).fit(X)
    rows = detector.rows_of(X)
    unlabeled, unit, seconds = detector.unlabeled(rows), normalize(X), list[float]()

    def ours(labels: Any) -> Any:
        started = time.perf_counter()
        scores = detector.relabeled(unlabeled, labels).outlier_scores_
        seconds.append(time.perf_counter() - started)
        return scores

    def regression(labels: Any) -> Any:
        model = LogisticRegression(
            class_weight="balanced", solver="liblinear", dual=True, tol=1e-2, max_iter=300, random_state=0
        )
        return model.fit(unit, labels == 1).decision_function(unit)

    found = [_walk(detector.outlier_scores_, truth, refit, n_rows) for refit in (ours, None, regression)]
    ends = [n for n in (100, 300) if n <= n_rows] or [n_rows]
    counts = [[int(seen[:n].sum()) for n in ends] for seen in found]
    cells = [" / ".join(map(str, of)) for of in (ends, *counts)]
    twice = 2 if name in TWICE else 0
    lead = min(loop - max(other, twice * still) for loop, still, other in zip(*counts, strict=True))
    return [name, seed, int(truth.sum()), *cells, f"{np.median(seconds):.2f}", lead, reached(lead, 0)]


def _walk(scores: Any, truth: Any, refit: Refit | None, n_rows: int) -> Any:
    """Whether each row that was looked at is an outlier, in order."""
    labels, seen = np.zeros(len(truth), dtype=np.int8), list[bool]()
    while len(seen) < min(n_rows, len(truth)):
        shown = np.argsort(-np.where(labels == 0, scores, -np.inf), kind="stable")[:EVERY]
        labels[shown] = np.where(truth[shown], 1, -1)
        seen += truth[shown].tolist()
        if refit is not None and (labels == 1).any():
            scores = refit(labels)
    return np.array(seen)


if __name__ == "__main__":
    main()
