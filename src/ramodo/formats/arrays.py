"""npz and npy: matrices as numpy and scipy save them. Nothing in them may run: pickled objects are refused."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp

from .table import FormatError, Table

SUFFIXES = (".npz", ".npy")


def read(path: str) -> Table:
    """scipy.sparse.save_npz's files, plain arrays, and CSR arrays under their own names with labels `y`."""
    try:
        if path.lower().endswith(".npy"):
            return Table(_matrix(path, np.load(path, allow_pickle=False, mmap_mode="r")))
        with np.load(path, allow_pickle=False) as file:
            return _from_archive(path, {name: file[name] for name in file.files if not name.startswith("pool_")})
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, OSError, TypeError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError | FormatError):
            raise
        raise FormatError(f"{path} is not a matrix that numpy or scipy saved: {str(error).rstrip('.')}.") from None


def _from_archive(path: str, arrays: dict[str, Any]) -> Table:
    classes = arrays.pop("y").astype(np.float64) if "y" in arrays else None
    names = [str(name) for name in arrays.pop("names")] if "names" in arrays else None
    ids = [str(i) for i in arrays.pop("ids")] if "ids" in arrays else None
    if {"data", "indices", "indptr", "shape"} <= set(arrays):
        kind = arrays.get("format", np.array(b"csr")).item()
        build = {b"csr": sp.csr_array, b"csc": sp.csc_array, "csr": sp.csr_array, "csc": sp.csc_array}.get(kind)
        if build is None:
            raise FormatError(f"{path} holds a sparse matrix of format {kind!r}; allowed: csr and csc.")
        matrix = build(tuple(int(n) for n in arrays["shape"]), dtype=arrays["data"].dtype)
        matrix.data, matrix.indices, matrix.indptr = arrays["data"], arrays["indices"], arrays["indptr"]
        return Table(matrix, ids, names, classes)
    matrices = {name: array for name, array in arrays.items() if array.ndim == 2}
    if len(matrices) != 1:
        raise FormatError(f"{path} holds {len(matrices)} matrices ({', '.join(arrays) or 'nothing'}); allowed: one.")
    return Table(_matrix(path, next(iter(matrices.values()))), ids, names, classes)


def _matrix(path: str, array: Any) -> Any:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise FormatError(
            f"{path} holds an array of shape {array.shape} and dtype {array.dtype}; allowed: a matrix of numbers."
        )
    return array
