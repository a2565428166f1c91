"""Bytes of a file, of a compressed file, or of standard input."""

from __future__ import annotations

import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ..threads import can_start
from .compression import COMPRESSED, as_text, is_plain
from .table import FormatError

OTHER_PACKINGS = (".zip", ".7z", ".rar", ".tar", ".tgz", ".lz4", ".lzma", ".lz", ".br", ".z", ".sz", ".snappy")
"""Compressions that are recognised but not supported."""

LONGEST_LINE = 1 << 30
"""Longest line in bytes; files with longer ones are refused."""

_BLOCK = 1 << 26

Show = Callable[[int, int], None]


def suffixes_of(path: str) -> list[str]:
    """Return lower-case suffixes without that of a compression: data.svm.gz has .svm."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes


def suffix_of(path: str) -> str:
    """Return the suffix that tells a format; empty for standard input and folders."""
    return "" if Path(path).is_dir() else (suffixes_of(path) or [""])[-1]


def is_compressed(path: str) -> bool:
    """Return whether a file is compressed, by its suffix."""
    return Path(path).suffix.lower() in COMPRESSED


@contextmanager
def open_binary(path: str, show: Show | None = None) -> Iterator[IO[bytes]]:
    """The bytes of `path`, decompressed, as UTF-8; `-` is standard input.

    `show` gets the megabytes read so far and in total.
    """
    if path == "-":
        with damage_refused("standard input"):
            yield as_text("standard input", sys.stdin.buffer)
        return
    with open(path, "rb") as file:
        watched = file if show is None else io.BufferedReader(_Watched(file, show), 1 << 20)
        with damage_refused(path):
            yield as_text(path, watched, Path(path).suffix.lower())


def is_plain_file(path: str) -> bool:
    """Return whether a regular file is plain text. A pipe can be read only once, so the answer for it is False."""
    if not os.path.isfile(path) or is_compressed(path):
        return False
    with open(path, "rb") as file:
        return is_plain(file.read(16))


class _Watched(io.RawIOBase):
    """A file that reports how much of it has been read, unless it is a pipe, whose size is unknown."""

    def __init__(self, file: IO[bytes], show: Show) -> None:
        self._file, self._show = file, show
        self._done, self._all = 0, os.fstat(file.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._done += n
        if self._all:
            self._show(self._done // 1_000_000, max(1, self._all // 1_000_000))
        return n


def whole(path: str, show: Show | None = None) -> npt.NDArray[np.uint8]:
    """Return all bytes, read into memory: truncating a mapped file would end the process."""
    if path != "-" and show is None and is_plain_file(path):
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if stat.S_ISREG(found.st_mode) and found.st_size:
                return _read_sized(path, file, found.st_size)
    with open_binary(path, show) as stream:
        return np.frombuffer(read_safely(path, stream, -1), dtype=np.uint8)


def _read_sized(path: str, file: IO[bytes], size: int) -> npt.NDArray[np.uint8]:
    """Return the first `size` bytes, read into uninitialised memory."""
    values = np.empty(size, dtype=np.uint8)
    rest = values.data
    while len(rest):
        n: int = file.readinto(rest)  # type: ignore[attr-defined]
        if n == 0:
            refuse_cut(path, size, size - len(rest))
        rest = rest[n:]
    return values


def need_threads(path: str, n: int) -> None:
    """Raise if the system refuses the threads that a library starts by itself: at this limit it crashes or hangs."""
    if not can_start(n):
        raise FormatError(
            f"{path} cannot be read: the system refuses to start the {n} threads that this takes. Raise the limit on "
            "processes (ulimit -u, or the pids limit of a container), or give a file of another format."
        )


def refuse_cut(path: str, before: int, now: int) -> None:
    """Raise if a file became shorter while it was read."""
    if now < before:
        raise FormatError(
            f"{path} was cut while it was read: it had {before:,} bytes, and has {now:,}. Read it again once it is "
            "complete."
        )


def line_blocks(path: str, size: int = _BLOCK, show: Show | None = None) -> Iterator[npt.NDArray[np.uint8]]:
    """Blocks of about `size` bytes that end with a line, in order."""
    with open_binary(path, show) as stream:
        rest: list[bytes] = []
        while True:
            read = read_safely(path, stream, size)
            if not read:
                break
            cut = read.rfind(b"\n") + 1
            if cut == 0:
                rest.append(read)
                if sum(map(len, rest)) > LONGEST_LINE:
                    raise FormatError(f"{path}: a line is longer than {LONGEST_LINE:,} bytes.")
                continue
            yield np.frombuffer(b"".join([*rest, read[:cut]]), dtype=np.uint8)
            rest = [read[cut:]]
        if any(rest):
            yield np.frombuffer(b"".join(rest), dtype=np.uint8)


def read_safely(path: str, stream: IO[bytes], size: int) -> bytes:
    """`stream.read`, with errors of compression libraries turned into a `FormatError`."""
    with damage_refused(path):
        return stream.read(size)


@contextmanager
def damage_refused(path: str) -> Iterator[None]:
    """Turns errors of compression libraries into a `FormatError`; system errors, which have numbers, pass unchanged."""
    try:
        yield
    except Exception as error:
        ours = isinstance(error, EOFError | lzma.LZMAError | zlib.error)
        nameless = isinstance(error, OSError) and error.errno is None
        if ours or nameless or type(error).__module__.split(".")[0] == "zstandard":  # they are optional
            raise FormatError(f"{path} ends in the middle or is damaged: {str(error).rstrip('.')}.") from None
        raise
