"""Fits in the background: one at a time, with progress; a request that comes meanwhile is done next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

Show = Callable[[str, float], None]
"""Called with what is being done, and the share of all that is done."""


@dataclass(frozen=True)
class Status:
    """What the fit in the background is doing."""

    working: bool = False
    stage: str = ""
    share: float = 0.0
    seconds: float = 0.0
    """Of the fit that is running, or of the last one."""
    error: str = ""
    """Why the last one failed."""


class Learner:
    """Calls `learn` on a thread of its own whenever it was asked to."""

    def __init__(self, learn: Callable[[Show], None]) -> None:
        self._learn = learn
        self._status, self._started = Status(), 0.0
        self._changed = threading.Condition()
        self._asked = self._ended = False
        self._thread = threading.Thread(target=self._run, name="ramodo-triage-fit", daemon=True)
        self._thread.start()

    @property
    def status(self) -> Status:
        """As of now; who has asked sees it working, also before it has begun."""
        with self._changed:
            if self._status.working:
                return replace(self._status, seconds=time.perf_counter() - self._started)
            return Status(True, "beginning") if self._asked else self._status

    def ask(self) -> None:
        """Fit as soon as possible; returns at once."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is to be done; False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._asked or self._status.working) or self._ended, seconds)

    def close(self) -> None:
        """Take no more requests; a fit that is running is left to end with the process."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked or self._ended)
                if self._ended:
                    return
                self._asked, self._started = False, time.perf_counter()
                self._status = Status(True, "learning")
            error = ""
            try:
                self._learn(self._show)
            except Exception as failed:  # whatever it is, labels stay and the page goes on
                error = f"{type(failed).__name__}: {failed}" if str(failed) else type(failed).__name__
            with self._changed:
                self._status = Status(False, "", 0.0, time.perf_counter() - self._started, error)
                self._changed.notify_all()

    def _show(self, stage: str, share: float) -> None:
        with self._changed:
            self._status = Status(True, stage, share)
