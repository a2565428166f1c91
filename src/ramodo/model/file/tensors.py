"""A safetensors file as arrays, opened once: all of it comes from one file, even if that is replaced meanwhile.

Files of up to 256 MB are read into memory, so that a model in use cannot change. Larger ones are mapped,
and values read when they are used, so that opening them takes no time: such a file must not be written to in place
while it is in use (`save` never does, it puts a new file there). Shortening a mapped file ends the process.

A checksum in the metadata covers all bytes of the file. It is compared for files of up to half a megabyte, where that
takes less than 2 % of the time of loading, and of larger ones, where it would take up to 7 %, on demand.

The safetensors package reads these files too, but opens a path where this needs an open file, copies arrays out of the
map where this uses them in place, and accepts headers with a name twice. So we do not depend on it.
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
"""Bytes of a file that is read, in a few tenths of a second; they hold the weights of three million features."""

VERIFIED_AT_MOST = 1 << 19
"""Bytes of a file whose checksum is always compared."""

CHECKSUM = "checksum"
"""Its name in the metadata; its value is eight hexadecimal digits."""

_BLOCK = 4096
"""Bytes that are added up to one number of the checksum."""


def read(path: str | os.PathLike[str], *, verify: bool = False) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """Metadata and arrays, which cannot be written to; raises ValueError for a file that is not sound.

    `verify` compares the checksum, where there is one, of files of any size.
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
        raise ValueError("it was changed while it was read; read it again when that has ended")
    return metadata, {name: _array(content[start:], entry) for name, entry in entries.items()}


def save_file(
    tensors: dict[str, npt.NDArray[Any]], path: str | os.PathLike[str], metadata: dict[str, str] | None = None
) -> None:
    """Write arrays and metadata, to which a checksum is added, into the file at `path`, in place."""
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
    """The metadata of a safetensors file; empty for any other file."""
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
    """Open a file; do not wait for a writer if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _content(file: BinaryIO, size: int) -> Bytes:
    """All bytes of a file: in memory or, if there are many, mapped."""
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
    """Raise unless the bytes of the file give its checksum, computed with zeros in its own place."""
    made_of = header.replace(_field(given), _field("0" * 8))
    found = _code(made_of, values)
    if len(given) != 8 or given != found:
        raise ValueError(
            f"its checksum is {given!r}, and its bytes give {found!r}: it was damaged; copy it or save it again"
        )


def _field(code: str) -> bytes:
    """The checksum as it stands in the header."""
    return f'"{CHECKSUM}":"{code}"'.encode()


def _code(header: bytes, values: Bytes) -> str:
    """The checksum: CRC-32 of the header, the sums of the 64-bit words of each block of 4 KB, and the bytes after them.

    Sums, since a CRC of all bytes takes ten times as long. Any change within one word changes its block's sum.
    """
    whole = len(values) // _BLOCK * _BLOCK
    sums = values[:whole].view("<u8").reshape(-1, _BLOCK // 8).sum(axis=1, dtype=np.uint64)
    code = zlib.crc32(sums.astype("<u8").tobytes(), zlib.crc32(header))
    return f"{zlib.crc32(values[whole:].tobytes(), code):08x}"
