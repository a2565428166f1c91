"""npz and npy: matrices saved by numpy and scipy. Pickled objects, which could run code, are refused."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.mapped import mapped_array
from ..data.validation import refuse_indices, refuse_structure
from ..files.full_disk import is_the_systems
from .classes import Classes, is_text
from .compression import as_utf8, refuse_bomb
from .format import Format
from .schema import Schema
from .table import FormatError, Table


def read(path: str) -> Table:
    """Read files of scipy.sparse.save_npz, plain arrays, and CSR arrays by name with labels `y`."""
    with open(path, "rb") as file:
        is_archive = file.read(2) == b"PK"
        file.seek(0)
        try:
            if not is_archive:
                return Table(_matrix(path, mapped_array(file)))
            with np.load(file, allow_pickle=False) as archive:
                refuse_bomb(path, os.path.getsize(path), sum(part.file_size for part in archive.zip.infolist()))
                names = [name for name in archive.files if not name.startswith("pool_")]
                return _from_archive(path, {name: archive[name] for name in names})
        except FormatError:
            raise
        except Exception as error:  # numpy and zipfile raise many kinds
            if is_the_systems(error):
                raise
            raise FormatError(f"{path} is not a matrix that numpy or scipy saved: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    """Return the reason in words for users, who would not understand zipfile's messages."""
    if isinstance(error, NotImplementedError):
        return "its compression is unknown here; save it again with scipy.sparse.save_npz or numpy.savez_compressed"
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return "it is encrypted; unpack it with its password, and save it again without"
    if "pickle" in str(error):  # numpy's guess for anything unknown
        return "it holds Python objects, or none of its arrays; save it again with scipy.sparse.save_npz or numpy.save"
    return str(error).rstrip(".") or type(error).__name__


def _from_archive(path: str, arrays: dict[str, Any]) -> Table:
    classes = _classes(path, arrays.pop("y")) if "y" in arrays else None
    names = [as_utf8(str(name)) for name in arrays.pop("names")] if "names" in arrays else None
    ids = [as_utf8(str(i)) for i in arrays.pop("ids")] if "ids" in arrays else None
    X = _sparse(path, arrays) if {"data", "indices", "indptr", "shape"} <= set(arrays) else _dense(path, arrays)
    _refuse_length(path, "y", classes, X.shape[0])
    _refuse_length(path, "ids", ids, X.shape[0])
    _refuse_length(path, "names", names, X.shape[1])
    return Table(X, ids=ids, classes=classes, schema=Schema(plain=None if names is None else tuple(names)))


def _classes(path: str, y: Any) -> Classes:
    if not is_text(y) and y.dtype.kind not in "biufS":
        raise FormatError(f"{path} must hold labels that are numbers or text, got dtype {y.dtype}.")
    return np.vectorize(as_utf8, otypes="U")(y) if is_text(y) else y.astype(np.float64)


def _sparse(path: str, arrays: dict[str, Any]) -> Any:
    kind = arrays.get("format", np.array(b"csr")).item()
    build = {b"csr": sp.csr_array, b"csc": sp.csc_array, "csr": sp.csr_array, "csc": sp.csc_array}.get(kind)
    if build is None:
        raise FormatError(f"{path} must hold a sparse matrix of format csr or csc, got {kind!r}.")
    matrix = build(tuple(int(n) for n in arrays["shape"]))
    matrix.data, matrix.indices, matrix.indptr = arrays["data"], arrays["indices"], arrays["indptr"]
    if matrix.data.dtype.kind not in "biuf":
        raise FormatError(f"{path} must hold a matrix of numbers, got dtype {matrix.data.dtype}.")
    _refuse_empty(path, matrix)
    refuse_structure(matrix, "it")  # scipy trusts such arrays
    refuse_indices(matrix.indices, matrix.shape[matrix.format == "csr"], "it")
    if matrix.data.dtype not in (np.float16, np.longdouble):
        return matrix
    return matrix.astype(np.float64)  # scipy lacks float16, and our kernels lack long double


def _dense(path: str, arrays: dict[str, Any]) -> Any:
    matrices = [array for array in arrays.values() if array.ndim == 2]
    if len(matrices) != 1:
        raise FormatError(f"{path} must hold one matrix, got {len(matrices)} ({', '.join(arrays) or 'nothing'}).")
    return _matrix(path, matrices[0])


def _matrix(path: str, array: Any) -> Any:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise FormatError(
            f"{path} must hold a matrix of numbers, got an array of shape {array.shape} and dtype {array.dtype}."
        )
    _refuse_empty(path, array)
    return array


def _refuse_empty(path: str, matrix: Any) -> None:
    for n, what in zip(matrix.shape, ("rows", "columns"), strict=True):
        if n == 0:
            raise FormatError(f"{path} has no {what}.")


def _refuse_length(path: str, name: str, values: Sequence[str] | Classes | None, n: int) -> None:
    if values is not None and np.shape(values) != (n,):
        raise FormatError(f"{path}: {name} must have {n:,} values, as the matrix has, got shape {np.shape(values)}.")


FORMATS = (
    Format(
        "numpy",
        (".npz", ".npy"),
        "A matrix as numpy or scipy saved it, sparse or dense.",
        lambda path, how: read(path),
    ),
)
