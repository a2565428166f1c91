"""Values as bytes, to send between this process and workers: counted, and compressed where that is cheap.

Arrays are kept out of the pickle. zstd then compresses each array byte by byte of its values: the lowest byte of all
values first, then the next one, so that exponents, counts and ones shrink. Integers that mostly increase, such as
sorted features, are stored as differences first.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import zstandard

Bytes = npt.NDArray[np.uint8]

_SMALL = 1 << 10
"""Smaller arrays, in bytes, are sent as they are."""

_LARGE = 1 << 20
"""Arrays of at least this many bytes are sent once and stay with the workers."""

_SAMPLE = 1 << 14
_WORTH = 0.9
"""An array is compressed if its first `_SAMPLE` values shrink to at most this share of their size."""

_HUGE, _WORTH_IF_HUGE = 1 << 24, 0.75
"""Bytes of an array large enough for compression time to matter, and the share that it must shrink to."""

_ALIGNED = 16

_INTEGERS = ("i", "l", "q", "I", "L", "Q")


def packed(value: Any) -> bytes:
    """Return `value` as bytes, for `unpacked`."""
    body, buffers = pickled(value)
    return pickle.dumps((body, [compressed(buffer) for buffer in buffers]), 5)


def packed_without_large(body: bytes, buffers: Sequence[pickle.PickleBuffer]) -> bytes:
    """Return a pickled value as bytes without its large arrays, which workers get separately."""
    return pickle.dumps((body, [None if is_large(buffer) else compressed(buffer) for buffer in buffers]), 5)


def is_large(buffer: pickle.PickleBuffer) -> bool:
    """Return whether workers should keep an array, so that it is sent only once."""
    return memoryview(buffer).nbytes >= _LARGE


def content_of(*parts: bytes | memoryview) -> str:
    """Return a hash of bytes."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def pickled(value: Any) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """Return the pickle of a value without its arrays, and the arrays."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        body = pickle.dumps(value, 5, buffer_callback=buffers.append)
    except (pickle.PicklingError, AttributeError, TypeError):  # functions of a notebook, for example
        import cloudpickle

        buffers.clear()
        body = cloudpickle.dumps(value, 5, buffer_callback=buffers.append)
    return body, buffers


def unpacked(data: bytes, large: Sequence[Any] = ()) -> Any:
    """Return the value that was packed. Its arrays are read-only; `large` are those that came separately."""
    body, own = pickle.loads(data)
    others = iter(large)
    return pickle.loads(body, buffers=[next(others) if array is None else decompressed(array) for array in own])


class LargeArray(Protocol):
    """An array that a parcel was packed without."""

    name: str

    def array(self) -> Any:
        """Return its bytes."""

    def open_parcel(self, parcel: Parcel, arrays: Sequence[LargeArray]) -> Any:
        """Return the value in a parcel; each process unpacks it once for as long as it has the arrays."""


class Parcel:
    """A packed value. It travels as bytes, and each process that has it unpacks it once.

    `content` is a hash of the value with its large arrays.
    """

    def __init__(self, data: bytes, content: str = "") -> None:
        self.data, self.content, self._lock = data, content, threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Parcel, (self.data, self.content)

    def __sizeof__(self) -> int:
        return len(self.data)

    def opened(self, arrays: Sequence[LargeArray] = ()) -> Any:
        """Return the value, given the large arrays that it was packed without."""
        with self._lock:
            if not hasattr(self, "_value"):
                self._value = unpacked(self.data, [one.array() for one in arrays])
        return self._value


def opened(parcels: Sequence[Any]) -> Any:
    """Return the value in a parcel, which comes first, followed by the large arrays that it was packed without."""
    parcel, *arrays = parcels
    return arrays[0].open_parcel(parcel, arrays) if arrays else parcel.opened()


class _Planes(NamedTuple):
    """A compressed array: one run of bytes for each byte of its values."""

    n_bytes: int
    value_size: int
    are_differences: bool
    """Each value is stored as the difference from the one before it."""
    planes: list[tuple[bool, bytes | Bytes]]
    """Bytes, and whether zstd compressed them."""


def compressed(buffer: pickle.PickleBuffer) -> Any:
    """Return an array, for `decompressed`: its bytes, or `_Planes` where those are smaller."""
    view = memoryview(buffer)
    raw, size = np.frombuffer(buffer.raw(), dtype=np.uint8), view.itemsize
    if len(raw) < _SMALL or size == 1:
        return raw
    sample = raw[: size * _SAMPLE]
    sampled, are_differences = _compressed_size(sample, size), False
    if view.format in _INTEGERS:
        of_differences = _compressed_size(_differences(sample, size), size)
        sampled, are_differences = min((sampled, False), (of_differences, True))
    if sampled > (_WORTH_IF_HUGE if len(raw) > _HUGE else _WORTH) * len(sample):
        return raw
    return _Planes(len(raw), size, are_differences, _planes(_differences(raw, size) if are_differences else raw, size))


def size_of(array: Any) -> int:
    """Return the number of bytes of a result of `compressed`."""
    return sum(len(plane) for _, plane in array.planes) if isinstance(array, _Planes) else len(array)


def decompressed(array: Any) -> Bytes:
    """Return the bytes of the original array, aligned for values of any type."""
    if not isinstance(array, _Planes):
        return array if array.ctypes.data % _ALIGNED == 0 else array.copy()
    values = np.empty((array.n_bytes // array.value_size, array.value_size), dtype=np.uint8)
    for place, (is_compressed, plane) in enumerate(array.planes):
        data = zstandard.ZstdDecompressor().decompress(bytes(plane)) if is_compressed else plane
        values[:, place] = np.frombuffer(data, dtype=np.uint8)
    raw = values.reshape(-1)
    if array.are_differences:
        numbers = raw.view(f"u{array.value_size}")
        np.cumsum(numbers, dtype=numbers.dtype, out=numbers)
    return raw


def _differences(raw: Bytes, size: int) -> Bytes:
    """Return the bytes of unsigned integers as those of their differences, which may wrap around."""
    numbers = raw.view(f"u{size}")
    return np.diff(numbers, prepend=numbers.dtype.type(0)).view(np.uint8)


def _planes(raw: Bytes, size: int) -> list[tuple[bool, bytes | Bytes]]:
    return [_compressed(np.ascontiguousarray(plane)) for plane in raw.reshape(-1, size).T]


def _compressed_size(raw: Bytes, size: int) -> int:
    return sum(len(plane) for _, plane in _planes(raw, size))


def _compressed(plane: Bytes) -> tuple[bool, bytes | Bytes]:
    found = zstandard.ZstdCompressor(level=1).compress(plane.data)
    return (True, found) if len(found) < len(plane) else (False, plane)
