"""Bytes of a file, of a compressed file, or of standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ..threads import can_start
from .table import FormatError

COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": None}

OTHER_PACKINGS = (".zip", ".7z", ".rar", ".tar", ".tgz", ".lz4", ".lzma", ".lz", ".br", ".z", ".sz", ".snappy")
"""Compressions that are recognised but not supported."""

LONGEST_LINE = 1 << 30
"""Longest line in bytes; files with longer ones are refused."""

_BLOCK = 1 << 26

Show = Callable[[int, int], None]


def suffixes_of(path: str) -> list[str]:
    """Lower-case suffixes without that of a compression: data.svm.gz has .svm."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes


def is_compressed(path: str) -> bool:
    """Whether a file is compressed, by its suffix."""
    return Path(path).suffix.lower() in COMPRESSED


@contextmanager
def open_binary(path: str, show: Show | None = None) -> Iterator[IO[bytes]]:
    """The bytes of `path`, decompressed; `-` is standard input. `show` gets the megabytes read so far and in total."""
    if path == "-":
        yield sys.stdin.buffer
        return
    with open(path, "rb") as file:
        watched = file if show is None else io.BufferedReader(_Watched(file, show), 1 << 20)
        suffix = Path(path).suffix.lower()
        if suffix not in COMPRESSED:
            yield watched
            return
        opener: Any = COMPRESSED[suffix] or partial(_open_zstandard, path)
        with opener(watched) as stream:
            yield stream


class _Watched(io.RawIOBase):
    """A file that reports how much of it has been read, unless it is a pipe, which has no size."""

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


def _open_zstandard(path: str, file: IO[bytes]) -> Any:
    try:
        import zstandard
    except ImportError:
        raise FormatError(f"{path}: .zst files need the package zstandard: pip install 'ramodo[files]'.") from None
    return io.BufferedReader(_Frames(file, zstandard.ZstdDecompressor()), 1 << 20)


class _Frames(io.RawIOBase):
    """The frames of a .zst file; a truncated one is an error, while zstandard's own reader would end silently."""

    def __init__(self, file: IO[bytes], decompressor: Any) -> None:
        self._file, self._decompressor = file, decompressor
        self._frame: Any = None
        self._packed, self._ready = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            packed = self._packed or self._file.read(1 << 16)
            if not packed:
                if self._frame is not None:
                    raise EOFError("Compressed file ended before the end of a frame was reached")
                return 0
            self._frame = self._frame or self._decompressor.decompressobj()
            self._ready, self._packed = memoryview(self._frame.decompress(packed)), b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n


def whole(path: str, show: Show | None = None) -> npt.NDArray[np.uint8]:
    """All bytes, read into memory: truncating a mapped file would end the process."""
    if path != "-" and not is_compressed(path) and show is None:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if stat.S_ISREG(found.st_mode) and found.st_size:  # a pipe has no size
                return _read_sized(path, file, found.st_size)
            return np.frombuffer(file.read(), dtype=np.uint8)
    with open_binary(path, show) as stream:
        return np.frombuffer(read_safely(path, stream, -1), dtype=np.uint8)


def _read_sized(path: str, file: IO[bytes], size: int) -> npt.NDArray[np.uint8]:
    """The first `size` bytes, read into uninitialised memory."""
    values = np.empty(size, dtype=np.uint8)
    rest = values.data
    while len(rest):
        n: int = file.readinto(rest)  # type: ignore[attr-defined]
        if n == 0:
            refuse_cut(path, size, size - len(rest))
        rest = rest[n:]
    return values


def need_threads(path: str, n: int) -> None:
    """Raise where the system refuses threads that a library starts for itself: at such a limit it crashes or hangs."""
    if not can_start(n):
        raise FormatError(
            f"{path} cannot be read: the system refuses to start the {n} threads that this takes. Allow more, where "
            "processes are limited (ulimit -u, or the pids limit of a container), or give a file of another format."
        )


def refuse_cut(path: str, before: int, now: int) -> None:
    """Raise if a file became shorter while it was read."""
    if now < before:
        raise FormatError(
            f"{path} was cut while it was read: it had {before:,} bytes, and has {now:,}. Read it again when whoever "
            "writes it is done."
        )


def line_blocks(path: str, size: int = _BLOCK, show: Show | None = None) -> Iterator[npt.NDArray[np.uint8]]:
    """Blocks of about `size` bytes that end with a line, in order."""
    with open_binary(path, show) as stream:
        rest = b""
        while True:
            read = read_safely(path, stream, size)
            if not read:
                break
            cut = read.rfind(b"\n") + 1
            if cut == 0:
                rest += read
                if len(rest) > LONGEST_LINE:
                    raise FormatError(f"{path}: a line is longer than {LONGEST_LINE:,} bytes.")
                continue
            yield np.frombuffer(rest + read[:cut], dtype=np.uint8)
            rest = read[cut:]
        if rest:
            yield np.frombuffer(rest, dtype=np.uint8)


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
        if ours or nameless or type(error).__module__.split(".")[0] == "zstandard":  # which need not be installed
            raise FormatError(f"{path} ends in the middle or is damaged: {str(error).rstrip('.')}.") from None
        raise
