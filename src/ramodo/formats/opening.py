"""Bytes of a file, of a compressed file, or of standard input."""

from __future__ import annotations

import bz2
import gzip
import lzma
import mmap
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .table import FormatError

COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": None}

LONGEST_LINE = 1 << 30
"""Bytes of a line beyond which a file is refused."""

_BLOCK = 1 << 26


def suffixes_of(path: str) -> list[str]:
    """Lower-case suffixes without that of a compression: data.svm.gz has .svm."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes


def is_compressed(path: str) -> bool:
    """By its suffix."""
    return Path(path).suffix.lower() in COMPRESSED


def open_binary(path: str) -> IO[bytes]:
    """The bytes of `path`, decompressed; `-` is standard input."""
    if path == "-":
        return sys.stdin.buffer
    suffix = Path(path).suffix.lower()
    if suffix == ".zst":
        return _open_zstandard(path)
    opener: Any = COMPRESSED.get(suffix) or open
    return opener(path, "rb")


def _open_zstandard(path: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise FormatError(f"{path}: .zst files need the package zstandard: pip install 'ramodo[files]'.") from None
    return zstandard.open(path, "rb")


def whole(path: str) -> npt.NDArray[np.uint8]:
    """All bytes: mapped from a plain file, read from anything else."""
    if path != "-" and not is_compressed(path):
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return np.empty(0, dtype=np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
    with open_binary(path) as stream:
        return np.frombuffer(read_safely(path, stream, -1), dtype=np.uint8)


def line_blocks(path: str, size: int = _BLOCK) -> Iterator[npt.NDArray[np.uint8]]:
    """Blocks of about `size` bytes that end with a line, in order."""
    with open_binary(path) as stream:
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
    """`stream.read`, with what compression libraries raise turned into a `FormatError`."""
    try:
        return stream.read(size)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, OSError, ValueError) as error:
        raise FormatError(f"{path} ends in the middle or is damaged: {error}.") from None
    except Exception as error:  # zstandard's own, which need not be installed
        if type(error).__module__.split(".")[0] == "zstandard":
            raise FormatError(f"{path} ends in the middle or is damaged: {error}.") from None
        raise
