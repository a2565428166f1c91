"""Seconds from the fifth label to the new ranking, in a session that learns in the background after every 5.

Five outliers are labelled, which takes longest: with two or more a regression is learned beside the means, and again
for each part of them that is left out. Beside it, the fit without labels, and until kinds of outliers are found too.

python -m benchmarks.triage_refit [--rows 200000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ramodo import Consensus
from ramodo.datasets import make_ultrahigh
from ramodo.triage import TriageSession

from .sizes import load, sized
from .table import print_table, reached

EVERY = 5
N_FEATURES, ROW_LENGTH = sized(1_000_000, 2000), sized(100, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=sized(200_000, 300))
    arguments = parser.parse_args()
    news = load("News20")
    made = make_ultrahigh(arguments.rows, N_FEATURES, row_length=ROW_LENGTH, outlier_fraction=0.02, random_state=0)
    sets = [("News20", news.X, news.y, 2.0), ("generated", *made, 5.0)]
    print_table(
        "From the fifth label to the new ranking, in seconds",
        ["set", "rows", "features", "fit", "ranking", "and kinds", "reached"],
        [_measured(*one) for one in sets],
    )


def _measured(name: str, X: Any, y: Any, target: float) -> list[Any]:
    started = time.perf_counter()
    detector = Consensus(random_state=0, n_jobs=2).fit(X)
    fitted = time.perf_counter() - started
    outliers = np.flatnonzero(np.asarray(y) == 1)
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "labels.db")
        with TriageSession(detector, X, store=store, refit_every=EVERY) as session:
            for row in outliers[:EVERY].tolist():
                started = time.perf_counter()
                session.label(row, 1, advance=False)
            while session.version == 0 and not session.status.error:
                time.sleep(0.001)
            ranked = time.perf_counter() - started
            session.wait()
            if session.status.error:
                raise RuntimeError(session.status.error)
            whole = time.perf_counter() - started
    cells = [f"{seconds:.2f}" for seconds in (fitted, ranked, whole)]
    return [name, f"{X.shape[0]:,}", f"{X.shape[1]:,}", *cells, reached(ranked, sized(target, 60.0), at_most=True)]


if __name__ == "__main__":
    main()
