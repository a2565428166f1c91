"""The header of a safetensors file, read strictly: the metadata, and where each array is.

A file is the length of the header (8 bytes, little-endian), the header (JSON), and the values of all arrays, which
follow each other without overlaps or gaps up to the end of the file.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1"}
"""Types that a model file holds."""

LONGEST = 100_000_000
"""Maximum bytes of a header, the same as in safetensors."""

_MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class Entry:
    """An array: its type, its shape, and the bytes where it begins and ends, counted from the first value."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


def length_of(beginning: bytes, size: int) -> int:
    """Return the length in bytes of the header of a file of `size` bytes."""
    if len(beginning) < 8:
        raise ValueError("it has fewer than 8 bytes")
    length = int.from_bytes(beginning[:8], "little")
    if not 2 <= length <= LONGEST or length > size - 8:
        raise ValueError("it does not begin like one; give a file that ramodo fit, ramodo detect -m or save wrote")
    return length


def parse(header: bytes, n_bytes: int) -> tuple[dict[str, str], dict[str, Entry]]:
    """Return the metadata and arrays of a header; raise ValueError unless they fit the `n_bytes` that follow it."""
    if not header.startswith(b"{"):
        raise ValueError("its header is not a table")
    table = json.loads(header.decode(), object_pairs_hook=_once, parse_constant=_refuse)
    metadata = table.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("its metadata are not texts")
    entries = {name: _entry(name, given) for name, given in table.items()}
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != end:
            raise ValueError(f"{name} begins at byte {entry.begin} of the values, and the array before ends at {end}")
        end = entry.end
    if end != n_bytes:
        raise ValueError(f"its arrays have {end} bytes, and {n_bytes} follow the header")
    return metadata, entries


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return pairs as a dict; raise if a name occurs twice, since readers disagree about which one counts."""
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("its header has a name twice")
    return table


def _refuse(constant: str) -> None:
    raise ValueError(f"its header holds {constant}")


def _entry(name: str, given: Any) -> Entry:
    if not isinstance(given, dict) or set(given) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name} is not described by type, shape and place")
    kind, shape, place = given["dtype"], given["shape"], given["data_offsets"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"{name} is of type {kind}")
    if not _are_counts(shape) or len(shape) > _MOST_DIMENSIONS or not _are_counts(place) or len(place) != 2:
        raise ValueError(f"{name} has an impossible shape or position")
    dtype, (begin, end) = np.dtype(TYPES[kind]), place
    if end - begin != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{name} has {end - begin} bytes, which do not fit its shape")
    return Entry(dtype, tuple(shape), begin, end)


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)
