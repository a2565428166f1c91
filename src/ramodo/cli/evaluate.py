"""`ramodo evaluate`: how well do scores agree with labels?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats.truth import outliers_named
from ..insight.agreement import measures
from ..model.file.saving import open_model
from ..options import option_named
from .console import print_facts
from .reading import read_for, source_of, threads_of
from .streaming import scores_of


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
    truth = outliers_named(path, table, outlier)
    scores = scores_of(detector, table.X)
    facts: dict[str, Any] = {"rows": len(truth), "outliers": int(truth.sum())}
    for name, (value, low, high) in measures(truth, scores, np.random.default_rng(seed)).items():
        facts[name] = [value, low, high] if as_json else f"{value:.4f}  (95 %: {low:.4f} to {high:.4f})"
    print_facts(facts, as_json)
