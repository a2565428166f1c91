"""A day's log from the file to its ranking: seconds and memory of 100,000 to 10,000,000 lines, beside scikit-learn's.

python -m benchmarks.million

The lines are those of generated logs (ramodo.datasets.make_access_log), a million lines each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ramodo.datasets import make_access_log

from .sizes import sized
from .table import print_table, reached

LINES = sized((100_000, 1_000_000, 10_000_000), (200, 400))
PEER = sized(1_000_000, 200)
"""Lines that scikit-learn is given."""

AT_ONCE = 1_000_000
MOST_SECONDS, MOST_MEMORY = 90, 2.0
"""Of a million lines."""
MOST_MEMORY_OF_ALL = 4.0
EXPONENT = 1.05

OURS = "import sys; from ramodo.cli import main; sys.argv = ['ramodo', 'detect', sys.argv[1], '--quiet']; main()"

THEIRS = f"""
import sys
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
steps = TfidfVectorizer(), TruncatedSVD({sized(100, 2)}, random_state=0), IsolationForest(random_state=0, n_jobs=2)
with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line for line in file]
model = make_pipeline(*steps).fit(lines)
model.score_samples(lines)
"""


class Taken(NamedTuple):
    """Seconds on the clock and of all cores, and gigabytes at the peak."""

    seconds: float
    cpu: float
    memory: float


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "access.log"
        rows, taken = list[list[str]](), list[Taken]()
        for n in LINES:
            write(path, n)
            taken.append(measured(OURS, path))
            rows.append([f"{n:,} lines", *shown(taken[-1]), "; ".join(asked(n, taken[-1]))])
            if n == PEER:
                rows.append([f"{n:,} lines, TF-IDF, SVD, isolation forest", *shown(measured(THEIRS, path)), ""])
    exponent = float(np.polyfit(np.log(LINES), np.log([each.cpu for each in taken]), 1)[0])
    rows.append(
        ["growth of CPU seconds: exponent", "", f"{exponent:.2f}", "", reached(exponent, EXPONENT, at_most=True)]
    )
    print_table("A day's log, from the file to its ranking", ["what", "seconds", "CPU seconds", "GB", "reached"], rows)


def write(path: Path, n: int) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for seed, first in enumerate(range(0, n, AT_ONCE)):
            log = make_access_log(min(AT_ONCE, n - first), 20, random_state=seed)
            file.writelines(f"{line}\n" for line in log.lines)


def measured(program: str, path: Path) -> Taken:
    """The program in a process of its own."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"a program that was measured ended with {process.returncode}")
    return Taken(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def shown(taken: Taken) -> list[str]:
    return [f"{taken.seconds:.0f}", f"{taken.cpu:.0f}", f"{taken.memory:.2f}"]


def asked(n: int, taken: Taken) -> list[str]:
    """Return which targets for this number of lines were reached."""
    if n == PEER:
        return [reached(taken.seconds, MOST_SECONDS, at_most=True), reached(taken.memory, MOST_MEMORY, at_most=True)]
    return [reached(taken.memory, MOST_MEMORY_OF_ALL, at_most=True)] if n == LINES[-1] else []


if __name__ == "__main__":
    main()
