"""Planted attacks among the first lines of a generated web server's log, ranked as the command does it.

python -m benchmarks.needles [--seeds 5]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from ramodo import REPEN, Consensus, Sp
from ramodo.datasets import make_access_log
from ramodo.formats import How, text

from .sizes import sized
from .table import print_table

DETECTORS = {"Consensus": Consensus, "Sp": Sp, "REPEN": REPEN}


def needles(seeds: int) -> dict[str, npt.NDArray[Any]]:
    """Attacks in the top 20 and in the top 100 of each log."""
    found = {name: np.zeros((seeds, 2)) for name in DETECTORS}
    for seed in range(seeds):
        log = make_access_log(sized(30_000, 300), sized(20, 5), random_state=seed)
        X = text.as_table(log.lines, How(n_threads=2)).X
        for name, detector in DETECTORS.items():
            scores = detector(random_state=seed, n_jobs=-1).fit(X).outlier_scores_
            order = np.argsort(-scores, kind="stable")
            found[name][seed] = [log.y[order[:n]].sum() for n in (20, 100)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=sized(5, 1))
    seeds = parser.parse_args().seeds
    rows = [[name, *[f"{value:.1f}" for value in counts.mean(axis=0)]] for name, counts in needles(seeds).items()]
    title = f"20 attacks in a generated log of 30,000 lines, mean of {seeds} logs"
    print_table(title, ["detector", "in the top 20", "in the top 100"], rows)


if __name__ == "__main__":
    main()
