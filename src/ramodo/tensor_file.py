"""A safetensors file as mapped arrays: opening it reads the header, and values when they are used."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

_TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1"}
"""Types that a model file holds."""

_LONGEST_HEADER = 100_000_000


def read(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """Metadata and arrays. Raises safetensors' own errors for a file that is not sound, ValueError for other types."""
    with safe_open(path, framework="numpy") as file:  # checks that offsets fit the file and each other
        metadata = dict(file.metadata() or {})
    start, header = _header(path)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] not in _TYPES:
            raise ValueError(f"{name} is of type {entry['dtype']}")
        dtype, shape, begin = np.dtype(_TYPES[entry["dtype"]]), tuple(entry["shape"]), int(entry["data_offsets"][0])
        empty = 0 in shape
        tensors[name] = np.empty(shape, dtype) if empty else _mapped(path, dtype, start + begin, shape)
    return metadata, tensors


def _mapped(
    path: str | os.PathLike[str], dtype: np.dtype[Any], offset: int, shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    array = np.memmap(path, dtype, "r", offset, shape)
    return np.asarray(array) if offset % dtype.itemsize == 0 else np.array(array)


def metadata_of(path: str | os.PathLike[str]) -> dict[str, str]:
    """What a safetensors file says of itself; nothing for any other file."""
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= _LONGEST_HEADER:
                return {}
            metadata = json.loads(file.read(length)).get("__metadata__", {})
    except (ValueError, AttributeError, RecursionError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _header(path: str | os.PathLike[str]) -> tuple[int, dict[str, Any]]:
    """Where values begin, and the entries of the arrays."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return 8 + length, header
