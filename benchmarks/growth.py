"""How time grows with rows and with features: exponents of a power law through measured times.

python -m benchmarks.growth
"""

from __future__ import annotations

import numpy as np

from ramodo import REPEN
from ramodo.datasets import make_ultrahigh

from .sizes import sized
from .table import print_table, reached, seconds

ROWS = sized([1_000, 3_000, 10_000, 30_000, 100_000], [50, 100])
FEATURES = sized([10_000, 100_000, 1_000_000, 10_000_000, 100_000_000], [10_000, 20_000])
N, D = sized(10_000, 100), 10_000
"""Rows while features grow, and features while rows do."""


def fit_seconds(n_rows: int, n_features: int) -> float:
    X, _ = make_ultrahigh(n_rows, n_features, random_state=0)
    return seconds(lambda: REPEN(random_state=0, n_jobs=-1).fit(X), 2)


def exponent(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def main() -> None:
    by_rows = [fit_seconds(n, D) for n in ROWS]
    by_features = [fit_seconds(N, d) for d in FEATURES]
    print_table(
        "Growth of the whole fit and score, about 100 non-zeros a row",
        ["in", "sizes", "seconds", "exponent", "reached"],
        [
            [
                f"N, at D = {D:,}",
                ", ".join(f"{n:,}" for n in ROWS),
                ", ".join(f"{t:.2f}" for t in by_rows),
                f"{exponent(ROWS, by_rows):.2f}",
                reached(exponent(ROWS, by_rows), 1.05, at_most=True),
            ],
            [
                f"D, at N = {N:,}",
                ", ".join(f"{d:,}" for d in FEATURES),
                ", ".join(f"{t:.2f}" for t in by_features),
                f"{exponent(FEATURES, by_features):.2f}",
                reached(exponent(FEATURES, by_features), 0.2, at_most=True),
            ],
        ],
    )


if __name__ == "__main__":
    main()
