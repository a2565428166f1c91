"""Read and write safetensors files. A file is opened once, so all arrays belong together even if it is replaced.

Files of up to 256 MB are read into memory, so that a model in use cannot change. Larger ones are mapped, which makes
opening them fast, and their values are read when they are used. Nothing may write into such a file in place while it is
in use (`save` never does; it replaces the file). Truncating a mapped file kills the process.

A checksum in the metadata covers all bytes of the file. It is always checked in files of up to half a megabyte, where
that takes less than 2 % of the loading time, and on demand in larger ones, where it takes up to 7 %.

The safetensors package reads these files too, but it needs a path instead of an open file, copies arrays out of the
map, and accepts headers with duplicate names. So we do not depend on it.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from . import tensor_header
from .tensor_header import LONGEST, TYPES

Bytes = npt.NDArray[np.uint8]

READ_AT_MOST = 256 << 20
"""Maximum bytes of a file to read into memory, which takes a few tenths of a second: weights of 3 million features."""

VERIFIED_AT_MOST = 1 << 19
"""Maximum bytes of a file whose checksum is always checked."""

CHECKSUM = "checksum"
"""Name of the checksum in the metadata; its value is eight hexadecimal digits."""

_BLOCK = 4096
"""Number of bytes in each sum that goes into the checksum."""


def read(path: str | os.PathLike[str], *, verify: bool = False) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """Return the metadata and read-only arrays of a file; raise ValueError if it is damaged.

    `verify` checks the checksum, if there is one, of files of any size.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise ValueError("it is a pipe or a device")
        content = _content(file, before.st_size)
        length = tensor_header.length_of(content[:8].tobytes(), len(content))
        start = 8 + length
        header = content[:start].tobytes()
        metadata, entries = tensor_header.parse(header[8:], len(content) - start)
        if CHECKSUM in metadata and (verify or len(content) <= VERIFIED_AT_MOST):
            _compare(metadata[CHECKSUM], header, content[start:])
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise ValueError("it changed while it was read; read it again once it is complete")
    return metadata, {name: _array(content[start:], entry) for name, entry in entries.items()}


def save_file(
    tensors: dict[str, npt.NDArray[Any]], path: str | os.PathLike[str], metadata: dict[str, str] | None = None
) -> None:
    """Write arrays, metadata and a checksum into the file at `path`, in place."""
    kinds = {np.dtype(text): kind for kind, text in TYPES.items()}
    # Largest types first: every array then begins at a multiple of its item's size.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    table: dict[str, Any] = {"__metadata__": {**(metadata or {}), CHECKSUM: "0" * 8}}
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        table[name] = {"dtype": kinds[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    header = len(text).to_bytes(8, "little") + text
    with open(path, "w+b") as file:
        file.write(header)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        file.flush()
        written = np.memmap(file, np.uint8, "r")
        code = _code(header, written[len(header) :])
        file.seek(header.index(_field("0" * 8)))
        file.write(_field(code))


def metadata_of(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the metadata of a safetensors file; empty for any other file."""
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= LONGEST:
                return {}
            metadata = json.loads(file.read(length)).get("__metadata__", {})
    except (ValueError, AttributeError, RecursionError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a writer if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _content(file: BinaryIO, size: int) -> Bytes:
    """Return all bytes of a file, in memory or, if there are many, mapped."""
    if size > READ_AT_MOST:
        return np.asarray(np.memmap(file, np.uint8, "r"))
    content = np.empty(size, dtype=np.uint8)
    rest = content.data
    while len(rest) and (n := file.readinto(rest)):  # type: ignore[attr-defined]
        rest = rest[n:]
    content.setflags(write=False)
    return content[: size - len(rest)]


def _array(values: Bytes, entry: tensor_header.Entry) -> npt.NDArray[Any]:
    if entry.begin == entry.end:
        return np.empty(entry.shape, entry.dtype)
    array = values[entry.begin : entry.end].view(entry.dtype).reshape(entry.shape)
    return array if array.flags.aligned else array.copy()


def _compare(given: str, header: bytes, values: Bytes) -> None:
    """Raise if the checksum does not match the bytes of the file; it is computed with zeros in its own place."""
    made_of = header.replace(_field(given), _field("0" * 8))
    found = _code(made_of, values)
    if len(given) != 8 or given != found:
        raise ValueError(
            f"its checksum is {given!r}, but its bytes give {found!r}: it is damaged; copy it or save it again"
        )


def _field(code: str) -> bytes:
    """Return the checksum as it is written in the header."""
    return f'"{CHECKSUM}":"{code}"'.encode()


def _code(header: bytes, values: Bytes) -> str:
    """Return the CRC-32 of the header, of the sums of the 64-bit words in each 4 KB block, and of the remaining bytes.

    A CRC of all bytes would take ten times as long. Any change within one word changes its block's sum.
    """
    whole = len(values) // _BLOCK * _BLOCK
    sums = values[:whole].view("<u8").reshape(-1, _BLOCK // 8).sum(axis=1, dtype=np.uint64)
    code = zlib.crc32(sums.astype("<u8").tobytes(), zlib.crc32(header))
    return f"{zlib.crc32(values[whole:].tobytes(), code):08x}"
