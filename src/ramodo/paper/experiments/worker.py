"""A process that computes cells one after another, within a limit of memory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from .cells import FAILED, NOT_INSTALLED, OUT_OF_TIME, Cell, Limits, Outcome
from .paper import CONSTRAINT, OUT_OF_MEMORY


class Worker:
    """The process as the scheduler sees it: give it a cell, and take the outcome, or end it when its time is up."""

    def __init__(self, n_threads: int, limits: Limits) -> None:
        self._n_threads, self._limits = n_threads, limits
        self.cell: Cell | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._n_threads, self._limits), daemon=True)
        self._process.start()
        other.close()
        self._ready = False

    def give(self, cell: Cell) -> None:
        """Begin with a cell."""
        if not self._ready:
            self.connection.recv()  # the time of a cell does not include that of imports
            self._ready = True
        self.connection.send(cell)
        self.cell, self._began = cell, time.monotonic()

    def left(self) -> float:
        """Seconds until the cell's time is up."""
        return self._began + self._limits.seconds - time.monotonic()

    def take(self) -> Outcome:
        """Return the outcome of the cell."""
        self.cell = None
        try:
            return self.connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            self._start()
            reason = f"the process ended with code {code}, as the system does when memory runs out"
            return Outcome(mark=FAILED, reason=reason, limits=self._limits)

    def give_up(self) -> Outcome:
        """End the process, and with it the cell."""
        self.cell = None
        self.end()
        self._start()
        reason = f"not done after {self._limits.seconds:g} s"
        return Outcome(mark=OUT_OF_TIME, reason=reason, seconds=self._limits.seconds, limits=self._limits)

    def end(self) -> None:
        """End the process and those that it started."""
        if hasattr(os, "killpg") and self._process.pid:
            with suppress(ProcessLookupError, PermissionError):  # it has not made its group yet
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self.connection.close()


def _serve(connection: Connection, n_threads: int, limits: Limits) -> None:
    if hasattr(os, "setsid"):
        os.setsid()  # out of reach of the terminal's Ctrl-C: the scheduler ends the process, and what it started
    from threadpoolctl import threadpool_limits

    from . import measures

    _limit_memory(limits.bytes)
    connection.send("ready")
    with threadpool_limits(1):  # small products on several threads wait for each other on a busy machine
        while True:
            try:
                cell = connection.recv()
                connection.send(compute(cell, measures.Resources(n_threads, limits.bytes), limits))
            except (EOFError, ConnectionError):  # the scheduler is gone
                return


def _limit_memory(limit: float) -> None:
    """Limit memory beyond what the process has now: a failed allocation is better than a dead machine."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # the system does not say
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (mapped + int(2 * limit), hard))  # address space, even if unused


def compute(cell: Cell, resources: Any, limits: Limits) -> Outcome:
    """Return the numbers of a cell, or why it has none."""
    from ..baselines import ConstraintError
    from .deepod import NotInstalledError
    from .measures import MEASURES

    started = time.perf_counter()
    values: dict[str, Any] = {}
    mark = reason = ""
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            values = MEASURES[cell.measure](cell, resources)
        if said:
            values["warnings"] = sorted({str(warning.message).splitlines()[0] for warning in said})
    except ConstraintError as error:
        mark, reason = CONSTRAINT, str(error)
    except MemoryError as error:
        mark, reason = OUT_OF_MEMORY, str(error) or "an allocation failed"
    except NotInstalledError as error:
        mark, reason = NOT_INSTALLED, str(error)
    except Exception as error:  # a competitor may fail in any way; the others continue
        mark, reason = FAILED, f"{type(error).__name__}: {error}"
    return Outcome(values, mark, reason, time.perf_counter() - started, limits)
