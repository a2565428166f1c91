"""Worker processes of a Dask cluster against threads of one process; what travels, what fits, what more workers bring.

python -m benchmarks.scale
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from ramodo import REPEN, Consensus, Sp
from ramodo.data.validation import open_rows
from ramodo.engines.dask_collections import rows_of
from ramodo.engines.dask_rows import Moved

from .shards import documents, on_workers, shard, together, write
from .sizes import IS_TINY, sized
from .table import print_entries, print_table, reached, side_by_side

N_FEATURES, LENGTH, N_SHARDS = sized(1_000_000, 2000), sized(100, 20), sized(8, 2)
N_ROWS, MANY_ROWS = sized(100_000, 800), sized(1_000_000, 1600)
PARTITIONS = (2, 8)
"""One for each worker, and many small ones."""
REPEATS = sized(5, 1)
SHORT_REPEATS = sized(15, 1)
"""Of what takes a tenth of a second."""

SHAPES = (
    ("documents", documents, sized(100_000, 2000), sized(300, 30)),
    ("random numbers", shard, N_FEATURES, LENGTH),
)
"""Words by Zipf's law, each there or not, as in text; and random values, the hardest data to compress."""


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    """Processes with one thread each; in a tiny run threads of this one, which start at once."""
    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "processes": not IS_TINY}
    options |= {} if IS_TINY else {"host": "127.0.0.1"}
    with (
        LocalCluster(n_workers=n_workers, memory_limit=0, **options) as cluster,
        Client(cluster, set_as_default=False, direct_to_workers=True) as client,
    ):
        yield client


def main() -> None:
    rows: list[list[str]] = []
    with cluster_of(2) as two:
        rows += [line for n in PARTITIONS for line in _against_threads(two, n)]
        with cluster_of(1) as one:
            _scaling(one, two, rows)
        model = _cost_model(two)
        moved = [line for shape in SHAPES for line in _moved(two, *shape)]
    with tempfile.TemporaryDirectory() as folder:
        rows += _limited(Path(folder))
    header = ["what", "measured", "peer", "reached"]
    print_table("Scale", header, rows)
    travels = ["what", "data", "models", "rows", "scores", "facts", "share", "reached"]
    print_table("Bytes that travel at 10^6 rows, 2 workers", travels, moved)
    costs = ["what", "read", "moved", "moved, by the model", "measured", "seconds, by the model"]
    print_table("Cost model", costs, model)
    turns = f"{REPEATS} turns"
    for name, runs, columns, lines in (
        ("scale", turns, header, rows),
        ("moved", "1 seed", travels, moved),
        ("costs", turns, costs, model),
    ):
        print_entries(name, "make bench-scale", runs, columns, lines)


def _scaling(one: Any, two: Any, rows: list[list[str]]) -> None:
    """Ranking and scoring, with one worker and with two; beside it what the second core is worth, without a cluster."""
    X = together(N_SHARDS, N_ROWS, N_FEATURES, LENGTH)
    model, here = REPEN(n_epochs=2, random_state=0).fit(X).model_, open_rows(X)
    bound = side_by_side(lambda: model.score(here, 1), lambda: model.score(here, 2), REPEATS)[2]
    score = _Scoring(model)
    rank = Sp(random_state=0).ranking(open_rows(X), np.arange(N_ROWS), np.random.default_rng(0), 1)

    def both(client: Any) -> Callable[[], None]:
        data = on_workers(client, N_SHARDS, MANY_ROWS, N_FEATURES, LENGTH)
        with client.as_current():
            held = rows_of(data)
            held.gather(_lengths)  # from now on blocks stay

        def run() -> None:
            with client.as_current():
                held.gather(rank)
                held.gather(score)

        return run

    alone, together_, ratio = side_by_side(both(one), both(two), REPEATS)
    rows.append(
        [
            f"ranking and scoring of {MANY_ROWS:,} rows, 2 workers",
            f"{together_:.2f} s",
            f"1 worker {alone:.2f} s; 2 threads of one process are worth {bound:.2f} here",
            f"{ratio:.2f} x: {reached(ratio, 1.7)}",
        ]
    )


def _against_threads(client: Any, n_partitions: int) -> list[list[str]]:
    """Each fit has a seed of its own: workers would know the model of another with the same."""
    X = together(n_partitions, N_ROWS, N_FEATURES, LENGTH)
    data = on_workers(client, n_partitions, N_ROWS, N_FEATURES, LENGTH)
    detector, seeds_there, seeds_here = REPEN(random_state=0, n_jobs=2).fit(X), count(), count()

    def score_there() -> Any:
        with client.as_current():
            return np.asarray(detector.set_params(n_jobs=1).outlier_score(data))

    def score_here() -> Any:
        return detector.set_params(n_jobs=2).outlier_score(X)

    def fit_there() -> Any:
        with client.as_current():
            return np.asarray(REPEN(random_state=next(seeds_there), n_jobs=2).fit(data).outlier_score(data))

    def fit_here() -> Any:
        return REPEN(random_state=next(seeds_here), n_jobs=2).fit(X).outlier_score(X)

    lines = []
    for what, there, here, limit, repeats in (
        ("score", score_there, score_here, 1.3, SHORT_REPEATS),
        ("fit and score", fit_there, fit_here, 1.6, REPEATS),
    ):
        assert there().tobytes() == here().tobytes()
        ours, threads, ratio = side_by_side(there, here, repeats)
        lines.append(
            [
                f"REPEN, {what} {N_ROWS:,} rows in {n_partitions} partitions, 2 workers, the same bits",
                f"{ours:.2f} s",
                f"2 threads of one process {threads:.2f} s",
                f"{ratio:.2f} x: {reached(ratio, limit, at_most=True)}",
            ]
        )
    return lines


def _moved(client: Any, what: str, make: Any, n_features: int, length: int) -> list[list[str]]:
    """What a fit moves, and what scoring does with a model that workers have not seen, and then with the same again."""
    data = on_workers(client, 2 * N_SHARDS, MANY_ROWS, n_features, length, make)
    with client.as_current():
        lines = []
        for detector in (Consensus(random_state=0, n_jobs=2), REPEN(random_state=0, n_jobs=2)):
            held = rows_of(data)
            detector.fit(held)
            lines.append(_line(f"fit of {type(detector).__name__}, {what}", held))
        for name, model in (("score after it", detector.model_), ("score with another model", _copy(detector))):
            held.moved = Moved()
            held.gather(_Scoring(model))
            lines.append(_line(f"{name}, {what}", held))
    return lines


def _copy(detector: Any) -> Any:
    """A model whose weights no worker has."""
    (term,) = detector.model_.terms
    first = replace(term.representation.first, weights=term.representation.first.weights * np.float32(1.5))
    return replace(detector.model_, terms=(replace(term, representation=replace(term.representation, first=first)),))


def _line(what: str, held: Any) -> list[str]:
    moved, whole = held.moved, held.n_bytes
    share = moved.total / whole
    sizes = [f"{n / 1e6:,.1f} MB" for n in (whole, moved.functions, moved.rows, moved.values, moved.looks)]
    return [what, *sizes, f"{share:.1%}", reached(100 * share, 6, at_most=True)]


class _Scoring:
    """Scores of a block, on one thread."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __call__(self, block: Any) -> Any:
        return self._model.score_block(block, 1)


def _limited(place: Path) -> list[list[str]]:
    """Shards of four times the memory of each process."""
    n_shards = sized(64, 4)
    n_bytes = write(place, n_shards, sized(16_000, 200), sized(50_000, 2000), sized(300, 20))
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.small_workers", str(place), str(n_bytes)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"},
    )
    what = "fit and score shards of 4 x the memory limit of each process"
    if run.returncode:
        return [[what, run.stderr.strip().splitlines()[-1][:80], "", "NO"]]
    took, whole, limit, worker, own = run.stdout.strip().splitlines()[-1].split("|")
    return [[what, took, f"{whole}; limit {limit}; peak of a worker {worker}, of the trainer {own}", "yes"]]


def _cost_model(client: Any) -> list[list[str]]:
    """Bytes and seconds of ranking and of scoring at three sizes, and what the largest of them makes of the others."""
    sizes = sized((250_000, 500_000, 1_000_000), (400, 800, 1600))
    X = together(N_SHARDS, N_ROWS, N_FEATURES, LENGTH)
    stages: dict[str, Any] = {
        "ranking": Sp(random_state=0).ranking(open_rows(X), np.arange(N_ROWS), np.random.default_rng(0), 1),
        "scoring": _Scoring(REPEN(n_epochs=2, random_state=0).fit(X).model_),
    }
    found: dict[tuple[int, str], tuple[float, float, float]] = {}
    with client.as_current():
        for n_rows in sizes:
            held = rows_of(on_workers(client, N_SHARDS, n_rows, N_FEATURES, LENGTH))
            held.gather(_lengths)
            for stage, function in stages.items():
                held.moved = Moved()
                held.gather(function)
                found[n_rows, stage] = held.n_bytes, held.moved.values, _seconds(partial(held.gather, function))
    lines = []
    for (n_rows, stage), (n_bytes, moved, took) in found.items():
        of_largest = found[max(sizes), stage][2] * n_rows / max(sizes)
        sizes_shown = [f"{n / 1e6:,.1f} MB" for n in (n_bytes, moved, 8 * n_rows)]
        lines.append([f"{stage} of {n_rows:,} rows", *sizes_shown, f"{took:.3f} s", f"{of_largest:.3f} s"])
    return lines


_TURNS = sized(3, 1)


def _seconds(function: Callable[[], Any]) -> float:
    """The median of a few runs."""
    turns = []
    for _ in range(_TURNS):
        started = time.perf_counter()
        function()
        turns.append(time.perf_counter() - started)
    return float(np.median(turns))


def _lengths(block: Any) -> Any:
    return block.lengths()


if __name__ == "__main__":
    main()
