"""What each cut-off of Consensus flags: of noise, of planted outliers, and on the wide sets.

python -m benchmarks.cutoffs [--seeds 5]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ramodo import Consensus
from ramodo.stages.assembling import cutoff_of

from .discoveries import N_ROWS, NOISE, planted
from .sizes import sized
from .suite import sets as all_sets
from .table import print_table

RULES = {"more than chance explains": "chance", "Cantelli": "cantelli", "the highest 2 %": 0.02}

COUNTS = sized((0, 1, 5, 20, 50), (0, 5))


def flagged(X: Any, seed: int) -> Iterator[Any]:
    """The rows that each rule flags, by one fit: the rules differ in their threshold alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = Consensus(cutoff="chance", random_state=seed).fit(X)
    scores = detector.outlier_scores_
    for rule in RULES.values():
        yield scores >= (detector.threshold_ if rule == "chance" else cutoff_of(rule).cutoff(scores))


def shares(found: Any, truth: Any) -> list[float]:
    """Flagged rows, outliers among them, flagged ones among the outliers; NaN where there are none."""
    hits = float((found & truth).sum())
    return [float(found.mean()), hits / found.sum() if found.any() else np.nan, hits / max(1, truth.sum())]


def noise(seeds: int) -> None:
    rows = []
    for kind, make in NOISE.items():
        for count in COUNTS:
            each = []
            for seed in range(seeds):
                rng = np.random.default_rng([seed, count])
                X, truth = planted(kind, make(rng), count / N_ROWS, True, rng)
                each.append([((found & ~truth).mean(), found[truth].mean()) for found in flagged(X, seed)])
            cells = [f"{100 * false:.2f} % / {hit:.2f}" for false, hit in np.mean(each, axis=0)] if count else []
            cells = cells or [f"{100 * false:.2f} %" for false in np.mean(each, axis=0)[:, 0]]
            rows.append([f"{kind}, {count} planted", *cells])
    print_table(f"False flags / outliers found, {N_ROWS} rows, {seeds} seeds", ["data", *RULES], rows)


def sets() -> None:
    wide = (one.rows() for one in all_sets() if one.collection != "small")
    found = [[shares(one, y == 1) for one in flagged(X, 0)] for X, y in wide]
    means = np.nanmean(np.array(found), axis=0)
    nothing = np.isnan(np.array(found)[:, :, 1]).sum(axis=0)
    rows = [
        [name, f"{100 * flags:.2f} %", "-" if np.isnan(precision) else f"{precision:.2f}", f"{recall:.2f}", none]
        for name, (flags, precision, recall), none in zip(RULES, means, nothing, strict=True)
    ]
    header = ["cut-off", "flagged", "precision where any is", "recall", "sets without a flag"]
    print_table(f"Means over {len(found)} wide sets", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=sized(5, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noise(parser.parse_args().seeds)
        sets()


if __name__ == "__main__":
    main()
