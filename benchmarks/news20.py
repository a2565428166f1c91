"""The whole fit and score of News20 (1.35 million features), stage by stage.

python -m benchmarks.news20
"""

from __future__ import annotations

from ramodo import REPEN

from .sizes import load
from .table import print_table, reached


def main() -> None:
    X = load("News20").X
    fits = [REPEN(random_state=seed, n_jobs=-1).fit(X).stage_seconds_ for seed in range(3)]
    best = min(fits, key=lambda stages: sum(stages.values()))
    total = sum(best.values())
    stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in best.items())
    print_table(
        "News20, whole fit and score (fastest of 3)",
        ["shape", "seconds", "stages", "reached"],
        [[f"{X.shape[0]:,} x {X.shape[1]:,}", f"{total:.2f}", stages, reached(total, 5, at_most=True)]],
    )


if __name__ == "__main__":
    main()
