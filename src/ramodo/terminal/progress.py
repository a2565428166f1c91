"""Seconds per stage, and a bar on a terminal while a stage runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Times the stages of one fit and, when `verbose`, reports them on standard error."""

    def __init__(self, verbose: int = 0) -> None:
        self.seconds: dict[str, float] = {}
        self._verbose = verbose

    @contextmanager
    def stage(self, name: str, unit: str = "") -> Iterator[Bar]:
        """Time what happens inside; the `Bar` shows how much of it is done."""
        started = time.perf_counter()
        bar = Bar(name, self._verbose > 0 and sys.stderr is not None and sys.stderr.isatty(), unit)
        try:
            yield bar
        finally:
            bar.clear()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
        if self._verbose and sys.stderr is not None:
            print(f"{name:<12}{self.seconds[name]:8.2f} s", file=sys.stderr)

    def say(self, name: str, text: str) -> None:
        """Print a separate line, if stages are reported and the text is not empty."""
        if self._verbose and text and sys.stderr is not None:
            print(f"{name:<12}{text}", file=sys.stderr)


class Bar:
    """One line on a terminal, drawn again at most ten times a second."""

    _WIDTH = 30

    def __init__(self, name: str, visible: bool, unit: str = "") -> None:
        self._name, self.visible, self._unit = name, visible, unit
        self._started = self._drawn = time.perf_counter()

    def show(self, done: int, total: int) -> None:
        """Draw the share `done / total` and the time left."""
        now = time.perf_counter()
        if not self.visible or now - self._drawn < 0.1:
            return
        self._drawn = now
        share = done / max(total, 1)
        left = (now - self._started) * (1 - share) / max(share, 1e-9)
        filled = round(share * self._WIDTH)
        bar = "#" * filled + "." * (self._WIDTH - filled)
        rate = f" {done / max(now - self._started, 1e-9):,.0f} {self._unit}/s " if self._unit else ""
        print(f"\r{self._name:<12}{bar} {share:4.0%}  {left:.0f} s left {rate}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the line."""
        if self.visible:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
