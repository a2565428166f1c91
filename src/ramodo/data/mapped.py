"""Arrays that are mapped from files and notice when those files are written to.

A mapping shows whatever is written to its file later, and reading past the end of a truncated file kills the process.
The mapping itself offers no protection. So an array remembers its file's size and modification time, and
`refuse_changed` compares them before and after each piece of work. Removing or replacing the file does not count as a
change: the mapping keeps the old one alive.
"""

from __future__ import annotations

import os
from typing import IO, Any

import numpy as np
import numpy.typing as npt

_VERSIONS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


IN_MEMORY = 1 << 26
"""Arrays up to this many bytes are read into memory, where they cannot change. Larger ones are mapped and watched."""


class ChangedError(ValueError):
    """A file was written to while it was in use, so results computed from it are worthless."""


class _Watched:
    """An open file, and its size and modification time when it was opened."""

    def __init__(self, file: IO[bytes]) -> None:
        self._name, self._handle = file.name, os.dup(file.fileno())
        self.size, self._time = _stamp(self._handle)

    def __del__(self) -> None:
        os.close(self._handle)

    def refuse_changed(self) -> None:
        """Raise `ChangedError` if the file has changed since it was opened."""
        if _stamp(self._handle) != (self.size, self._time):
            raise ChangedError(
                f"{self._name} changed while in use, so what was read from it is inconsistent. Start again once it is "
                "complete. Do not write to files that are in use: write new ones and rename them into place."
            )


class MappedArray(np.memmap[Any, Any]):
    """A mapped array that knows its file; slices of it reach the file through their `base`."""

    watched: _Watched | None = None


def mapped_array(file: IO[bytes], in_memory: int | None = None) -> npt.NDArray[Any]:
    """Return the array in an open .npy file: read if its values take at most `in_memory` bytes, else mapped.

    Raises `ValueError` if it is not an .npy file.
    """
    watched = _Watched(file)  # before anything is read
    shape, is_fortran, dtype = _header(file)
    begin, n = file.tell(), int(np.prod(shape, dtype=object))
    if min(shape, default=0) < 0 or begin + n * dtype.itemsize > watched.size:
        raise ValueError(f"{_name(file)} ends before its {' x '.join(map(str, shape))} values of {dtype} do")
    order: Any = "F" if is_fortran else "C"
    if n * dtype.itemsize <= (IN_MEMORY if in_memory is None else in_memory):
        values = np.frombuffer(file.read(n * dtype.itemsize), dtype=dtype)
        watched.refuse_changed()
        return values.reshape(shape, order=order)
    array = MappedArray(file, dtype, "r", begin, shape, order)
    array.watched = watched
    return array


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether the array is stored by columns, and the dtype."""
    if file.read(6) != b"\x93NUMPY":  # numpy would read other kinds of files too
        raise ValueError(f"{_name(file)} is not an array")
    file.seek(0)
    version = np.lib.format.read_magic(file)
    if version not in _VERSIONS:
        raise ValueError(f"{_name(file)} must be an array file of version 1.0 or 2.0, got {version[0]}.{version[1]}")
    shape, is_fortran, dtype = _VERSIONS[version](file)
    if dtype.hasobject:
        raise ValueError(f"{_name(file)} must hold numbers, got Python objects")
    return shape, is_fortran, dtype


def _name(file: IO[bytes]) -> str:
    return os.path.basename(file.name)


def refuse_changed(*arrays: npt.NDArray[Any]) -> None:
    """Raise `ChangedError` if one of the arrays is mapped from a file that has changed."""
    for array in arrays:
        base: Any = array
        while base is not None:
            if isinstance(base, MappedArray) and base.watched is not None:
                base.watched.refuse_changed()
                break
            base = getattr(base, "base", None)


def is_mapped(array: npt.NDArray[Any]) -> bool:
    """Return whether an array, or the array it is a slice of, is mapped from a file."""
    base: Any = array
    while base is not None:
        if isinstance(base, MappedArray):
            return True
        base = getattr(base, "base", None)
    return False


def _stamp(handle: int) -> tuple[int, int]:
    """Return size and modification time, but not ctime, which also changes when a folder is replaced."""
    found = os.fstat(handle)
    return found.st_size, found.st_mtime_ns
