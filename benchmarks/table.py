"""What the benchmarks share: a Markdown table, a stopwatch, and whether a figure was reached."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .sizes import IS_TINY, sized


def print_table(title: str, header: list[str], rows: Iterable[list[Any]]) -> None:
    """One Markdown table under a heading, with the machine it was measured on."""
    mark = "a tiny run, whose figures mean nothing; " if IS_TINY else ""
    print(f"\n### {title}\n\n{mark}{machine()}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def print_entries(group: str, command: str, header: list[str], rows: Iterable[list[Any]]) -> None:
    """The same table as entries of docs/numbers.toml, for who updates it."""
    from ramodo import __version__

    print(f'\n[{group}]\ncommand = "{command}"\nversion = "{__version__}"')
    for first, *cells in rows:
        values = [f'"{name}" = "{cell}"' for name, cell in zip(header[1:], cells, strict=True)]
        print("\n".join([f'\n[{group}."{first}"]', *values]))


def machine() -> str:
    """Cores and versions, in a line."""
    import scipy
    import sklearn

    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )


def seconds(function: Callable[[], Any], repeats: int = 3) -> float:
    """The fastest of a few runs."""
    best = float("inf")
    for _ in range(sized(repeats, 1)):
        started = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - started)
    return best


def side_by_side(first: Callable[[], Any], second: Callable[[], Any], repeats: int = 7) -> tuple[float, float, float]:
    """Median seconds of two functions run in turn, and the median of first / second over the turns.

    Turns share what the machine is doing at the time, so their ratio is steadier than either time.
    """
    first(), second()
    turns = [(seconds(first, 1), seconds(second, 1)) for _ in range(sized(repeats, 1))]
    ratios = [a / b for a, b in turns]
    return float(np.median([a for a, _ in turns])), float(np.median([b for _, b in turns])), float(np.median(ratios))


def reached(value: float, target: float, *, at_most: bool = False) -> str:
    """yes or no, with the target."""
    fine = value <= target if at_most else value >= target
    return f"{'yes' if fine else 'NO'} ({'<=' if at_most else '>='} {target:g})"
