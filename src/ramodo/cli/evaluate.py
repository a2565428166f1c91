"""`ramodo evaluate`: how well do scores agree with labels?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import FormatError, Table
from ..formats.classes import Classes, is_text, shown
from ..model.file.saving import open_model
from ..options import option_named
from .console import print_facts
from .reading import read_for, source_of, threads_of
from .score import scores_of

_DRAWS = 1000


def run_evaluate(
    model: str,
    path: str,
    *,
    format: str | None,
    label: str | None,
    outlier: str,
    threads: int | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print AUC-ROC, average precision and precision at n."""
    option_named("random_state").of_flag(seed)
    detector = open_model(model)
    detector.n_jobs = threads_of(threads)
    source = source_of(detector, format, None, label)
    table = read_for(detector, path, source, detector.n_jobs)
    truth = truth_of(path, table, outlier)
    scores = scores_of(detector, table.X)
    facts: dict[str, Any] = {"rows": len(truth), "outliers": int(truth.sum())}
    for name, (value, low, high) in measures(truth, scores, np.random.default_rng(seed)).items():
        facts[name] = [value, low, high] if as_json else f"{value:.4f}  (95 %: {low:.4f} to {high:.4f})"
    print_facts(facts, as_json)


def truth_of(path: str, table: Table, outlier: float | str) -> npt.NDArray[np.bool_]:
    """Which rows have the label that means outlier, a number or a word; raises unless some have it, and not all."""
    if table.classes is None:
        raise FormatError(f"{path} holds no labels; name their column with --label.")
    truth = _are(table.classes, outlier)
    if truth.all() or not truth.any():
        found = ", ".join(map(shown, np.unique(table.classes)[:10]))
        raise FormatError(
            f"{path}: {int(truth.sum())} of {len(truth)} rows have the label {shown(outlier)}; allowed: some of them. "
            f"Labels found: {found}; say which means outlier with --outlier."
        )
    return truth


def _are(classes: Classes, label: float | str) -> npt.NDArray[np.bool_]:
    if is_text(classes):
        return np.asarray(classes == shown(label))
    try:
        return np.asarray(classes == float(label))
    except ValueError:  # a word, where labels are numbers
        return np.zeros(len(classes), dtype=np.bool_)


def measures(
    truth: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64], rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Each measure, and the middle 95 % of it over bootstrap samples of the rows, drawn within each class."""
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
