"""How well scores agree with labels: measures with bootstrap intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_DRAWS = 1000
"""Bootstrap samples; fewer for more than 20,000 rows."""


def measures(
    truth: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64], rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Return each measure with its 95 % bootstrap interval; rows are drawn within each class."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    def precision_at_n(y: Any, s: Any) -> float:
        n = int(y.sum())
        return float(y[np.argsort(-s, kind="stable")[:n]].mean())

    functions = {
        "AUC-ROC": roc_auc_score,
        "average precision": average_precision_score,
        "precision at n": precision_at_n,
    }
    outliers, others = np.flatnonzero(truth), np.flatnonzero(~truth)
    draws = max(20, min(_DRAWS, 20_000_000 // len(truth)))
    samples = [
        np.concatenate([rng.choice(outliers, len(outliers)), rng.choice(others, len(others))]) for _ in range(draws)
    ]
    found = {}
    for name, function in functions.items():
        values = [float(function(truth[s], scores[s])) for s in samples]
        low, high = np.percentile(values, [2.5, 97.5])
        found[name] = float(function(truth, scores)), float(low), float(high)
    return found
