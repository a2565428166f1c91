"""Lines of a file that is too large to keep as text: only where each begins is kept, eight bytes a line.

A line is read again when it is needed, from the file that was opened. If the log is rotated meanwhile, that is still
the old file; if it is truncated, that is an error.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from .byte_streams import Show, is_plain_file, line_blocks, refuse_cut

LARGE = 1 << 26
"""Bytes from which the lines of a file are read again rather than kept: in Python they take twice as many."""

_BLOCK = 1 << 24


def split(block: bytes) -> list[str]:
    """The lines of a block of whole lines; bytes that are not UTF-8 become the replacement character."""
    text = block.decode("utf-8", "replace")
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]


def lines_of(path: str, show: Show | None = None) -> Sequence[str]:
    """The lines of a file: in memory, unless it is a large plain file."""
    if is_plain_file(path) and os.path.getsize(path) >= LARGE:
        return FileLines(path, show)
    return [line for block in line_blocks(path, show=show) for line in split(block.tobytes())]


class OnDemand(Sequence[str]):
    """Texts that are made when they are needed."""

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        places = range(len(self))[at]
        return self.some(places) if isinstance(places, range) else self.some(range(places, places + 1))[0]

    @abstractmethod
    def some(self, places: range) -> list[str]:
        """Return the texts at these places."""


class FileLines(OnDemand):
    """The lines of a plain file."""

    def __init__(self, path: str, show: Show | None = None) -> None:
        self._path, self._lock = path, threading.Lock()
        self._file = open(path, "rb")  # noqa: SIM115 - as long as somebody has its lines
        weakref.finalize(self, self._file.close)
        ends, size = [np.zeros(1, dtype=np.int64)], 0
        for block in line_blocks(path, _BLOCK, show):
            ends.append(np.flatnonzero(block == ord("\n")) + (size + 1))
            size += len(block)
            if block[-1] != ord("\n"):
                ends.append(np.array([size], dtype=np.int64))
        self._ends = np.concatenate(ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def some(self, places: range) -> list[str]:
        if places.step == 1:
            return self._between(places.start, places.stop)
        return [self._between(place, place + 1)[0] for place in places]

    def __iter__(self) -> Iterator[str]:
        first, last = 0, len(self)
        while first < last:
            until = int(np.searchsorted(self._ends, self._ends[first] + _BLOCK))
            until = min(max(until, first + 1), last)
            yield from self._between(first, until)
            first = until

    def _between(self, first: int, until: int) -> list[str]:
        if first >= until:
            return []
        begin, end = int(self._ends[first]), int(self._ends[until])
        with self._lock:
            self._file.seek(begin)
            read = self._file.read(end - begin)
        refuse_cut(self._path, end, begin + len(read))
        return split(read)
