"""Explanations: their cost against that of scores, whether it grows with D, and SHAP's KernelExplainer to compare.

    python -m benchmarks.explanations

SHAP is timed for one row against one row of background, the least that it can do, in a process of its own that is
stopped when it takes too long.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import time
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ramodo import REPEN
from ramodo.datasets import make_ultrahigh

from .sizes import IS_TINY, load, sized
from .table import print_table, reached, side_by_side

ROWS = sized(1000, 50)
WIDTHS = sized([10_000, 1_000_000, 100_000_000], [10_000, 20_000])
SHAP_WIDTHS = sized([100, 1_000, 10_000], [100])
PATIENCE = 900.0
"""Seconds after which SHAP is stopped."""


def against_scoring() -> list[list[str]]:
    rows = []
    for name in ("News20", "URL_iscx", "R8"):
        data = load(name)
        detector, X = REPEN(random_state=0, n_jobs=-1).fit(data.X), data.X[:ROWS]
        explaining, scoring, ratio = side_by_side(partial(detector.explain, X), partial(detector.outlier_score, X))
        verdict = reached(ratio, 60, at_most=True) if name == "News20" else ""
        rows.append([name, f"{explaining * 1e3:.0f} ms", f"{scoring * 1e3:.1f} ms", f"{ratio:.0f} x", verdict])
    return rows


def by_width() -> list[list[str]]:
    rows = []
    for width in WIDTHS:
        X, _ = make_ultrahigh(sized(5_000, 100), width, random_state=0)
        detector = REPEN(n_epochs=5, random_state=0, n_jobs=-1).fit(X)
        detector.explain(X[:64])
        times = []
        for _ in range(sized(5, 1)):
            started = time.perf_counter()
            detector.explain(X[:ROWS])
            times.append(time.perf_counter() - started)
        rows.append([f"{width:,}", f"{np.median(times) * 1e3:.0f} ms"])
    return rows


def table_of(width: int) -> tuple[REPEN, np.ndarray]:
    """Rows of `width` numbers, as of genes; three of them give the outliers away."""
    rng = np.random.default_rng(0)
    X = rng.random((500, width))
    X[-10:, :3] += 3
    return REPEN(random_state=0, n_jobs=-1).fit(X), X


def shap_values(width: int, row: int, n_background: int = 1, into: Any = None) -> np.ndarray:
    import shap

    detector, X = table_of(width)
    explainer = shap.KernelExplainer(detector.outlier_score, X[:n_background])
    values = explainer.shap_values(X[row : row + 1], silent=True)[0]
    if into is not None:
        into.put(True)
    return values


def agreement() -> list[list[str]]:
    detector, X = table_of(100)
    ranks, first = [], 0
    for row in range(490, 500):
        ours = np.zeros(100)
        for reason in detector.explain(X[[row]], top=100)[0].reasons:
            ours[reason.column] = reason.contribution
        theirs = shap_values(100, row, 20)
        ranks.append(spearmanr(ours, theirs)[0])
        first += set(np.argsort(-ours)[:3]) == set(np.argsort(-theirs)[:3])
    return [[f"{np.mean(ranks):.2f} ± {np.std(ranks):.2f}", f"{first} of 10"]]


def shap_times() -> list[list[str]]:
    rows = []
    for width in SHAP_WIDTHS:
        detector, X = table_of(width)
        started = time.perf_counter()
        detector.explain(X[-1:])
        ours = time.perf_counter() - started
        context = multiprocessing.get_context("spawn")
        done, started = context.Queue(), time.perf_counter()
        process = context.Process(target=shap_values, args=(width, 499, 1, done))
        process.start()
        process.join(PATIENCE)
        taken = f"{time.perf_counter() - started:.1f} s" if process.exitcode == 0 else f"stopped after {PATIENCE:.0f} s"
        process.kill()
        rows.append([f"{width:,}", f"{ours * 1e3:.1f} ms", taken])
    return rows


def main() -> None:
    print_table(
        f"{ROWS} rows explained, against scoring them",
        ["data", "explain", "score", "ratio", "reached"],
        against_scoring(),
    )
    print_table(f"{ROWS} rows of about 100 non-zeros explained", ["features", "time"], by_width())
    if IS_TINY and importlib.util.find_spec("shap") is None:  # which only the full benchmark installs
        return
    print_table(
        "Agreement with SHAP at D = 100, ten outliers", ["rank correlation", "same three strongest"], agreement()
    )
    print_table(
        "One row, with the start of SHAP's process and a fit of 500 rows", ["features", "ours", "SHAP"], shap_times()
    )


if __name__ == "__main__":
    main()
