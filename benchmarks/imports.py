"""How long an import takes, in a fresh interpreter.

python -m benchmarks.imports
"""

from __future__ import annotations

import subprocess
import sys

from .table import print_table, reached, seconds


def fresh(code: str) -> float:
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)


def main() -> None:
    nothing = fresh("pass")
    ours = fresh("import ramodo") - nothing
    full = fresh("from ramodo import REPEN") - nothing
    sklearn = fresh("from sklearn.base import BaseEstimator; import scipy.sparse") - nothing
    print_table(
        "Import, fastest of 5, less the interpreter's own start",
        ["what", "seconds", "reached"],
        [
            ["import ramodo", f"{ours:.3f}", reached(ours, 0.5, at_most=True)],
            ["from ramodo import REPEN", f"{full:.3f}", "-"],
            ["scikit-learn and scipy.sparse alone", f"{sklearn:.3f}", "-"],
        ],
    )


if __name__ == "__main__":
    main()
