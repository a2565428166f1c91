"""What the framework costs: RAMODO() against the same kernels called one after the other, and warm starts.

python -m benchmarks.framework [--repeats 7]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ramodo import RAMODO, REPEN, kernels
from ramodo.data.blocks import SparseRows
from ramodo.data.validation import open_with_facts
from ramodo.model.representation import initial_limit
from ramodo.stages.protocols import Pools
from ramodo.stages.scoring import Sp
from ramodo.stages.thresholding import Cantelli
from ramodo.stages.triplets import TripletSampler

from .sizes import load, sized
from .table import print_table, reached, side_by_side

THREADS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=sized(7, 1))
    repeats = parser.parse_args().repeats
    rows = []
    for name in ("AD_dedup", "R8", "News20"):
        X = load(name).X
        assert np.array_equal(bare(X), framework(X)), "not the same bits"
        many = repeats if name == "News20" else 5 * repeats
        ours, core, ratio = side_by_side(partial(framework, X), partial(bare, X), many)
        rows.append([name, f"{core:.4f}", f"{ours:.4f}", f"{ratio:.3f}", reached(ratio, 1.03, at_most=True)])
    print_table(
        "RAMODO() against the bare kernels: same bits; median seconds of fit and score",
        ["set", "bare kernels s", "RAMODO() s", "ratio", "reached"],
        rows,
    )
    print_table(
        "A warm refit with 5 more labelled outliers (25 after 20) against the first fit, News20",
        ["first fit s", "refit s", "ratio", "reached"],
        [_warm(repeats)],
    )


def framework(X: Any) -> Any:
    return RAMODO(random_state=0, n_jobs=THREADS).fit(X).outlier_scores_


def bare(X: Any) -> Any:
    """REPEN with the paper's settings as a script would write it, over the kernels."""
    seeds = np.random.SeedSequence(0).spawn(4)
    rows, facts = open_with_facts(X, n_threads=THREADS)
    assert isinstance(rows, SparseRows)
    everything, scorer = np.arange(rows.n_rows), Sp()
    drawn = scorer.draw(everything, np.random.default_rng(seeds[0]))
    initial = kernels.SparseSp(rows.take(drawn.ravel()), 8, scorer.phi).score(rows, THREADS)
    candidates = Cantelli().split(initial, np.zeros(rows.n_rows, dtype=np.int8))
    inliers, outliers = candidates.inliers, candidates.outliers
    pools = Pools(inliers, initial[inliers], outliers, initial[outliers], np.empty(0, dtype=np.int64))
    n = min(rows.n_rows, 5000)
    epochs = TripletSampler().draw(pools, 30, n, 256, np.random.default_rng(seeds[1]))
    seed, limit = int(seeds[2].generate_state(1, np.uint64)[0]), initial_limit(facts.n_seen, 20)
    named = np.unique(epochs)
    trainer = kernels.Trainer(
        rows, named, width=20, n_queries=1, k=1, average=False, margin=1000.0, slope=0.0, scale=1.0, seed=seed,
        limit=limit, learning_rate=1.0, rho=0.95, epsilon=1e-7, n_threads=THREADS,
    )  # fmt: skip
    for epoch in np.searchsorted(named, epochs):
        trainer.run(epoch, 256)
    mapped = kernels.Projection(*trainer.finish(), rows.n_features, seed, limit)(rows, THREADS)
    references = mapped[scorer.draw(everything, np.random.default_rng(seeds[3])).ravel()]
    return kernels.SmallSp(references, 8, scorer.phi).score(mapped, THREADS)


def _warm(repeats: int) -> list[str]:
    data = load("News20")
    assert data.pool is not None
    known = data.pool[np.random.default_rng(0).choice(data.pool.shape[0], 25, replace=False)]
    times = []
    for _ in range(repeats):
        detector = REPEN(warm_start=True, random_state=0, n_jobs=-1)
        first = _seconds(partial(detector.fit, data.X, labeled_outliers=known[:20]))
        times.append((first, _seconds(partial(detector.fit, data.X, labeled_outliers=known))))
    first, again = np.median(times, axis=0)
    ratio = float(np.median([b / a for a, b in times]))
    return [f"{first:.2f}", f"{again:.2f}", f"{ratio:.3f}", reached(ratio, 1 / 3, at_most=True)]


def _seconds(function: Callable[[], Any]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
