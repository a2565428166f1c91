"""fit + score of the Internet advertisements against DeepOD's REPEN, each in its own environment, in one run.

    python -m benchmarks.peers

DeepOD 0.4.1 needs numpy < 2 and torch; a virtual environment for it is made under build/ at the first call.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.paper.datasets import LabeledData
from ramodo.paper.experiments import deepod

from .sizes import IS_TINY, load
from .table import print_table, reached, seconds


def main() -> None:
    data = load("AD_dedup")
    theirs, scores = _deepods(data)
    detector = REPEN(random_state=0, n_jobs=-1)
    ours = seconds(lambda: detector.fit(data.X).outlier_score(data.X), 5)
    alone = REPEN(random_state=0, n_jobs=1)
    one = seconds(lambda: alone.fit(data.X).outlier_score(data.X), 5)
    ratio = theirs / ours
    print_table(
        "AD_dedup (1,966 x 1,555), fit + score with the paper's settings",
        ["implementation", "seconds", "AUC", "times faster", "reached"],
        [
            ["DeepOD 0.4.1 REPEN", f"{theirs:.2f}", f"{roc_auc_score(data.y, scores):.3f}", "1", "-"],
            [
                "ramodo, all cores",
                f"{ours:.3f}",
                f"{roc_auc_score(data.y, detector.outlier_scores_):.3f}",
                f"{ratio:.0f} x",
                reached(ratio, 150),
            ],
            ["ramodo, one thread", f"{one:.3f}", "same", f"{theirs / one:.0f} x", reached(theirs / one, 150)],
        ],
    )


def _deepods(data: LabeledData) -> tuple[float, Any]:
    """DeepOD's seconds and scores; a tiny run does without where its environment was not made, which takes minutes."""
    if IS_TINY and not deepod.is_installed():
        return 1.0, data.y
    deepod.install()
    return deepod.deepod_scores(data.X.toarray(), 0)


if __name__ == "__main__":
    main()
