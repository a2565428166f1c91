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
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from ramodo import REPEN, Consensus, Sp
from ramodo.engines.dask import Moved
from ramodo.engines.opening import rows_of

from .shards import on_workers, together, write
from .sizes import sized
from .table import print_table, reached, side_by_side

N_FEATURES, LENGTH, N_SHARDS = sized(1_000_000, 2000), sized(100, 20), sized(8, 2)
N_ROWS, MANY_ROWS = sized(100_000, 800), sized(1_000_000, 1600)
REPEATS = sized(3, 1)


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    """Processes with one thread each."""
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=n_workers, memory_limit=0, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def main() -> None:
    rows: list[list[str]] = []
    with cluster_of(2) as two:
        with cluster_of(1) as one:
            _scaling(one, two, rows)
        _against_threads(two, rows)
        moved = _moved(two)
        model = _cost_model(two)
    with tempfile.TemporaryDirectory() as folder:
        limited = _limited(Path(folder))
    print_table("Scale", ["what", "measured", "peer", "reached"], rows + limited)
    print_table("Bytes that travel", ["what", "rows", "data", "models", "rows", "scores", "facts", "share", "reached"], moved)
    print_table("Cost model", ["rows", "stage", "read", "moved", "seconds", "by the model"], model)


def _scaling(one: Any, two: Any, rows: list[list[str]]) -> None:
    """Ranking and scoring, with one worker and with two."""
    X = together(N_SHARDS, N_ROWS, N_FEATURES, LENGTH)
    detector = REPEN(n_epochs=2, random_state=0).fit(X)
    ranker = Sp(random_state=0)
    score = ranker.ranking(_opened(X), np.arange(N_ROWS), np.random.default_rng(0), 1)

    def both(client: Any) -> Callable[[], None]:
        data = on_workers(client, N_SHARDS, N_ROWS, N_FEATURES, LENGTH)
        with client.as_current():
            held = rows_of(data)
            held.gather(_lengths)  # from now on blocks stay

        def run() -> None:
            with client.as_current():
                held.gather(score)
                np.asarray(detector.outlier_score(data))

        return run

    alone, together_, ratio = side_by_side(both(one), both(two), REPEATS)
    rows.append(
        [
            f"ranking and scoring of {N_ROWS:,} rows, 2 workers",
            f"{together_:.2f} s",
            f"1 worker {alone:.2f} s",
            f"{ratio:.2f} x: {reached(ratio, 1.7)}",
        ]
    )


def _against_threads(client: Any, rows: list[list[str]]) -> None:
    X = together(N_SHARDS, N_ROWS, N_FEATURES, LENGTH)
    data = on_workers(client, N_SHARDS, N_ROWS, N_FEATURES, LENGTH)
    detector = REPEN(random_state=0, n_jobs=2).fit(X)

    def score_there() -> Any:
        with client.as_current():
            return np.asarray(detector.set_params(n_jobs=1).outlier_score(data))

    def score_here() -> Any:
        return detector.set_params(n_jobs=2).outlier_score(X)

    def fit_there() -> Any:
        with client.as_current():
            return np.asarray(REPEN(random_state=0, n_jobs=2).fit(data).outlier_score(data))

    def fit_here() -> Any:
        return REPEN(random_state=0, n_jobs=2).fit(X).outlier_score(X)

    for what, there, here, limit in (
        ("score", score_there, score_here, 1.3),
        ("fit and score", fit_there, fit_here, 1.6),
    ):
        assert there().tobytes() == here().tobytes()
        ours, threads, ratio = side_by_side(there, here, REPEATS)
        rows.append(
            [
                f"REPEN, {what} {N_ROWS:,} rows, 2 workers, the same bits",
                f"{ours:.2f} s",
                f"2 threads of one process {threads:.2f} s",
                f"{ratio:.2f} x: {reached(ratio, limit, at_most=True)}",
            ]
        )


def _moved(client: Any) -> list[list[str]]:
    """What travels."""
    lines = []
    for kind, n_rows in ((REPEN, N_ROWS), (REPEN, MANY_ROWS), (Consensus, N_ROWS)):
        data = on_workers(client, N_SHARDS, n_rows, N_FEATURES, LENGTH)
        with client.as_current():
            held = rows_of(data)
            detector = kind(random_state=0, n_jobs=1).fit(held)
            lines.append(_line(f"{kind.__name__}, fit", held))
            held.moved = Moved()
            held.gather(_Scoring(detector.model_))
            lines.append(_line(f"{kind.__name__}, score", held))
    return lines


def _line(what: str, held: Any) -> list[str]:
    moved, whole = held.moved, held.n_bytes
    share = moved.total / whole
    sizes = [f"{n / 1e6:,.1f} MB" for n in (whole, moved.functions, moved.rows, moved.values, moved.looks)]
    return [what, f"{held.n_rows:,}", *sizes, f"{share:.1%}", reached(100 * share, 5, at_most=True)]


class _Scoring:
    """Scores of a block, on one thread."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __call__(self, block: Any) -> Any:
        return self._model.score_block(block, 1)


def _limited(place: Path) -> list[list[str]]:
    """Shards of four times the memory of each process."""
    n_shards = sized(50, 4)
    n_bytes = write(place, range(n_shards), sized(16_000, 200), sized(50_000, 2000), sized(300, 20))
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
    """Seconds of ranking and of scoring at three sizes, and what the largest of them makes of the other two."""
    sizes = sized((50_000, 100_000, 200_000), (200, 400, 800))
    found: dict[int, tuple[float, float, int, int]] = {}
    with client.as_current():
        for n_rows in sizes:
            data = on_workers(client, N_SHARDS, n_rows, N_FEATURES, LENGTH)
            held = rows_of(data)
            score = Sp(random_state=0).ranking(held, np.arange(n_rows), np.random.default_rng(0), 1)
            learned = _Scoring(REPEN(n_epochs=2, random_state=0).fit(held).model_)
            for function in (score, learned):
                held.gather(function)
            before = held.moved.total
            ranking = _seconds(partial(held.gather, score))
            between = held.moved.total
            scoring = _seconds(partial(held.gather, learned))
            found[n_rows] = ranking, scoring, between - before, held.moved.total - between
            n_bytes = held.n_bytes
    largest = max(sizes)
    lines = []
    for n_rows, (ranking, scoring, ranked, scored) in found.items():
        for stage, took, moved, of_largest in (
            ("ranking", ranking, ranked, found[largest][0]),
            ("scoring", scoring, scored, found[largest][1]),
        ):
            read = n_bytes * n_rows / largest / 1e6
            expected = of_largest * n_rows / largest
            line = [f"{n_rows:,}", stage, f"{read:,.0f} MB", f"{moved / _TURNS / 1e6:.2f} MB", f"{took:.3f} s"]
            lines.append([*line, f"{expected:.3f} s"])
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


def _opened(X: Any) -> Any:
    from ramodo.data.opening import open_rows

    return open_rows(X)[0]


if __name__ == "__main__":
    main()
