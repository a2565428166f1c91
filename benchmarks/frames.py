"""How long a frame of numbers and categories takes to become a matrix, and how much memory, beside scikit-learn.

Each reader runs in a process of its own, for its memory. The frame has 20 columns of numbers and 10 of categories with
20 values each; memory is what the process has at most beyond the frame.

python -m benchmarks.frames
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from typing import Any

import numpy as np

from .sizes import sized
from .table import print_entries, print_table, reached

ROWS = sized((100_000, 1_000_000), (1_000,))
NUMBERS, CATEGORIES, VALUES = 20, 10, 20
READERS = ("ramodo", "scikit-learn")


def frame_of(n_rows: int) -> Any:
    """Numbers of several sizes, and text."""
    import pandas as pd

    rng = np.random.default_rng(0)
    names = np.array([f"value {number}" for number in range(VALUES)], dtype=object)
    columns = {f"number {i}": rng.normal(0, 10.0 ** (i % 4), n_rows) for i in range(NUMBERS)}
    return pd.DataFrame(columns | {f"text {i}": names[rng.integers(VALUES, size=n_rows)] for i in range(CATEGORIES)})


def reader_of(name: str, frame: Any) -> Any:
    """A transformer of either library."""
    if name == "ramodo":
        from ramodo import TableReader

        return TableReader(scale="standard")
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers, texts = list(frame.columns[:NUMBERS]), list(frame.columns[NUMBERS:])
    return ColumnTransformer([("numbers", StandardScaler(), numbers), ("texts", OneHotEncoder(), texts)])


def measured(name: str, n_rows: int) -> tuple[float, float, float]:
    """Seconds, the fastest of 3; megabytes beyond the frame; megabytes of the frame."""
    frame = frame_of(n_rows)
    reader_of(name, frame).fit_transform(frame[:100])  # imports
    before, seconds = _megabytes(), []
    for _ in range(sized(3, 1)):
        started = time.perf_counter()
        reader_of(name, frame).fit_transform(frame)
        seconds.append(time.perf_counter() - started)
    return min(seconds), _megabytes() - before, frame.memory_usage().sum() / 1e6


def _megabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    rows, fresh = [], multiprocessing.get_context("spawn")
    for n_rows in ROWS:
        with fresh.Pool(1, maxtasksperchild=1) as pool:
            (ours, memory, size), (theirs, their_memory, _) = (pool.apply(measured, (name, n_rows)) for name in READERS)
        cells = [f"{ours:.2f} s", f"{theirs:.2f} s", f"{ours / theirs:.2f} x"]
        cells += [f"{size:.0f} MB", f"{memory:.0f} MB", f"{their_memory:.0f} MB"]
        rows.append([f"{n_rows:,} x {NUMBERS + CATEGORIES}", *cells, reached(ours / theirs, 2, at_most=True)])
    header = [
        "rows x columns",
        "ramodo",
        "scikit-learn",
        "ratio",
        "frame",
        "memory",
        "scikit-learn's memory",
        "reached",
    ]
    print_table("Frames: TableReader and ColumnTransformer(StandardScaler, OneHotEncoder)", header, rows)
    print_entries("frames", "make bench-frames", "fastest of 3", header[:-1], [row[:-1] for row in rows])


if __name__ == "__main__":
    main()
