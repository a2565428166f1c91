"""Compute the unfinished cells in parallel processes; cells that measure time run alone."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing.connection import wait
from statistics import fmean

from ...terminal.progress import Bar
from .cells import OUT_OF_TIME, Cell, Limits, Outcome, Results
from .paper import OUT_OF_MEMORY
from .store import Store
from .worker import Worker

_GUESS = 3.0
"""Seconds that the progress bar assumes for a new kind of cell."""


_UNTRIED = "not tried, since a cheaper one has this mark:"


class Scheduler:
    """Runs cells on `n_threads` cores within the limits, and stores the outcome of each."""

    def __init__(self, store: Store, n_threads: int, limits: Limits, bar: Bar) -> None:
        self._store, self._n_threads, self._limits, self._bar = store, n_threads, limits, bar
        self._seconds: dict[tuple[str, str, str], list[float]] = {}

    def run(self, cells: Iterable[Cell]) -> Results:
        """Outcomes of all cells, most of them from the store if they were computed before."""
        cells = list(dict.fromkeys(cells))
        kept = {cell: self._store.get(cell) for cell in cells}
        self._outcomes = {c: o for c, o in kept.items() if o is not None and o.stands(self._limits)}
        for cell, outcome in self._outcomes.items():
            self._note_seconds(cell, outcome)
        self._left = [cell for cell in cells if cell not in self._outcomes]
        self._spent = 0.0
        parallel = [cell for cell in self._left if not cell.alone]
        self._work(parallel, min(self._n_threads, _fitting(self._limits), len(parallel)), 1)
        self._work([cell for cell in self._left if cell.alone], 1, self._n_threads)
        self._bar.clear()
        return Results({cell: self._outcomes[cell] for cell in cells})

    def _work(self, cells: list[Cell], n_workers: int, n_threads: int) -> None:
        queue = deque(cells)
        workers: list[Worker] = []
        try:
            workers.extend(Worker(n_threads, self._limits) for _ in range(n_workers if queue else 0))
            while queue or any(worker.cell for worker in workers):
                for worker in workers:
                    while worker.cell is None and (cell := self._next(queue)) is not None:
                        self._begin(worker, cell)
                self._await(workers)
        finally:
            for worker in workers:
                worker.end()

    def _next(self, queue: deque[Cell]) -> Cell | None:
        """Return the first cell that need not wait for a cheaper one."""
        for cell in queue:
            if cell.cheaper is None or cell.cheaper in self._outcomes:
                queue.remove(cell)
                return cell
        return None

    def _begin(self, worker: Worker, cell: Cell) -> None:
        cheaper = self._outcomes.get(cell.cheaper) if cell.cheaper else None
        if cheaper is not None and cheaper.mark in (OUT_OF_MEMORY, OUT_OF_TIME):
            reason = cheaper.reason if cheaper.reason.startswith(_UNTRIED) else f"{_UNTRIED} {cheaper.reason}"
            self._finish(cell, replace(cheaper, reason=reason, seconds=0.0))
        else:
            worker.give(cell)

    def _await(self, workers: list[Worker]) -> None:
        """Wait until a worker is done or out of time; the bar is drawn once a second."""
        busy = [worker for worker in workers if worker.cell]
        if not busy:
            return
        ready = wait([worker.connection for worker in busy], timeout=1.0)
        for worker in busy:
            cell = worker.cell
            assert cell is not None
            if worker.connection in ready:
                self._finish(cell, worker.take())
            elif worker.left() <= 0:
                self._finish(cell, worker.give_up())
        self._show()

    def _finish(self, cell: Cell, outcome: Outcome) -> None:
        self._store.put(cell, outcome)
        self._outcomes[cell] = outcome
        self._note_seconds(cell, outcome)
        self._spent += outcome.seconds
        self._left.remove(cell)

    def _note_seconds(self, cell: Cell, outcome: Outcome) -> None:
        self._seconds.setdefault((cell.measure, cell.dataset, cell.method), []).append(outcome.seconds)

    def _show(self) -> None:
        """Cells left are expected to take what those of the same set and method took."""
        left = 0.0
        for cell in self._left:
            known = self._seconds.get((cell.measure, cell.dataset, cell.method))
            left += fmean(known) if known else _GUESS
        self._bar.show(round(100 * self._spent), round(100 * (self._spent + left)))


def _fitting(limits: Limits) -> int:
    """Return the number of workers that fit into the memory that is free now; at least one."""
    try:
        with open("/proc/meminfo") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.cpu_count() or 1
    return max(1, int(free // limits.bytes))
