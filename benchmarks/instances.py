"""AUC without labels of the detectors on the original features, of RAMODO for each, and of REPEN in its variants.

python -m benchmarks.instances [--seeds 5] [--sets R8,LC]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ramodo import REPEN, AverageNeighborREPEN, AverageNN, KthNeighborREPEN, KthNN, Sp

from .sizes import load, sized
from .table import print_table

SETS = (
    "R8",
    "R8_counts",
    "LC",
    "AD_dedup",
    "News20",
    "URL_iscx",
    "dorothea",
    "SMSSpam",
    "Chowdary",
    "adb_musk",
)

DENSE = {"LC", "Chowdary", "adb_musk"}

DETECTORS: dict[str, Callable[[int], Any]] = {
    "Sp": lambda seed: Sp(random_state=seed, n_jobs=-1),
    "KthNN": lambda seed: KthNN(random_state=seed, n_jobs=-1),
    "AverageNN": lambda seed: AverageNN(random_state=seed, n_jobs=-1),
    "REPEN": lambda seed: REPEN(random_state=seed, n_jobs=-1),
    "KthNeighborREPEN": lambda seed: KthNeighborREPEN(random_state=seed, n_jobs=-1),
    "AverageNeighborREPEN": lambda seed: AverageNeighborREPEN(random_state=seed, n_jobs=-1),
    "5 models": lambda seed: REPEN(n_estimators=5, random_state=seed, n_jobs=-1),
    "REPEN, L2": lambda seed: REPEN(normalize="l2", random_state=seed, n_jobs=-1),
    "5 models, L2": lambda seed: REPEN(n_estimators=5, normalize="l2", random_state=seed, n_jobs=-1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=sized(5, 1))
    parser.add_argument("--sets", default=",".join(sized(SETS, ("R8", "LC"))))
    arguments = parser.parse_args()
    rows = []
    for name in arguments.sets.split(","):
        data = load(name)
        X = data.X.toarray() if name in DENSE else data.X
        cells = {}
        for column, make in DETECTORS.items():
            aucs = [_auc(make(seed), X, data.y) for seed in range(arguments.seeds)]
            cells[column] = f"{np.mean(aucs):.3f} ± {np.std(aucs):.3f}"
        cells["Sp, L2"] = _sp_l2(X, data.y, arguments.seeds)
        rows.append([name, *[cells[c] for c in (*DETECTORS, "Sp, L2")]])
    print_table(
        f"AUC without labels (mean ± standard deviation of {arguments.seeds} seeds)",
        ["set", *DETECTORS, "Sp, L2"],
        rows,
    )


def _auc(detector: Any, X: Any, y: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Chowdary on its raw scale collapses, as its figures show
        return float(roc_auc_score(y, detector.fit(X).outlier_scores_))


def _sp_l2(X: Any, y: Any, seeds: int) -> str:
    """Sp on rows of length 1: the initial ranking of REPEN with L2."""
    aucs = []
    for seed in range(seeds):
        fit = REPEN(normalize="l2", n_epochs=1, samples_per_epoch=1, random_state=seed, n_jobs=-1).fit(X)
        aucs.append(roc_auc_score(y, fit.initial_scores_))
    return f"{np.mean(aucs):.3f} ± {np.std(aucs):.3f}"


if __name__ == "__main__":
    main()
