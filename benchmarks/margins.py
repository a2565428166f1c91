"""How much the number of typical distances in the margin "auto" matters, on wide sets that train quickly.

python -m benchmarks.margins [--seeds 5]
"""

from __future__ import annotations

import argparse
from functools import partial
from unittest import mock

import numpy as np
from sklearn.metrics import roc_auc_score

from ramodo import REPEN, Consensus
from ramodo.stages import ranking_loss

from .sizes import load, sized
from .table import print_table

SETS = ("R8", "R8_counts", "LC", "AD_dedup", "dorothea", "SMSSpam", "Chowdary", "adb_musk")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=sized(5, 1))
    seeds = parser.parse_args().seeds
    sets = [load(name) for name in SETS[: sized(len(SETS), 1)]]
    rows = []
    for relative in sized((30, 100, 300, 1000, 3000), (100, 300)):
        with mock.patch.object(ranking_loss, "RELATIVE", float(relative)):
            found = [
                [
                    roc_auc_score(data.y, make(random_state=s, n_jobs=-1).fit(data.X).outlier_scores_)
                    for s in range(seeds)
                ]
                for make in (Consensus, partial(REPEN, margin="auto"))
                for data in sets
            ]
        means = np.mean(found, axis=1).reshape(2, -1).mean(axis=1)
        rows.append([relative, *[f"{mean:.3f}" for mean in means]])
    print_table(
        f"Mean AUC by the margin, {len(sets)} sets, {seeds} seeds", ["typical distances", "Consensus", "REPEN"], rows
    )


if __name__ == "__main__":
    main()
