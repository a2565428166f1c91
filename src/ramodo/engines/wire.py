"""What travels between this process and workers, as bytes: exact to count, and narrow where that is cheap.

Arrays are taken out of their pickle and stored by the significance of their bytes: first the lowest byte of each value,
then the next. Where a run of those repeats itself (high bytes of differences between sorted features, exponents,
counts) zlib shrinks it; where it does not, which a sample tells, it is left alone. Integers are stored as differences.
"""

from __future__ import annotations

import pickle
import threading
import zlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

_SMALL = 1 << 10
"""Arrays of fewer bytes are sent as they are."""

_LARGE = 1 << 20

_SAMPLE = 1 << 14
_WORTH = 0.8
"""A run of bytes is compressed if a sample of it shrinks to less than this share."""


def packed(value: Any) -> bytes:
    """`value` as bytes, for `unpacked`."""
    body, buffers = pickled(value)
    return pickle.dumps((body, [_narrowed(buffer) for buffer in buffers]), 5)


def packed_apart(body: bytes, buffers: Sequence[pickle.PickleBuffer]) -> bytes:
    """What was pickled, without its large arrays, which others may share: those are packed apart, by `narrowed`."""
    return pickle.dumps((body, [None if is_large(buffer) else _narrowed(buffer) for buffer in buffers]), 5)


def is_large(buffer: pickle.PickleBuffer) -> bool:
    """Whether an array is worth to be remembered where it was sent."""
    return memoryview(buffer).nbytes >= _LARGE


def narrowed(buffer: pickle.PickleBuffer) -> bytes:
    """A large array as bytes, for `widened`."""
    return pickle.dumps(_narrowed(buffer), 5)


def widened(data: bytes) -> Any:
    """The bytes of an array that `narrowed` was given."""
    return _widened(pickle.loads(data))


def pickled(value: Any) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """A value without its arrays, and those."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        body = pickle.dumps(value, 5, buffer_callback=buffers.append)
    except (pickle.PicklingError, AttributeError, TypeError):  # functions of a notebook, for example
        import cloudpickle

        buffers.clear()
        body = cloudpickle.dumps(value, 5, buffer_callback=buffers.append)
    return body, buffers


def unpacked(data: bytes, apart: Sequence[Any] = ()) -> Any:
    """What `packed` was given; arrays can be written to, but for those apart."""
    body, own = pickle.loads(data)
    others = iter(apart)
    return pickle.loads(body, buffers=[next(others) if array is None else _widened(array) for array in own])


class Apart(Protocol):
    """An array that was packed apart."""

    def array(self) -> Any:
        """Its bytes."""

    def with_others(self, parcel: Parcel, apart: Sequence[Apart]) -> Any:
        """What is in a parcel, opened with its arrays unless that was done before in this process."""


class Parcel:
    """Something packed, which travels as it is packed and is unpacked once in each process that has it.

    `content` names what is packed, with its arrays that were packed apart.
    """

    def __init__(self, data: bytes, content: str = "") -> None:
        self.data, self.content, self._lock = data, content, threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Parcel, (self.data, self.content)

    def __sizeof__(self) -> int:
        return len(self.data)

    def opened(self, apart: Sequence[Apart] = ()) -> Any:
        """What was packed, given its arrays that were packed apart."""
        with self._lock:
            if not hasattr(self, "_value"):
                self._value = unpacked(self.data, [one.array() for one in apart])
        return self._value


def opened(parcels: Sequence[Any]) -> Any:
    """What was packed, its own parcel being the first, and its large arrays, packed apart, the others."""
    parcel, *apart = parcels
    return apart[0].with_others(parcel, apart) if apart else parcel.opened()


def _narrowed(buffer: pickle.PickleBuffer) -> Any:
    view = memoryview(buffer)
    size, is_integer = view.itemsize, view.format in ("i", "l", "q", "I", "L", "Q")
    raw = np.frombuffer(buffer.raw(), dtype=np.uint8)
    if len(raw) < _SMALL or size == 1:
        return raw.tobytes()
    if is_integer:
        raw = _differences(raw.view(f"u{size}")).view(np.uint8)
    planes = np.ascontiguousarray(raw.reshape(-1, size).T)
    return size, is_integer, [_compressed(plane) for plane in planes]


def _differences(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Each value less the one before it, modulo the size of the type."""
    out = values.copy()
    out[1:] -= values[:-1]
    return out


def _compressed(plane: Bytes) -> tuple[bool, bytes]:
    sample = plane[:_SAMPLE].tobytes()
    if len(zlib.compress(sample, 1)) > _WORTH * len(sample):
        return False, plane.tobytes()
    return True, zlib.compress(plane.tobytes(), 1)


def _widened(array: Any) -> Bytes | bytearray:
    if isinstance(array, bytes):
        return bytearray(array)
    size, is_integer, planes = array
    rows = [np.frombuffer(zlib.decompress(data) if is_packed else data, dtype=np.uint8) for is_packed, data in planes]
    raw = np.ascontiguousarray(np.stack(rows, axis=1)).reshape(-1)
    if is_integer:
        values = raw.view(f"u{size}")
        np.cumsum(values, out=values, dtype=values.dtype)
    return raw
