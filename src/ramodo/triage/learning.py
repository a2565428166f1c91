"""Fits in the background, one at a time, with progress; a request that arrives during a fit is served next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

Show = Callable[[str, float], None]
"""Called with the current step and the share of the work that is done."""


@dataclass(frozen=True)
class Status:
    """What the fit in the background is doing."""

    working: bool = False
    stage: str = ""
    share: float = 0.0
    seconds: float = 0.0
    """How long the current fit has run, or the last one took."""
    error: str = ""
    """Why the last fit failed."""


class Learner:
    """Calls `learn` on its own thread whenever asked to."""

    def __init__(self, learn: Callable[[Show], None]) -> None:
        self._learn = learn
        self._status, self._started = Status(), 0.0
        self._changed = threading.Condition()
        self._asked = self._ended = False
        self._thread = threading.Thread(target=self._run, name="ramodo-triage-fit", daemon=True)
        self._thread.start()

    @property
    def status(self) -> Status:
        """The current status; a requested fit counts as working before it begins."""
        with self._changed:
            if self._status.working:
                return replace(self._status, seconds=time.perf_counter() - self._started)
            return Status(True, "starting") if self._asked else self._status

    def ask(self) -> None:
        """Ask for a fit as soon as possible, without waiting for it."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until there is nothing to do; False if that takes longer than `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._asked or self._status.working) or self._ended, seconds)

    def close(self) -> None:
        """Accept no more requests; a running fit ends with the process."""
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
            except Exception as failed:  # whatever it is, labels stay and the page keeps working
                error = f"{type(failed).__name__}: {failed}" if str(failed) else type(failed).__name__
            with self._changed:
                self._status = Status(False, "", 0.0, time.perf_counter() - self._started, error)
                self._changed.notify_all()

    def _show(self, stage: str, share: float) -> None:
        with self._changed:
            self._status = Status(True, stage, share)
