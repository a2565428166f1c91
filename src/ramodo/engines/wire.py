"""What travels between this process and workers, as bytes: exact to count, and narrow where that is cheap.

Arrays are taken out of their pickle. Integers that mostly increase, such as sorted features, are stored as the gaps
between them (native/gaps.hpp). Other values are stored by the significance of their bytes, first the lowest byte of
each value, then the next, where zstd shrinks those: exponents, counts, and ones.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import zstandard

from .. import kernels

Bytes = npt.NDArray[np.uint8]

_SMALL = 1 << 10
"""Arrays of fewer bytes are sent as they are."""

_LARGE = 1 << 20

_SAMPLE = 1 << 14
_WORTH = 0.9
"""Values are packed if so many of them shrink to less than this share."""

_HUGE, _WORTH_IF_HUGE = 1 << 24, 0.75
"""Bytes of arrays whose packing would be felt, and the share that they have to shrink to."""

_ALIGNED = 16

_INTEGERS = ("i", "l", "q", "I", "L", "Q")


def packed(value: Any) -> bytes:
    """`value` as bytes, for `unpacked`."""
    body, buffers = pickled(value)
    return pickle.dumps((body, [narrowed(buffer) for buffer in buffers]), 5)


def packed_apart(body: bytes, buffers: Sequence[pickle.PickleBuffer]) -> bytes:
    """What was pickled, without its large arrays, which others may share: those are packed apart, by `narrowed`."""
    return pickle.dumps((body, [None if is_large(buffer) else narrowed(buffer) for buffer in buffers]), 5)


def is_large(buffer: pickle.PickleBuffer) -> bool:
    """Whether an array is worth to be remembered where it was sent."""
    return memoryview(buffer).nbytes >= _LARGE


def content_of(*parts: bytes | memoryview) -> str:
    """A name for the content of bytes."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


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
    return pickle.loads(body, buffers=[next(others) if array is None else widened(array) for array in own])


class Apart(Protocol):
    """An array that was packed apart."""

    name: str

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


def narrowed(buffer: pickle.PickleBuffer) -> Any:
    """An array, for `widened`: its bytes; or their number, those of a value, and runs of bytes.

    There is one run where they are gaps, and else one for each byte of a value.
    """
    view = memoryview(buffer)
    raw, size = np.frombuffer(buffer.raw(), dtype=np.uint8), view.itemsize
    if len(raw) < _SMALL or size == 1:
        return raw
    gaps = kernels.write_gaps(raw.view(f"u{size}")) if view.format in _INTEGERS else None
    if gaps is not None:
        return len(raw), size, [_compressed(gaps)]
    bytes_of, worth = raw.reshape(-1, size).T, _WORTH_IF_HUGE if len(raw) > _HUGE else _WORTH
    if sum(len(data) for _, data in map(_compressed, bytes_of[:, :_SAMPLE])) > worth * len(raw[: size * _SAMPLE]):
        return raw
    return len(raw), size, [_compressed(run) for run in bytes_of]


def size_of(array: Any) -> int:
    """Bytes of what `narrowed` gave."""
    return len(array) if isinstance(array, np.ndarray) else sum(len(run) for _, run in array[2])


def _compressed(run: Bytes) -> tuple[bool, bytes | Bytes]:
    run = np.ascontiguousarray(run)
    found = zstandard.ZstdCompressor(level=1).compress(run.data)
    return (True, found) if len(found) < len(run) else (False, run)


def widened(array: Any) -> Bytes:
    """The bytes of an array that `narrowed` was given, where a value of any size may begin."""
    if isinstance(array, np.ndarray):
        return array if array.ctypes.data % _ALIGNED == 0 else array.copy()
    n_bytes, size, packed_runs = array
    runs = [np.frombuffer(_decompressed(*run), dtype=np.uint8) for run in packed_runs]
    if len(runs) == 1:
        values = np.empty(n_bytes // size, dtype=f"u{size}")
        kernels.read_gaps(runs[0], values)
        return values.view(np.uint8)
    out = np.empty((n_bytes // size, size), dtype=np.uint8)
    for place, run in enumerate(runs):
        out[:, place] = run
    return out.reshape(-1)


def _decompressed(is_compressed: bool, data: Any) -> Any:
    return zstandard.ZstdDecompressor().decompress(data) if is_compressed else data
