"""What is to be found in logs, among the first lines as `ramodo detect FILE` ranks them, without options.

Real logs with known lines, from the folder of prepared sets; and a generated web server's log with planted attacks.

python -m benchmarks.needles [--seeds 5]
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from ramodo.datasets import make_access_log
from ramodo.paper.datasets.prepared import data_folder

from .sizes import IS_TINY, sized
from .table import print_entries, print_table


def scores_of(path: Path, *options: str) -> npt.NDArray[Any]:
    """The score of each line, as the command writes it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scores.csv"
        command = [sys.executable, "-m", "ramodo", "detect", str(path), "-o", str(out), "--quiet", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(out, encoding="utf-8", newline="") as file:
            return np.array([float(row["score"]) for row in csv.DictReader(file)])


def found(scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> list[Any]:
    """How many of the known lines are in the top 20 and in the top 100, and the AUC."""
    order = np.argsort(-scores, kind="stable")
    return [*[int(truth[order[:n]].sum()) for n in (20, 100)], f"{roc_auc_score(truth, scores):.3f}".lstrip("0")]


def real() -> Iterator[list[Any]]:
    """A row for each log whose lines to find are known."""
    folder = data_folder()
    known = [] if folder is None or IS_TINY else sorted((folder / "logs").glob("*.outliers"))
    for numbers in known:
        data = next(path for path in numbers.parent.glob(f"{numbers.stem}*.gz"))
        if numbers.stem == "today.log":
            continue  # scored by the model of another day
        scores = scores_of(data)
        truth = np.zeros(len(scores), dtype=bool)
        truth[np.loadtxt(numbers, dtype=int)] = True
        yield [numbers.name.partition(".")[0], len(scores), int(truth.sum()), *found(scores, truth)]


def generated(seeds: int) -> npt.NDArray[Any]:
    """Attacks in the top 20 and in the top 100 of each log, and the AUC."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(seeds):
            log = make_access_log(sized(30_000, 300), sized(20, 5), random_state=seed)
            path = Path(folder) / "access.log"
            path.write_text("".join(f"{line}\n" for line in log.lines), encoding="utf-8")
            rows.append([float(value) for value in found(scores_of(path, "--seed", str(seed)), log.y)])
    return np.array(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=sized(5, 1))
    seeds = parser.parse_args().seeds
    header = ["log", "lines", "to find", "in the top 20", "in the top 100", "AUC"]
    rows = list(real())
    means = generated(seeds).mean(axis=0)
    rows.append(
        [f"generated, {seeds} logs", 30_000, 20, f"{means[0]:.1f}", f"{means[1]:.1f}", f"{means[2]:.3f}".lstrip("0")]
    )
    print_table("Lines found, as ranked by the command without options", header, rows)
    print_entries(
        "needles", "make bench-needles", f"seed 0 of real logs, means of {seeds} generated ones", header, rows
    )


if __name__ == "__main__":
    main()
